#include <cstdio>
#include <cstdlib>

#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

constexpr auto kGrace = std::chrono::seconds(10);

const char* LevelText(v1::WaitLevel level) {
  return level == v1::SERVING ? "serving" : level == v1::APPLIED ? "applied" : "accepted";
}

// The farm whose nodes are awaited: that of the objects written, or every farm's.
std::string FarmAwaited(const std::vector<std::string>& full_names) {
  std::string farm = full_names.empty() ? "-" : FarmOf(full_names.front());
  for (const std::string& name : full_names) {
    // A farm's own name may have been deleted just now; a deleted farm has no nodes.
    if (FarmOf(name) != farm || name == "farms/" + farm) {
      farm = "-";
    }
  }
  return "farms/" + (farm.empty() ? "-" : farm);
}

// What an operator must know about nodes that are not where they should be.
ExitCode Judge(const v1::WaitForRevisionResponse& response, const Invocation& invocation,
               std::int64_t revision) {
  bool refused = false;
  for (const auto& node : response.nodes()) {
    switch (node.outcome()) {
      case v1::NodeProgress::REFUSED:
        refused = true;
        std::fprintf(stderr, "  %s refused it: %s\n", node.node().c_str(), node.reason().c_str());
        break;
      case v1::NodeProgress::BEHIND:
        std::fprintf(stderr, "  %s is at revision %ld%s%s\n", node.node().c_str(),
                     static_cast<long>(node.revision()), node.reason().empty() ? "" : ": ",
                     node.reason().c_str());
        break;
      case v1::NodeProgress::NOT_CONNECTED:
        std::fprintf(stderr, "  %s is not connected: not awaited\n", node.node().c_str());
        break;
      case v1::NodeProgress::NODE_DRAINING:
        std::fprintf(stderr, "  %s is draining: not awaited\n", node.node().c_str());
        break;
      default:
        break;
    }
  }
  if (refused) {
    return ExitCode::kRefusedByNode;
  }
  if (!response.reached()) {
    std::fprintf(stderr, "croft: revision %ld is not %s on every node in service after %ld ms\n",
                 static_cast<long>(revision), LevelText(invocation.wait),
                 static_cast<long>(invocation.timeout_ms));
    return ExitCode::kWaitTimedOut;
  }
  return ExitCode::kDone;
}

}  // namespace

ExitCode WaitAfterWrite(ApiClient& client, const Invocation& invocation, std::int64_t revision,
                        const std::vector<std::string>& full_names) {
  if (invocation.validate_only || invocation.wait == v1::ACCEPTED || revision == 0) {
    return ExitCode::kDone;
  }
  v1::WaitForRevisionRequest request;
  request.set_farm(FarmAwaited(full_names));
  request.set_revision(revision);
  request.set_level(invocation.wait);
  request.set_timeout_ms(invocation.timeout_ms);
  v1::WaitForRevisionResponse response;
  const auto deadline = std::chrono::milliseconds(invocation.timeout_ms) + kGrace;
  if (auto status = client.Call("ChangeService/WaitForRevision", request, response, deadline);
      !status.ok()) {
    return Fail(status);
  }
  return Judge(response, invocation, revision);
}

ExitCode WaitForRevision(ApiClient& client, const Invocation& invocation) {
  if (invocation.type == "operation") {
    return WaitForOperation(client, invocation);
  }
  char* end = nullptr;
  const std::string text = invocation.names.empty() ? "" : invocation.names[0];
  const long long revision = std::strtoll(text.c_str(), &end, 10);
  if (invocation.type != "revision" || text.empty() || *end != '\0' || revision <= 0) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "wait wants \"revision N\" or \"operation N\": see croft wait --help"));
  }
  Invocation asked = invocation;
  if (asked.wait == v1::ACCEPTED) {
    asked.wait = v1::SERVING;
  }
  const ExitCode code = WaitAfterWrite(client, asked, revision, {"farms/" + invocation.farm + "/"});
  if (code == ExitCode::kDone) {
    std::fprintf(stderr, "revision %lld is %s\n", revision, LevelText(asked.wait));
  }
  return code;
}

}  // namespace croft::admin_cli
