// Resources::Create.
#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "control/domain/resources.h"
#include "control/domain/rules.h"
#include "control/domain/write.h"
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
absl::Status FindParents(store::Transaction& transaction, const Message& resource,
                         StoredResource& row) {
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

absl::Status WriteRow(store::Transaction& transaction, const StoredResource& row,
                      const Links& links) {
  absl::Status status = transaction.Insert(row);
  if (status.ok() && !links.bindings.empty()) {
    status = transaction.SetBindings(row.farm_uid, row.uid, links.bindings);
  }
  if (status.ok() && !links.references.empty()) {
    status = transaction.SetReferences(row, links.references);
  }
  return status;
}

absl::StatusOr<Written> CreateIn(store::Store& store, store::Transaction& transaction,
                                 const Message& resource) {
  Written written{.answer = Copy(resource), .counts = CountCreated()};
  StoredResource row;
  row.type = contract::TypeOf(resource);
  row.name = GetText(resource, "name");
  absl::Status status = FindParents(transaction, resource, row);
  if (!status.ok()) {
    return status;
  }
  const auto uid = transaction.NextUid(row.type);
  if (!uid.ok()) {
    return uid.status();
  }
  row.uid = *uid;
  Links links;
  status = ApplyRules({store, transaction}, *written.answer, row, links);
  if (!status.ok()) {
    return status;
  }
  row.body = ToBody(*written.answer);
  row.change_id = transaction.change_id();
  row.created = row.updated = transaction.time();
  status = WriteRow(transaction, row, links);
  if (!status.ok()) {
    return status;
  }
  SetOutputFields(row, *written.answer);
  return written;
}

}  // namespace

absl::StatusOr<Written> Resources::Create(const Caller& caller, std::string_view parent,
                                          std::string_view id, const Message& resource,
                                          const WriteOptions& options) {
  const ResourceType type = contract::TypeOf(resource);
  const auto name = MakeName(type, parent, id);
  if (!name.ok()) {
    return name.status();
  }
  const MessagePtr input = Copy(resource);
  ClearOutputOnly(*input);
  SetText(*input, "name", *name);
  contract::Normalize(*input);
  if (absl::Status status = contract::InvalidFields(contract::Validate(*input)); !status.ok()) {
    return status;
  }
  return Write(store_, {caller, options, *input}, [&](store::Transaction& transaction) {
    return CreateIn(store_, transaction, *input);
  });
}

}  // namespace croft::control::domain
