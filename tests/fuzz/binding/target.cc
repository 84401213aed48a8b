// A binding that is taken formats to what parses to the same, and its key comes back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/base/check.h"
#include "proto/contract/binding_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace croft::contract;
  const auto once = ParseBinding(text);
  if (once.ok()) {
    const auto twice = ParseBinding(FormatBinding(*once));
    croft::Check(twice.ok() && FormatBinding(*twice) == FormatBinding(*once), "formatting changes");
    const BindingKey key = MakeBindingKey(*once);
    const auto decoded = DecodeBindingKey(EncodeBindingKey(key));
    croft::Check(decoded.ok() && decoded->host == key.host && decoded->ip == key.ip &&
                     decoded->port == key.port,
                 "the key changes");
  }
  static_cast<void>(DecodeBindingKey(text));
  return 0;
}
