// Anything a worker may send in answer to one request: whatever comes, the exchange ends within its
// limits and its header is whole lines.
#include <cstdint>
#include <string_view>

#include "proto/base/check.h"
#include "tests/fuzz/one_exchange.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croft::node::listener;
  OneExchange one;
  WorkerSession& session = one.session;
  Exchange& exchange = one.exchange;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // In two parts, so that frames are cut.
  const bool open =
      session.Feed(bytes.substr(0, size / 2)).ok() && session.Feed(bytes.substr(size / 2)).ok();
  static_cast<void>(open && session.Collect());
  croft::Check(exchange.header.size() <= kResponseHeaderBytesMax + 8, "a bounded header");
  croft::Check(
      exchange.header.empty() || exchange.header.substr(exchange.header.size() - 2) == "\r\n",
      "whole lines");
  croft::Check(exchange.body.size() <= static_cast<std::size_t>(kBulkWindowBytes), "a window");
  croft::Check(!exchange.head_done || (exchange.status >= 200 && exchange.status <= 599),
               "a status");
  return 0;
}
