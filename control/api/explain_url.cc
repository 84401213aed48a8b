#include "control/api/explain_url.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/api/store_routing.h"
#include "control/api/visibility.h"
#include "croft/v1/pool.pb.h"
#include "proto/base/error.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/host_name.h"
#include "proto/contract/resource_name.h"
#include "proto/contract/routing.h"

namespace croft::control::api {
namespace {

using contract::Route;
using contract::RouteOutcome;
using store::ResourceType;

constexpr std::string_view kScheme = "http://";
constexpr std::uint16_t kHttpPort = 80;

struct ParsedUrl {
  std::string host;  // canonical
  std::uint16_t port = kHttpPort;
  std::string path;
  std::size_t query_size = 0;
};

absl::Status BadUrl(std::string_view url, std::string_view why) {
  return Error(absl::StatusCode::kInvalidArgument,
               "URL \"{}\" {}; expected http://HOST[:PORT]/PATH", url.substr(0, 200), why);
}

// As people type it: the host may have U-labels, the path may be left out.
absl::StatusOr<ParsedUrl> ParseUrl(const std::string& url) {
  std::string_view rest = url;
  if (!rest.starts_with(kScheme)) {
    return BadUrl(url, "does not begin with http://");
  }
  rest.remove_prefix(kScheme.size());
  rest = rest.substr(0, rest.find('#'));
  ParsedUrl parsed;
  const std::size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    parsed.query_size = rest.size() - question - 1;
    rest = rest.substr(0, question);
  }
  const std::size_t slash = rest.find('/');
  parsed.path = slash == std::string_view::npos ? "/" : std::string(rest.substr(slash));
  std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) {
    return BadUrl(url, "names a user");
  }
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos) {
    const std::string_view digits = authority.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), parsed.port);
    if (error != std::errc() || end != digits.data() + digits.size() || parsed.port == 0) {
      return BadUrl(url, "has no valid port");
    }
    authority = authority.substr(0, colon);
  }
  auto host = contract::ParseHostName(authority);
  if (!host.ok()) {
    return host.status();
  }
  parsed.host = *std::move(host);
  return parsed;
}

v1::Binding ToBinding(const contract::BindingKey& key) {
  v1::Binding binding;
  binding.set_protocol(v1::HTTP);
  binding.set_ip(contract::FormatIp(key.ip));
  binding.set_port(key.port);
  binding.set_host(key.host);
  return binding;
}

// The first candidate that exists wins; the sites of the others are shadowed.
void FillBindings(const contract::RouteRequest& request, StoreRouting& farm,
                  v1::ExplainUrlResponse& response) {
  std::int64_t winner = 0;
  std::string last;
  for (const contract::BindingKey& key :
       contract::BindingCandidates(request.ip, request.port, request.host)) {
    std::string encoded = contract::EncodeBindingKey(key);
    if (encoded == last) {
      continue;  // with any address, IP-bound candidates are the same ones
    }
    last = std::move(encoded);
    const std::int64_t site = farm.FindBinding(last).value_or(0);
    if (site == 0) {
      continue;
    }
    if (winner == 0) {
      winner = site;
      *response.mutable_binding() = ToBinding(key);
    } else if (site != winner) {
      v1::ShadowedBinding& shadowed = *response.add_shadowed();
      *shadowed.mutable_binding() = ToBinding(key);
      shadowed.set_site(farm.FindName(ResourceType::kSite, site).value_or(""));
    }
  }
}

