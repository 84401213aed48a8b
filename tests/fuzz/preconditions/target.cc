// The five conditional headers, one per line. Each answer depends on nothing but its input, and "*"
// behaves as RFC 9110 says.
#include <cstdint>
#include <string>
#include <string_view>

#include "node/worker/http/http_date.h"
#include "node/worker/http/preconditions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croft::node::worker::http;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  ConditionalHeaders headers;
  for (std::string* field : {&headers.if_match, &headers.if_none_match, &headers.if_modified_since,
                             &headers.if_unmodified_since, &headers.if_range}) {
    const std::size_t line = rest.find('\n');
    *field = rest.substr(0, line);
    rest = line == std::string_view::npos ? std::string_view() : rest.substr(line + 1);
  }
  const Validators validators{.etag = "\"v2\"", .last_modified = 784111777, .strong = true};
  const Precondition result = Evaluate(headers, validators);
  if (headers.if_match == "*" && headers.if_none_match == "*" &&
      result != Precondition::kNotModified) {
    __builtin_trap();
  }
  static_cast<void>(RangeApplies(headers, validators));
  return 0;
}
