#include "proto/contract/field_path.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/field_text.h"
#include "proto/contract/nearest_name.h"
#include "proto/contract/string_map.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::Reflection;

// One step of a path: "bindings[2]", or the end of one through a map: "labels.customer".
struct Step {
  const FieldDescriptor* field = nullptr;
  int index = kSingular;
  std::string key = {};  // of a map
};
using Steps = std::vector<Step>;

constexpr std::size_t kPathBytesMax = 500;

bool IsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

// Fields an operator can address below `type`, with their paths; output-only ones are left out.
void CollectPaths(const Descriptor& type, const std::string& above,
                  std::vector<std::string>& paths) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (RuleOf(field).output_only()) {
      continue;
    }
    std::string path = above.empty() ? field.name() : above + "." + field.name();
    const bool has_fields =
        IsMessage(field) && !HasShortForm(*field.message_type()) && !field.is_map();
    paths.push_back(path);
    if (has_fields) {
      CollectPaths(*field.message_type(), path + (field.is_repeated() ? "[0]" : ""), paths);
    }
  }
}

std::string LastSegment(std::string_view path) {
  return std::string(path.substr(path.rfind('.') + 1));
}

std::string NearestIn(const Descriptor& type, std::string_view path) {
  std::vector<std::string> paths;
  CollectPaths(type, "", paths);
  // The whole path first, then a field of that name further down ("max_body" ->
  // "settings.limits.max_body").
  const std::string leaf = LastSegment(path);
  for (const std::string& candidate : paths) {
    if (LastSegment(candidate) == leaf) {
      return candidate;
    }
  }
  if (std::string nearest = NearestName(path, paths); !nearest.empty()) {
    return nearest;
  }
  std::vector<std::string> leaves;
  std::transform(paths.begin(), paths.end(), std::back_inserter(leaves), LastSegment);
  const std::string nearest = NearestName(leaf, leaves);
  const auto found = std::find(leaves.begin(), leaves.end(), nearest);
  return nearest.empty() ? "" : paths[static_cast<std::size_t>(found - leaves.begin())];
}

absl::Status UnknownField(const Descriptor& root, std::string_view path) {
  const std::string nearest = NearestIn(root, path);
  return Error(absl::StatusCode::kInvalidArgument, "{}: unknown field of {}{}", Shorten(path, 100),
               root.name(), nearest.empty() ? "" : fmt::format("; the nearest is \"{}\"", nearest));
}

absl::Status AtPath(std::string_view path, const absl::Status& why) {
  return Error(absl::StatusCode::kInvalidArgument, "{}: {}", Shorten(path, 100), MessageOf(why));
}

// "bindings[2]" -> name and index.
bool SplitIndex(std::string_view& segment, int& index) {
  const std::size_t open = segment.find('[');
  if (open == std::string_view::npos) {
    return true;
  }
  const auto number =
      segment.back() == ']'
          ? ParseQuantity(segment.substr(open + 1, segment.size() - open - 2), v1::COUNT)
          : absl::StatusOr<std::int64_t>(absl::InvalidArgumentError("no closing bracket"));
  if (!number.ok() || *number < 0 || *number > kListItemsMax) {
    return false;
  }
  index = static_cast<int>(*number);
  segment = segment.substr(0, open);
  return true;
}

absl::StatusOr<Steps> ParsePath(const Descriptor& root, std::string_view path) {
  if (path.empty() || path.size() > kPathBytesMax) {
    return Error(absl::StatusCode::kInvalidArgument, "\"{}\" is no field path", Shorten(path, 60));
  }
  Steps steps;
  const Descriptor* type = &root;
  for (std::string_view segment : Split(path, '.')) {
    if (!steps.empty() && steps.back().field->is_map()) {
      const auto from = static_cast<std::size_t>(segment.data() - path.data());
      steps.back().key = path.substr(from);
      if (steps.back().key.empty()) {
        return UnknownField(root, path);
      }
      break;
    }
    Step step;
    if (!SplitIndex(segment, step.index)) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "{}: expected an index in brackets, such as bindings[0]", Shorten(path, 100));
    }
    step.field = type == nullptr ? nullptr : type->FindFieldByName(std::string(segment));
    if (step.field == nullptr || (step.field->is_map() && step.index != kSingular)) {
      return UnknownField(root, path);
    }
    if (!steps.empty() && steps.back().field->is_repeated() && steps.back().index == kSingular) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "{}: {} is a list; name one item, such as {}[0]", Shorten(path, 100),
                   steps.back().field->name(), steps.back().field->name());
    }
    if (step.index != kSingular && !step.field->is_repeated()) {
      return Error(absl::StatusCode::kInvalidArgument, "{}: {} is no list", Shorten(path, 100),
                   step.field->name());
    }
    type = IsMessage(*step.field) ? step.field->message_type() : nullptr;
    steps.push_back(step);
  }
  return steps;
}

