#include "control/reports/instance_names.h"

namespace croft::control::reports {
namespace {

constexpr std::chrono::seconds kRemembered{60};
constexpr std::size_t kKnownMax = 500'000;
// With more unknown uids than this, reading the whole type is cheaper than asking one by one.
constexpr std::size_t kOneByOneMax = 200;
constexpr int kPage = 1000;

}  // namespace

void InstanceNames::Remember(Key key, Named named) {
  auto known = known_.Lock();
  if (known->size() >= kKnownMax) {
    known->clear();
  }
  (*known)[key] = {.named = std::move(named), .until = clock_.Monotonic() + kRemembered};
}

absl::Status InstanceNames::LearnOne(Key key) {
  const auto found = store_.FindByUid(key.first, key.second);
  if (!found.ok()) {
    return found.status();
  }
  const bool live = found->has_value() && !(*found)->deleted;
  Remember(key, live ? Named{(*found)->name, (*found)->organization_uid} : Named());
  return absl::OkStatus();
}

absl::Status InstanceNames::LearnAll(store::ResourceType type) {
  store::ListQuery query{.type = type, .farm_uid = 0, .after_name = {}, .limit = kPage};
  for (;;) {
    const auto page = store_.List(query);
    if (!page.ok()) {
      return page.status();
    }
    for (const store::StoredResource& row : *page) {
      Remember({type, row.uid}, {row.name, row.organization_uid});
    }
    if (std::ssize(*page) < kPage) {
      return absl::OkStatus();
    }
    query.after_name = page->back().name;
  }
}

absl::StatusOr<std::map<std::int64_t, Named>> InstanceNames::Find(
    store::ResourceType type, const std::vector<std::int64_t>& uids) {
  const auto now = clock_.Monotonic();
  const auto look_up = [&](std::map<std::int64_t, Named>& names) {
    std::vector<std::int64_t> unknown;
    auto known = known_.Lock();
    for (const std::int64_t uid : uids) {
      const auto at = known->find({type, uid});
      if (at == known->end() || at->second.until < now) {
        unknown.push_back(uid);
      } else if (!at->second.named.name.empty()) {
        names[uid] = at->second.named;
      }
    }
    return unknown;
  };
  std::map<std::int64_t, Named> names;
  std::vector<std::int64_t> unknown = look_up(names);
  if (unknown.size() > kOneByOneMax) {
    if (absl::Status status = LearnAll(type); !status.ok()) {
      return status;
    }
    unknown = look_up(names);
  }
  if (unknown.size() > kOneByOneMax) {
    return names;  // deleted since they were counted
  }
  for (const std::int64_t uid : unknown) {
    if (absl::Status status = LearnOne({type, uid}); !status.ok()) {
      return status;
    }
  }
  look_up(names);
  return names;
}

}  // namespace croft::control::reports
