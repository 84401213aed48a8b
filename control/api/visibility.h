// What one caller may see of names that reports and the log of changes mention. Of one call: it
// remembers its answers. One thread; blocks on the store.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <map>
#include <string>

#include "control/domain/access.h"
#include "control/store/store.h"

namespace croft::control::api {

class Visibility {
 public:
  Visibility(store::Store& store, domain::Access& access, const domain::Caller& caller);

  // Whether it sees every resource, so that nothing needs to be left out.
  bool all() const { return all_; }
  // A resource that is there, or can still be undeleted. Others are seen by who sees everything.
  absl::StatusOr<bool> MayRead(const std::string& name);
  // not_found where it may not.
  absl::Status Check(const std::string& name);

 private:
  store::Store& store_;
  domain::Access& access_;
  const domain::Caller& caller_;
  const bool all_;
  std::map<std::string, bool> known_;
};

}  // namespace croft::control::api
