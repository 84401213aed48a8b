// Which manager owns which fields of a resource (its field_owners), so that a billing system and an
// operator can each set fields of one site. A manager owns the fields that it named in a write and
// that are set since then; a field has one owner. Another one may not change the field's value
// without force; who sets the value that is there already leaves it its owner. Fields that are
// fixed at creation belong to nobody. Pure.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "croft/v1/field_owner.pb.h"

namespace croft::control::domain {

using OwnerList = google::protobuf::RepeatedPtrField<v1::FieldOwner>;

// Who writes: an empty manager is nobody, who comes to own nothing.
struct FieldWriter {
  std::string_view manager;
  bool force = false;
};

// The resource's field_owners, as they are.
OwnerList OwnersOf(const google::protobuf::Message& resource);
void SetOwners(const OwnerList& owners, google::protobuf::Message& resource);
// Paths that the manager owns; empty for nobody.
std::vector<std::string> OwnedPaths(const OwnerList& owners, std::string_view manager);
// As stored beside a row: a message of any resource type with these field_owners and nothing else.
std::string FormatOwners(const OwnerList& owners);

// Judges a write of the masked fields that makes `next` of `current`, both in canonical form, and
// sets the owners of `next`. already_exists, reason FIELD_OWNED with a violation for each field,
// where it takes a field of another manager without force.
absl::Status TakeFields(const FieldWriter& writer, const google::protobuf::FieldMask& mask,
                        const google::protobuf::Message& current, google::protobuf::Message& next);

}  // namespace croft::control::domain
