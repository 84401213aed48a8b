// Filters of lists and watches (AIP-160), parsed and checked against one resource type:
//   state = SUSPENDED AND (labels.customer = "acme" OR labels.tier:*) AND NOT name = "test-*"
// OR binds tighter than AND, as AIP-160 has it; comparisons side by side are all to hold. Only
// fields whose rule says `indexed`, and name and uid, may be named. Pure; a Filter is immutable.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/contract/resource_name.h"

namespace croft::contract {

// One comparison of a field with a value. A list matches when any item does; != is the opposite of
// =. Text may begin or end with "*". A text with a "/" is compared with the whole name, another one
// with its last segment.
struct Comparison {
  enum class Operator { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kHas };

  std::string path;  // "bindings.host", "labels"
  std::string key;   // of labels
  std::vector<const google::protobuf::FieldDescriptor*> steps;
  Operator op = Operator::kEqual;
  std::string text;          // without its "*"; a label's key for "labels:customer"
  bool starts_open = false;  // "*text"
  bool ends_open = false;    // "text*"
  std::int64_t number = 0;   // enum value, integer, or time in microseconds since 1970

  // Whether it is "=" (or ":") with one exact text.
  bool IsExact() const;
};

// Whether an organization is, or lies below, the other one.
using IsWithin = std::function<bool(std::string_view organization, std::string_view above)>;

class Filter {
 public:
  struct Node {
    enum class Kind { kAnd, kOr, kNot, kComparison };
    Kind kind = Kind::kAnd;
    std::vector<Node> children;
    Comparison comparison;
  };

  // invalid_argument, at the field "filter", says where and what is expected. The empty text
  // selects everything.
  static absl::StatusOr<Filter> Parse(std::string_view text, ResourceType type);

  bool selects_everything() const { return root_.children.empty(); }
  // REQUIRES: a resource of the filter's type with its output-only fields.
  bool Matches(const google::protobuf::Message& resource, const IsWithin& is_within) const;
  // Comparisons that whatever the filter selects satisfies; an index may answer one of them.
  std::vector<const Comparison*> Conjuncts() const;
  // Organizations compared by ":", whose subtrees Matches will ask for.
  std::vector<std::string> Subtrees() const;

 private:
  Node root_;  // a conjunction
};

// What is stored beside a resource to find it by: its labels, a state that is not the usual one.
// Nothing for most.
std::vector<std::string> IndexTerms(const google::protobuf::Message& resource);
// The term that a resource satisfying the comparison has; "" where terms can't tell.
std::string TermOf(const Comparison& comparison);

// Paths that filters of the type may name: "bindings.host", "labels.KEY".
std::vector<std::string> FilterablePaths(ResourceType type);

}  // namespace croft::contract
