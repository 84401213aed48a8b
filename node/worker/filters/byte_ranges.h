// Range requests (RFC 9110 §14): turns a complete 200 response with a file as its body into 206 or
// 416. Pure; the header is untrusted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "node/worker/http/response.h"

namespace croft::node::worker::filters {

// More ranges than this in one header are an attack or a mistake: the whole file is sent.
inline constexpr std::size_t kRangesMax = 16;

struct ByteRange {
  std::int64_t first = 0;
  std::int64_t last = 0;  // inclusive

  bool operator==(const ByteRange&) const = default;
};

struct RangeSelection {
  enum class Kind {
    kWhole,          // no valid byte range, or too many: 200
    kSome,           // 206
    kUnsatisfiable,  // 416
  };
  Kind kind = Kind::kWhole;
  // In the order asked for; where some overlapped, merged and in file order.
  std::vector<ByteRange> ranges;
};

RangeSelection SelectRanges(std::string_view header, std::int64_t size);

// REQUIRES: `response` is 200 with one piece, all of its file (or none, for HEAD), and a
// content-type. Returns whether it became a 206.
bool ApplyRanges(std::string_view header, std::int64_t size, http::Response& response);

}  // namespace croft::node::worker::filters
