// What of a worker's response header goes on to the visitor: its fields become lines of HTTP/1.1 in
// the exchange, within the listener's limits. Knows no HTTP/2 frames. Fuzzed with worker_session.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "node/listener/exchange.h"

namespace croft::node::listener {

inline constexpr std::size_t kResponseHeaderBytesMax = 32 * 1024;
inline constexpr int kResponseFieldsMax = 128;

// False: beyond the limits, the response is to be refused.
bool TakeResponseField(Exchange& exchange, std::string_view name, std::string_view value);

enum class ResponseHead : std::uint8_t { kInterim, kFinal, kBad };

// After a header's last field. An interim response, 1xx, is forgotten.
ResponseHead FinishResponseHead(Exchange& exchange);

}  // namespace croft::node::listener
