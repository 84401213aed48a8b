// The steps that a write is made of: one resource, inside a transaction that may hold others, all
// of which become one change. Each checks what the caller may do, then the other resources, then
// writes. After an error the transaction is to be dropped.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "control/domain/resources.h"
#include "control/domain/rules.h"

namespace croft::control::domain {

// A copy of what a caller wants created, with that name: complete and valid by itself. The manager
// owns the fields that are set in it.
absl::StatusOr<MessagePtr> PrepareCreation(const Caller& caller, std::string_view name,
                                           const google::protobuf::Message& resource,
                                           std::string_view field_manager = {});
// REQUIRES: `resource` is prepared.
absl::StatusOr<Written> CreateIn(const RuleContext& context,
                                 const google::protobuf::Message& resource);
// Sets the masked fields of the resource that `input` names, and makes them the field manager's; an
// empty mask means those that are set. REQUIRES: the name is canonical.
absl::StatusOr<Written> UpdateIn(const RuleContext& context, const google::protobuf::Message& input,
                                 const google::protobuf::FieldMask& mask);
// What UpdateIn would make of a row, and its answers that say no; writes and locks nothing.
struct UpdatePlan {
  MessagePtr current;
  bool is_readable = false;  // what is stored of it
  MessagePtr next;
  bool changes = false;       // values
  bool takes_fields = false;  // owners
};
absl::StatusOr<UpdatePlan> PlanUpdate(const RuleContext& context, const store::StoredResource& row,
                                      const google::protobuf::Message& input,
                                      const google::protobuf::FieldMask& mask);
// Names are canonical. An etag that is not empty must be the resource's.
absl::StatusOr<Written> DeleteIn(const RuleContext& context, const std::string& name,
                                 std::string_view etag);
// Uid 0: the one of that name which was deleted last.
absl::StatusOr<Written> UndeleteIn(const RuleContext& context, const std::string& name,
                                   std::int64_t uid);

}  // namespace croft::control::domain
