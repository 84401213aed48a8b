// A request as a handler sees it. Filled by http2/connection; the values are the visitor's and
// untrusted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "node/worker/http/preconditions.h"

namespace croft::node::worker::handlers {
struct SiteSettings;
}

namespace croft::node::worker::http {

enum class Method { kGet, kHead, kOther };

struct Request {
  Method method = Method::kOther;
  // Normalised: decoded once, no dot segments, begins with "/".
  std::string path;
  // With its "?", as sent; empty if there is none.
  std::string query;
  ConditionalHeaders conditions;
  std::string range;

  // The target. `path` from `strip` on is looked for below `root`, which is relative to the store;
  // checked by MakeContentPath.
  std::shared_ptr<const handlers::SiteSettings> site;
  std::string root;
  std::size_t strip = 0;
};

}  // namespace croft::node::worker::http
