// Settings inheritance: platform -> farm -> site -> path, one reflection-based merge. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croft/v1/settings.pb.h"
#include "croft/v1/site.pb.h"

namespace croft::contract {

// Every field set to its documented default.
const v1::Settings& DefaultSettings();

// What `over` sets replaces what `base` has: scalars, and StringList and StringMap as a whole.
void MergeSettings(const v1::Settings& over, v1::Settings& base);

struct SettingsLayer {
  std::string
      origin;  // "platform", "farms/main", "farms/main/sites/shop", "farms/main/sites/shop/docs"
  const v1::Settings* settings = nullptr;
};

// Layers from outermost to innermost, on top of the defaults.
v1::Settings EffectiveSettings(std::span<const SettingsLayer> layers);

// Every field's effective value as text (with its unit) and the layer it came from ("default" if
// none).
std::vector<v1::EffectiveValue> ExplainSettings(std::span<const SettingsLayer> layers);

}  // namespace croft::contract
