// HTTP dates (RFC 9110 §5.6.7). Seconds since 1970-01-01 UTC. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace croft::node::worker::http {

// "Sun, 06 Nov 1994 08:49:37 GMT"; years 0..9999, others are clamped.
std::string FormatHttpDate(std::int64_t seconds);

// All three forms that a recipient must take: IMF-fixdate, RFC 850, asctime. nullopt for anything
// else.
std::optional<std::int64_t> ParseHttpDate(std::string_view text);

}  // namespace croft::node::worker::http
