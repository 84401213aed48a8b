// What settings may say beyond their FieldRules: file names, patterns, media types, and the size of
// it all. Pure.
#pragma once

#include <string_view>

#include "croft/v1/settings.pb.h"
#include "proto/contract/violations.h"

namespace croft::contract {

// Serialised size of one layer's settings. Lists replace each other as a whole, so what a worker is
// sent stays below three times this.
inline constexpr std::size_t kSettingsLayerBytesMax = 6 * 1024;

// Extensions of mime_types to lower case without dot.
void NormalizeSettings(v1::Settings& settings);

// `path` is the path of `settings` ("site.settings").
void ValidateSettings(const v1::Settings& settings, std::string_view path,
                      ViolationList& violations);

}  // namespace croft::contract