// The item a step leads to, made if it is the one after the last.
absl::StatusOr<Message*> Enter(Message& message, const Step& step) {
  const Reflection& reflection = *message.GetReflection();
  if (step.index == kSingular) {
    return reflection.MutableMessage(&message, step.field);
  }
  const int size = reflection.FieldSize(message, step.field);
  if (step.index > size) {
    return Error(absl::StatusCode::kInvalidArgument, "{} has {} items; the next is {}[{}]",
                 step.field->name(), size, step.field->name(), size);
  }
  return step.index == size ? reflection.AddMessage(&message, step.field)
                            : reflection.MutableRepeatedMessage(&message, step.field, step.index);
}

// Replaces a list of scalars or of messages with a short form.
absl::Status SetList(Message& message, const FieldDescriptor& field, std::string_view text) {
  const Reflection& reflection = *message.GetReflection();
  reflection.ClearField(&message, &field);
  if (IsMessage(field)) {
    for (const std::string& item : SplitShortForms(text, *field.message_type())) {
      const absl::Status status = ParseShortForm(item, *reflection.AddMessage(&message, &field));
      if (!status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }
  for (const std::string_view item : SplitList(text)) {
    const int next = reflection.FieldSize(message, &field);
    const absl::Status status = PutScalar(message, field, next, item);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status SetEntries(Message& message, const Step& step, std::string_view text) {
  StringEntries entries;
  if (step.key.empty()) {
    auto parsed = ParseStringEntries(text);
    if (!parsed.ok()) {
      return parsed.status();
    }
    entries = *std::move(parsed);
  } else {
    entries = ReadStringMap(message, *step.field);
    entries[step.key] = text;
  }
  WriteStringMap(entries, *step.field, message);
  return absl::OkStatus();
}

void ClearEntries(Message& message, const Step& step) {
  StringEntries entries;
  if (!step.key.empty()) {
    entries = ReadStringMap(message, *step.field);
    entries.erase(step.key);
  }
  WriteStringMap(entries, *step.field, message);
}

std::string EntriesText(const Message& message, const Step& step) {
  const StringEntries entries = ReadStringMap(message, *step.field);
  if (step.key.empty()) {
    return FormatStringEntries(entries);
  }
  const auto found = entries.find(step.key);
  return found == entries.end() ? "" : found->second;
}

absl::Status SetStep(Message& message, const Step& step, std::string_view text) {
  const FieldDescriptor& field = *step.field;
  if (field.is_map()) {
    return SetEntries(message, step, text);
  }
  if (IsMessage(field) && !HasShortForm(*field.message_type())) {
    const std::string first = field.message_type()->field(0)->name();
    return Error(absl::StatusCode::kInvalidArgument,
                 "is no single value; set its fields, such as {}{}.{}", field.name(),
                 field.is_repeated() ? "[0]" : "", first);
  }
  if (field.is_repeated() && step.index == kSingular) {
    return SetList(message, field, text);
  }
  if (IsMessage(field)) {
    const auto item = Enter(message, step);
    return item.ok() ? ParseShortForm(text, **item) : item.status();
  }
  if (step.index != kSingular && step.index > message.GetReflection()->FieldSize(message, &field)) {
    return absl::InvalidArgumentError("the list has no such item");
  }
  return PutScalar(message, field, step.index, text);
}

absl::Status RefuseOutputOnly(const Steps& steps, std::string_view path) {
  for (const Step& step : steps) {
    if (RuleOf(*step.field).output_only()) {
      return Error(absl::StatusCode::kInvalidArgument, "{}: is set by Croft and cannot be changed",
                   Shorten(path, 100));
    }
  }
  return absl::OkStatus();
}

// The message that holds the last step's field; null where something above it is unset.
const Message* FindHolder(const Message& message, const Steps& steps) {
  const Message* at = &message;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const Reflection& reflection = *at->GetReflection();
    const Step& step = steps[i];
    if (step.index == kSingular) {
      if (!reflection.HasField(*at, step.field)) {
        return nullptr;
      }
      at = &reflection.GetMessage(*at, step.field);
    } else {
      if (step.index >= reflection.FieldSize(*at, step.field)) {
        return nullptr;
      }
      at = &reflection.GetRepeatedMessage(*at, step.field, step.index);
    }
  }
  return at;
}

std::string ListText(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  std::string text;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    text += i == 0 ? "" : ",";
    text += IsMessage(field) ? FormatShortForm(reflection.GetRepeatedMessage(message, &field, i))
                             : ScalarText(message, field, i);
  }
  return text;
}

void RemoveItem(Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  for (int i = index; i + 1 < reflection.FieldSize(message, &field); ++i) {
    reflection.SwapElements(&message, &field, i, i + 1);
  }
  reflection.RemoveLast(&message, &field);
}

}  // namespace

absl::Status SetField(Message& message, std::string_view path, std::string_view value) {
  const auto steps = ParsePath(*message.GetDescriptor(), path);
  if (!steps.ok()) {
    return steps.status();
  }
  if (const absl::Status status = RefuseOutputOnly(*steps, path); !status.ok()) {
    return status;
  }
  // On a copy, so that a refused value changes nothing.
  const std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  Message* at = copy.get();
  for (std::size_t i = 0; i + 1 < steps->size(); ++i) {
    const auto entered = Enter(*at, (*steps)[i]);
    if (!entered.ok()) {
      return AtPath(path, entered.status());
    }
    at = *entered;
  }
  if (const absl::Status status = SetStep(*at, steps->back(), value); !status.ok()) {
    return AtPath(path, status);
  }
  message.GetReflection()->Swap(&message, copy.get());
  return absl::OkStatus();
}

absl::Status ClearField(Message& message, std::string_view path) {
  const auto steps = ParsePath(*message.GetDescriptor(), path);
  if (!steps.ok()) {
    return steps.status();
  }
  if (const absl::Status status = RefuseOutputOnly(*steps, path); !status.ok()) {
    return status;
  }
  if (FindHolder(message, *steps) == nullptr) {
    return absl::OkStatus();
  }
  Message* at = &message;
  for (std::size_t i = 0; i + 1 < steps->size(); ++i) {
    at = *Enter(*at, (*steps)[i]);
  }
  const Step& last = steps->back();
  if (last.field->is_map()) {
    ClearEntries(*at, last);
  } else if (last.index == kSingular) {
    at->GetReflection()->ClearField(at, last.field);
  } else if (last.index < at->GetReflection()->FieldSize(*at, last.field)) {
    RemoveItem(*at, *last.field, last.index);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> GetField(const Message& message, std::string_view path) {
  const auto steps = ParsePath(*message.GetDescriptor(), path);
  if (!steps.ok()) {
    return steps.status();
  }
  const Step& last = steps->back();
  const FieldDescriptor& field = *last.field;
  if (IsMessage(field) && !field.is_map() && !HasShortForm(*field.message_type())) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{}: is no single value; name one of its fields", Shorten(path, 100));
  }
  const Message* holder = FindHolder(message, *steps);
  if (holder == nullptr) {
    return std::string();
  }
  if (field.is_map()) {
    return EntriesText(*holder, last);
  }
  const Reflection& reflection = *holder->GetReflection();
  if (field.is_repeated()) {
    if (last.index == kSingular) {
      return ListText(*holder, field);
    }
    if (last.index >= reflection.FieldSize(*holder, &field)) {
      return std::string();
    }
    return IsMessage(field)
               ? FormatShortForm(reflection.GetRepeatedMessage(*holder, &field, last.index))
               : ScalarText(*holder, field, last.index);
  }
  // A plain bool is never unset, only false.
  const bool is_plain_bool =
      field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL && !field.has_presence();
  if (!is_plain_bool && !reflection.HasField(*holder, &field)) {
    return std::string();
  }
  return IsMessage(field) ? FormatShortForm(reflection.GetMessage(*holder, &field))
                          : ScalarText(*holder, field, kSingular);
}

std::string NearestPath(const Message& message, std::string_view path) {
  return NearestIn(*message.GetDescriptor(), path);
}

}  // namespace croft::contract
