#include "node/launcher/identities.h"

#include <sys/capability.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>

#include "proto/base/error.h"

namespace croft::node::launcher {
namespace {

// Above what distributions give to system and login users, below 16-bit "nobody".
constexpr uid_t kLeastUid = 1000;
constexpr uid_t kMostUid = 2'000'000'000;
constexpr uid_t kNobodyUid = 65534;

bool ParseUid(std::string_view text, uid_t& uid) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), uid);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

bool HasCapability(cap_value_t capability) {
  const cap_t mine = ::cap_get_proc();
  cap_flag_value_t value = CAP_CLEAR;
  if (mine != nullptr) {
    ::cap_get_flag(mine, capability, CAP_EFFECTIVE, &value);
    ::cap_free(mine);
  }
  return value == CAP_SET;
}

// Whether one line of /proc/self/uid_map or gid_map ("inside outside count") has the whole range.
bool NamespaceHas(const char* map_path, IdentityRange range) {
  std::ifstream map(map_path);
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  while (map >> inside >> outside >> count) {
    if (inside <= range.first && range.last < inside + count) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<IdentityRange> ParseIdentityRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  IdentityRange range;
  if (dash == std::string_view::npos || !ParseUid(text.substr(0, dash), range.first) ||
      !ParseUid(text.substr(dash + 1), range.last)) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "identity range '{}': expected FIRST-LAST, two user ids such as 58000-59999",
                 text);
  }
  if (range.first < kLeastUid || range.last > kMostUid || range.first > range.last ||
      range.last - range.first < kWorkerOffset) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "identity range '{}': must lie in {}-{} and hold at least {} user ids", text,
                 kLeastUid, kMostUid, kWorkerOffset + 1);
  }
  if (range.first <= kNobodyUid + 1 && kNobodyUid <= range.last) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "identity range '{}': must not hold {} (nobody) or {}", text, kNobodyUid,
                 kNobodyUid + 1);
  }
  return range;
}

Identities Identities::Detect(IdentityRange range) {
  bool separate = ::geteuid() == 0;
  for (const cap_value_t needed : {CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_CHOWN, CAP_KILL}) {
    separate = separate && HasCapability(needed);
  }
  separate = separate && NamespaceHas("/proc/self/uid_map", range) &&
             NamespaceHas("/proc/self/gid_map", range);
  return Identities(range, separate, Identity{::geteuid(), ::getegid(), {}});
}

Identity Identities::Agent() const {
  return separate_ ? Identity{range_.first, range_.first, {}} : own_;
}

Identity Identities::Listener() const {
  return separate_ ? Identity{range_.first + 1, range_.first + 1, {range_.first}} : own_;
}

absl::StatusOr<Identity> Identities::Worker(std::uint32_t identity) const {
  const uid_t places = range_.last - range_.first - kWorkerOffset + 1;
  if (identity >= places) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "identity {} is outside of the identity range {}-{}, which has room for {} pools; "
                 "start croft-launcher with a larger --identity-range",
                 identity, range_.first, range_.last, places);
  }
  const uid_t uid = range_.first + kWorkerOffset + identity;
  return separate_ ? Identity{uid, uid, {}} : own_;
}

}  // namespace croft::node::launcher
