#include "control/domain/watch.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <utility>

#include "control/domain/failures.h"
#include "control/domain/page_token.h"
#include "control/domain/resource_message.h"
#include "proto/base/error.h"
#include "proto/contract/any_resource.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using store::LogPosition;
using store::StoredResource;
using store::Version;
using Event = v1::WatchResourcesResponse;

constexpr int kRowsAtOnce = 250;
// A page ends early beyond this.
constexpr std::size_t kPageBytesMax = 512 << 10;

MessagePtr ToMessage(const StoredResource& row) {
  MessagePtr message = NewMessage(row.type);
  ParseRow(row, *message);
  return message;
}

std::int64_t RevisionOf(const google::protobuf::Message& resource) {
  return resource.GetReflection()->GetInt64(resource,
                                            resource.GetDescriptor()->FindFieldByName("revision"));
}

// What is left of it to say.
MessagePtr ToRemains(const StoredResource& row) {
  MessagePtr message = NewMessage(row.type);
  SetText(*message, "name", row.name);
  const auto* uid = message->GetDescriptor()->FindFieldByName("uid");
  message->GetReflection()->SetInt64(message.get(), uid, row.uid);
  return message;
}

absl::Status BadToken(const std::string& token) {
  return InvalidField("resume_token", token,
                      "is not a token of this watch, of the same type, parent and filter; leave it "
                      "empty to begin anew");
}

}  // namespace

absl::StatusOr<std::unique_ptr<ResourceWatch>> ResourceWatch::Open(
    store::Store& store, Access& access, const Caller& caller,
    const v1::WatchResourcesRequest& request) {
  auto watch = std::make_unique<ResourceWatch>(store, access, request);
  absl::Status status = watch->ReadRequest();
  if (status.ok()) {
    status = watch->Begin(caller);
  }
  if (!status.ok()) {
    return status;
  }
  return watch;
}

absl::Status ResourceWatch::ReadRequest() {
  std::string nouns;
  for (const contract::ResourceTypeFacts& facts : contract::AllResourceTypes()) {
    nouns += fmt::format("{}{}", nouns.empty() ? "" : ", ", facts.noun);
    const bool in_any_farm = request_.parent().empty() || facts.in_farm;
    if (request_.type().empty() ? in_any_farm : request_.type() == facts.noun) {
      types_.push_back(facts.type);
    }
  }
  if (types_.empty()) {
    return InvalidField("type", request_.type(), "is none of " + nouns);
  }
  const bool in_farm = contract::Facts(types_.front()).in_farm || types_.size() > 1;
  if (in_farm && !request_.parent().empty() && request_.parent() != "farms/-") {
    const auto farm = contract::ParseResourceName(request_.parent(), ResourceType::kFarm);
    if (!farm.ok()) {
      return InvalidField("parent", request_.parent(), std::string(farm.status().message()));
    }
    members_of_ = contract::FormatResourceName(*farm) + "/";
  }
  if (request_.filter().empty()) {
    return absl::OkStatus();
  }
  if (types_.size() > 1) {
    return InvalidField("filter", request_.filter(), "needs a type, whose fields it names");
  }
  auto filter = RowFilter::Parse(request_.filter(), types_.front(), store_, access_);
  if (!filter.ok()) {
    return filter.status();
  }
  filter_.emplace(*std::move(filter));
  return absl::OkStatus();
}

absl::Status ResourceWatch::Begin(const Caller& caller) {
  const auto head = store_.GetHead();
  if (!head.ok()) {
    return head.status();
  }
  epoch_ = head->position.epoch();
  if (!request_.resume_token().empty()) {
    return Resume(caller, *head);
  }
  position_ = {.revision = head->position.revision(), .tag = head->position.tag()};
  if (request_.send_existing()) {
    listing_.emplace();
  }
  if (members_of_.empty()) {
    return absl::OkStatus();
  }
  const std::string farm = members_of_.substr(0, members_of_.size() - 1);
  const auto found = store_.Find(farm);
  return !found.ok() ? found.status() : found->has_value() ? absl::OkStatus() : NotFound(farm);
}

