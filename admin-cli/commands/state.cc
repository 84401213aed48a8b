// start, stop, suspend, resume, drain, undrain: one state field under a verb of its own.
#include <string_view>

#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

ExitCode SetEach(ApiClient& client, const Invocation& invocation,
                 std::initializer_list<std::string_view> nouns, const std::string& assignment) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  std::string allowed;
  bool fits = false;
  for (const std::string_view name : nouns) {
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
    fits = fits || name == (*noun)->noun;
  }
  if (!fits || invocation.names.empty() || !invocation.assignments.empty()) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "{} wants a type ({}) and one or more names", invocation.verb, allowed));
  }
  std::size_t failed = 0;
  ExitCode code = ExitCode::kDone;
  for (const std::string& name : invocation.names) {
    Invocation one = invocation;
    one.names = {name};
    one.assignments = {assignment};
    const ExitCode result = SetResource(client, one);
    if (result != ExitCode::kDone) {
      code = result;
      ++failed;
    }
  }
  return failed > 0 && failed < invocation.names.size() ? ExitCode::kPartlyDone : code;
}

}  // namespace

ExitCode StartResources(ApiClient& client, const Invocation& invocation) {
  return SetEach(client, invocation, {"site", "pool"}, "state=STARTED");
}

ExitCode StopResources(ApiClient& client, const Invocation& invocation) {
  return SetEach(client, invocation, {"site", "pool"}, "state=STOPPED");
}

ExitCode SuspendAccounts(ApiClient& client, const Invocation& invocation) {
  return SetEach(client, invocation, {"account"}, "state=SUSPENDED");
}

ExitCode ResumeAccounts(ApiClient& client, const Invocation& invocation) {
  return SetEach(client, invocation, {"account"}, "state=ACTIVE");
}

ExitCode DrainNodes(ApiClient& client, const Invocation& invocation) {
  return SetEach(client, invocation, {"node"}, "draining=true");
}

ExitCode UndrainNodes(ApiClient& client, const Invocation& invocation) {
  return SetEach(client, invocation, {"node"}, "draining=false");
}

}  // namespace croft::admin_cli
