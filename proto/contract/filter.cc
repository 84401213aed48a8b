#include "proto/contract/filter.h"

#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>

#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/filter_check.h"
#include "proto/contract/filter_parser.h"
#include "proto/contract/string_map.h"

namespace croft::contract {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::Timestamp;
using Operator = Comparison::Operator;
using Kind = Filter::Node::Kind;

bool MatchesText(const Comparison& comparison, std::string_view value) {
  const std::string_view text = comparison.text;
  if (value.size() < text.size()) {
    return false;
  }
  if (comparison.starts_open && comparison.ends_open) {
    return value.find(text) != std::string_view::npos;
  }
  if (comparison.starts_open) {
    return value.ends_with(text) && !value.empty();
  }
  return comparison.ends_open ? value.starts_with(text) : value == text;
}

template <typename Value>
bool Holds(Operator op, const Value& value, const Value& wanted) {
  switch (op) {
    case Operator::kEqual:
    case Operator::kHas:
      return value == wanted;
    case Operator::kNotEqual:
      return value != wanted;
    case Operator::kLess:
      return value < wanted;
    case Operator::kLessEqual:
      return value <= wanted;
    case Operator::kGreater:
      return value > wanted;
    case Operator::kGreaterEqual:
      return value >= wanted;
  }
  return false;
}

// One comparison on one message. "!=" is judged as "=" and turned round at the end.
class Matcher {
 public:
  Matcher(const Comparison& comparison, const IsWithin& is_within)
      : comparison_(comparison),
        op_(comparison.op == Operator::kNotEqual ? Operator::kEqual : comparison.op),
        is_within_(is_within) {}

  bool Run(const Message& resource) const {
    return AnyBelow(resource, 0) != (comparison_.op == Operator::kNotEqual);
  }

 private:
  bool AnyBelow(const Message& message, std::size_t step) const {
    const FieldDescriptor& field = *comparison_.steps[step];
    const Reflection& reflection = *message.GetReflection();
    if (step + 1 == comparison_.steps.size()) {
      return MatchesField(message, field);
    }
    if (!field.is_repeated()) {
      return reflection.HasField(message, &field) &&
             AnyBelow(reflection.GetMessage(message, &field), step + 1);
    }
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      if (AnyBelow(reflection.GetRepeatedMessage(message, &field, i), step + 1)) {
        return true;
      }
    }
    return false;
  }

  bool MatchesField(const Message& message, const FieldDescriptor& field) const {
    const Reflection& reflection = *message.GetReflection();
    if (field.is_map()) {
      return MatchesLabel(ReadStringMap(message, field));
    }
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return MatchesString(field, reflection.GetString(message, &field));
      case FieldDescriptor::CPPTYPE_ENUM:
        return Holds<std::int64_t>(op_, reflection.GetEnumValue(message, &field),
                                   comparison_.number);
      case FieldDescriptor::CPPTYPE_INT64:
        return Holds(op_, reflection.GetInt64(message, &field), comparison_.number);
      default:
        return MatchesTime(message, field);
    }
  }

  bool MatchesTime(const Message& message, const FieldDescriptor& field) const {
    const Reflection& reflection = *message.GetReflection();
    if (!reflection.HasField(message, &field)) {
      return false;
    }
    const auto& time = static_cast<const Timestamp&>(reflection.GetMessage(message, &field));
    return Holds(op_, google::protobuf::util::TimeUtil::TimestampToMicroseconds(time),
                 comparison_.number);
  }

  bool MatchesLabel(const StringEntries& labels) const {
    if (comparison_.key.empty()) {
      return labels.contains(comparison_.text);
    }
    const auto found = labels.find(comparison_.key);
    return found != labels.end() && Compare(found->second);
  }

  bool MatchesString(const FieldDescriptor& field, std::string_view value) const {
    if (value.empty() && !comparison_.text.empty()) {
      return false;
    }
    if (op_ == Operator::kHas && field.name() == "organization") {
      return is_within_(value, comparison_.text);
    }
    const bool is_name = comparison_.steps.size() == 1 && field.name() == "name";
    const bool by_id = is_name && comparison_.text.find('/') == std::string::npos;
    return Compare(by_id ? value.substr(value.rfind('/') + 1) : value);
  }

  bool Compare(std::string_view value) const {
    return op_ == Operator::kEqual || op_ == Operator::kHas
               ? MatchesText(comparison_, value)
               : Holds<std::string_view>(op_, value, comparison_.text);
  }

  const Comparison& comparison_;
  const Operator op_;
  const IsWithin& is_within_;
};

