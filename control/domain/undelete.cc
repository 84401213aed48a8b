// Resources::Undelete.
#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "control/domain/resources.h"
#include "control/domain/steps.h"
#include "control/domain/write.h"
#include "proto/base/error.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using store::StoredResource;

// What the row belonged to is there still, the same and no other of its name.
absl::Status CheckParent(store::Transaction& transaction, const std::string& child,
                         const std::string& name, std::int64_t uid) {
  if (uid == 0) {
    return absl::OkStatus();
  }
  const auto found = transaction.Find(name);
  if (!found.ok()) {
    return found.status();
  }
  return found->has_value() && (*found)->uid == uid ? absl::OkStatus() : ParentGone(child, name);
}

absl::Status CheckParents(store::Transaction& transaction, const StoredResource& row,
                          const google::protobuf::Message& resource) {
  const auto name = contract::ParseResourceName(row.name);
  absl::Status status =
      CheckParent(transaction, row.name, name.ok() ? "farms/" + name->farm : "", row.farm_uid);
  if (status.ok()) {
    status = CheckParent(transaction, row.name, row.organization, row.organization_uid);
  }
  if (status.ok() && row.type == ResourceType::kAccount) {
    status = CheckParent(transaction, row.name,
                         static_cast<const v1::Account&>(resource).home().store(), row.store_uid);
  }
  return status;
}

absl::StatusOr<StoredResource> FindRow(const RuleContext& context, const std::string& name,
                                       std::int64_t uid) {
  store::Transaction& transaction = context.transaction;
  auto deleted = transaction.FindDeletedForUpdate(name, uid);
  if (!deleted.ok()) {
    return deleted.status();
  }
  if (deleted->has_value()) {
    return **std::move(deleted);
  }
  const auto live = transaction.Find(name);
  if (!live.ok()) {
    return live.status();
  }
  bool is_live = live->has_value() && (uid == 0 || (*live)->uid == uid);
  if (is_live) {
    const auto seen = context.access.MayRead(context.caller, **live, &transaction);
    if (!seen.ok()) {
      return seen.status();
    }
    is_live = *seen;
  }
  return is_live ? NotDeleted(name) : NothingToUndelete(name, uid);
}

}  // namespace

absl::StatusOr<Written> UndeleteIn(const RuleContext& context, const std::string& name,
                                   std::int64_t uid) {
  store::Transaction& transaction = context.transaction;
  auto row = FindRow(context, name, uid);
  if (!row.ok()) {
    return row.status();
  }
  absl::Status status =
      context.access.CheckWrite(context.caller, *row, Action::kUndelete, &transaction);
  if (!status.ok()) {
    return status;
  }
  Written written{.answer = NewMessage(row->type), .counts = CountCreated()};
  row->deleted = false;
  ParseRow(*row, *written.answer);
  status = CheckParents(transaction, *row, *written.answer);
  if (status.ok()) {
    status = context.access.CheckPermissions(context.caller, *row, nullptr, *written.answer,
                                             &transaction);
  }
  if (status.ok() && row->type == ResourceType::kOperator) {
    status = CheckGrants(context, static_cast<const v1::Operator&>(*written.answer).grants(),
                         "operator.grants");
  }
  Links links;
  if (status.ok()) {
    status = ApplyRules(context, *written.answer, *row, links);
  }
  if (!status.ok()) {
    return status;
  }
  SetBody(*written.answer, *row);
  status = transaction.Undelete(*row);
  if (status.ok()) {
    status = WriteLinks(transaction, *row, links);
  }
  if (!status.ok()) {
    return status;
  }
  row->change_id = transaction.change_id();
  row->updated = transaction.time();
  SetOutputFields(*row, *written.answer);
  return written;
}

absl::StatusOr<Written> Resources::Undelete(const Caller& caller, ResourceType type,
                                            std::string_view name, std::int64_t uid,
                                            const WriteOptions& options) {
  const auto parsed = contract::ParseResourceName(name, type);
  if (!parsed.ok()) {
    return InvalidField("name", name, std::string(parsed.status().message()));
  }
  if (type == ResourceType::kToken) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "a revoked token can't be undeleted; create another one");
  }
  const std::string canonical = contract::FormatResourceName(*parsed);
  auto written =
      Write(store_, {caller, options, *NewMessage(type)}, [&](store::Transaction& transaction) {
        return UndeleteIn({store_, transaction, caller, access_, options}, canonical, uid);
      });
  return written.ok() ? std::move(written) : access_.HideHolder(caller, written.status());
}

}  // namespace croft::control::domain
