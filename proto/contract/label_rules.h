// What a label may be: free words to select resources by. Pure.
#pragma once

#include <absl/status/status.h>

#include <string_view>

#include "proto/contract/string_map.h"
#include "proto/contract/violations.h"

namespace croft::contract {

inline constexpr std::size_t kLabelsMax = 32;
inline constexpr std::size_t kLabelBytesMax = 63;

// A key: 1 to 63 of [a-z0-9._/-], beginning with a letter or digit.
absl::Status CheckLabelKey(std::string_view key);
// `path` is the field's: "site.labels".
void CheckLabels(const StringEntries& labels, std::string_view path, ViolationList& violations);

}  // namespace croft::contract
