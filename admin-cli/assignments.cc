#include "admin-cli/assignments.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "croft/v1/operator.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/base/error.h"
#include "proto/contract/field_path.h"
#include "proto/contract/grant_text.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

enum class Operation { kSet, kAdd, kRemove, kUnset };

struct Assignment {
  Operation operation = Operation::kSet;
  std::string key;
  std::string value;
};

Assignment Split(std::string_view argument) {
  Assignment result;
  const auto equals = argument.find('=');
  if (equals == std::string_view::npos) {
    result.operation = Operation::kUnset;
    result.key = argument.substr(0, argument.size() - 1);
    return result;
  }
  result.value = argument.substr(equals + 1);
  std::string_view key = argument.substr(0, equals);
  if (key.ends_with('+')) {
    result.operation = Operation::kAdd;
    key.remove_suffix(1);
  } else if (key.ends_with('-')) {
    result.operation = Operation::kRemove;
    key.remove_suffix(1);
  }
  result.key = key;
  return result;
}

// The items of a list's text; a grant has commas within.
std::vector<std::string> SplitList(const Message& resource, const std::string& key,
                                   const std::string& text) {
  const FieldDescriptor* field = resource.GetDescriptor()->FindFieldByName(key);
  if (field != nullptr && field->message_type() == v1::Grant::descriptor()) {
    return contract::SplitGrants(text);
  }
  std::vector<std::string> items;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto comma = std::min(text.find(',', begin), text.size());
    items.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return items;
}

std::string JoinList(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "" : ",") + item;
  }
  return text;
}

// The list's items as the contract writes them, so that "shop.example" removes "*:80:shop.example".
absl::StatusOr<std::vector<std::string>> Canonical(const Message& resource, const std::string& key,
                                                   const std::string& value) {
  const std::unique_ptr<Message> probe(resource.New());
  if (auto status = contract::SetField(*probe, key, value); !status.ok()) {
    return status;
  }
  const auto text = contract::GetField(*probe, key);
  if (!text.ok()) {
    return text.status();
  }
  return SplitList(resource, key, *text);
}

absl::Status ChangeList(const Assignment& assignment, Message& resource) {
  const auto now = contract::GetField(resource, assignment.key);
  if (!now.ok()) {
    return now.status();
  }
  const auto items = Canonical(resource, assignment.key, assignment.value);
  if (!items.ok()) {
    return items.status();
  }
  std::vector<std::string> list = SplitList(resource, assignment.key, *now);
  for (const std::string& item : *items) {
    const auto at = std::find(list.begin(), list.end(), item);
    if (assignment.operation == Operation::kAdd && at == list.end()) {
      list.push_back(item);
    } else if (assignment.operation == Operation::kRemove && at == list.end()) {
      return Error(absl::StatusCode::kInvalidArgument, "{}: \"{}\" is not in the list: {}",
                   assignment.key, item, *now);
    } else if (assignment.operation == Operation::kRemove) {
      list.erase(at);
    }
  }
  if (list.empty()) {
    return contract::ClearField(resource, assignment.key);
  }
  return contract::SetField(resource, assignment.key, JoinList(list));
}

v1::Application& RootApplication(v1::Site& site) {
  for (v1::Application& application : *site.mutable_applications()) {
    if (application.path() == "/") {
      return application;
    }
  }
  v1::Application& made = *site.add_applications();
  made.set_path("/");
  return made;
}

// "root=" and "pool=" of a site. Returns whether the assignment was one of them.
absl::StatusOr<bool> ApplySiteShorthand(const Assignment& assignment, Message& resource) {
  auto* site = dynamic_cast<v1::Site*>(&resource);
  if (site == nullptr || assignment.operation != Operation::kSet) {
    return false;
  }
  if (assignment.key == "pool") {
    RootApplication(*site).set_pool(assignment.value);
    return true;
  }
  if (assignment.key == "root") {
    const auto status = contract::SetField(RootApplication(*site), "root", assignment.value);
    return status.ok() ? absl::StatusOr<bool>(true) : status;
  }
  return false;
}

// The mask path of a key: up to the first index, since lists are replaced as a whole.
std::string MaskPath(const std::string& key) { return key.substr(0, key.find('[')); }

void AddPath(const std::string& path, google::protobuf::FieldMask& mask) {
  if (std::find(mask.paths().begin(), mask.paths().end(), path) == mask.paths().end()) {
    mask.add_paths(path);
  }
}

absl::Status ApplyOne(const Assignment& assignment, Message& resource,
                      google::protobuf::FieldMask& mask) {
  const auto shorthand = ApplySiteShorthand(assignment, resource);
  if (!shorthand.ok()) {
    return shorthand.status();
  }
  if (*shorthand) {
    AddPath("applications", mask);
    return absl::OkStatus();
  }
  AddPath(MaskPath(assignment.key), mask);
  switch (assignment.operation) {
    case Operation::kSet:
      return contract::SetField(resource, assignment.key, assignment.value);
    case Operation::kUnset:
      return contract::ClearField(resource, assignment.key);
    case Operation::kAdd:
    case Operation::kRemove:
      return ChangeList(assignment, resource);
  }
  return absl::OkStatus();
}

std::string Qualified(const std::string& value, std::string_view field, std::string_view farm) {
  if (value.empty() || value.find('/') != std::string::npos) {
    return value;
  }
  if (field == "organization" || field == "operator") {
    return std::string(field) + "s/" + value;
  }
  if (field == "pool" || field == "store") {
    return "farms/" + std::string(farm) + "/" + std::string(field) + "s/" + value;
  }
  return value;
}

}  // namespace

bool IsAssignment(std::string_view argument) {
  return argument.find('=') != std::string_view::npos ||
         (argument.size() > 1 && argument.ends_with('-'));
}

absl::Status ApplyAssignments(const std::vector<std::string>& assignments, std::string_view farm,
                              Message& resource, google::protobuf::FieldMask& mask) {
  for (const std::string& argument : assignments) {
    if (auto status = ApplyOne(Split(argument), resource, mask); !status.ok()) {
      return status;
    }
  }
  QualifyNames(farm, resource);
  return absl::OkStatus();
}

void QualifyNames(std::string_view farm, Message& message) {
  const auto* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && !field->is_repeated()) {
      const std::string now = reflection->GetString(message, field);
      const std::string full = Qualified(now, field->name(), farm);
      if (full != now) {
        reflection->SetString(&message, field, full);
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && field->is_repeated() &&
               !field->is_map()) {
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        QualifyNames(farm, *reflection->MutableRepeatedMessage(&message, field, i));
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated()) {
      QualifyNames(farm, *reflection->MutableMessage(&message, field));
    }
  }
}

}  // namespace croft::admin_cli
