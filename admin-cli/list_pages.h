// Every page of a list of resources, one at a time, whatever the type.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <string>
#include <vector>

#include "admin-cli/api_client.h"
#include "admin-cli/nouns.h"

namespace croft::admin_cli {

struct ListQuery {
  std::string farm = {};    // "-" for all; only for types that are in one
  std::string filter = {};  // AIP-160
  std::string order_by = {};
  bool show_deleted = false;
  std::vector<std::string> fields = {};  // read mask; empty: all
  std::int64_t limit = 0;                // most resources; 0: all
};

// `on_page` is called for each page, short and empty ones too. REQUIRES: the type has a list, as
// all but the platform do.
absl::Status ListPages(ApiClient& client, const Noun& noun, const ListQuery& query,
                       const std::function<void(std::vector<MessagePtr>)>& on_page);

}  // namespace croft::admin_cli
