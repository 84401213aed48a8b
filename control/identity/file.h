// Small files written whole: a reader sees the old one, the new one or none, also after a power
// cut.
#pragma once

#include <absl/status/status.h>
#include <sys/types.h>

#include <string>
#include <string_view>

namespace croft::control::identity {

// Replaces the file.
absl::Status WriteFile(const std::string& path, std::string_view content, mode_t mode);
// already_exists when there is one.
absl::Status CreateFileOnce(const std::string& path, std::string_view content, mode_t mode);

}  // namespace croft::control::identity