bool MatchesNode(const Filter::Node& node, const Message& resource, const IsWithin& is_within) {
  const auto matches = [&](const Filter::Node& child) {
    return MatchesNode(child, resource, is_within);
  };
  switch (node.kind) {
    case Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), matches);
    case Kind::kOr:
      return std::any_of(node.children.begin(), node.children.end(), matches);
    case Kind::kNot:
      return !matches(node.children.front());
    case Kind::kComparison:
      return Matcher(node.comparison, is_within).Run(resource);
  }
  return false;
}

void CollectConjuncts(const Filter::Node& node, std::vector<const Comparison*>& conjuncts) {
  if (node.kind == Kind::kComparison) {
    conjuncts.push_back(&node.comparison);
  } else if (node.kind == Kind::kAnd) {
    for (const Filter::Node& child : node.children) {
      CollectConjuncts(child, conjuncts);
    }
  }
}

void CollectSubtrees(const Filter::Node& node, std::vector<std::string>& names) {
  const bool is_subtree = node.kind == Kind::kComparison &&
                          node.comparison.path == "organization" &&
                          node.comparison.op == Operator::kHas;
  if (is_subtree) {
    names.push_back(node.comparison.text);
  }
  for (const Filter::Node& child : node.children) {
    CollectSubtrees(child, names);
  }
}

// The usual value of an enum, or none: not worth a term.
bool IsUsual(int enum_value) { return enum_value <= 1; }

}  // namespace

bool Comparison::IsExact() const {
  return (op == Operator::kEqual || op == Operator::kHas) && !starts_open && !ends_open;
}

absl::StatusOr<Filter> Filter::Parse(std::string_view text, ResourceType type) {
  const FilterChecker checker(type);
  auto root = ParseFilterText(text, [&](const RawComparison& raw) { return checker.Check(raw); });
  if (!root.ok()) {
    v1::FieldViolation violation;
    violation.set_field("filter");
    violation.set_value(Shorten(text));
    violation.set_description(std::string(MessageOf(root.status())));
    return InvalidFields({violation});
  }
  Filter filter;
  filter.root_ = *std::move(root);
  return filter;
}

bool Filter::Matches(const Message& resource, const IsWithin& is_within) const {
  return MatchesNode(root_, resource, is_within);
}

std::vector<const Comparison*> Filter::Conjuncts() const {
  std::vector<const Comparison*> conjuncts;
  CollectConjuncts(root_, conjuncts);
  return conjuncts;
}

std::vector<std::string> Filter::Subtrees() const {
  std::vector<std::string> names;
  CollectSubtrees(root_, names);
  return names;
}

std::vector<std::string> IndexTerms(const Message& resource) {
  std::vector<std::string> terms;
  const Reflection& reflection = *resource.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(resource, &fields);
  for (const FieldDescriptor* field : fields) {
    if (!RuleOf(*field).indexed()) {
      continue;
    }
    if (field->is_map()) {
      for (const auto& [key, value] : ReadStringMap(resource, *field)) {
        terms.push_back(fmt::format("{}.{}={}", field->name(), key, value));
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      const int value = reflection.GetEnumValue(resource, field);
      if (!IsUsual(value)) {
        terms.push_back(fmt::format("{}={}", field->name(), value));
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
               field->name() != "organization") {
      terms.push_back(fmt::format("{}={}", field->name(), reflection.GetString(resource, field)));
    }
  }
  return terms;
}

std::string TermOf(const Comparison& comparison) {
  const FieldDescriptor& field = *comparison.steps.front();
  if (comparison.steps.size() > 1 || !comparison.IsExact() || !RuleOf(field).indexed()) {
    return "";
  }
  if (field.is_map()) {
    return comparison.key.empty()
               ? ""
               : fmt::format("{}.{}={}", field.name(), comparison.key, comparison.text);
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    return IsUsual(static_cast<int>(comparison.number))
               ? ""
               : fmt::format("{}={}", field.name(), comparison.number);
  }
  const bool is_term = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
                       field.name() != "organization" && !comparison.text.empty();
  return is_term ? fmt::format("{}={}", field.name(), comparison.text) : "";
}

}  // namespace croft::contract
