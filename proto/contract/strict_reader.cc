#include "proto/contract/strict_reader.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/util/field_mask_util.h>

#include <memory>
#include <set>

#include "croft/v1/settings.pb.h"
#include "proto/base/error.h"
#include "proto/contract/document.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_text.h"
#include "proto/contract/nearest_name.h"
#include "proto/contract/string_map.h"

namespace croft::contract {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Kind = DocumentNode::Kind;

// A text that is wrong throughout must not cost more than a reader can use.
constexpr std::size_t kViolationsMax = 1000;
constexpr std::size_t kNearestMax = 100;

std::string Below(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

// What people write, and what programs exchange.
enum class Dialect { kDocument, kProtobufJson };

// Reads a tree into one message, collecting what is wrong.
class MessageReader {
 public:
  MessageReader(const Message& root, Dialect dialect, ViolationList& violations)
      : root_(root), dialect_(dialect), violations_(violations) {}

  void ReadMessage(const DocumentNode& node, const std::string& path, Message& message) {
    if (node.kind == Kind::kNull) {
      return Refuse(node.line, path, "", "has no value; leave it out, or give {} for an empty one");
    }
    if (auto* list = dynamic_cast<v1::StringList*>(&message); list && node.kind == Kind::kList) {
      return ReadRepeated(node, path, *list->descriptor()->FindFieldByName("values"), *list);
    }
    if (auto* map = dynamic_cast<v1::StringMap*>(&message); map && IsPlainMap(node)) {
      return ReadEntries(node, path, *map->descriptor()->field(0), *map);
    }
    if (auto* mask = dynamic_cast<FieldMask*>(&message); mask && dialect_ == kJson) {
      return ReadMask(node, path, *mask);
    }
    if (node.kind == Kind::kScalar && HasShortForm(*message.GetDescriptor())) {
      if (const absl::Status status = ParseShortForm(node.text, message); !status.ok()) {
        Refuse(node.line, path, node.text, MessageOf(status));
      }
      return;
    }
    if (node.kind != Kind::kMap) {
      return Refuse(node.line, path, node.text, "has to be a map of fields");
    }
    ReadMembers(node, path, message);
  }

 private:
  void Refuse(int line, const std::string& path, std::string_view value, std::string_view what) {
    ++count_;
    if (count_ <= kViolationsMax) {
      violations_.Add(path, value, fmt::format("line {}: {}", line, what));
    } else if (count_ == kViolationsMax + 1) {
      violations_.Add("", "", fmt::format("line {}: more errors follow", line));
    }
  }

  // {html: text/html}, as against {entries: {html: text/html}}.
  static bool IsPlainMap(const DocumentNode& node) {
    return node.kind == Kind::kMap &&
           !(node.members.size() == 1 && node.members[0].key == "entries" &&
             node.members[0].value.kind == Kind::kMap);
  }

  void ReadMembers(const DocumentNode& node, const std::string& path, Message& message) {
    std::set<std::string_view> seen;
    std::set<const google::protobuf::OneofDescriptor*> chosen;
    for (const DocumentMember& member : node.members) {
      const auto* field = FindField(*message.GetDescriptor(), member.key);
      const std::string& name = field == nullptr ? member.key : field->name();
      const std::string at = Below(path, name);
      if (!seen.insert(name).second) {
        Refuse(member.line, at, "", "stands twice; remove one");
      } else if (field == nullptr) {
        RefuseUnknown(member, at, *message.GetDescriptor());
      } else if (dialect_ == kJson && member.value.kind == Kind::kNull) {
        continue;
      } else if (const auto* oneof = field->real_containing_oneof();
                 oneof != nullptr && !chosen.insert(oneof).second) {
        Refuse(member.line, at, "", "stands beside another, of which there can be one only");
      } else {
        ReadField(member.value, at, *field, message);
      }
    }
  }

  const FieldDescriptor* FindField(const Descriptor& type, const std::string& key) const {
    const FieldDescriptor* field = type.FindFieldByName(key);
    if (field == nullptr && dialect_ == kJson) {
      field = type.FindFieldByCamelcaseName(key);
    }
    return field;
  }

  void ReadMask(const DocumentNode& node, const std::string& path, FieldMask& mask) {
    if (node.kind != Kind::kScalar || !node.is_string ||
        !google::protobuf::util::FieldMaskUtil::FromJsonString(node.text, &mask)) {
      Refuse(node.line, path, node.text, "has to be a text of paths such as \"state,settings\"");
    }
  }

  void RefuseUnknown(const DocumentMember& member, const std::string& path,
                     const Descriptor& type) {
    if (count_ > kNearestMax) {
      return Refuse(member.line, path, "", fmt::format("unknown field of {}", type.name()));
    }
    std::vector<std::string> names;
    for (int i = 0; i < type.field_count(); ++i) {
      names.push_back(dialect_ == kJson ? type.field(i)->json_name() : type.field(i)->name());
    }
    std::string nearest = NearestName(member.key, names);
    if (nearest.empty()) {
      nearest = NearestPath(root_, member.key);
    } else {
      nearest = path.substr(0, path.size() - member.key.size()) + nearest;
    }
    Refuse(member.line, path, "",
           nearest.empty()
               ? fmt::format("unknown field of {}", type.name())
               : fmt::format("unknown field of {}; the nearest is \"{}\"", type.name(), nearest));
  }

  void ReadField(const DocumentNode& node, const std::string& path, const FieldDescriptor& field,
                 Message& message) {
    if (field.is_map()) {
      if (node.kind != Kind::kMap) {
        return Refuse(node.line, path, node.text, "has to be a map of names to values");
      }
      return ReadEntries(node, path, field, message);
    }
    if (field.is_repeated()) {
      return ReadRepeated(node, path, field, message);
    }
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return ReadMessage(node, path, *message.GetReflection()->MutableMessage(&message, &field));
    }
    ReadScalar(node, path, field, kSingular, message);
  }

  void ReadRepeated(const DocumentNode& node, const std::string& path, const FieldDescriptor& field,
                    Message& message) {
    if (node.kind != Kind::kList) {
      return Refuse(node.line, path, node.text, "has to be a list");
    }
    const Reflection& reflection = *message.GetReflection();
    reflection.ClearField(&message, &field);
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const std::string at = fmt::format("{}[{}]", path, i);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        ReadMessage(node.items[i], at, *reflection.AddMessage(&message, &field));
      } else {
        ReadScalar(node.items[i], at, field, reflection.FieldSize(message, &field), message);
      }
    }
  }

  void ReadScalar(const DocumentNode& node, const std::string& path, const FieldDescriptor& field,
                  int index, Message& message) {
    if (node.kind == Kind::kNull) {
      return Refuse(node.line, path, "",
                    "has no value; leave it out, or give \"\" for an empty text");
    }
    if (node.kind != Kind::kScalar) {
      return Refuse(node.line, path, "", "has to be a single value");
    }
    const bool json = dialect_ == kJson;
    if (json && !FindMisfit(node, field).empty()) {
      return Refuse(node.line, path, node.text, FindMisfit(node, field));
    }
    const auto* named = json && field.enum_type() != nullptr ? FindEnumValue(node, field) : nullptr;
    if (named != nullptr && named->number() == 0 && index == kSingular) {
      return;  // the unspecified value, which is how it is anyway
    }
    const absl::Status status =
        PutScalar(message, field, index, named == nullptr ? node.text : named->name());
    if (!status.ok()) {
      Refuse(node.line, path, node.text, MessageOf(status));
    }
  }

  // A text where JSON wants none, or the other way round; empty if it fits.
  static std::string_view FindMisfit(const DocumentNode& node, const FieldDescriptor& field) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return node.is_string ? "" : "has to be a text in quotes";
      case FieldDescriptor::CPPTYPE_BOOL:
        return !node.is_string && (node.text == "true" || node.text == "false")
                   ? ""
                   : "has to be true or false, without quotes";
      default:
        return node.is_string || (node.text != "true" && node.text != "false")
                   ? ""
                   : "cannot be true or false";
    }
  }

  // An enum value by name or number; null if there is none of it.
  static const google::protobuf::EnumValueDescriptor* FindEnumValue(const DocumentNode& node,
                                                                    const FieldDescriptor& field) {
    if (node.is_string) {
      return field.enum_type()->FindValueByName(node.text);
    }
    const auto number = ParseQuantity(node.text, v1::UNIT_UNSPECIFIED);
    return number.ok() && *number >= 0 && *number < 1'000'000
               ? field.enum_type()->FindValueByNumber(static_cast<int>(*number))
               : nullptr;
  }

  void ReadEntries(const DocumentNode& node, const std::string& path, const FieldDescriptor& field,
                   Message& message) {
    StringEntries entries;
    for (const DocumentMember& member : node.members) {
      const std::string at = fmt::format("{}[{}]", path, Shorten(member.key, 60));
      if (member.value.kind != Kind::kScalar || (dialect_ == kJson && !member.value.is_string)) {
        Refuse(member.line, at, "", "has to be a text; \"\" for an empty one");
      } else if (!entries.emplace(member.key, member.value.text).second) {
        Refuse(member.line, at, member.value.text, "stands twice; remove one");
      }
    }
    WriteStringMap(entries, field, message);
  }

  static constexpr Dialect kJson = Dialect::kProtobufJson;

  // Constant after construction.
  const Message& root_;
  const Dialect dialect_;
  ViolationList& violations_;

  std::size_t count_ = 0;
};

