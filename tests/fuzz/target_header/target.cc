// The target's two headers: anything may come, and what is accepted survives being encoded again.
#include <cstdint>
#include <string_view>

#include "node/link/target_codec.h"
#include "proto/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croft::node::link;
  const std::string_view header(reinterpret_cast<const char*>(data), size);
  if (const auto target = DecodeTarget(header); target.ok()) {
    const auto again = DecodeTarget(EncodeTarget(*target));
    croft::Check(again.ok() && again->root == target->root && again->strip == target->strip &&
                     again->settings_number == target->settings_number,
                 "a target survives encoding");
  }
  if (const auto settings = DecodeSettings(header); settings.ok()) {
    croft::Check(settings->number < kSettingsNumbers, "a settings number is bounded");
    croft::Check(DecodeSettings(EncodeSettings(settings->number, settings->settings)).ok(),
                 "settings survive encoding");
  }
  return 0;
}
