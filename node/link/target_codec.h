// How a target travels from listener to worker in HTTP/2 request headers:
//   croft-settings: NUMBER=BASE64URL(TargetSettings)   with the first request on this connection
//                                                      that uses the number
//   croft-target:   NUMBER,STRIP,ROOT                  with every request, at most 100 bytes for
//                                                      usual roots
// NUMBER is 0..kSettingsNumbers-1 and may be defined again. STRIP: bytes of the normalised path
// that the mount's prefix takes. ROOT: percent-encoded path relative to the store. The file is
// store_path/ROOT/(normalised path from STRIP). Pure; the decoder is fuzzed.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "croft/node/v1/target.pb.h"

namespace croft::node::link {

inline constexpr std::string_view kSettingsHeader = "croft-settings";
inline constexpr std::string_view kTargetHeader = "croft-target";
// Response header from the worker, for log and counters, removed by the listener: "SUBSTATUS"
// (IIS 404.3 -> "3").
inline constexpr std::string_view kSubstatusHeader = "croft-substatus";
inline constexpr std::uint32_t kSettingsNumbers = 512;
inline constexpr std::size_t kSettingsBytesMax = 32 * 1024;

struct Target {
  std::uint32_t settings_number = 0;
  std::size_t strip = 0;
  std::string root;
};

std::string EncodeTarget(const Target& target);
absl::StatusOr<Target> DecodeTarget(std::string_view header);

std::string EncodeSettings(std::uint32_t number, const node::v1::TargetSettings& settings);
struct NumberedSettings {
  std::uint32_t number = 0;
  node::v1::TargetSettings settings;
};
absl::StatusOr<NumberedSettings> DecodeSettings(std::string_view header);

}  // namespace croft::node::link