ReadResult ReadTree(const DocumentNode& root, Dialect dialect, Message& message,
                    ViolationList& violations) {
  ReadResult result{violations.Take()};
  if (!result.violations.empty()) {
    return result;
  }
  const std::unique_ptr<Message> read(message.New());
  read->CopyFrom(message);
  MessageReader(message, dialect, violations).ReadMessage(root, "", *read);
  result.violations = violations.Take();
  if (result.violations.empty()) {
    message.GetReflection()->Swap(&message, read.get());
  }
  return result;
}

}  // namespace

ReadResult ReadStrict(std::string_view text, Message& message) {
  ViolationList violations;
  const DocumentNode root = ParseDocument(text, violations);
  return ReadTree(root, Dialect::kDocument, message, violations);
}

ReadResult ReadStrictJson(std::string_view text, Message& message) {
  ViolationList violations;
  const DocumentNode root = ParseJson(text, violations);
  return ReadTree(root, Dialect::kProtobufJson, message, violations);
}

ReadResult ReadStrict(const DocumentNode& root, Message& message) {
  ViolationList violations;
  return ReadTree(root, Dialect::kDocument, message, violations);
}

ReadResult ReadStrictJson(const DocumentNode& root, Message& message) {
  ViolationList violations;
  return ReadTree(root, Dialect::kProtobufJson, message, violations);
}

}  // namespace croft::contract
