// Conditional requests, in the order of RFC 9110 §13.2.2. Pure; the header values are untrusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace croft::node::worker::http {

// Values as received, several fields of one name joined with ", "; empty if absent.
struct ConditionalHeaders {
  std::string if_match{};
  std::string if_none_match{};
  std::string if_modified_since{};
  std::string if_unmodified_since{};
  std::string if_range{};
};

// Of the representation that would be served.
struct Validators {
  std::string_view etag;           // empty: none is sent
  std::int64_t last_modified = 0;  // seconds since 1970-01-01 UTC
  bool strong = true;              // whether last_modified tells two states apart
};

enum class Precondition {
  kProceed,
  kNotModified,  // 304
  kFailed,       // 412
};

// For GET and HEAD of something that exists.
Precondition Evaluate(const ConditionalHeaders& headers, const Validators& validators);

// Whether a Range header counts (RFC 9110 §13.1.5); true without If-Range.
bool RangeApplies(const ConditionalHeaders& headers, const Validators& validators);

}  // namespace croft::node::worker::http
