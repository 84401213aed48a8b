#include "control/domain/resource_message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/message_differencer.h>
#include <google/protobuf/util/time_util.h>

#include "control/domain/field_ownership.h"
#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/options.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/base/check.h"
#include "proto/base/error.h"
#include "proto/contract/field_path.h"
#include "proto/contract/filter.h"
#include "proto/contract/string_map.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::MessageDifferencer;
using store::StoredResource;

const v1::FieldRule& RuleOf(const FieldDescriptor& field) {
  return field.options().GetExtension(v1::rule);
}

const FieldDescriptor& FieldOf(const Message& resource, const char* name) {
  const FieldDescriptor* field = resource.GetDescriptor()->FindFieldByName(name);
  Check(field != nullptr, name);
  return *field;
}

void SetTime(Message& resource, const char* name, std::chrono::system_clock::time_point time) {
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  resource.GetReflection()
      ->MutableMessage(&resource, &FieldOf(resource, name))
      ->CopyFrom(google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(micros));
}

void SetNumber(Message& resource, const char* name, std::int64_t value) {
  resource.GetReflection()->SetInt64(&resource, &FieldOf(resource, name), value);
}

void AddSetFields(const Message& message, const std::string& prefix, FieldMask& mask) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_key = prefix.empty() && (field->name() == "name" || field->name() == "etag");
    if (is_key || RuleOf(*field).output_only()) {
      continue;
    }
    const std::string path = prefix + field->name();
    const bool is_single_message =
        !field->is_repeated() && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const int before = mask.paths_size();
    if (field->is_map() && prefix.empty()) {
      for (const auto& [key, value] : contract::ReadStringMap(message, *field)) {
        mask.add_paths(fmt::format("{}.{}", path, key));
      }
    } else if (is_single_message && !RuleOf(*field).immutable()) {
      AddSetFields(message.GetReflection()->GetMessage(message, field), path + ".", mask);
    }
    if (mask.paths_size() == before) {
      mask.add_paths(path);
    }
  }
}

// An account's home of which only the store is given, and it is the account's.
bool NamesOnlyTheSameStore(const Message& current, const Message& next) {
  const FieldDescriptor* path = next.GetDescriptor()->FindFieldByName("path");
  const FieldDescriptor* store = next.GetDescriptor()->FindFieldByName("store");
  return path != nullptr && store != nullptr &&
         next.GetReflection()->GetString(next, path).empty() &&
         next.GetReflection()->GetString(next, store) ==
             current.GetReflection()->GetString(current, store);
}

bool IsSet(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                             : reflection.HasField(message, &field);
}

void CopyField(const Message& from, const FieldDescriptor& field, Message& to) {
  const MessagePtr copy = Copy(from);
  to.GetReflection()->SwapFields(&to, copy.get(), {&field});
}

bool SameField(const Message& current, const Message& next, const FieldDescriptor& field) {
  if (!field.is_repeated() && field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
      NamesOnlyTheSameStore(current.GetReflection()->GetMessage(current, &field),
                            next.GetReflection()->GetMessage(next, &field))) {
    return true;
  }
  const MessagePtr ours(current.New());
  const MessagePtr theirs(next.New());
  CopyField(current, field, *ours);
  CopyField(next, field, *theirs);
  return MessageDifferencer::Equals(*ours, *theirs);
}

std::string TextOfField(const Message& message, const FieldDescriptor& field) {
  return contract::GetField(message, field.name()).value_or("");
}

}  // namespace

MessagePtr NewMessage(contract::ResourceType type) {
  switch (type) {
    case ResourceType::kPlatform:
      return std::make_unique<v1::Platform>();
    case ResourceType::kOrganization:
      return std::make_unique<v1::Organization>();
    case ResourceType::kFarm:
      return std::make_unique<v1::Farm>();
    case ResourceType::kNode:
      return std::make_unique<v1::Node>();
    case ResourceType::kStore:
      return std::make_unique<v1::FileStore>();
    case ResourceType::kPool:
      return std::make_unique<v1::ApplicationPool>();
    case ResourceType::kSite:
      return std::make_unique<v1::Site>();
    case ResourceType::kAccount:
      return std::make_unique<v1::Account>();
    case ResourceType::kOperator:
      return std::make_unique<v1::Operator>();
    case ResourceType::kToken:
      return std::make_unique<v1::Token>();
  }
  return nullptr;
}

