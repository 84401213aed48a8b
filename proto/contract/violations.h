// The violations of one resource, in the order found. Not thread-safe.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croft/v1/error.pb.h"
#include "proto/contract/errors.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {

class ViolationList {
 public:
  void Add(std::string_view field, std::string_view value, std::string_view description) {
    v1::FieldViolation& violation = violations_.emplace_back();
    violation.set_field(std::string(field));
    violation.set_value(Shorten(value));
    violation.set_description(std::string(description));
  }
  void Add(std::string_view field, std::string_view value, const absl::Status& why) {
    Add(field, value, MessageOf(why));
  }

  std::vector<v1::FieldViolation> Take() { return std::move(violations_); }

 private:
  std::vector<v1::FieldViolation> violations_;
};

}  // namespace croft::contract
