// Creates COUNT host-header sites through control's API, for benches: load_sites FIRST COUNT PORT
// ROOT POOL, with the operator's context. Prints the last revision. Sixteen calls at a time.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "admin-cli/contexts.h"
#include "croft/v1/site.grpc.pb.h"

namespace {

constexpr int kThreads = 16;

struct Plan {
  long first = 0, count = 0;
  std::uint32_t port = 0;
  std::string root, pool;
};

croft::v1::CreateSiteRequest MakeRequest(const Plan& plan, long number) {
  const std::string id = "s" + std::to_string(number);
  croft::v1::CreateSiteRequest request;
  request.set_parent("farms/main");
  request.set_site_id(id);
  auto& binding = *request.mutable_site()->add_bindings();
  binding.set_port(plan.port);
  binding.set_host(id + ".example");
  auto& application = *request.mutable_site()->add_applications();
  application.set_path("/");
  application.set_pool("farms/main/pools/" + plan.pool);
  application.mutable_root()->set_store("farms/main/stores/content");
  application.mutable_root()->set_path(plan.root);
  return request;
}

}  // namespace

int main(int argc, char** argv) {
  const auto context = croft::admin_cli::LoadContext("");
  if (argc != 6 || !context.ok()) {
    std::fprintf(stderr, "usage: load_sites FIRST COUNT PORT ROOT POOL (and CROFT_CONFIG)\n");
    return 2;
  }
  const Plan plan{std::atol(argv[1]), std::atol(argv[2]),
                  static_cast<std::uint32_t>(std::atoi(argv[3])), argv[4], argv[5]};
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = context->ca;
  const auto channel = grpc::CreateChannel(context->control, grpc::SslCredentials(tls));
  std::atomic<long> next{plan.first};
  std::atomic<long> revision{0};
  std::atomic<bool> failed{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto stub = croft::v1::SiteService::NewStub(channel);
      for (long number = next++; number < plan.first + plan.count && !failed; number = next++) {
        grpc::ClientContext call;
        call.AddMetadata("authorization", "Bearer " + context->token);
        croft::v1::Site site;
        const auto status = stub->CreateSite(&call, MakeRequest(plan, number), &site);
        if (!status.ok()) {
          std::fprintf(stderr, "s%ld: %s\n", number, status.error_message().c_str());
          failed = true;
        }
        long seen = revision;
        while (seen < site.revision() && !revision.compare_exchange_weak(seen, site.revision())) {
        }
      }
    });
  }
  threads.clear();
  std::printf("%ld\n", revision.load());
  return failed ? 1 : 0;
}
