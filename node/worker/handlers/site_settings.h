// A site's settings as handlers use them, made once from what the listener sent. Immutable, any
// thread.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "croft/node/v1/target.pb.h"
#include "node/worker/http/hidden_segments.h"
#include "node/worker/http/mime_types.h"
#include "node/worker/store/stores.h"

namespace croft::node::worker::handlers {

struct SiteSettings {
  std::shared_ptr<store::Store> store;
  // Plain file names, in the order tried; empty when default documents are off.
  std::vector<std::string> default_documents;
  http::MimeOverrides mime_types;
  std::string unknown_mime_type;  // empty: not served
  http::HiddenSegments hidden;
  bool etag = true;
  std::string cache_control;  // empty: none is sent
};

// invalid_argument when the store's path is not absolute.
absl::StatusOr<std::shared_ptr<const SiteSettings>> CompileSettings(
    const node::v1::TargetSettings& settings, store::Stores& stores);

}  // namespace croft::node::worker::handlers
