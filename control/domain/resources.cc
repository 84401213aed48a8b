// Reading resources, and the first ones.
#include "control/domain/resources.h"

#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/organization.pb.h"
#include "proto/base/error.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using store::StoredResource;

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
  SetBody(*message, row);
  absl::Status status = (*transaction)->Insert(row);
  if (status.ok()) {
    status =
        (*transaction)->Commit({.who = "croft-control", .reason = std::string(reason)}).status();
  }
  return absl::IsAlreadyExists(status) || IsConflict(status) ? absl::OkStatus() : status;
}

}  // namespace

absl::StatusOr<MessagePtr> Resources::Get(const Caller& caller, ResourceType type,
                                          std::string_view name, bool show_deleted) {
  const auto parsed = contract::ParseResourceName(name, type);
  if (!parsed.ok()) {
    return InvalidField("name", name, std::string(parsed.status().message()));
  }
  const std::string canonical = contract::FormatResourceName(*parsed);
  auto row = store_.Find(canonical);
  if (row.ok() && !row->has_value() && show_deleted) {
    row = store_.FindDeleted(canonical);
  }
  if (!row.ok()) {
    return row.status();
  }
  if (!row->has_value()) {
    return NotFound(canonical);
  }
  if (absl::Status status = access_.CheckRead(caller, **row); !status.ok()) {
    return status;
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

absl::Status Resources::CreateFirstResources() {
  absl::Status status = InsertFirst(store_, ResourceType::kPlatform, "platform", "first start");
  if (status.ok()) {
    status = InsertFirst(store_, ResourceType::kOrganization, "organizations/root", "first start");
  }
  return status;
}

}  // namespace croft::control::domain
