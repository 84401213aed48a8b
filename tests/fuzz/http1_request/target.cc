// Anything a visitor may send: a head that is accepted has one host, one framing, and views inside
// its own bytes; its body ends.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node/listener/http1_request.h"
#include "proto/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croft::node::listener;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  HeadScanner scanner;
  if (scanner.Scan(bytes) != HeadScanner::Result::kComplete) {
    return 0;
  }
  RequestHead head;
  RequestParser parser;
  if (parser.ParseHead({bytes.data(), scanner.head_size()}, head)) {
    return 0;
  }
  croft::Check(!head.path.empty() && (head.path[0] == '/' || head.path == "*"), "a path");
  croft::Check(head.minor_version == 0 || !head.host.empty() || head.field_count > 0, "a host");
  for (const HeaderField& field : head.headers()) {
    croft::Check(field.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos,
                 "a value on one line");
    croft::Check(!field.forwarded || field.name.substr(0, 6) != "croft-", "no header of ours");
  }
  std::string body;
  std::optional<Refusal> refusal;
  const std::string_view rest = std::string_view(bytes).substr(scanner.head_size());
  if (head.body != BodyKind::kNone) {
    croft::Check(parser.FeedBody(rest, body, refusal) <= rest.size() && body.size() <= rest.size(),
                 "no more than was sent");
  }
  return 0;
}