MessagePtr Copy(const Message& message) {
  MessagePtr copy(message.New());
  copy->CopyFrom(message);
  return copy;
}

std::string GetText(const Message& resource, const char* field) {
  return resource.GetReflection()->GetString(resource, &FieldOf(resource, field));
}

void SetText(Message& resource, const char* field, std::string_view value) {
  resource.GetReflection()->SetString(&resource, &FieldOf(resource, field), std::string(value));
}

std::string FormatEtag(std::int64_t change_id) { return fmt::format("{:x}", change_id); }

bool ParseRow(const StoredResource& row, Message& resource) {
  const bool parsed = resource.ParseFromString(row.body);
  if (!parsed) {
    resource.Clear();
  }
  if (!row.owners.empty()) {
    resource.MergeFromString(row.owners);
  }
  SetOutputFields(row, resource);
  return parsed;
}

void SetOutputFields(const StoredResource& row, Message& resource) {
  SetText(resource, "name", row.name);
  SetNumber(resource, "uid", row.uid);
  SetText(resource, "organization", row.organization);
  SetText(resource, "etag", FormatEtag(row.change_id));
  SetTime(resource, "create_time", row.created);
  SetTime(resource, "update_time", row.updated);
  SetRevision(row.revision, resource);
  if (row.deleted) {
    SetTime(resource, "delete_time", row.updated);
    SetTime(resource, "purge_time", row.updated + store::kKeepDeleted);
  }
  if (row.type == ResourceType::kToken) {
    const std::int64_t life = static_cast<const v1::Token&>(resource).lifetime();
    SetTime(resource, "expire_time", row.created + std::chrono::milliseconds(life));
  }
}

void SetRevision(std::int64_t revision, Message& resource) {
  SetNumber(resource, "revision", revision);
}

namespace {

std::string ToBody(const Message& resource) {
  const MessagePtr copy = Copy(resource);
  ClearOutputOnly(*copy);
  SetText(*copy, "etag", "");
  if (const auto* pool = dynamic_cast<const v1::ApplicationPool*>(&resource)) {
    static_cast<v1::ApplicationPool&>(*copy).set_identity(pool->identity());
  }
  std::string body;
  {
    google::protobuf::io::StringOutputStream stream(&body);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    copy->SerializeToCodedStream(&coded);
  }
  return body;
}

}  // namespace

void SetBody(const Message& resource, StoredResource& row) {
  row.body = ToBody(resource);
  row.owners = FormatOwners(OwnersOf(resource));
  row.terms = contract::IndexTerms(resource);
}

void ClearOutputOnly(Message& resource) {
  const Descriptor& type = *resource.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    if (RuleOf(*type.field(i)).output_only()) {
      resource.GetReflection()->ClearField(&resource, type.field(i));
    }
  }
}

FieldMask MaskOfSetFields(const Message& resource) {
  FieldMask mask;
  AddSetFields(resource, "", mask);
  return mask;
}

void FillImmutable(const Message& current, Message& next) {
  const Descriptor& type = *next.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (RuleOf(field).immutable() && IsSet(current, field) && !IsSet(next, field)) {
      CopyField(current, field, next);
    }
  }
}

std::vector<v1::FieldViolation> KeepImmutable(const Message& current, Message& next) {
  std::vector<v1::FieldViolation> violations;
  const Descriptor& type = *next.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    // A body that can't be read may be written anew; a list that was left empty stays so.
    if (!RuleOf(field).immutable() || (!IsSet(current, field) && !field.is_repeated())) {
      continue;
    }
    if (IsSet(next, field) && !SameField(current, next, field)) {
      v1::FieldViolation& violation = violations.emplace_back();
      violation.set_field(
          fmt::format("{}.{}", contract::Facts(contract::TypeOf(next)).noun, field.name()));
      violation.set_value(TextOfField(next, field).substr(0, 200));
      violation.set_description(
          fmt::format("is fixed at creation, here to \"{}\"; delete the resource and create it "
                      "anew to change it",
                      TextOfField(current, field)));
    }
    CopyField(current, field, next);
  }
  return violations;
}

}  // namespace croft::control::domain
