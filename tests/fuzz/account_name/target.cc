// A name that is taken is a DNS label and names a path segment.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/base/check.h"
#include "proto/contract/account_name.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace croft::contract;
  const auto name = ParseAccountName(text);
  croft::Check(CanonicalAccountName(text) == name.value_or(""), "the request path disagrees");
  if (name.ok()) {
    croft::Check(*ParseAccountName(*name) == *name, "parsing twice changes the name");
    croft::Check(name->size() <= 63 && name->find_first_of("/.~_% ") == std::string::npos,
                 "the name is no label");
  }
  return 0;
}
