// start, stop, suspend, resume, drain, undrain: one state field under a verb of its own.
#include <cstdio>
#include <string_view>

#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "croft/v1/node.pb.h"
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
  Invocation set = invocation;
  set.assignments = {assignment};
  return SetResource(client, set);
}

// Accepts what the node has stopped at; it goes on at its next try.
ExitCode ResumeNode(ApiClient& client, const Invocation& invocation, const Noun& noun) {
  if (invocation.names.size() != 1 || invocation.expect <= 0) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "resume node wants one name and --expect-count N: the number of sites that "
                      "may vanish, as croft describe node NAME shows it"));
  }
  v1::ResumeNodeRequest request;
  request.set_name(FullName(noun, invocation.names[0], invocation.farm));
  request.set_expected_count(invocation.expect);
  request.set_reason(invocation.reason);
  v1::Node node;
  if (auto status = client.Call("NodeService/ResumeNode", request, node); !status.ok()) {
    return Fail(status);
  }
  std::fprintf(stderr, "%s may lose %ld sites and goes on at its next try\n",
               request.name().c_str(), static_cast<long>(invocation.expect));
  return ExitCode::kDone;
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

ExitCode Resume(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (noun.ok() && (*noun)->noun == std::string_view("node")) {
    return ResumeNode(client, invocation, **noun);
  }
  return SetEach(client, invocation, {"account", "node"}, "state=ACTIVE");
}

ExitCode DrainNodes(ApiClient& client, const Invocation& invocation) {
  return SetEach(client, invocation, {"node"}, "draining=true");
}

ExitCode UndrainNodes(ApiClient& client, const Invocation& invocation) {
  return SetEach(client, invocation, {"node"}, "draining=false");
}

}  // namespace croft::admin_cli
