// The settings a connection's requests name by number (node/link/target_codec.h). One per
// connection; loop thread only.
#pragma once

#include <absl/status/status.h>

#include <memory>
#include <string_view>
#include <vector>

#include "node/worker/handlers/site_settings.h"
#include "node/worker/http/request.h"
#include "node/worker/store/stores.h"

namespace croft::node::worker {

class TargetTable {
 public:
  // `stores` outlives it.
  explicit TargetTable(store::Stores& stores) : stores_(stores) {}

  // A croft-settings header: defines its number, or defines it again.
  absl::Status Define(std::string_view header);
  // A croft-target header: fills the request's site, root and strip. failed_precondition when its
  // number is not defined.
  absl::Status Resolve(std::string_view header, http::Request& request) const;

 private:
  store::Stores& stores_;
  std::vector<std::shared_ptr<const handlers::SiteSettings>> settings_;  // by number
};

}  // namespace croft::node::worker
