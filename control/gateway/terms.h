// What a request's header says about how it is to be read and answered, and what is refused for it
// before a byte of the body is read. Pure.
#pragma once

#include <absl/status/status.h>

#include <boost/beast/http/fields.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/gateway/codec.h"
#include "control/gateway/routes.h"

namespace croft::control::gateway {

struct HttpAnswer {
  int status = 200;
  std::string content_type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// `http_status` 0: as the code maps.
HttpAnswer ErrorAnswer(const absl::Status& status, int http_status = 0);

struct Terms {
  Codec codec = Codec::kJson;
  std::string content_type;  // of the answer
  std::optional<std::chrono::milliseconds> timeout;

  std::chrono::steady_clock::time_point DeadlineFromNow() const {
    return timeout.has_value() ? std::chrono::steady_clock::now() + *timeout
                               : std::chrono::steady_clock::time_point::max();
  }
};

// The refusal, or nullopt with `terms` filled in. `route` is a method's.
std::optional<HttpAnswer> ReadTerms(const boost::beast::http::fields& header, const Route& route,
                                    Terms& terms);

}  // namespace croft::control::gateway
