// Finds a request's target: the contract's rules over the replica, with a loop's SiteCache between.
// What the replica cannot give because it is damaged is told apart from what is not there. One loop
// only.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "croft/node/v1/channel.pb.h"
#include "croft/v1/settings.pb.h"
#include "node/listener/site_cache.h"
#include "node/replica/reader.h"
#include "proto/contract/routing.h"

namespace croft::node::listener {

class Router final : private contract::RoutingSource, private contract::NameSource {
 public:
  explicit Router(std::shared_ptr<const replica::Reader> reader);

  contract::Route Find(const contract::RouteRequest& request);
  // Why the last Find could not read something it needed; empty when it could.
  const std::string& damage() const { return damage_; }

  // Settings before any site is known: defaults, platform, farm.
  const croft::v1::Settings& node_settings();

  void Drop(const v1::ReplicaChanged& change);
  // Another generation was taken into service.
  void SetReader(std::shared_ptr<const replica::Reader> reader);

 private:
  // contract::RoutingSource
  std::optional<std::int64_t> FindBinding(std::string_view encoded_key) override;
  std::shared_ptr<const contract::ResolvedSite> FindSite(std::int64_t uid) override;
  std::optional<contract::ResolvedAccount> FindAccount(std::string_view name) override;
  // contract::NameSource
  std::int64_t FindPoolUid(std::string_view pool_name) override;
  std::pair<std::int64_t, std::string> FindStore(std::string_view store_name) override;

  void DropAll();
  // A site changed: it goes, with the bindings it had and those it has now.
  void DropSite(std::int64_t uid);
  // The platform's and the farm's settings and the farm's name, read once.
  void LoadOuter();
  template <typename T>
  T OrDamage(absl::StatusOr<T> result);

  struct Outer {
    croft::v1::Settings platform;
    croft::v1::Settings farm;
    std::string farm_name;  // "farms/main"
    std::shared_ptr<const croft::v1::Settings> effective;
  };

  std::shared_ptr<const replica::Reader> reader_;
  SiteCache cache_;
  std::optional<Outer> outer_;
  boost::unordered_flat_map<std::string, std::pair<std::int64_t, std::string>> stores_;
  std::string damage_;
};

}  // namespace croft::node::listener
