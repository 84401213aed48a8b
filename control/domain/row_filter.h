// A filter of resources as a caller wrote it, with the tree of organizations that "organization:"
// asks for. One thread; blocks on the store.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "control/domain/access.h"
#include "control/store/store.h"
#include "proto/contract/filter.h"

namespace croft::control::domain {

class RowFilter {
 public:
  // invalid_argument where the text is no filter of the type.
  static absl::StatusOr<RowFilter> Parse(std::string_view text, contract::ResourceType type,
                                         store::Store& store, Access& access);

  // For ListQuery::filter; null when everything is selected.
  const contract::Filter* query() const {
    return filter_.selects_everything() ? nullptr : &filter_;
  }
  // `resource` is the row's, with its output-only fields.
  absl::StatusOr<bool> Matches(const store::StoredResource& row,
                               const google::protobuf::Message& resource);

 private:
  RowFilter(contract::Filter filter, std::map<std::string, std::int64_t, std::less<>> subtrees,
            Access& access)
      : filter_(std::move(filter)), subtrees_(std::move(subtrees)), access_(&access) {}

  contract::Filter filter_;
  // Uids of the organizations whose subtrees it names; those that don't exist are left out.
  std::map<std::string, std::int64_t, std::less<>> subtrees_;
  Access* access_;
};

}  // namespace croft::control::domain
