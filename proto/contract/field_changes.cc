#include "proto/contract/field_changes.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <set>
#include <string>

#include "proto/base/check.h"
#include "proto/base/error.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/field_text.h"
#include "proto/contract/string_map.h"

namespace croft::contract {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr char kEmptyValue[] = "\"\"";
constexpr char kEmptyMessage[] = "{}";

using Changes = std::vector<v1::FieldChange>;

// What holds a field in one version; null where it is absent.
using Side = const Message*;

bool IsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

// Whether its items are texts.
bool HasText(const FieldDescriptor& field) {
  return !IsMessage(field) || HasShortForm(*field.message_type());
}

void Add(const std::string& path, const std::string& before, const std::string& after,
         Changes& changes) {
  if (before == after) {
    return;
  }
  v1::FieldChange& change = changes.emplace_back();
  change.set_path(path);
  change.set_before(before);
  change.set_after(after);
}

void DiffMessages(const std::string& prefix, Side before, Side after, Changes& changes);

std::string TextOf(Side side, const FieldDescriptor& field) {
  if (side == nullptr) {
    return "";
  }
  const auto& reflection = *side->GetReflection();
  if (field.is_repeated() ? reflection.FieldSize(*side, &field) == 0
                          : !reflection.HasField(*side, &field)) {
    return "";
  }
  const std::string text = GetField(*side, field.name()).value_or("");
  return text.empty() ? kEmptyValue : text;
}

StringEntries EntriesOf(Side side, const FieldDescriptor& field) {
  return side == nullptr ? StringEntries() : ReadStringMap(*side, field);
}

void DiffEntries(const std::string& path, const StringEntries& before, const StringEntries& after,
                 Changes& changes) {
  std::set<std::string> keys;
  for (const auto* entries : {&before, &after}) {
    for (const auto& [key, value] : *entries) {
      keys.insert(key);
    }
  }
  const auto text = [](const StringEntries& entries, const std::string& key) -> std::string {
    const auto found = entries.find(key);
    return found == entries.end() ? "" : found->second.empty() ? kEmptyValue : found->second;
  };
  for (const std::string& key : keys) {
    Add(path + "." + key, text(before, key), text(after, key), changes);
  }
}

int SizeOf(Side side, const FieldDescriptor& field) {
  return side == nullptr ? 0 : side->GetReflection()->FieldSize(*side, &field);
}

Side Enter(Side side, const FieldDescriptor& field, int index) {
  if (side == nullptr) {
    return nullptr;
  }
  const auto& reflection = *side->GetReflection();
  if (index != kSingular) {
    return index < reflection.FieldSize(*side, &field)
               ? &reflection.GetRepeatedMessage(*side, &field, index)
               : nullptr;
  }
  return reflection.HasField(*side, &field) ? &reflection.GetMessage(*side, &field) : nullptr;
}

// A message that may be there or not.
void DiffPart(const std::string& path, Side before, Side after, Changes& changes) {
  const std::size_t size = changes.size();
  DiffMessages(path + ".", before, after, changes);
  if (changes.size() == size) {
    Add(path, before == nullptr ? "" : kEmptyMessage, after == nullptr ? "" : kEmptyMessage,
        changes);
  }
}

void DiffField(const std::string& path, const FieldDescriptor& field, Side before, Side after,
               Changes& changes) {
  if (field.is_map()) {
    DiffEntries(path, EntriesOf(before, field), EntriesOf(after, field), changes);
  } else if (HasText(field)) {
    Add(path, TextOf(before, field), TextOf(after, field), changes);
  } else if (!field.is_repeated()) {
    DiffPart(path, Enter(before, field, kSingular), Enter(after, field, kSingular), changes);
  } else {
    const int size = std::max(SizeOf(before, field), SizeOf(after, field));
    for (int i = 0; i < size; ++i) {
      DiffPart(fmt::format("{}[{}]", path, i), Enter(before, field, i), Enter(after, field, i),
               changes);
    }
  }
}

void DiffMessages(const std::string& prefix, Side before, Side after, Changes& changes) {
  const Message* any = before != nullptr ? before : after;
  if (any == nullptr) {
    return;
  }
  const google::protobuf::Descriptor& type = *any->GetDescriptor();
  // A resource says which by its etag.
  const bool is_resource = prefix.empty() && type.FindFieldByName("etag") != nullptr;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const bool is_key = is_resource && (field.name() == "name" || field.name() == "etag");
    if (!is_key && !RuleOf(field).output_only()) {
      DiffField(prefix + field.name(), field, before, after, changes);
    }
  }
}

}  // namespace

Changes DiffFields(const Message* before, const Message* after) {
  Check(before == nullptr || after == nullptr || before->GetDescriptor() == after->GetDescriptor(),
        "DiffFields: the messages are of two types");
  Changes changes;
  DiffMessages("", before, after, changes);
  return changes;
}

}  // namespace croft::contract
