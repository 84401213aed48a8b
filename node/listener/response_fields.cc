#include "node/listener/response_fields.h"

#include <charconv>

#include "node/link/target_codec.h"
#include "node/listener/ascii.h"

namespace croft::node::listener {
namespace {

bool IsHopByHop(std::string_view name) {
  return name == "connection" || name == "keep-alive" || name == "proxy-connection" ||
         name == "transfer-encoding" || name == "upgrade" || name == "te" || name == "trailer";
}

}  // namespace

bool TakeResponseField(Exchange& exchange, std::string_view name, std::string_view value) {
  if (name == ":status") {
    std::from_chars(value.data(), value.data() + value.size(), exchange.status);
    return true;
  }
  if (IsHopByHop(name) || name == "server" || name == "date") {
    return true;
  }
  if (name == link::kSubstatusHeader) {
    exchange.substatus = IsDigits(value) && value.size() <= 4 ? value : std::string_view();
    return true;
  }
  if (name == "content-length") {
    // nghttp2 has refused what is no number and what differs from the body's length.
    std::from_chars(value.data(), value.data() + value.size(), exchange.content_length);
    return true;
  }
  ++exchange.header_fields;
  if (exchange.header_fields > kResponseFieldsMax ||
      exchange.header.size() + name.size() + value.size() > kResponseHeaderBytesMax) {
    return false;
  }
  exchange.header.append(name).append(": ").append(value).append("\r\n");
  return true;
}

ResponseHead FinishResponseHead(Exchange& exchange) {
  if (exchange.status / 100 == 1) {
    exchange.header.clear();
    exchange.content_length = -1;
    exchange.header_fields = 0;
    return ResponseHead::kInterim;
  }
  return exchange.status >= 200 && exchange.status <= 599 ? ResponseHead::kFinal
                                                          : ResponseHead::kBad;
}

}  // namespace croft::node::listener
