// What routing costs per request: bindings in a hash map, as a loop's cache answers them, 10 to
// 100,000 sites; a page of a site, a page of an account, and the parsers before them.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "proto/contract/host_name.h"
#include "proto/contract/routing.h"
#include "proto/contract/url_path.h"

namespace croft::contract {
namespace {

class Estate final : public RoutingSource, public NameSource {
 public:
  explicit Estate(std::int64_t sites) {
    for (std::int64_t uid = 1; uid <= sites; ++uid) {
      Add(uid, HostOf(uid));
    }
    account_.uid = 7;
    account_.home = {21, "/srv/croft/s1", "homes/12/34/4711"};
  }

  static std::string HostOf(std::int64_t uid) {
    return "www.site" + std::to_string(uid) + ".example";
  }

  std::int64_t FindPoolUid(std::string_view) override { return 11; }
  std::pair<std::int64_t, std::string> FindStore(std::string_view) override {
    return {21, "/srv/croft/s1"};
  }
  std::optional<std::int64_t> FindBinding(std::string_view key) override {
    lookup_.assign(key);
    const auto at = bindings_.find(lookup_);
    return at == bindings_.end() ? std::nullopt : std::optional(at->second);
  }
  std::shared_ptr<const ResolvedSite> FindSite(std::int64_t uid) override {
    return sites_[static_cast<std::size_t>(uid - 1)];
  }
  std::optional<ResolvedAccount> FindAccount(std::string_view name) override {
    return name == "bob" ? std::optional(account_) : std::nullopt;
  }

 private:
  void Add(std::int64_t uid, const std::string& host) {
    v1::Site site;
    site.set_uid(uid);
    v1::Application& application = *site.add_applications();
    application.set_path("/");
    application.mutable_root()->set_path("sites/" + std::to_string(uid));
    site.mutable_personal_pages()->add_forms(v1::PATH);
    sites_.push_back(std::make_shared<const ResolvedSite>(ResolveSite(site, {}, *this)));
    bindings_[EncodeBindingKey({80, IpBytes{}, host})] = uid;
  }

  std::unordered_map<std::string, std::int64_t> bindings_;
  std::vector<std::shared_ptr<const ResolvedSite>> sites_;
  ResolvedAccount account_;
  std::string lookup_;
};

void Route(benchmark::State& state, std::string_view path) {
  Estate estate(state.range(0));
  const IpBytes ip = *ParseIp("192.0.2.1");
  std::int64_t uid = 0;
  std::vector<std::string> hosts;
  for (std::int64_t i = 0; i < 1024; ++i) {
    hosts.push_back(Estate::HostOf(1 + i * 7919 % state.range(0)));
  }
  for (auto _ : state) {
    const std::string& host = hosts[static_cast<std::size_t>(uid++ % 1024)];
    benchmark::DoNotOptimize(FindRoute({ip, 80, host, path, 0}, estate));
  }
}

void BM_RouteSitePage(benchmark::State& state) { Route(state, "/products/shoes/red.html"); }
void BM_RouteAccountPage(benchmark::State& state) { Route(state, "/bob/pictures/cat.jpg"); }

void BM_NormalizeUrlPath(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(NormalizeUrlPath("/products/shoes/red%20ones.html"));
  }
}

void BM_ParseHostHeader(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ParseHostHeader("www.site4711.example:8080"));
  }
}

BENCHMARK(BM_RouteSitePage)->Arg(10)->Arg(1000)->Arg(100'000);
BENCHMARK(BM_RouteAccountPage)->Arg(10)->Arg(1000)->Arg(100'000);
BENCHMARK(BM_NormalizeUrlPath);
BENCHMARK(BM_ParseHostHeader);

}  // namespace
}  // namespace croft::contract

BENCHMARK_MAIN();
