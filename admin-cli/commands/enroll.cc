#include <cstdio>

#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "croft/v1/node.pb.h"
#include "proto/base/error.h"

namespace croft::admin_cli {

ExitCode EnrollNode(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok() || (*noun)->noun != "node" || invocation.names.size() != 1) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "enroll wants \"node NAME\": see croft enroll --help"));
  }
  v1::CreateJoinTokenRequest request;
  request.set_node(FullName(**noun, invocation.names[0], invocation.farm));
  v1::JoinToken token;
  if (auto status = client.Call("NodeService/CreateJoinToken", request, token); !status.ok()) {
    return Fail(status);
  }
  // The token alone on stdout, so that "croft enroll node web1 > join-token" is a token file.
  std::printf("%s\n", token.token().c_str());
  std::fprintf(stderr, "join token of %s: good for one enrolment, for an hour\n",
               request.node().c_str());
  return ExitCode::kDone;
}

}  // namespace croft::admin_cli
