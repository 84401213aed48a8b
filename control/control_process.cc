#include "control/control_process.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "control/api/all_methods.h"
#include "control/api/server.h"
#include "control/domain/administrator.h"
#include "control/domain/resources.h"
#include "control/feed/feed.h"
#include "control/feed/feed_threads.h"
#include "control/gateway/gateway.h"
#include "control/identity/authority.h"
#include "control/identity/file.h"
#include "control/identity/operator_access.h"
#include "control/metrics/control_page.h"
#include "control/operations/operations.h"
#include "control/operations/runner.h"
#include "control/operations/waits.h"
#include "control/reports/history_writer.h"
#include "control/reports/reports.h"
#include "control/store/pg_store.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/metrics/metrics_page.h"

namespace croft::control {
namespace {

std::string MachineName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void WaitForStop() {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  int signal = 0;
  ::sigwait(&stops, &signal);
  log::Info("control", "stopping", {{"signal", std::to_string(signal)}});
}

// What an operator on this machine needs, now that the port is known; then the line that says so.
absl::Status Announce(const Settings& settings, const identity::KeepToken& keep_token,
                      const std::string& ca, int port) {
  const std::string address = OperatorAddress(settings, settings.listen, port);
  absl::Status status = identity::WriteOperatorAccess(
      {.data_dir = settings.data_dir, .address = address, .ca = ca}, keep_token);
  if (status.ok()) {
    status = identity::WriteFile(settings.data_dir + "/listen", address + "\n", 0644);
  }
  if (status.ok()) {
    std::fprintf(stderr, "croft-control listening on %s\n", address.c_str());
  }
  return status;
}

// Of the whole estate, hence for those who see all of it.
absl::Status MayReadMetrics(const domain::Caller& caller) {
  return domain::Access::MayReadInfrastructure(caller, contract::ResourceType::kNode)
             ? absl::OkStatus()
             : Error(absl::StatusCode::kPermissionDenied,
                     "metrics are of the whole estate: they take a token with VIEWER of "
                     "organizations/root");
}

gateway::Page MetricsPage(const Settings& settings, metrics::Sources sources) {
  sources.sites_max = static_cast<std::size_t>(settings.metrics_sites);
  gateway::Page page = {.path = "/metrics",
                        .content_type = croft::metrics::kContentType,
                        .make = [sources] { return metrics::MakeControlPage(sources); },
                        .blocks = true};
  if (!settings.metrics_for_everyone) {
    page.may_read = MayReadMetrics;
  }
  return page;
}

// Null when there is to be none.
absl::StatusOr<std::unique_ptr<gateway::Gateway>> StartGateway(
    const Settings& settings, const identity::CertifiedKey& certificate,
    const api::Services& services, gateway::Page metrics) {
  const auto where = SplitHostPort(settings.json_listen);
  if (!where.has_value()) {
    return nullptr;
  }
  auto started = gateway::Gateway::Start({.host = where->host,
                                          .port = std::stoi(where->port),
                                          .certificate = certificate,
                                          .pages = {std::move(metrics)}},
                                         services);
  if (!started.ok()) {
    return started.status();
  }
  const std::string address = OperatorAddress(settings, settings.json_listen, (*started)->port());
  const absl::Status status =
      identity::WriteFile(settings.data_dir + "/json-listen", address + "\n", 0644);
  if (!status.ok()) {
    return status;
  }
  return started;
}

// From the store up; the parts end in the opposite order, the server first.
absl::Status Serve(const Settings& settings, store::Store& store, const identity::SealingKey& key) {
  const SystemClock clock;
  domain::Resources resources(store);
  if (absl::Status status = resources.CreateFirstResources(); !status.ok()) {
    return status;
  }
  const auto authority = identity::Authority::Open(store, key, clock);
  if (!authority.ok()) {
    return authority.status();
  }
  auto certificate = authority->IssueServer(CertificateHosts(settings, MachineName()));
  if (!certificate.ok()) {
    return certificate.status();
  }
  reports::Reports reports(store, clock, settings.history);
  reports::HistoryWriter history(store, reports, clock, settings.history);
  const auto feed = feed::MakeFeed(
      store, clock, feed::FeedOptions(),
      [&reports](const feed::NodeIdentity& node, const node::v1::NodeMessage& message) {
        reports.OnReport({.node_uid = node.node_uid, .node = node.node, .farm_uid = node.farm_uid},
                         message);
      });
  const reports::HistoryThread history_thread(history);
  const feed::FeedThreads threads(*feed, store);
  operations::Operations operations(store, resources.access());
  operations::Waits operation_waits(store, clock);
  operations::Runner runner(store, resources.access(), clock, operation_waits);
  const api::ApiParts parts = {.store = store,
                               .resources = resources,
                               .feed = *feed,
                               .reports = reports,
                               .operations = {operations, runner, operation_waits},
                               .authority = *authority,
                               .clock = clock};
  const api::Methods methods = api::BuildMethods(parts);
  const api::StreamMethods streams = api::BuildStreamMethods(parts);
  api::Authorizer authorizer(store, resources.access(), clock);
  api::DbExecutor executor;
  api::LiveStreams live_streams(executor);
  const api::Services services = {.authorizer = authorizer,
                                  .executor = executor,
                                  .methods = methods,
                                  .streams = streams,
                                  .live_streams = live_streams,
                                  .feed = *feed};
  const auto server = api::Server::Start(
      {.address = settings.listen, .certificate = *certificate, .ca = authority->certificate()},
      services);
  if (!server.ok()) {
    return server.status();
  }
  const auto json_gateway = StartGateway(settings, *certificate, services,
                                         MetricsPage(settings, {store, reports, executor, clock}));
  if (!json_gateway.ok()) {
    return json_gateway.status();
  }
  const identity::KeepToken keep_token = [&](const std::string& token) {
    return domain::KeepAdministratorToken(store, resources, clock, token);
  };
  absl::Status status = Announce(settings, keep_token, authority->certificate(), (*server)->port());
  if (status.ok()) {
    WaitForStop();
    ::unlink((settings.data_dir + "/listen").c_str());
    ::unlink((settings.data_dir + "/json-listen").c_str());
  }
  return status;
}

}  // namespace

absl::Status RunControl(const Settings& settings, const std::string& database_url,
                        const identity::SealingKey& key) {
  const auto store = store::OpenPgStore({.url = database_url});
  return store.ok() ? Serve(settings, **store, key) : store.status();
}

}  // namespace croft::control
