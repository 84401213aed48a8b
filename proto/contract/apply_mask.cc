#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/field_mask_util.h>

#include <memory>
#include <optional>

#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/nearest_name.h"
#include "proto/contract/string_map.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::util::FieldMaskUtil;

// Which mask it is, and whether it may name what only control sets.
struct MaskKind {
  std::string_view field;
  bool output_only = false;
};
constexpr MaskKind kUpdateMask{"update_mask", false};
constexpr MaskKind kReadMask{"read_mask", true};

absl::Status Refuse(const MaskKind& kind, std::string_view path, std::string_view why) {
  v1::FieldViolation violation;
  violation.set_field(std::string(kind.field));
  violation.set_value(Shorten(path, 100));
  violation.set_description(std::string(why));
  return InvalidFields({violation});
}

// Of a read mask also among the fields that only control sets.
std::string FindNearest(const Message& message, const MaskKind& kind, std::string_view path) {
  const Descriptor& type = *message.GetDescriptor();
  std::vector<std::string> names;
  for (int i = 0; kind.output_only && i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
  }
  std::string nearest = NearestName(path, names);
  return nearest.empty() ? NearestPath(message, path) : nearest;
}

absl::Status CheckMaskPath(const Message& message, const MaskKind& kind, std::string_view path) {
  const Descriptor* type = message.GetDescriptor();
  const FieldDescriptor* above = nullptr;
  for (const std::string_view segment : Split(path, '.')) {
    if (above != nullptr && above->is_map() &&
        above->containing_type() == message.GetDescriptor()) {
      return absl::OkStatus();  // all that follows is the key
    }
    const bool can_enter = above == nullptr || !above->is_repeated();
    above = can_enter && type != nullptr ? type->FindFieldByName(std::string(segment)) : nullptr;
    if (above == nullptr) {
      const std::string nearest = FindNearest(message, kind, path);
      return Refuse(
          kind, path,
          fmt::format("unknown field \"{}\"{}", Shorten(path, 100),
                      nearest.empty() ? "" : fmt::format("; the nearest is \"{}\"", nearest)));
    }
    if (!kind.output_only && RuleOf(*above).output_only()) {
      return Refuse(
          kind, path,
          fmt::format("\"{}\" is set by Croft and cannot be changed", Shorten(path, 100)));
    }
    type = above->message_type();
  }
  return absl::OkStatus();
}

// "labels.customer" -> the field labels and "customer"; maps are fields of the resource itself.
struct MapEntry {
  const FieldDescriptor* field = nullptr;
  std::string key;
};

std::optional<MapEntry> FindMapEntry(const Descriptor& type, const std::string& path) {
  const std::size_t dot = path.find('.');
  const FieldDescriptor* field = type.FindFieldByName(path.substr(0, dot));
  if (dot == std::string::npos || field == nullptr || !field->is_map()) {
    return std::nullopt;
  }
  return MapEntry{field, path.substr(dot + 1)};
}

void CopyMapEntry(const MapEntry& entry, const Message& from, Message& to) {
  const StringEntries ours = ReadStringMap(from, *entry.field);
  StringEntries theirs = ReadStringMap(to, *entry.field);
  const auto found = ours.find(entry.key);
  if (found == ours.end()) {
    theirs.erase(entry.key);
  } else {
    theirs[entry.key] = found->second;
  }
  WriteStringMap(theirs, *entry.field, to);
}

// Copies what the paths name; all are valid.
void CopyPaths(const FieldMask& mask, const Message& from, Message& to) {
  FieldMask plain;
  for (const std::string& path : mask.paths()) {
    if (const auto entry = FindMapEntry(*from.GetDescriptor(), path)) {
      CopyMapEntry(*entry, from, to);
    } else {
      plain.add_paths(path);
    }
  }
  FieldMaskUtil::MergeOptions options;
  options.set_replace_message_fields(true);
  options.set_replace_repeated_fields(true);
  FieldMaskUtil::MergeMessageTo(from, plain, options, &to);
}

}  // namespace

absl::Status ApplyMask(const FieldMask& mask, const Message& from, Message& to) {
  FieldMask whole;
  for (const std::string& path : mask.paths()) {
    if (path == "*") {
      const Descriptor& type = *from.GetDescriptor();
      for (int i = 0; i < type.field_count(); ++i) {
        if (!RuleOf(*type.field(i)).output_only()) {
          whole.add_paths(type.field(i)->name());
        }
      }
      continue;
    }
    if (const absl::Status status = CheckMaskPath(from, kUpdateMask, path); !status.ok()) {
      return status;
    }
    whole.add_paths(path);
  }
  CopyPaths(whole, from, to);
  return absl::OkStatus();
}

absl::Status CheckReadMask(const FieldMask& mask, const Message& prototype) {
  for (const std::string& path : mask.paths()) {
    const absl::Status status =
        path == "*" ? absl::OkStatus() : CheckMaskPath(prototype, kReadMask, path);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

void ApplyReadMask(const FieldMask& mask, Message& resource) {
  FieldMask kept = mask;
  for (const std::string& path : mask.paths()) {
    if (path == "*") {
      return;
    }
  }
  if (kept.paths().empty()) {
    return;
  }
  for (const char* always : {"name", "uid", "etag"}) {
    kept.add_paths(always);
  }
  const std::unique_ptr<Message> masked(resource.New());
  CopyPaths(kept, resource, *masked);
  resource.GetReflection()->Swap(&resource, masked.get());
}

}  // namespace croft::contract
