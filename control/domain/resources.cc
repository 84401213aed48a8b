// Reading resources, and the first ones.
#include "control/domain/resources.h"

#include "control/domain/failures.h"
#include "control/domain/page_token.h"
#include "control/domain/resource_message.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/organization.pb.h"
#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using store::StoredResource;

constexpr int kPageSizeDefault = 100;
constexpr int kPageSizeMax = 1000;

struct ListScope {
  std::int64_t farm_uid = 0;
  std::string description;  // for the page token
};

absl::StatusOr<ListScope> FindScope(store::Store& store, ResourceType type,
                                    std::string_view parent) {
  const contract::ResourceTypeFacts& facts = contract::Facts(type);
  ListScope scope{.farm_uid = 0, .description = std::string(facts.noun)};
  if (!facts.in_farm || parent == "farms/-") {
    return scope;
  }
  const auto farm_name = contract::ParseResourceName(parent, ResourceType::kFarm);
  if (!farm_name.ok()) {
    return InvalidField("parent", parent, std::string(farm_name.status().message()));
  }
  const std::string canonical = contract::FormatResourceName(*farm_name);
  const auto farm = store.Find(canonical);
  if (!farm.ok()) {
    return farm.status();
  }
  if (!farm->has_value()) {
    return NotFound(canonical);
  }
  scope.farm_uid = (*farm)->uid;
  scope.description += " of " + canonical;
  return scope;
}

// One unreadable row must not stop a list: it comes with the fields every resource has.
MessagePtr ToMessage(const StoredResource& row) {
  MessagePtr message = NewMessage(row.type);
  if (!ParseRow(row, *message)) {
    log::Error("domain", "a resource's body can't be read", {{"resource", row.name}});
  }
  return message;
}

absl::Status InsertFirst(store::Store& store, ResourceType type, std::string_view name,
                         std::string_view reason) {
  const auto found = store.Find(name);
  if (!found.ok() || found->has_value()) {
    return found.status();
  }
  const auto transaction = store.Begin();
  if (!transaction.ok()) {
    return transaction.status();
  }
  const auto uid = (*transaction)->NextUid(type);
  if (!uid.ok()) {
    return uid.status();
  }
  const MessagePtr message = NewMessage(type);
  SetText(*message, "name", name);
  StoredResource row;
  row.type = type;
  row.uid = *uid;
  row.name = std::string(name);
  row.body = ToBody(*message);
  absl::Status status = (*transaction)->Insert(row);
  if (status.ok()) {
    status =
        (*transaction)->Commit({.who = "croft-control", .reason = std::string(reason)}).status();
  }
  return absl::IsAlreadyExists(status) || IsConflict(status) ? absl::OkStatus() : status;
}

}  // namespace

absl::StatusOr<MessagePtr> Resources::Get(const Caller& /*caller*/, ResourceType type,
                                          std::string_view name, const ReadOptions& /*options*/) {
  const auto parsed = contract::ParseResourceName(name, type);
  if (!parsed.ok()) {
    return InvalidField("name", name, std::string(parsed.status().message()));
  }
  const std::string canonical = contract::FormatResourceName(*parsed);
  const auto row = store_.Find(canonical);
  if (!row.ok()) {
    return row.status();
  }
  if (!row->has_value()) {
    return NotFound(canonical);
  }
  MessagePtr message = NewMessage(type);
  if (!ParseRow(**row, *message)) {
    return Error(absl::StatusCode::kDataLoss,
                 "the stored body of {} can't be read; nodes keep serving its last good version; "
                 "write it anew with an update of all fields (update_mask \"*\")",
                 canonical);
  }
  return message;
}

absl::StatusOr<Page> Resources::List(const Caller& /*caller*/, const ListRequest& request) {
  if (request.page_size < 0) {
    return InvalidField("page_size", std::to_string(request.page_size), "has to be 0 to 1000");
  }
  const auto scope = FindScope(store_, request.type, request.parent);
  if (!scope.ok()) {
    return scope.status();
  }
  auto after = ParsePageToken(scope->description, request.page_token);
  if (!after.ok()) {
    return after.status();
  }
  const int limit =
      request.page_size == 0 ? kPageSizeDefault : std::min(request.page_size, kPageSizeMax);
  const auto rows = store_.List({.type = request.type,
                                 .farm_uid = scope->farm_uid,
                                 .after_name = *std::move(after),
                                 .limit = limit + 1});
  if (!rows.ok()) {
    return rows.status();
  }
  Page page;
  for (const StoredResource& row : *rows) {
    if (std::ssize(page.resources) == limit) {
      page.next_page_token =
          MakePageToken(scope->description, GetText(*page.resources.back(), "name"));
      break;
    }
    page.resources.push_back(ToMessage(row));
  }
  return page;
}

absl::Status Resources::CreateFirstResources() {
  absl::Status status = InsertFirst(store_, ResourceType::kPlatform, "platform", "first start");
  if (status.ok()) {
    status = InsertFirst(store_, ResourceType::kOrganization, "organizations/root", "first start");
  }
  return status;
}

}  // namespace croft::control::domain
