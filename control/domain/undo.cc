#include "control/domain/undo.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "control/domain/failures.h"
#include "control/domain/history.h"
#include "control/domain/resource_message.h"
#include "control/domain/steps.h"
#include "control/domain/write.h"
#include "croft/v1/site.pb.h"
#include "proto/base/error.h"
#include "proto/contract/field_changes.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using store::StoredResource;
using store::Version;

// Results of larger undoings don't say which fields changed: the answer has to fit into a message.
constexpr std::size_t kDetailedMax = 1000;
constexpr int kConflictsShown = 5;

// One resource of the change that is undone.
struct Item {
  const Version* version = nullptr;
  std::optional<StoredResource> now;  // as this transaction found it; nullopt: purged
  v1::AppliedResource result;

  bool is_live() const { return now.has_value() && !now->deleted; }
  // Whether it was there before the change.
  bool was_there() const { return version->before.has_value(); }
  ResourceType type() const { return version->row.type; }
  const std::string& name() const { return version->row.name; }
};

// Types that nothing refers to; what they refer to can go after them.
bool IsLeaf(ResourceType type) {
  return type == ResourceType::kSite || type == ResourceType::kAccount ||
         type == ResourceType::kNode || type == ResourceType::kToken;
}

MessagePtr ToMessage(const StoredResource& row) {
  MessagePtr message = NewMessage(row.type);
  ParseRow(row, *message);
  return message;
}

// What the undoing does in one transaction.
class Undoing {
 public:
  Undoing(const RuleContext& context, const std::vector<Version>& versions)
      : context_(context), detailed_(versions.size() <= kDetailedMax) {
    for (const Version& version : versions) {
      items_.emplace_back().version = &version;
    }
  }

  absl::StatusOr<Written> Run() {
    absl::Status status = Find();
    if (status.ok() && !context_.options.force) {
      status = CheckUntouched();
    }
    if (status.ok()) {
      status = RunSteps();
    }
    if (!status.ok()) {
      return status;
    }
    auto answer = std::make_unique<v1::UndoChangeResponse>();
    for (Item& item : items_) {
      item.result.set_name(item.name());
      answer->add_results()->Swap(&item.result);
    }
    counts_.set_unchanged(answer->results_size() - counts_.created() - counts_.updated() -
                          counts_.deleted());
    *answer->mutable_counts() = counts_;
    return Written{.answer = std::move(answer), .counts = counts_};
  }

