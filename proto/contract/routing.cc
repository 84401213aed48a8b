#include "proto/contract/routing.h"

#include <algorithm>
#include <tuple>

#include "proto/contract/account_name.h"
#include "proto/contract/url_path.h"

namespace croft::contract {
namespace {

// Whether `path` is `prefix` or below it, on whole segments.
bool IsBelow(std::string_view path, std::string_view prefix) {
  return path.size() >= prefix.size() && path.substr(0, prefix.size()) == prefix &&
         (path.size() == prefix.size() || path[prefix.size()] == '/');
}

template <typename Item>
const Item* FindLongest(const std::vector<Item>& items, std::string_view path) {
  for (const Item& item : items) {
    if (IsBelow(path, item.prefix)) {
      return &item;
    }
  }
  return nullptr;
}

// "/bob/x" -> "bob".
std::string_view FirstSegment(std::string_view path) {
  path.remove_prefix(1);
  return path.substr(0, path.find('/'));
}

std::int64_t CountSegments(std::string_view path) {
  const auto slashes = std::count(path.begin(), path.end(), '/');
  return path.back() == '/' ? slashes - 1 : slashes;
}

// The part of `host` before "." + suffix; empty if the host is not of that form.
std::string_view AccountLabel(std::string_view host, std::string_view suffix) {
  if (suffix.empty() || host.size() < suffix.size() + 2) {
    return {};
  }
  const std::size_t dot = host.size() - suffix.size() - 1;
  const std::string_view label = host.substr(0, dot);
  const bool matches = host[dot] == '.' && host.substr(dot + 1) == suffix &&
                       label.find('.') == std::string_view::npos;
  return matches ? label : std::string_view();
}

enum class PersonalForm { kNone, kHost, kTilde, kPath };

// How a request names an account, if it does.
struct PersonalMatch {
  PersonalForm form = PersonalForm::kNone;
  std::string account;  // canonical; empty: no account can have that name
  std::size_t strip = 0;
};

PersonalMatch MatchPersonal(const ResolvedSite& site, std::string_view host,
                            std::string_view path) {
  if (!site.has_personal_pages) {
    return {};
  }
  if (site.personal_host) {
    const std::string_view label = AccountLabel(host, site.host_suffix);
    // A reserved host, such as www, is the operator's own.
    if (!label.empty() && !IsReservedAccountName(label)) {
      return {PersonalForm::kHost, CanonicalAccountName(label), 0};
    }
  }
  const std::string_view segment = FirstSegment(path);
  if (site.personal_tilde && segment.substr(0, 1) == "~") {
    return {PersonalForm::kTilde, CanonicalAccountName(segment.substr(1)), segment.size() + 1};
  }
  if (site.personal_path && !segment.empty()) {
    return {PersonalForm::kPath, CanonicalAccountName(segment), segment.size() + 1};
  }
  return {};
}

RouteOutcome JudgeTarget(const Route& route) {
  if (route.pool_uid == 0) {
    return RouteOutcome::kNoPool;
  }
  return route.root.store_uid == 0 ? RouteOutcome::kNoStore : RouteOutcome::kServe;
}

void UseMount(const ResolvedMount& mount, Route& route) {
  route.mount = &mount;
  route.strip = mount.prefix.size();
  route.root = mount.root;
  route.pool_uid = mount.pool_uid;
  route.outcome = JudgeTarget(route);
}

// False if `match` names no account; the outcome is then kUnknownAccount.
bool UseAccount(PersonalMatch& match, RoutingSource& source, Route& route) {
  auto account = match.account.empty() ? std::nullopt : source.FindAccount(match.account);
  if (!account) {
    route.outcome = RouteOutcome::kUnknownAccount;
    return false;
  }
  route.account_uid = account->uid;
  route.account = std::move(match.account);
  route.strip = match.strip;
  route.root = std::move(account->home);
  route.pool_uid = route.site->personal_pool_uid;
  if (account->suspended) {
    route.outcome = RouteOutcome::kAccountSuspended;
  } else if (route.path.size() == route.strip) {
    route.outcome = RouteOutcome::kRedirectToSlash;
  } else {
    route.outcome = JudgeTarget(route);
  }
  return true;
}

// An account's own host is all the account's. Otherwise the mounts below the root come first, then
// personal pages, then the root application.
void FindTarget(std::string_view host, RoutingSource& source, Route& route) {
  const ResolvedSite& site = *route.site;
  const ResolvedMount* mount = FindLongest(site.mounts, route.path);
  PersonalMatch personal = MatchPersonal(site, host, route.path);
  const bool is_explicit = mount != nullptr && !mount->prefix.empty();
  const bool is_personal = personal.form == PersonalForm::kHost ||
                           (personal.form != PersonalForm::kNone && !is_explicit);
  if (is_personal &&
      (UseAccount(personal, source, route) || personal.form != PersonalForm::kPath)) {
    return;
  }
  if (mount != nullptr) {
    UseMount(*mount, route);
  } else if (!is_personal) {
    route.outcome = RouteOutcome::kNoApplication;
  }
}

// kServe if the request keeps the limits of its path's settings.
RouteOutcome JudgeLimits(const RouteRequest& request, std::string_view path,
                         const v1::LimitSettings& limits) {
  if (static_cast<std::int64_t>(request.raw_path.size()) > limits.max_url()) {
    return RouteOutcome::kUrlTooLong;
  }
  if (static_cast<std::int64_t>(request.query_size) > limits.max_query()) {
    return RouteOutcome::kQueryTooLong;
  }
  return CountSegments(path) > limits.max_url_segments() ? RouteOutcome::kTooManySegments
                                                         : RouteOutcome::kServe;
}

ResolvedRoot ResolveRoot(const v1::Root& root, NameSource& names) {
  ResolvedRoot resolved;
  std::tie(resolved.store_uid, resolved.store_path) = names.FindStore(root.store());
  resolved.path = root.path();
  return resolved;
}

// "/" is the prefix "".
std::string PrefixOf(std::string_view path) { return path == "/" ? "" : std::string(path); }

template <typename Item>
void SortLongestFirst(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.prefix.size() > b.prefix.size(); });
}

