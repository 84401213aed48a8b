// A stream over HTTP: messages are lines of JSON in both directions, the answer's chunks go out as
// they come, and an error after the first of them is a last line {"error":{...}}. The connection
// ends with it.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "control/api/stream_methods.h"
#include "control/gateway/exchange.h"

namespace croft::control::gateway {

boost::asio::awaitable<void> CallStream(Exchange exchange, const api::StreamMethod& method,
                                        BodyReader& body);

}  // namespace croft::control::gateway