 private:
  absl::Status Find() {
    for (Item& item : items_) {
      auto found = context_.transaction.FindForUpdate(item.name());
      if (found.ok() && (!found->has_value() || (*found)->uid != item.version->row.uid)) {
        found = context_.transaction.FindDeletedForUpdate(item.name(), item.version->row.uid);
      }
      if (!found.ok()) {
        return found.status();
      }
      item.now = *std::move(found);
      if (!item.now.has_value() && item.was_there()) {
        return CannotUndo(item.name(), "was deleted more than 30 days ago and is gone for good");
      }
      if (item.was_there() && !item.is_live() && item.type() == ResourceType::kToken) {
        return CannotUndo(item.name(), "was revoked, which can't be undone; create another token");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckUntouched() const {
    std::string later;
    std::string_view first;
    int shown = 0;
    for (const Item& item : items_) {
      if (item.now.has_value() && item.now->change_id == item.version->row.change_id) {
        continue;
      }
      if (shown == kConflictsShown) {
        later += ", ...";
        break;
      }
      const std::string by =
          item.now.has_value() ? NameOfChange(item.now->revision) : "deleted and purged";
      later += fmt::format("{}{} ({})", shown == 0 ? "" : ", ", item.name(), by);
      first = shown == 0 ? std::string_view(item.name()) : first;
      ++shown;
    }
    return shown == 0 ? absl::OkStatus() : ChangedSince(first, later);
  }

  // What nothing needs goes first, and makes room for names and bindings; what others need comes
  // before them; what nothing needs any longer goes last.
  absl::Status RunSteps() {
    std::vector<Item*> backward;
    for (Item& item : items_) {
      backward.push_back(&item);
    }
    std::ranges::sort(backward, std::greater<>(), [](const Item* item) {
      return std::pair(item->type(), item->version->row.uid);
    });
    const std::vector<Item*> forward(backward.rbegin(), backward.rend());
    using Step = absl::Status (Undoing::*)(Item&);
    const std::pair<const std::vector<Item*>*, Step> steps[] = {{&backward, &Undoing::DeleteLeaf},
                                                                {&forward, &Undoing::FreeBindings},
                                                                {&forward, &Undoing::UndeleteItem},
                                                                {&forward, &Undoing::RestoreItem},
                                                                {&backward, &Undoing::DeleteOther}};
    for (const auto& [items, step] : steps) {
      for (Item* item : *items) {
        if (absl::Status status = (this->*step)(*item); !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status DeleteLeaf(Item& item) {
    return IsLeaf(item.type()) ? DeleteItem(item) : absl::OkStatus();
  }
  absl::Status DeleteOther(Item& item) {
    return IsLeaf(item.type()) ? absl::OkStatus() : DeleteItem(item);
  }

  absl::Status DeleteItem(Item& item) {
    if (item.was_there() || !item.is_live()) {
      return absl::OkStatus();
    }
    const auto written = DeleteIn(context_, item.name(), "");
    // An operator takes its tokens along.
    if (absl::IsNotFound(written.status()) && item.type() == ResourceType::kToken) {
      return absl::OkStatus();
    }
    if (!written.ok()) {
      return written.status();
    }
    counts_.set_deleted(counts_.deleted() + 1);
    Note(item, "delete", ToMessage(*item.now).get(), nullptr);
    return absl::OkStatus();
  }

  // Sites that will have other bindings let theirs go, so that two can have each other's back.
  absl::Status FreeBindings(Item& item) {
    if (item.type() != ResourceType::kSite || !item.was_there() || !item.is_live()) {
      return absl::OkStatus();
    }
    v1::Site now;
    v1::Site before;
    if (!now.ParseFromString(item.now->body) ||
        !before.ParseFromString(item.version->before->body)) {
      return absl::OkStatus();
    }
    const auto encode = [](v1::Site& site) {
      v1::Site bindings;
      bindings.mutable_bindings()->Swap(site.mutable_bindings());
      return bindings.SerializeAsString();
    };
    return encode(now) == encode(before)
               ? absl::OkStatus()
               : context_.transaction.SetBindings(item.now->farm_uid, item.now->uid, {});
  }

  absl::Status UndeleteItem(Item& item) {
    if (!item.was_there() || item.is_live()) {
      return absl::OkStatus();
    }
    const auto written = UndeleteIn(context_, item.name(), item.version->row.uid);
    if (!written.ok()) {
      return written.status();
    }
    counts_.set_created(counts_.created() + 1);
    Note(item, "undelete", nullptr, written->answer.get());
    return absl::OkStatus();
  }

  absl::Status RestoreItem(Item& item) {
    if (!item.was_there() || item.now->body == item.version->before->body) {
      return absl::OkStatus();
    }
    const MessagePtr before = ToMessage(*item.version->before);
    SetText(*before, "etag", "");
    google::protobuf::FieldMask everything;
    everything.add_paths("*");
    const auto written = UpdateIn(context_, *before, everything);
    if (!written.ok()) {
      return written.status();
    }
    if (item.now->deleted) {
      Note(item, "undelete", nullptr, written->answer.get());
    } else if (written->counts.updated() > 0) {
      counts_.set_updated(counts_.updated() + 1);
      Note(item, "update", ToMessage(*item.now).get(), written->answer.get());
    }
    return absl::OkStatus();
  }

  void Note(Item& item, const char* action, const google::protobuf::Message* before,
            const google::protobuf::Message* after) {
    item.result.set_action(action);
    item.result.clear_changes();
    if (detailed_) {
      for (v1::FieldChange& change : contract::DiffFields(before, after)) {
        item.result.add_changes()->Swap(&change);
      }
    }
  }

  const RuleContext& context_;
  const bool detailed_;
  std::vector<Item> items_;
  v1::Counts counts_;
};

// What is to be undone, of what the caller may see.
absl::StatusOr<std::vector<Version>> FindVersions(store::Store& store, Access& access,
                                                  const Caller& caller,
                                                  const v1::UndoChangeRequest& request) {
  const std::string change = NameOfChange(request.revision());
  std::string only;
  if (!request.resource().empty()) {
    const auto parsed = contract::ParseResourceName(request.resource());
    if (!parsed.ok()) {
      return InvalidField("resource", request.resource(), std::string(parsed.status().message()));
    }
    only = contract::FormatResourceName(*parsed);
  }
  if (request.expect_count() < 0) {
    return InvalidField("expect_count", std::to_string(request.expect_count()),
                        "is the number of resources the change touched");
  }
  if (const auto found = FindChange(store, request.revision()); !found.ok()) {
    return found.status();
  }
  std::vector<Version> versions;
  const absl::Status status =
      ForEachVersion(store, access, caller, request.revision(), [&](Version version) {
        if (only.empty() || version.row.name == only) {
          versions.push_back(std::move(version));
        }
      });
  if (!status.ok()) {
    return status;
  }
  if (versions.empty()) {
    return NotFound(only.empty() ? change : fmt::format("{} in {}", only, change));
  }
  const auto count = std::ssize(versions);
  const std::int64_t expected = request.expect_count();
  if (expected == 0 ? count > kUndoneWithoutCount : count != expected) {
    return expected == 0 ? CountRequired(fmt::format(
                               "{} touched {} resources; to undo all of it, say so with "
                               "expect_count {}, or name one resource",
                               change, count, count))
                         : CountMismatch(fmt::format(
                               "{} touched {} resources, not {}; look at it again before "
                               "undoing it",
                               change, count, expected));
  }
  return versions;
}

}  // namespace

absl::StatusOr<v1::UndoChangeResponse> UndoChange(store::Store& store, Access& access,
                                                  const Caller& caller,
                                                  const v1::UndoChangeRequest& request,
                                                  const WriteOptions& options) {
  const auto versions = FindVersions(store, access, caller, request);
  if (!versions.ok()) {
    return versions.status();
  }
  const auto written =
      Write(store, {caller, options, v1::UndoChangeResponse()},
            [&](store::Transaction& transaction) -> absl::StatusOr<Written> {
              return Undoing({store, transaction, caller, access, options}, *versions).Run();
            });
  if (!written.ok()) {
    return access.HideHolder(caller, written.status());
  }
  return static_cast<const v1::UndoChangeResponse&>(*written->answer);
}

}  // namespace croft::control::domain
