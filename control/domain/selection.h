// The resources of a type that a filter selects and a caller sees, walked in the order of their
// names, which never change: what is changed on the way is neither met again nor left out. One
// thread; blocks on the store.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/domain/row_filter.h"
#include "control/store/store.h"

namespace croft::control::domain {

// The uid of the farm that a list's parent names; 0 for "farms/-", and for types that are in none.
absl::StatusOr<std::int64_t> FindParentFarm(store::Store& store, contract::ResourceType type,
                                            const std::string& parent);

struct SelectionRequest {
  contract::ResourceType type = contract::ResourceType::kSite;
  std::string parent = {};
  std::string filter = {};
};

// The last row that was looked at.
struct SelectionCursor {
  std::string name = {};
  std::int64_t uid = 0;
};

class Selection {
 public:
  // invalid_argument and not_found as for a list.
  static absl::StatusOr<Selection> Open(store::Store& store, Access& access, const Caller& caller,
                                        const SelectionRequest& request);

  // Looks at up to `examined_max` rows after the cursor, which goes along, and gives those that
  // match to `take`, until that says false. False when there are no more.
  absl::StatusOr<bool> Walk(int examined_max, SelectionCursor& cursor,
                            const std::function<bool(store::StoredResource&)>& take);
  // Whether a row that was read again is still selected.
  absl::StatusOr<bool> Matches(const store::StoredResource& row);

 private:
  Selection(store::Store& store, RowFilter filter, store::ListQuery query)
      : store_(&store), filter_(std::move(filter)), query_(std::move(query)) {}

  store::Store* store_;
  RowFilter filter_;
  store::ListQuery query_;  // without filter and cursor
};

}  // namespace croft::control::domain
