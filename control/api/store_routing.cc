#include "control/api/store_routing.h"

#include "croft/v1/account.pb.h"
#include "croft/v1/store.pb.h"

namespace croft::control::api {

using store::ResourceType;
using store::StoredResource;

StoreRouting::StoreRouting(store::Store& store, const StoredResource& farm)
    : store_(store), farm_uid_(farm.uid), farm_(farm.name) {
  if (const auto platform = Take(store_.Find("platform")); platform.has_value()) {
    platform_record_.ParseFromString(platform->body);
  }
  farm_record_.ParseFromString(farm.body);
  outer_.push_back({.origin = "platform", .settings = &platform_record_.settings()});
  outer_.push_back({.origin = farm_, .settings = &farm_record_.settings()});
}

std::optional<StoredResource> StoreRouting::Take(
    absl::StatusOr<std::optional<StoredResource>> found) {
  if (!found.ok()) {
    status_.Update(found.status());
    return std::nullopt;
  }
  return found->has_value() && !(*found)->deleted ? *std::move(found) : std::nullopt;
}

std::optional<std::int64_t> StoreRouting::FindBinding(std::string_view encoded_key) {
  auto found = store_.FindBinding(farm_uid_, encoded_key);
  status_.Update(found.status());
  return found.ok() ? *found : std::nullopt;
}

std::shared_ptr<const contract::ResolvedSite> StoreRouting::FindSite(std::int64_t uid) {
  const auto row = Take(store_.FindByUid(ResourceType::kSite, uid));
  if (!row.has_value()) {
    return nullptr;
  }
  v1::Site& site = sites_[uid];
  site.ParseFromString(row->body);
  site.set_name(row->name);
  site.set_uid(uid);
  site.set_revision(row->revision);
  return std::make_shared<const contract::ResolvedSite>(contract::ResolveSite(site, outer_, *this));
}

std::optional<contract::ResolvedAccount> StoreRouting::FindAccount(std::string_view name) {
  const auto row = Take(store_.Find(farm_ + "/accounts/" + std::string(name)));
  if (!row.has_value()) {
    return std::nullopt;
  }
  v1::Account account;
  account.ParseFromString(row->body);
  account.set_name(row->name);
  account.set_uid(row->uid);
  return contract::ResolveAccount(account, *this);
}

std::int64_t StoreRouting::FindPoolUid(std::string_view pool_name) {
  const auto row = Take(store_.Find(pool_name));
  return row.has_value() && row->type == ResourceType::kPool ? row->uid : 0;
}

std::pair<std::int64_t, std::string> StoreRouting::FindStore(std::string_view store_name) {
  const auto row = Take(store_.Find(store_name));
  if (!row.has_value() || row->type != ResourceType::kStore) {
    return {0, std::string()};
  }
  v1::FileStore record;
  record.ParseFromString(row->body);
  return {row->uid, record.path()};
}

std::optional<std::string> StoreRouting::FindName(ResourceType type, std::int64_t uid) {
  const auto row = uid == 0 ? std::nullopt : Take(store_.FindByUid(type, uid));
  return row.has_value() ? std::optional(row->name) : std::nullopt;
}

}  // namespace croft::control::api
