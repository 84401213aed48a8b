// What became of the rows of one batch of an import. Not thread-safe.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "croft/v1/resource.pb.h"

namespace croft::control::domain {

class ImportReport {
 public:
  void Fail(std::int64_t line, std::string_view field, std::string_view reason);
  // The row's error, with the field it is about.
  void Fail(std::int64_t line, const absl::Status& status);
  v1::Counts& counts() { return counts_; }
  // Whether anything is to be committed.
  bool changes_anything() const { return counts_.created() + counts_.updated() > 0; }
  // Errors in the order of the lines. Leaves nothing.
  v1::ImportResourcesResponse Take();

 private:
  v1::ImportResourcesResponse response_;
  v1::Counts counts_;
};

}  // namespace croft::control::domain
