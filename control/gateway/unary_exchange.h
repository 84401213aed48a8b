// A unary method over HTTP: the body is read whole, parsed and dispatched on the executor, and the
// answer awaited, at most as long as the client said.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "control/api/methods.h"
#include "control/gateway/exchange.h"

namespace croft::control::gateway {

boost::asio::awaitable<HttpAnswer> CallUnary(const Exchange& exchange, const api::Method& method,
                                             BodyReader& body);

// What a page says, made on the executor when it blocks.
boost::asio::awaitable<HttpAnswer> MakePage(const Environment& environment, Connection& connection,
                                            const Page& page, api::Credentials credentials);

}  // namespace croft::control::gateway
