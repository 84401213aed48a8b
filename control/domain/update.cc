// Resources::Update.
#include <google/protobuf/util/message_differencer.h>

#include "control/domain/failures.h"
#include "control/domain/field_ownership.h"
#include "control/domain/resource_message.h"
#include "control/domain/resources.h"
#include "control/domain/steps.h"
#include "control/domain/write.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_path.h"
#include "proto/contract/validation.h"

namespace croft::control::domain {
namespace {

using google::protobuf::FieldMask;
using google::protobuf::Message;
using store::StoredResource;

// The resource as it shall be: `current` with the masked fields of `input`, valid by itself.
absl::StatusOr<MessagePtr> Merge(const Message& current, const Message& input,
                                 const FieldMask& mask) {
  MessagePtr next = Copy(current);
  absl::Status status = contract::ApplyMask(mask, input, *next);
  if (!status.ok()) {
    return status;
  }
  SetText(*next, "name", GetText(current, "name"));
  SetText(*next, "etag", GetText(current, "etag"));
  FillImmutable(current, *next);
  contract::Normalize(*next);
  std::vector<v1::FieldViolation> violations = KeepImmutable(current, *next);
  const std::vector<v1::FieldViolation> others = contract::Validate(*next);
  violations.insert(violations.end(), others.begin(), others.end());
  status = contract::InvalidFields(violations);
  if (!status.ok()) {
    return status;
  }
  return next;
}

absl::Status WriteRow(store::Transaction& transaction, const StoredResource& row,
                      const Links& links) {
  absl::Status status = transaction.Update(row);
  if (status.ok() && row.type == contract::ResourceType::kSite) {
    status = transaction.SetBindings(row.farm_uid, row.uid, links.bindings);
  }
  if (status.ok() && (row.type == contract::ResourceType::kSite ||
                      row.type == contract::ResourceType::kOperator)) {
    status = transaction.SetReferences(row, links.references);
  }
  return status;
}

}  // namespace

absl::StatusOr<UpdatePlan> PlanUpdate(const RuleContext& context, const StoredResource& row,
                                      const Message& input, const FieldMask& mask) {
  absl::Status status =
      context.access.CheckWrite(context.caller, row, Action::kUpdate, &context.transaction);
  if (!status.ok()) {
    return status;
  }
  const std::string etag = GetText(input, "etag");
  if (!etag.empty() && etag != FormatEtag(row.change_id)) {
    return EtagMismatch(row.name, FormatEtag(row.change_id), etag);
  }
  UpdatePlan plan;
  plan.current = NewMessage(row.type);
  plan.is_readable = ParseRow(row, *plan.current);
  const FieldMask fields = mask.paths().empty() ? MaskOfSetFields(input) : mask;
  auto next = Merge(*plan.current, input, fields);
  if (!next.ok()) {
    return next.status();
  }
  plan.next = *std::move(next);
  plan.changes = !plan.is_readable ||
                 !google::protobuf::util::MessageDifferencer::Equals(*plan.current, *plan.next);
  status = TakeFields({context.options.field_manager, context.options.force}, fields, *plan.current,
                      *plan.next);
  if (!status.ok()) {
    return status;
  }
  plan.takes_fields = FormatOwners(OwnersOf(*plan.current)) != FormatOwners(OwnersOf(*plan.next));
  return plan;
}

absl::StatusOr<Written> UpdateIn(const RuleContext& context, const Message& input,
                                 const FieldMask& mask) {
  store::Transaction& transaction = context.transaction;
  const std::string name = GetText(input, "name");
  auto found = transaction.FindForUpdate(name);
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    return NotFound(name);
  }
  StoredResource& row = **found;
  auto plan = PlanUpdate(context, row, input, mask);
  if (!plan.ok()) {
    return plan.status();
  }
  Written written{.answer = std::move(plan->next), .counts = CountUpdated()};
  if (!plan->changes) {
    written.counts = CountUnchanged();
    written.keeps = plan->takes_fields;
    row.owners = FormatOwners(OwnersOf(*written.answer));
    const absl::Status status = plan->takes_fields ? transaction.SetOwners(row) : absl::OkStatus();
    return status.ok() ? absl::StatusOr<Written>(std::move(written)) : status;
  }
  absl::Status status = context.access.CheckPermissions(
      context.caller, row, plan->is_readable ? plan->current.get() : nullptr, *written.answer,
      &transaction);
  if (!status.ok()) {
    return status;
  }
  Links links;
  status = ApplyRules(context, *written.answer, row, links);
  if (!status.ok()) {
    return status;
  }
  SetBody(*written.answer, row);
  status = WriteRow(transaction, row, links);
  if (!status.ok()) {
    return status;
  }
  row.change_id = transaction.change_id();
  row.updated = transaction.time();
  SetOutputFields(row, *written.answer);
  return written;
}

absl::StatusOr<Written> Resources::Update(const Caller& caller, const Message& resource,
                                          const FieldMask& mask, const WriteOptions& options) {
  const contract::ResourceType type = contract::TypeOf(resource);
  const MessagePtr input = Copy(resource);
  const auto name = contract::ParseResourceName(GetText(*input, "name"), type);
  if (!name.ok()) {
    return InvalidField("name", GetText(*input, "name"), std::string(name.status().message()));
  }
  SetText(*input, "name", contract::FormatResourceName(*name));
  auto written = Write(store_, {caller, options, *input}, [&](store::Transaction& transaction) {
    return UpdateIn({store_, transaction, caller, access_, options}, *input, mask);
  });
  return written.ok() ? std::move(written) : access_.HideHolder(caller, written.status());
}

}  // namespace croft::control::domain
