// Who a process runs as. Identities come only from one range: agent FIRST, listener FIRST+1,
// workers from FIRST+16 on. Without the privilege to become somebody else, everyone is the
// launcher's own user. Pure but for Detect.
#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace croft::node::launcher {

struct IdentityRange {
  uid_t first = 58000;
  uid_t last = 59999;
};

inline constexpr uid_t kWorkerOffset = 16;

// "58000-59999"; the error names the rule.
absl::StatusOr<IdentityRange> ParseIdentityRange(std::string_view text);

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary
};

class Identities {
 public:
  // Separate ones if this process is root, may change identities, and its user namespace has the
  // range; its own otherwise.
  static Identities Detect(IdentityRange range);
  Identities(IdentityRange range, bool separate, Identity own)
      : range_(range), separate_(separate), own_(std::move(own)) {}

  bool separate() const { return separate_; }
  Identity Agent() const;
  Identity Listener() const;
  // invalid_argument past the range.
  absl::StatusOr<Identity> Worker(std::uint32_t identity) const;

 private:
  // Constant after construction.
  IdentityRange range_;
  bool separate_;
  Identity own_;
};

}  // namespace croft::node::launcher