void AddMounts(const v1::Application& application, NameSource& names, ResolvedSite& site) {
  const std::string prefix = PrefixOf(application.path());
  ResolvedMount mount{prefix, application.path(), "", names.FindPoolUid(application.pool()),
                      ResolveRoot(application.root(), names)};
  site.mounts.push_back(mount);
  for (const v1::VirtualDirectory& directory : application.virtual_directories()) {
    mount.prefix = prefix + PrefixOf(directory.path());
    mount.virtual_directory = directory.path();
    mount.root = ResolveRoot(directory.root(), names);
    site.mounts.push_back(mount);
  }
}

void AddPersonalPages(const v1::Site& record, NameSource& names, ResolvedSite& site) {
  const v1::PersonalPages& pages = record.personal_pages();
  site.has_personal_pages = true;
  const auto has = [&](v1::PersonalUrlForm form) {
    return std::find(pages.forms().begin(), pages.forms().end(), form) != pages.forms().end();
  };
  site.personal_path = has(v1::PATH);
  site.personal_tilde = has(v1::TILDE);
  site.personal_host = has(v1::HOST);
  site.host_suffix = pages.host_suffix();
  std::string_view pool = pages.pool();
  for (const v1::Application& application : record.applications()) {
    if (pool.empty() && application.path() == "/") {
      pool = application.pool();
    }
  }
  site.personal_pool_uid = pool.empty() ? 0 : names.FindPoolUid(pool);
}

bool SetsNothing(const v1::Settings& settings) { return settings.ByteSizeLong() == 0; }

void AddSettings(const v1::Site& record, std::span<const SettingsLayer> outer,
                 std::shared_ptr<const v1::Settings> whole, ResolvedSite& site) {
  if (whole == nullptr || !SetsNothing(record.settings())) {
    std::vector<SettingsLayer> layers(outer.begin(), outer.end());
    layers.push_back({record.name(), &record.settings()});
    whole = std::make_shared<const v1::Settings>(EffectiveSettings(layers));
  }
  // A path inherits from the paths above it, so shorter ones are resolved first.
  std::vector<const v1::PathSettings*> paths;
  for (const v1::PathSettings& path : record.paths()) {
    paths.push_back(&path);
  }
  std::stable_sort(paths.begin(), paths.end(), [](const auto* a, const auto* b) {
    return a->path().size() < b->path().size();
  });
  site.settings.push_back({"", std::move(whole)});
  for (const v1::PathSettings* path : paths) {
    const std::string prefix = PrefixOf(path->path());
    const auto parent =
        std::find_if(site.settings.rbegin(), site.settings.rend(),
                     [&](const auto& layer) { return IsBelow(prefix, layer.prefix); });
    if (SetsNothing(path->settings())) {
      continue;  // its parent says it all
    }
    auto merged = std::make_shared<v1::Settings>(*parent->settings);
    MergeSettings(path->settings(), *merged);
    if (prefix.empty()) {
      site.settings.front().settings = std::move(merged);
    } else {
      site.settings.push_back({prefix, std::move(merged)});
    }
  }
  SortLongestFirst(site.settings);
}

}  // namespace

