// Whether a comparison of a filter makes sense for a resource type, and what it means: the field,
// an index behind it, the operator, the value in canonical form. Pure.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>

#include "proto/contract/filter_parser.h"

namespace croft::contract {

class FilterChecker {
 public:
  explicit FilterChecker(ResourceType type);

  absl::StatusOr<Comparison> Check(const RawComparison& raw) const;

 private:
  absl::StatusOr<Comparison> FindField(std::string_view path) const;

  const ResourceType type_;
  const google::protobuf::Descriptor& message_;
};

}  // namespace croft::contract
