#include "node/listener/router.h"

#include <algorithm>
#include <array>

#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/settings_rules.h"

namespace croft::node::listener {
namespace {

constexpr std::size_t kCacheBytesMax = 64 * 1024 * 1024;
constexpr std::size_t kBindingsMax = 65536;
// A resolved site's share beyond its record: the containers, and settings that are not shared,
// which are filled in whole.
constexpr std::size_t kSiteOverheadBytes = 512;
constexpr std::size_t kSettingsBytes = 3 * 1024;

}  // namespace

Router::Router(std::shared_ptr<const replica::Reader> reader)
    : reader_(std::move(reader)), cache_(kCacheBytesMax, kBindingsMax) {}

template <typename T>
T Router::OrDamage(absl::StatusOr<T> result) {
  if (result.ok()) {
    return *std::move(result);
  }
  damage_ = std::string(result.status().message());
  return T();
}

contract::Route Router::Find(const contract::RouteRequest& request) {
  damage_.clear();
  return contract::FindRoute(request, *this);
}

const croft::v1::Settings& Router::node_settings() {
  LoadOuter();
  return *outer_->effective;
}

void Router::LoadOuter() {
  if (outer_) {
    return;
  }
  outer_.emplace();
  const absl::Status platform =
      reader_->ForEach(v1::PLATFORM, [&](std::int64_t, const replica::Reader::Found& found) {
        croft::v1::Platform message;
        if (message.ParseFromString(found.body)) {
          outer_->platform = message.settings();
        }
        return false;
      });
  const absl::Status farm =
      reader_->ForEach(v1::FARM, [&](std::int64_t, const replica::Reader::Found& found) {
        croft::v1::Farm message;
        if (message.ParseFromString(found.body)) {
          outer_->farm = message.settings();
          outer_->farm_name = message.name();
        }
        return false;
      });
  for (const absl::Status* status : {&platform, &farm}) {
    if (!status->ok()) {
      damage_ = std::string(status->message());
    }
  }
  const std::array<contract::SettingsLayer, 2> layers{{
      {"platform", &outer_->platform},
      {outer_->farm_name, &outer_->farm},
  }};
  outer_->effective =
      std::make_shared<const croft::v1::Settings>(contract::EffectiveSettings(layers));
}

std::optional<std::int64_t> Router::FindBinding(std::string_view encoded_key) {
  if (const auto known = cache_.FindBinding(encoded_key)) {
    return *known == 0 ? std::nullopt : known;
  }
  const auto found = OrDamage(reader_->FindBinding(encoded_key));
  if (damage_.empty()) {
    cache_.PutBinding(encoded_key, found.value_or(0));
  }
  return found;
}

std::shared_ptr<const contract::ResolvedSite> Router::FindSite(std::int64_t uid) {
  if (auto known = cache_.FindSite(uid)) {
    return known;
  }
  const auto found = OrDamage(reader_->FindRecord({v1::SITE, uid}));
  croft::v1::Site site;
  if (!found || !site.ParseFromString(found->body)) {
    return nullptr;
  }
  site.set_uid(uid);
  LoadOuter();
  const std::array<contract::SettingsLayer, 2> outer{{
      {"platform", &outer_->platform},
      {outer_->farm_name, &outer_->farm},
  }};
  auto resolved = std::make_shared<const contract::ResolvedSite>(
      contract::ResolveSite(site, outer, *this, outer_->effective));
  if (damage_.empty()) {
    const auto own =
        std::count_if(resolved->settings.begin(), resolved->settings.end(),
                      [&](const auto& layer) { return layer.settings != outer_->effective; });
    cache_.PutSite(resolved, found->body.size() * 2 + kSiteOverheadBytes +
                                 kSettingsBytes * static_cast<std::size_t>(own));
  }
  return resolved;
}

std::optional<contract::ResolvedAccount> Router::FindAccount(std::string_view name) {
  LoadOuter();
  std::string full;
  full.reserve(outer_->farm_name.size() + 10 + name.size());
  full.append(outer_->farm_name).append("/accounts/").append(name);
  const auto found = OrDamage(reader_->FindRecordByName(v1::ACCOUNT, full));
  croft::v1::Account account;
  if (!found || !account.ParseFromString(found->body)) {
    return std::nullopt;
  }
  account.set_uid(found->uid);
  return contract::ResolveAccount(account, *this);
}

std::int64_t Router::FindPoolUid(std::string_view pool_name) {
  return OrDamage(reader_->FindUid(v1::POOL, pool_name)).value_or(0);
}

std::pair<std::int64_t, std::string> Router::FindStore(std::string_view store_name) {
  std::string name(store_name);
  if (const auto known = stores_.find(name); known != stores_.end()) {
    return known->second;
  }
  const auto found = OrDamage(reader_->FindRecordByName(v1::STORE, store_name));
  croft::v1::FileStore store;
  if (!found || !store.ParseFromString(found->body)) {
    return {0, std::string()};
  }
  std::pair<std::int64_t, std::string> answer{found->uid, store.path()};
  stores_.emplace(std::move(name), answer);
  return answer;
}

void Router::Drop(const v1::ReplicaChanged& change) {
  if (change.all()) {
    DropAll();
    return;
  }
  for (const v1::RecordKey& key : change.keys()) {
    switch (key.type()) {
      case v1::SITE:
        DropSite(key.uid());
        break;
      case v1::ACCOUNT:  // read from the replica at each request
      case v1::NODE:
        break;
      default:  // every site may refer to it
        DropAll();
        return;
    }
  }
}

void Router::DropSite(std::int64_t uid) {
  cache_.DropSite(uid);
  const auto found = reader_->FindRecord({v1::SITE, uid});
  croft::v1::Site site;
  if (!found.ok() || (found->has_value() && !site.ParseFromString((*found)->body))) {
    cache_.ClearBindings();
    return;
  }
  for (const croft::v1::Binding& binding : site.bindings()) {
    if (const auto normal = contract::NormalizeBinding(binding); normal.ok()) {
      cache_.DropBinding(contract::EncodeBindingKey(contract::MakeBindingKey(*normal)));
    }
  }
}

void Router::DropAll() {
  cache_.Clear();
  stores_.clear();
  outer_.reset();
}

void Router::SetReader(std::shared_ptr<const replica::Reader> reader) {
  reader_ = std::move(reader);
  DropAll();
}

}  // namespace croft::node::listener