// "EPOCH REVISION TAG TYPE UID", and while what exists is being sent also " INDEX UID NAME".
std::string ResourceWatch::MakeToken() const {
  std::string text = fmt::format("{} {} {} {} {}", epoch_, position_.revision, position_.tag,
                                 position_.type, position_.uid);
  if (listing_.has_value()) {
    text += fmt::format(" {} {} {}", listing_->type, listing_->after_uid, listing_->after_name);
  }
  return MakePageToken(Describe(), text);
}

absl::Status ResourceWatch::Resume(const Caller& caller, const store::FeedHead& head) {
  const auto text = ParsePageToken(Describe(), request_.resume_token());
  if (!text.ok()) {
    return BadToken(request_.resume_token());
  }
  const std::vector<std::string> parts = absl::StrSplit(*text, ' ');
  std::uint64_t epoch = 0;
  bool is_good = (parts.size() == 5 || parts.size() == 8) && absl::SimpleAtoi(parts[0], &epoch) &&
                 absl::SimpleAtoi(parts[1], &position_.revision) &&
                 absl::SimpleAtoi(parts[2], &position_.tag) &&
                 absl::SimpleAtoi(parts[3], &position_.type) &&
                 absl::SimpleAtoi(parts[4], &position_.uid);
  if (is_good && parts.size() == 8) {
    listing_.emplace().after_name = parts[7];
    is_good = absl::SimpleAtoi(parts[5], &listing_->type) &&
              absl::SimpleAtoi(parts[6], &listing_->after_uid) && listing_->type < types_.size();
  }
  if (!is_good) {
    return BadToken(request_.resume_token());
  }
  if (epoch != epoch_) {
    return WatchExpired("the database has another history since, such as a restored backup's");
  }
  node::v1::Position position;
  position.set_epoch(epoch);
  position.set_revision(position_.revision);
  position.set_tag(position_.tag);
  const auto known = store_.KnowsPosition(position);
  if (!known.ok()) {
    return known.status();
  }
  if (!*known) {
    return WatchExpired(
        fmt::format("the database does not have its revision {} any longer", position_.revision));
  }
  // Whose a purged resource was is not known, so whoever sees not everything might miss its end.
  if (position_.revision < head.compaction_floor && !Access::SeesEverything(caller)) {
    return WatchExpired("it is older than deleted resources are kept");
  }
  return absl::OkStatus();
}

absl::StatusOr<ResourceWatch::Page> ResourceWatch::Next(const Caller& caller) {
  auto page = listing_.has_value() ? NextExisting(caller) : NextChanges(caller);
  if (page.ok() && announce_ && !listing_.has_value() && !page->more) {
    announce_ = false;
    page->events.push_back(MakeBookmark());
  }
  return page;
}

absl::StatusOr<std::vector<StoredResource>> ResourceWatch::ReadListing(const Caller& caller) {
  store::ListQuery query;
  query.type = types_[listing_->type];
  query.after_name = listing_->after_name;
  query.after_uid = listing_->after_uid;
  query.limit = kRowsAtOnce;
  query.filter = filter_.has_value() ? filter_->query() : nullptr;
  query.within = Access::VisibleOrganizations(caller, query.type);
  if (!members_of_.empty()) {
    const auto farm = store_.Find(members_of_.substr(0, members_of_.size() - 1));
    if (!farm.ok()) {
      return farm.status();
    }
    if (!farm->has_value()) {
      return std::vector<StoredResource>();  // deleted since, and its members before it
    }
    query.farm_uid = (*farm)->uid;
  }
  return store_.List(query);
}

absl::StatusOr<MessagePtr> ResourceWatch::AsOfBegin(const StoredResource& row) {
  std::optional<StoredResource> then = row;
  if (row.revision > position_.revision) {
    auto found = store_.FindAsOf(row.type, row.uid, position_.revision);
    if (!found.ok()) {
      return found.status();
    }
    then = *std::move(found);
  }
  if (!then.has_value()) {
    return nullptr;
  }
  MessagePtr message = ToMessage(*then);
  const auto matches = Matches(*then, *message);
  if (!matches.ok()) {
    return matches.status();
  }
  return *matches ? std::move(message) : nullptr;
}

