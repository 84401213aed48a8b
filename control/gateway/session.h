// Serves the requests of one connection, one after another, until either side ends it.
//
// In the gateway's coroutines a co_await is the whole right side of a declaration or a statement:
// g++ 12 miscompiles it within a condition.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "control/gateway/connection.h"
#include "control/gateway/exchange.h"

namespace croft::control::gateway {

boost::asio::awaitable<void> Serve(std::shared_ptr<Connection> connection,
                                   const Environment& environment);

}  // namespace croft::control::gateway