bool IsAtOrBelow(std::string_view path, std::string_view prefix) {
  return prefix == "/" ||
         (path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/'));
}

// Platform, farm, site, then the site's path settings above the path, shortest first.
void FillSettings(const v1::Site& site, const std::string& path, const StoreRouting& farm,
                  v1::ExplainUrlResponse& response) {
  const auto outer = farm.outer_layers();
  std::vector<contract::SettingsLayer> layers(outer.begin(), outer.end());
  layers.push_back({.origin = site.name(), .settings = &site.settings()});
  std::vector<const v1::PathSettings*> paths;
  for (const v1::PathSettings& one : site.paths()) {
    if (IsAtOrBelow(path, one.path())) {
      paths.push_back(&one);
    }
  }
  std::ranges::stable_sort(paths, {},
                           [](const v1::PathSettings* one) { return one->path().size(); });
  for (const v1::PathSettings* one : paths) {
    layers.push_back({.origin = site.name() + one->path(), .settings = &one->settings()});
  }
  for (v1::EffectiveValue& value : contract::ExplainSettings(layers)) {
    response.add_settings()->Swap(&value);
  }
}

std::string Join(std::string_view a, std::string_view b) {
  std::string joined(a);
  if (!joined.empty() && joined.back() != '/' && !b.empty() && b.front() != '/') {
    joined += '/';
  }
  return joined.append(b);
}

void FillTarget(const Route& route, StoreRouting& farm, v1::ExplainUrlResponse& response) {
  if (route.mount != nullptr) {
    response.set_application(route.mount->application);
    response.set_virtual_directory(route.mount->virtual_directory);
  }
  response.set_pool(farm.FindName(ResourceType::kPool, route.pool_uid).value_or(""));
  if (route.root.store_uid == 0) {
    return;
  }
  response.mutable_root()->set_store(
      farm.FindName(ResourceType::kStore, route.root.store_uid).value_or(""));
  response.mutable_root()->set_path(route.root.path);
  std::string_view below =
      std::string_view(route.path).substr(std::min(route.strip, route.path.size()));
  while (below.starts_with('/')) {
    below.remove_prefix(1);
  }
  response.set_file(std::string(below));
  response.set_node_path(Join(Join(route.root.store_path, route.root.path), below));
}

// One sentence on why the answer is what it is.
std::string Reason(const Route& route, const v1::ExplainUrlResponse& response) {
  switch (route.outcome) {
    case RouteOutcome::kServe: {
      const auto& documents = route.settings->default_documents();
      const bool directory = response.file().empty() || response.file().ends_with('/');
      if (!directory) {
        return "a worker of the pool serves the file, or redirects if it is a directory";
      }
      return documents.enabled() && documents.names().values_size() > 0
                 ? fmt::format(
                       "a worker of the pool serves the first default document there is, {} first",
                       documents.names().values(0))
                 : "default documents are off: a worker of the pool answers 403";
    }
    case RouteOutcome::kNoSite:
      return "no binding of the farm matches the address, port and host";
    case RouteOutcome::kBadPath:
      return fmt::format("the path is refused: {}", route.bad_path_reason);
    case RouteOutcome::kSiteStopped:
      return fmt::format("{} is stopped; start it with: croft start site", response.site());
    case RouteOutcome::kNoApplication:
      return "the site has no application at this path";
    case RouteOutcome::kUnknownAccount:
      return "the farm has no account of that name";
    case RouteOutcome::kAccountSuspended:
      return fmt::format("{} is suspended", response.account());
    case RouteOutcome::kNoPool:
      return "the pool that should serve it does not exist";
    case RouteOutcome::kNoStore:
      return "the file store of its root does not exist";
    case RouteOutcome::kUrlTooLong:
      return "the path is longer than limits.max_url";
    case RouteOutcome::kQueryTooLong:
      return "the query is longer than limits.max_query";
    case RouteOutcome::kTooManySegments:
      return "the path has more segments than limits.max_url_segments";
    case RouteOutcome::kRedirectToSlash:
      return "the listener redirects to the path with a slash at its end";
  }
  return {};
}

// "Stopped" is a pool's state too, which routing leaves to the agent.
absl::Status FillPoolState(store::Store& store, v1::ExplainUrlResponse& response) {
  if (response.status() != 0 || response.pool().empty()) {
    return absl::OkStatus();
  }
  const auto row = store.Find(response.pool());
  if (!row.ok()) {
    return row.status();
  }
  v1::ApplicationPool pool;
  if (row->has_value() && pool.ParseFromString((*row)->body) && pool.state() == v1::STOPPED) {
    response.set_status(503);
    response.set_reason(
        fmt::format("{} is stopped; start it with: croft start pool", response.pool()));
  }
  return absl::OkStatus();
}

absl::Status FillNodes(store::Store& store, std::int64_t farm_uid,
                       v1::ExplainUrlResponse& response) {
  const auto marks = store.ReadMarks(farm_uid);
  if (!marks.ok()) {
    return marks.status();
  }
  for (const store::NodeMarks& one : *marks) {
    v1::NodeRevision& node = *response.add_nodes();
    node.set_node(one.node);
    node.set_connection(one.connected ? "CONNECTED" : one.ever_connected ? "LOST" : "PENDING");
    node.set_applied_revision(one.applied_revision);
    node.set_serving_revision(one.serving_revision);
  }
  return absl::OkStatus();
}

absl::Status LeaveOutUnseen(store::Store& store, const Viewer& viewer,
                            const v1::ExplainUrlRequest& request,
                            v1::ExplainUrlResponse& response) {
  Visibility visibility(store, viewer.access, viewer.caller);
  if (visibility.all()) {
    return absl::OkStatus();
  }
  const auto site = visibility.MayRead(response.site());
  if (!site.ok()) {
    return site.status();
  }
  if (!*site) {
    return Error(absl::StatusCode::kNotFound, "no site answers {}", request.url().substr(0, 200));
  }
  google::protobuf::RepeatedPtrField<v1::ShadowedBinding> shadowed;
  shadowed.Swap(response.mutable_shadowed());
  for (v1::ShadowedBinding& one : shadowed) {
    const auto may = visibility.MayRead(one.site());
    if (!may.ok()) {
      return may.status();
    }
    if (*may) {
      response.add_shadowed()->Swap(&one);
    }
  }
  if (!domain::Access::MayReadInfrastructure(viewer.caller, ResourceType::kStore)) {
    response.clear_node_path();
  }
  if (!domain::Access::MayReadInfrastructure(viewer.caller, ResourceType::kNode)) {
    response.clear_nodes();
  }
  return absl::OkStatus();
}

absl::StatusOr<store::StoredResource> GetFarm(store::Store& store, const std::string& name) {
  const auto parsed = contract::ParseResourceName(name, ResourceType::kFarm);
  if (!parsed.ok()) {
    return parsed.status();
  }
  auto found = store.Find(contract::FormatResourceName(*parsed));
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    return Error(absl::StatusCode::kNotFound, "{} does not exist", name);
  }
  return **std::move(found);
}

}  // namespace

