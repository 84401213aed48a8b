#include "proto/base/retry.h"

#include <algorithm>

#include "proto/base/random.h"

namespace croft {

std::chrono::milliseconds Backoff::Next() {
  const auto ceiling = next_;
  next_ = std::min(limits_.most, next_ * 2);
  const auto half = ceiling.count() / 2;
  const auto extra = static_cast<long>(RandomId() % static_cast<std::uint64_t>(half + 1));
  return std::chrono::milliseconds(half + extra);
}

}  // namespace croft
