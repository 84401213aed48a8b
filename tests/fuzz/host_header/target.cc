// A Host header that is taken is canonical.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/base/check.h"
#include "proto/contract/host_name.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace croft::contract;
  const auto once = ParseHostHeader(text);
  if (once.ok()) {
    const auto twice = ParseHostHeader(once->host);
    croft::Check(twice.ok() && twice->host == once->host, "parsing twice changes the host");
    croft::Check(once->host.size() <= 253, "the host is too long");
  }
  return 0;
}
