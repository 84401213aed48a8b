// A host name that is taken is canonical: it parses to itself, as a Host header too.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/base/check.h"
#include "proto/contract/host_name.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace croft::contract;
  const auto once = ParseHostName(text);
  if (once.ok()) {
    const auto twice = ParseHostName(*once);
    croft::Check(twice.ok() && *twice == *once, "parsing twice changes the name");
    const auto header = ParseHostHeader(*once);
    croft::Check(header.ok() && header->host == *once, "the Host header disagrees");
    DisplayHostName(*once);
  }
  DisplayHostName(text);
  return 0;
}
