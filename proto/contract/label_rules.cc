#include "proto/contract/label_rules.h"

#include <algorithm>

#include "proto/base/error.h"

namespace croft::contract {

absl::Status CheckLabelKey(std::string_view key) {
  const auto is_edge = [](char c) { return (c >= 'a' && c <= 'z') || IsDigit(c); };
  const auto is_inner = [&](char c) {
    return is_edge(c) || c == '.' || c == '_' || c == '/' || c == '-';
  };
  const bool valid = !key.empty() && key.size() <= kLabelBytesMax && is_edge(key.front()) &&
                     std::all_of(key.begin(), key.end(), is_inner);
  return valid ? absl::OkStatus()
               : Error(absl::StatusCode::kInvalidArgument,
                       "label key \"{}\": 1 to {} of a-z, 0-9, \".\", \"_\", \"/\" and \"-\", "
                       "beginning with a letter or digit",
                       Shorten(key, 60), kLabelBytesMax);
}

void CheckLabels(const StringEntries& labels, std::string_view path, ViolationList& violations) {
  if (labels.size() > kLabelsMax) {
    violations.Add(path, std::to_string(labels.size()),
                   fmt::format("has {} labels; at most {} are allowed", labels.size(), kLabelsMax));
    return;
  }
  for (const auto& [key, value] : labels) {
    const std::string at = fmt::format("{}.{}", path, Shorten(key, 60));
    if (const absl::Status status = CheckLabelKey(key); !status.ok()) {
      violations.Add(at, value, status);
    } else if (HasControl(value)) {
      violations.Add(at, value, "may have no control characters");
    } else if (!IsUtf8(value)) {
      violations.Add(at, value, "is not UTF-8");
    } else if (value.size() > kLabelBytesMax) {
      violations.Add(at, value, fmt::format("is longer than {} bytes", kLabelBytesMax));
    }
  }
}

}  // namespace croft::contract
