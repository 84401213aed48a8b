// From a request to its target: binding -> site -> application -> pool, and for personal pages
// account -> home. The listener serves by it and control explains by it, so they cannot disagree.
// Pure: what it needs to know it asks of a RoutingSource.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croft/v1/account.pb.h"
#include "croft/v1/settings.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/settings_rules.h"

namespace croft::contract {

// Where files of a prefix are, with names resolved.
struct ResolvedRoot {
  std::int64_t store_uid = 0;  // 0: the store does not exist
  std::string store_path;
  std::string path;  // relative to the store
};

// An application or virtual directory.
struct ResolvedMount {
  std::string prefix;  // "" for "/", otherwise "/docs"
  std::string application;
  std::string virtual_directory;  // "" for the application's own root
  std::int64_t pool_uid = 0;      // 0: the pool does not exist
  ResolvedRoot root;
};

// A site ready to route by: references resolved, settings merged. Immutable.
struct ResolvedSite {
  std::int64_t uid = 0;
  std::int64_t revision = 0;
  std::string name;
  bool stopped = false;
  std::vector<ResolvedMount> mounts;  // longest prefix first
  bool has_personal_pages = false;
  bool personal_path = false, personal_tilde = false, personal_host = false;
  std::string host_suffix;
  std::int64_t personal_pool_uid = 0;
  struct PathLayer {
    std::string prefix;                            // "" for the site as a whole, always last
    std::shared_ptr<const v1::Settings> settings;  // effective, every field set
  };
  std::vector<PathLayer> settings;  // longest prefix first
};

struct ResolvedAccount {
  std::int64_t uid = 0;
  bool suspended = false;
  ResolvedRoot home;
};

// Looks up what names refer to. Called synchronously.
class NameSource {
 public:
  virtual ~NameSource() = default;
  virtual std::int64_t FindPoolUid(std::string_view pool_name) = 0;  // 0: none
  // (uid, path on the node); uid 0: none.
  virtual std::pair<std::int64_t, std::string> FindStore(std::string_view store_name) = 0;
};

// `outer` are the platform's and the farm's settings; `outer_effective`, if given, what they come
// to: a site that sets nothing shares it instead of holding a copy.
ResolvedSite ResolveSite(const v1::Site& site, std::span<const SettingsLayer> outer,
                         NameSource& names,
                         std::shared_ptr<const v1::Settings> outer_effective = nullptr);
ResolvedAccount ResolveAccount(const v1::Account& account, NameSource& names);

class RoutingSource {
 public:
  virtual ~RoutingSource() = default;
  virtual std::optional<std::int64_t> FindBinding(std::string_view encoded_key) = 0;
  virtual std::shared_ptr<const ResolvedSite> FindSite(std::int64_t uid) = 0;
  // `name` is canonical ("bob"); the farm is the source's.
  virtual std::optional<ResolvedAccount> FindAccount(std::string_view name) = 0;
};

enum class RouteOutcome {
  kServe,
  kNoSite,            // 400
  kBadPath,           // 400
  kSiteStopped,       // 503
  kNoApplication,     // 404: the site has nothing at this path
  kUnknownAccount,    // 404
  kAccountSuspended,  // 403
  kNoPool,            // 503: the application's pool does not exist
  kNoStore,           // 503
  kUrlTooLong,        // 414
  kQueryTooLong,      // 414
  kTooManySegments,   // 404
  kRedirectToSlash,   // 301: "/~bob" or "/bob" without the slash; location is the path plus "/"
};

struct Route {
  RouteOutcome outcome = RouteOutcome::kNoSite;
  std::shared_ptr<const ResolvedSite> site;
  std::shared_ptr<const v1::Settings> settings;  // effective for the path
  std::string path;                              // normalised
  // What the mount's prefix (or "/~bob") takes of `path`: the file is root + path.substr(strip).
  std::size_t strip = 0;
  ResolvedRoot root;
  std::int64_t pool_uid = 0;
  const ResolvedMount* mount = nullptr;  // inside *site; null for personal pages
  std::int64_t account_uid = 0;
  std::string account;
  std::string_view bad_path_reason;
};

struct RouteRequest {
  IpBytes ip{};
  std::uint16_t port = 0;
  std::string_view host;      // canonical
  std::string_view raw_path;  // without the query
  std::size_t query_size = 0;
};

Route FindRoute(const RouteRequest& request, RoutingSource& source);

// HTTP status of an outcome the listener answers itself; 0 for kServe.
int StatusOf(RouteOutcome outcome);
// Stable word for error log and counters: "NoSite", "SiteStopped", "BadPath", ...
std::string_view ReasonOf(RouteOutcome outcome);

}  // namespace croft::contract