absl::StatusOr<v1::ExplainUrlResponse> ExplainUrl(store::Store& store, const Viewer& viewer,
                                                  const v1::ExplainUrlRequest& request) {
  const auto url = ParseUrl(request.url());
  if (!url.ok()) {
    return url.status();
  }
  const auto ip = contract::ParseIp(request.ip());
  if (!ip.ok()) {
    return ip.status();
  }
  const auto farm_row = GetFarm(store, request.farm());
  if (!farm_row.ok()) {
    return farm_row.status();
  }
  StoreRouting farm(store, *farm_row);
  const contract::RouteRequest asked{.ip = *ip,
                                     .port = url->port,
                                     .host = url->host,
                                     .raw_path = url->path,
                                     .query_size = url->query_size};
  const Route route = contract::FindRoute(asked, farm);
  v1::ExplainUrlResponse response;
  FillBindings(asked, farm, response);
  if (route.site != nullptr) {
    response.set_site(route.site->name);
    FillSettings(farm.GetSite(route.site->uid), route.path, farm, response);
  }
  if (!route.account.empty()) {
    response.set_account(farm_row->name + "/accounts/" + route.account);
  }
  FillTarget(route, farm, response);
  response.set_status(contract::StatusOf(route.outcome));
  response.set_reason(Reason(route, response));
  absl::Status status = farm.status();
  status.Update(FillPoolState(store, response));
  status.Update(FillNodes(store, farm_row->uid, response));
  status.Update(LeaveOutUnseen(store, viewer, request, response));
  return status.ok() ? absl::StatusOr<v1::ExplainUrlResponse>(std::move(response)) : status;
}

}  // namespace croft::control::api
