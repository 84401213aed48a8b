// A farm as the store has it, for contract::FindRoute. One question's worth: it remembers the first
// failure of the store and reads each resource once. One thread; blocks on the store.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "control/store/store.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/contract/routing.h"

namespace croft::control::api {

class StoreRouting final : public contract::RoutingSource, public contract::NameSource {
 public:
  // `farm` is a row of the store.
  StoreRouting(store::Store& store, const store::StoredResource& farm);

  std::optional<std::int64_t> FindBinding(std::string_view encoded_key) override;
  std::shared_ptr<const contract::ResolvedSite> FindSite(std::int64_t uid) override;
  std::optional<contract::ResolvedAccount> FindAccount(std::string_view name) override;
  std::int64_t FindPoolUid(std::string_view pool_name) override;
  std::pair<std::int64_t, std::string> FindStore(std::string_view store_name) override;

  // The record a resolved site came from.
  const v1::Site& GetSite(std::int64_t uid) { return sites_[uid]; }
  std::optional<std::string> FindName(store::ResourceType type, std::int64_t uid);
  // Platform and farm, outermost first.
  std::span<const contract::SettingsLayer> outer_layers() const { return outer_; }
  // The first failure of the store; what was found since means nothing.
  const absl::Status& status() const { return status_; }

 private:
  std::optional<store::StoredResource> Take(
      absl::StatusOr<std::optional<store::StoredResource>> found);

  store::Store& store_;
  const std::int64_t farm_uid_;
  const std::string farm_;
  v1::Platform platform_record_;
  v1::Farm farm_record_;
  std::vector<contract::SettingsLayer> outer_;
  std::map<std::int64_t, v1::Site> sites_;
  absl::Status status_;
};

}  // namespace croft::control::api
