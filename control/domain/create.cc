// Resources::Create.
#include "control/domain/failures.h"
#include "control/domain/field_ownership.h"
#include "control/domain/resource_message.h"
#include "control/domain/resources.h"
#include "control/domain/steps.h"
#include "control/domain/write.h"
#include "control/store/conflicts.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/validation.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using google::protobuf::Message;
using store::StoredResource;

absl::StatusOr<std::string> MakeName(ResourceType type, std::string_view parent,
                                     std::string_view id) {
  const contract::ResourceTypeFacts& facts = contract::Facts(type);
  if (type == ResourceType::kPlatform) {
    return Error(absl::StatusCode::kInvalidArgument, "there is one platform; update it");
  }
  contract::ResourceName name{.type = type, .farm = "", .id = ""};
  if (facts.in_farm) {
    const auto farm = contract::ParseResourceName(parent, ResourceType::kFarm);
    if (!farm.ok()) {
      return InvalidField("parent", parent, std::string(farm.status().message()));
    }
    name.farm = farm->id;
  }
  auto parsed = contract::ParseResourceId(type, id);
  if (!parsed.ok()) {
    return InvalidField(fmt::format("{}_id", facts.noun), id,
                        std::string(parsed.status().message()));
  }
  name.id = *std::move(parsed);
  return contract::FormatResourceName(name);
}

// Farm and owner, which are kept from deletion until the end of the transaction.
absl::Status FindParents(const RuleContext& context, const Message& resource, StoredResource& row) {
  store::Transaction& transaction = context.transaction;
  const auto name = contract::ParseResourceName(row.name);
  if (name.ok() && !name->farm.empty()) {
    const std::string farm_name = "farms/" + name->farm;
    const auto farm = transaction.Find(farm_name);
    if (!farm.ok()) {
      return farm.status();
    }
    if (!farm->has_value()) {
      return NotFound(farm_name);
    }
    row.farm_uid = (*farm)->uid;
  }
  if (row.type == ResourceType::kToken) {
    return FindTokenOwner(context, static_cast<const v1::Token&>(resource), row);
  }
  row.organization = GetText(resource, "organization");
  if (row.organization.empty()) {
    return absl::OkStatus();
  }
  const auto owner = transaction.Find(row.organization);
  if (!owner.ok()) {
    return owner.status();
  }
  if (!owner->has_value()) {
    return InvalidField(fmt::format("{}.organization", contract::Facts(row.type).noun),
                        row.organization, "does not exist; create it first, or name another");
  }
  row.organization_uid = (*owner)->uid;
  return absl::OkStatus();
}

// The resource that has the name already, where the caller may see it; null if there is none.
absl::StatusOr<MessagePtr> FindExisting(const RuleContext& context, const std::string& name) {
  const auto row = context.transaction.Find(name);
  if (!row.ok() || !row->has_value()) {
    return row.status().ok() ? absl::StatusOr<MessagePtr>(nullptr) : row.status();
  }
  const auto may_read = context.access.MayRead(context.caller, **row, &context.transaction);
  if (!may_read.ok()) {
    return may_read.status();
  }
  if (!*may_read) {
    return store::NameTaken(name);
  }
  MessagePtr existing = NewMessage((*row)->type);
  ParseRow(**row, *existing);
  return existing;
}

}  // namespace

absl::StatusOr<Written> CreateIn(const RuleContext& context, const Message& resource) {
  const bool if_absent = context.options.if_absent;
  store::Transaction& transaction = context.transaction;
  Written written{.answer = Copy(resource), .counts = CountCreated()};
  StoredResource row;
  row.type = contract::TypeOf(resource);
  row.name = GetText(resource, "name");
  absl::Status status = FindParents(context, resource, row);
  if (status.ok()) {
    status = context.access.CheckWrite(context.caller, row, Action::kCreate, &transaction);
  }
  if (status.ok()) {
    status = context.access.CheckPermissions(context.caller, row, nullptr, resource, &transaction);
  }
  if (!status.ok()) {
    return status;
  }
  if (if_absent) {
    auto existing = FindExisting(context, row.name);
    if (!existing.ok()) {
      return existing.status();
    }
    if (*existing != nullptr) {
      return Written{.answer = *std::move(existing), .counts = CountUnchanged()};
    }
  }
  const auto uid = transaction.NextUid(row.type);
  if (!uid.ok()) {
    return uid.status();
  }
  row.uid = *uid;
  Links links;
  status = ApplyRules(context, *written.answer, row, links);
  if (!status.ok()) {
    return status;
  }
  SetBody(*written.answer, row);
  row.change_id = transaction.change_id();
  row.created = row.updated = transaction.time();
  status = transaction.Insert(row);
  if (if_absent && absl::IsAlreadyExists(status)) {
    return store::Conflict(row.name);  // created just now: the next attempt finds it
  }
  if (status.ok()) {
    status = WriteLinks(transaction, row, links);
  }
  if (!status.ok()) {
    return status;
  }
  SetOutputFields(row, *written.answer);
  return written;
}

absl::StatusOr<MessagePtr> PrepareCreation(const Caller& caller, std::string_view name,
                                           const Message& resource,
                                           std::string_view field_manager) {
  MessagePtr input = Copy(resource);
  ClearOutputOnly(*input);
  SetText(*input, "name", name);
  if (contract::TypeOf(*input) == ResourceType::kToken && GetText(*input, "operator").empty()) {
    SetText(*input, "operator", caller.operator_name);
  }
  const google::protobuf::FieldMask given = MaskOfSetFields(*input);
  contract::Normalize(*input);
  absl::Status status = contract::InvalidFields(contract::Validate(*input));
  if (status.ok()) {
    status = TakeFields({.manager = field_manager}, given, *NewMessage(contract::TypeOf(*input)),
                        *input);
  }
  if (!status.ok()) {
    return status;
  }
  return input;
}

absl::StatusOr<Written> Resources::Create(const Caller& caller, std::string_view parent,
                                          std::string_view id, const Message& resource,
                                          const WriteOptions& options) {
  const auto name = MakeName(contract::TypeOf(resource), parent, id);
  if (!name.ok()) {
    return name.status();
  }
  if (contract::TypeOf(resource) != ResourceType::kToken) {
    return CreateWith(caller, *name, resource, options, nullptr);
  }
  const TokenSecret secret = MakeTokenSecret();
  auto written = CreateWith(caller, *name, resource, options, &secret);
  // Only now, so that it is in no kept answer; a repeated request is answered without it.
  if (written.ok() && written->counts.created() > 0 && !written->repeated &&
      !options.validate_only) {
    SetText(*written->answer, "secret", secret.secret);
  }
  return written;
}

absl::StatusOr<Written> Resources::CreateToken(const Caller& caller, std::string_view id,
                                               const v1::Token& token, const TokenSecret& secret,
                                               const WriteOptions& options) {
  const auto name = MakeName(ResourceType::kToken, "", id);
  return name.ok() ? CreateWith(caller, *name, token, options, &secret) : name.status();
}

absl::StatusOr<Written> Resources::CreateWith(const Caller& caller, const std::string& name,
                                              const Message& resource, const WriteOptions& options,
                                              const TokenSecret* secret) {
  const auto input = PrepareCreation(caller, name, resource, options.field_manager);
  if (!input.ok()) {
    return input.status();
  }
  auto written = Write(store_, {caller, options, **input}, [&](store::Transaction& transaction) {
    return CreateIn({store_, transaction, caller, access_, options, secret}, **input);
  });
  return written.ok() ? std::move(written) : access_.HideHolder(caller, written.status());
}

}  // namespace croft::control::domain
