// create_bench CONTROL_DIR FARM PREFIX [SECONDS]: creates accounts one by one over gRPC, by 1 and
// by 16 writers that each keep a connection. A line per run: "create", writers, creates/s, p50 and
// p99 in microseconds.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "croft/v1/account.grpc.pb.h"
#include "tests/bench/clients.h"

namespace croft::bench {
namespace {

Request CreateAccounts(const Target& target, const std::string& farm, const std::string& prefix) {
  const auto stub = std::shared_ptr(v1::AccountService::NewStub(ConnectGrpc(target)));
  return [stub, &target, farm, prefix, next = 0]() mutable {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + target.token);
    v1::CreateAccountRequest request;
    request.set_parent("farms/" + farm);
    request.set_account_id(fmt::format("{}-{}", prefix, next++));
    v1::Account account;
    return stub->CreateAccount(&context, request, &account).ok();
  };
}

int Run(const std::string& directory, const std::string& farm, const std::string& prefix,
        double seconds) {
  const Target target = ReadTarget(directory);
  for (const int writers : {1, 16}) {
    Measure("create", writers, seconds, [&](int writer) {
      return CreateAccounts(target, farm, fmt::format("{}-{}-{}", prefix, writers, writer));
    });
  }
  return 0;
}

}  // namespace
}  // namespace croft::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("create_bench CONTROL_DIR FARM PREFIX [SECONDS]\n", stderr);
    return 2;
  }
  try {
    return croft::bench::Run(argv[1], argv[2], argv[3], argc > 4 ? std::stod(argv[4]) : 5);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "create_bench: %s\n", error.what());
    return 1;
  }
}