absl::StatusOr<ResourceWatch::Page> ResourceWatch::NextExisting(const Caller& caller) {
  const auto rows = ReadListing(caller);
  if (!rows.ok()) {
    return rows.status();
  }
  Page page{.events = {}, .more = true};
  std::size_t bytes = 0;
  for (const StoredResource& row : *rows) {
    if (bytes > kPageBytesMax) {
      return page;
    }
    listing_->after_name = row.name;
    listing_->after_uid = row.uid;
    const auto message = AsOfBegin(row);
    if (!message.ok()) {
      return message.status();
    }
    if (*message != nullptr) {
      Event& event = page.events.emplace_back(MakeEvent(Event::CREATED, RevisionOf(**message)));
      *event.mutable_resource() = contract::Wrap(**message);
      bytes += event.ByteSizeLong();
    }
  }
  if (std::ssize(*rows) < kRowsAtOnce) {
    listing_ = listing_->type + 1 < types_.size()
                   ? std::optional(Listing{.type = listing_->type + 1})
                   : std::nullopt;
  }
  return page;
}

absl::StatusOr<ResourceWatch::Page> ResourceWatch::NextChanges(const Caller& caller) {
  const auto log = store_.ListLog(position_, 0, kRowsAtOnce);
  if (!log.ok()) {
    return log.status();
  }
  Page page{.events = {},
            .more = log->next.revision != position_.revision || !log->versions.empty()};
  std::size_t bytes = 0;
  for (const Version& version : log->versions) {
    if (bytes > kPageBytesMax) {
      return page;
    }
    position_ = version.place;
    const std::size_t count = page.events.size();
    if (absl::Status status = AddVersion(caller, version, page); !status.ok()) {
      return status;
    }
    bytes += page.events.size() > count ? page.events.back().ByteSizeLong() : 0;
  }
  position_ = log->next;
  return page;
}

absl::Status ResourceWatch::AddVersion(const Caller& caller, const Version& version, Page& page) {
  if (!IsWatched(version.row)) {
    return absl::OkStatus();
  }
  const auto may = access_.MayRead(caller, version.row);
  if (!may.ok() || !*may) {
    return may.status();
  }
  const MessagePtr before = version.before.has_value() ? ToMessage(*version.before) : nullptr;
  const MessagePtr after = version.row.deleted ? nullptr : ToMessage(version.row);
  const auto matched =
      before == nullptr ? absl::StatusOr<bool>(false) : Matches(*version.before, *before);
  const auto matches =
      after == nullptr ? absl::StatusOr<bool>(false) : Matches(version.row, *after);
  if (!matched.ok() || !matches.ok()) {
    return matched.ok() ? matches.status() : matched.status();
  }
  if (!*matched && !*matches) {
    return absl::OkStatus();
  }
  const auto kind = !*matched ? Event::CREATED : *matches ? Event::UPDATED : Event::DELETED;
  Event& event = page.events.emplace_back(MakeEvent(kind, version.change.revision()));
  *event.mutable_resource() =
      contract::Wrap(kind == Event::DELETED ? *ToRemains(version.row) : *after);
  return absl::OkStatus();
}

absl::StatusOr<bool> ResourceWatch::Matches(const StoredResource& row,
                                            const google::protobuf::Message& message) {
  return filter_.has_value() ? filter_->Matches(row, message) : absl::StatusOr<bool>(true);
}

bool ResourceWatch::IsWatched(const StoredResource& row) const {
  return std::find(types_.begin(), types_.end(), row.type) != types_.end() &&
         row.name.starts_with(members_of_);
}

Event ResourceWatch::MakeEvent(Event::Kind kind, std::int64_t revision) const {
  Event event;
  event.set_kind(kind);
  event.set_revision(revision);
  event.set_resume_token(MakeToken());
  return event;
}

Event ResourceWatch::MakeBookmark() const { return MakeEvent(Event::BOOKMARK, position_.revision); }

std::string ResourceWatch::Describe() const {
  return fmt::format("watch {} {} {}", request_.type(), request_.parent(), request_.filter());
}

}  // namespace croft::control::domain
