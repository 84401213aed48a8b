#include "admin-cli/field_column.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_path.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The list of messages that a path leads through without saying which item; null if none does.
// `head` is its path up to there, `tail` the rest.
struct Through {
  const FieldDescriptor* list = nullptr;
  std::string_view head, tail;
};

bool IsListOfMessages(const FieldDescriptor& field) {
  return field.is_repeated() && !field.is_map() &&
         field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

Through FindList(const google::protobuf::Descriptor& type, std::string_view path) {
  const google::protobuf::Descriptor* scope = &type;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const auto* field = scope->FindFieldByName(std::string(path.substr(begin, end - begin)));
    if (field == nullptr || field->is_map() || field->message_type() == nullptr) {
      return {};
    }
    if (IsListOfMessages(*field)) {
      return {field, path.substr(0, begin),
              end < path.size() ? path.substr(end + 1) : std::string_view()};
    }
    scope = field->message_type();
    begin = end + 1;
  }
  return {};
}

// The message at `head` ("a.b."); null where it is unset.
const Message* Below(const Message& message, std::string_view head) {
  const Message* at = &message;
  while (!head.empty()) {
    const std::size_t end = head.find('.');
    const auto* field = at->GetDescriptor()->FindFieldByName(std::string(head.substr(0, end)));
    if (!at->GetReflection()->HasField(*at, field)) {
      return nullptr;
    }
    at = &at->GetReflection()->GetMessage(*at, field);
    head.remove_prefix(end + 1);
  }
  return at;
}

}  // namespace

absl::Status CheckColumn(const Message& empty, std::string_view path) {
  const Through through = FindList(*empty.GetDescriptor(), path);
  absl::Status status;
  if (through.list != nullptr && !through.tail.empty()) {
    const Message* item = google::protobuf::MessageFactory::generated_factory()->GetPrototype(
        through.list->message_type());
    status = CheckColumn(*item, through.tail);
  } else {
    status = contract::GetField(empty, path).status();
  }
  return status.ok() ? status
                     : Error(absl::StatusCode::kUnimplemented, "--columns: {}",
                             contract::MessageOf(status).starts_with("--columns: ")
                                 ? std::string(contract::MessageOf(status).substr(11))
                                 : std::string(status.message()));
}

std::string ColumnText(const Message& message, std::string_view path) {
  const Through through = FindList(*message.GetDescriptor(), path);
  if (through.list == nullptr || through.tail.empty()) {
    return contract::GetField(message, path).value_or("");
  }
  const Message* holder = Below(message, through.head);
  std::string text;
  for (int i = 0;
       holder != nullptr && i < holder->GetReflection()->FieldSize(*holder, through.list); ++i) {
    text += (i == 0 ? "" : ",") +
            ColumnText(holder->GetReflection()->GetRepeatedMessage(*holder, through.list, i),
                       through.tail);
  }
  return text;
}

}  // namespace croft::admin_cli