ResolvedSite ResolveSite(const v1::Site& record, std::span<const SettingsLayer> outer,
                         NameSource& names, std::shared_ptr<const v1::Settings> outer_effective) {
  ResolvedSite site;
  site.uid = record.uid();
  site.revision = record.revision();
  site.name = record.name();
  site.stopped = record.state() == v1::STOPPED;
  for (const v1::Application& application : record.applications()) {
    AddMounts(application, names, site);
  }
  SortLongestFirst(site.mounts);
  if (record.has_personal_pages()) {
    AddPersonalPages(record, names, site);
  }
  AddSettings(record, outer, std::move(outer_effective), site);
  return site;
}

ResolvedAccount ResolveAccount(const v1::Account& account, NameSource& names) {
  return {account.uid(), account.state() == v1::SUSPENDED, ResolveRoot(account.home(), names)};
}

Route FindRoute(const RouteRequest& request, RoutingSource& source) {
  Route route;
  const auto uid = FindSite(request.ip, request.port, request.host,
                            [&](std::string_view key) { return source.FindBinding(key); });
  if (!uid) {
    return route;
  }
  route.site = source.FindSite(*uid);
  if (route.site == nullptr) {
    return route;
  }
  route.settings = route.site->settings.back().settings;
  if (route.site->stopped) {
    route.outcome = RouteOutcome::kSiteStopped;
    return route;
  }
  UrlPath url = NormalizeUrlPath(request.raw_path);
  if (url.error != UrlPathError::kNone) {
    route.outcome = RouteOutcome::kBadPath;
    route.bad_path_reason = Describe(url.error);
    return route;
  }
  route.path = std::move(url.path);
  route.settings = FindLongest(route.site->settings, route.path)->settings;
  route.outcome = JudgeLimits(request, route.path, route.settings->limits());
  if (route.outcome == RouteOutcome::kServe) {
    FindTarget(request.host, source, route);
  }
  return route;
}

int StatusOf(RouteOutcome outcome) {
  switch (outcome) {
    case RouteOutcome::kServe:
      return 0;
    case RouteOutcome::kNoSite:
    case RouteOutcome::kBadPath:
      return 400;
    case RouteOutcome::kSiteStopped:
    case RouteOutcome::kNoPool:
    case RouteOutcome::kNoStore:
      return 503;
    case RouteOutcome::kNoApplication:
    case RouteOutcome::kUnknownAccount:
    case RouteOutcome::kTooManySegments:
      return 404;
    case RouteOutcome::kAccountSuspended:
      return 403;
    case RouteOutcome::kUrlTooLong:
    case RouteOutcome::kQueryTooLong:
      return 414;
    case RouteOutcome::kRedirectToSlash:
      return 301;
  }
  return 500;
}

std::string_view ReasonOf(RouteOutcome outcome) {
  switch (outcome) {
    case RouteOutcome::kServe:
      return "Serve";
    case RouteOutcome::kNoSite:
      return "NoSite";
    case RouteOutcome::kBadPath:
      return "BadPath";
    case RouteOutcome::kSiteStopped:
      return "SiteStopped";
    case RouteOutcome::kNoApplication:
      return "NoApplication";
    case RouteOutcome::kUnknownAccount:
      return "UnknownAccount";
    case RouteOutcome::kAccountSuspended:
      return "AccountSuspended";
    case RouteOutcome::kNoPool:
      return "NoPool";
    case RouteOutcome::kNoStore:
      return "NoStore";
    case RouteOutcome::kUrlTooLong:
      return "UrlTooLong";
    case RouteOutcome::kQueryTooLong:
      return "QueryTooLong";
    case RouteOutcome::kTooManySegments:
      return "TooManySegments";
    case RouteOutcome::kRedirectToSlash:
      return "RedirectToSlash";
  }
  return "Unknown";
}

}  // namespace croft::contract
