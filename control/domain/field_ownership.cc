#include "control/domain/field_ownership.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <set>

#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "croft/v1/farm.pb.h"
#include "proto/base/check.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/text_rules.h"

namespace croft::control::domain {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using Paths = std::set<std::string, std::less<>>;

const FieldDescriptor& OwnersField(const Message& resource) {
  const FieldDescriptor* field = resource.GetDescriptor()->FindFieldByName("field_owners");
  Check(field != nullptr, "field_owners");
  return *field;
}

// The part of a resource that one path names. An unknown path, of a field that is gone, names
// nothing.
MessagePtr Part(const Message& resource, const std::string& path) {
  MessagePtr part(resource.New());
  FieldMask mask;
  mask.add_paths(path);
  if (!contract::ApplyMask(mask, resource, *part).ok()) {
    part->Clear();
  }
  return part;
}

bool Differs(const Message& current, const Message& next, const std::string& path) {
  return !google::protobuf::util::MessageDifferencer::Equals(*Part(current, path),
                                                             *Part(next, path));
}

const FieldDescriptor* TopField(const Message& resource, std::string_view path) {
  return resource.GetDescriptor()->FindFieldByName(std::string(path.substr(0, path.find('.'))));
}

// Whether a masked path names the owned one or what it is in. What follows a map's name is a key.
bool Covers(const Message& resource, std::string_view masked, std::string_view owned) {
  if (masked == "*" || masked == owned) {
    return true;
  }
  const FieldDescriptor* top = TopField(resource, masked);
  const bool is_entry =
      top != nullptr && top->is_map() && masked.find('.') != std::string_view::npos;
  return !is_entry && owned.size() > masked.size() && owned.starts_with(masked) &&
         owned[masked.size()] == '.';
}

// A message in which nothing is set: there is nothing to own.
bool IsMessage(const Message& resource, std::string_view path) {
  const google::protobuf::Descriptor* type = resource.GetDescriptor();
  for (const std::string_view segment : contract::Split(path, '.')) {
    const FieldDescriptor* field = type->FindFieldByName(std::string(segment));
    if (field == nullptr || field->is_repeated() || field->message_type() == nullptr) {
      return false;
    }
    type = field->message_type();
  }
  return true;
}

// The fields that the mask names and that are set, each as deep as it goes.
Paths SetPaths(const FieldMask& mask, const Message& resource) {
  Paths paths;
  for (const std::string& masked : mask.paths()) {
    const FieldMask set = MaskOfSetFields(*Part(resource, masked));
    for (const std::string& path : set.paths()) {
      const FieldDescriptor* top = TopField(resource, path);
      if (top != nullptr && !contract::RuleOf(*top).immutable() && !IsMessage(resource, path)) {
        paths.insert(path);
      }
    }
  }
  return paths;
}

void AddOwner(std::string_view manager, const Paths& paths, OwnerList& owners) {
  if (paths.empty()) {
    return;
  }
  v1::FieldOwner& owner = *owners.Add();
  owner.set_manager(std::string(manager));
  owner.mutable_paths()->Assign(paths.begin(), paths.end());
}

std::string Shown(const Message& resource, const std::string& path) {
  return contract::GetField(resource, path).value_or("");
}

}  // namespace

OwnerList OwnersOf(const Message& resource) {
  const google::protobuf::Reflection& reflection = *resource.GetReflection();
  const FieldDescriptor& field = OwnersField(resource);
  OwnerList owners;
  for (int i = 0; i < reflection.FieldSize(resource, &field); ++i) {
    owners.Add()->CopyFrom(reflection.GetRepeatedMessage(resource, &field, i));
  }
  return owners;
}

void SetOwners(const OwnerList& owners, Message& resource) {
  const FieldDescriptor& field = OwnersField(resource);
  resource.GetReflection()->ClearField(&resource, &field);
  for (const v1::FieldOwner& owner : owners) {
    resource.GetReflection()->AddMessage(&resource, &field)->CopyFrom(owner);
  }
}

std::vector<std::string> OwnedPaths(const OwnerList& owners, std::string_view manager) {
  for (const v1::FieldOwner& owner : owners) {
    if (owner.manager() == manager && !manager.empty()) {
      return {owner.paths().begin(), owner.paths().end()};
    }
  }
  return {};
}

// Every type has the field under the same number.
std::string FormatOwners(const OwnerList& owners) {
  v1::Farm farm;
  *farm.mutable_field_owners() = owners;
  return farm.SerializeAsString();
}

absl::Status TakeFields(const FieldWriter& writer, const FieldMask& mask, const Message& current,
                        Message& next) {
  Paths ours = writer.manager.empty() ? Paths() : SetPaths(mask, next);
  OwnerList owners;
  std::vector<OwnedField> refused;
  for (const v1::FieldOwner& owner : OwnersOf(current)) {
    Paths kept;
    const bool is_ours = owner.manager() == writer.manager;
    for (const std::string& path : owner.paths()) {
      const bool is_masked = std::ranges::any_of(
          mask.paths(), [&](const std::string& masked) { return Covers(next, masked, path); });
      if (is_ours) {
        if (!is_masked) {
          ours.insert(path);
        }
        continue;
      }
      const bool changes = Differs(current, next, path);
      if (changes && !writer.force) {
        refused.push_back({.path = path, .value = Shown(next, path), .owner = owner.manager()});
      }
      if (!changes && !(writer.force && ours.contains(path))) {
        kept.insert(path);
        ours.erase(path);
      }
    }
    AddOwner(owner.manager(), kept, owners);
  }
  if (!refused.empty()) {
    return FieldOwned(GetText(next, "name"), refused);
  }
  AddOwner(writer.manager, ours, owners);
  std::sort(owners.begin(), owners.end(),
            [](const auto& a, const auto& b) { return a.manager() < b.manager(); });
  SetOwners(owners, next);
  return absl::OkStatus();
}

}  // namespace croft::control::domain
