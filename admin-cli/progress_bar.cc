// The bar of output.h.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "admin-cli/output.h"

namespace croft::admin_cli {
ProgressBar::ProgressBar(std::string label, std::int64_t total)
    : label_(std::move(label)), total_(total), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (terminal_ && drawn_at_ms_ != 0) {
    std::fprintf(stderr, "\r\033[K");
  }
}

void ProgressBar::Set(std::int64_t done) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::steady_clock::now().time_since_epoch())
                       .count();
  if (!terminal_ || now - drawn_at_ms_ < 100) {
    return;
  }
  drawn_at_ms_ = now;
  constexpr int kWidth = 40;
  const int filled = total_ <= 0 ? 0 : static_cast<int>(done * kWidth / total_);
  std::fprintf(stderr, "\r%s [%-*s] %ld/%ld", label_.c_str(), kWidth,
               std::string(static_cast<std::size_t>(std::min(filled, kWidth)), '#').c_str(),
               static_cast<long>(done), static_cast<long>(total_));
  std::fflush(stderr);
}

}  // namespace croft::admin_cli
