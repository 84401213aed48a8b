// What FakeStore says of changes and of the versions they wrote.
#include <algorithm>

#include "control/store/row_type.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::store {
namespace {

bool Touches(const v1::Change& change, std::string_view resource) {
  return resource.empty() || std::ranges::any_of(change.resources(), [&](const auto& changed) {
           return changed.name() == resource;
         });
}

std::int64_t MillisOf(const google::protobuf::Timestamp& time) {
  return time.seconds() * 1000 + time.nanos() / 1'000'000;
}

// With the owner's name, and without an owner where the row has been purged.
Version Complete(const FakeStore::State& state, Version version) {
  const auto row = state.rows.find({TypeNumber(version.row.type), version.row.uid});
  const std::int64_t owner_uid = row == state.rows.end() ? 0 : version.row.organization_uid;
  const auto owner = state.rows.find({TypeNumber(ResourceType::kOrganization), owner_uid});
  const std::string name = owner == state.rows.end() ? "" : owner->second.name;
  for (StoredResource* one :
       {&version.row, version.before.has_value() ? &*version.before : nullptr}) {
    if (one != nullptr) {
      one->organization_uid = owner_uid;
      one->organization = name;
    }
  }
  return version;
}

// All versions of resources of that name, grouped as ListHistory promises.
std::vector<const Version*> HistoryOf(const FakeStore::State& state, std::string_view name) {
  std::vector<const Version*> versions;
  std::map<std::int64_t, std::int64_t> newest;  // revision by uid
  for (const auto& [revision, logged] : state.changes) {
    for (const Version& version : *logged.versions) {
      if (version.row.name == name) {
        versions.push_back(&version);
        newest[version.row.uid] = revision;
      }
    }
  }
  std::ranges::stable_sort(versions, std::greater<>(), [&](const Version* version) {
    return std::pair(newest[version->row.uid], version->change.revision());
  });
  return versions;
}

}  // namespace

absl::StatusOr<std::vector<v1::Change>> FakeStore::ListChanges(const ChangeQuery& query) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  std::vector<v1::Change> changes;
  for (auto at = (*state)->changes.rbegin();
       at != (*state)->changes.rend() && std::ssize(changes) < query.limit; ++at) {
    const v1::Change& change = at->second.change;
    const bool before = query.before_revision == 0 || at->first < query.before_revision;
    const bool wanted =
        (query.who.empty() || change.who() == query.who) &&
        (!query.since.has_value() || MillisOf(change.time()) >= UnixMillis(*query.since));
    if (before && wanted && Touches(change, query.resource)) {
      changes.push_back(change);
    }
  }
  return changes;
}

absl::StatusOr<LogPage> FakeStore::ListLog(const LogPosition& after, std::int64_t last_revision,
                                           int limit) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  LogPage page{.versions = {}, .next = after};
  for (const auto& [revision, logged] : (*state)->changes) {
    if (revision < after.revision || (last_revision != 0 && revision > last_revision)) {
      continue;
    }
    for (const Version& version : *logged.versions) {
      if (std::tuple(revision, version.place.type, version.place.uid) <=
          std::tuple(after.revision, after.type, after.uid)) {
        continue;
      }
      page.versions.push_back(Complete(**state, version));
      page.next = version.place;
      if (std::ssize(page.versions) == limit) {
        return page;
      }
    }
    page.next = {.revision = revision, .tag = logged.tag};
  }
  return page;
}

absl::StatusOr<HistoryPage> FakeStore::ListHistory(std::string_view name,
                                                   const HistoryPosition& from, int limit) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  HistoryPage page;
  bool is_reached = from.change_id == 0;
  for (const Version* version : HistoryOf(**state, name)) {
    const StoredResource& row = version->row;
    is_reached = is_reached || (row.uid == from.uid && row.change_id == from.change_id);
    if (!is_reached) {
      continue;
    }
    if (std::ssize(page.versions) == limit) {
      page.next = {row.uid, row.change_id};
      return page;
    }
    page.versions.push_back(Complete(**state, *version));
  }
  return page;
}

absl::StatusOr<std::optional<StoredResource>> FakeStore::FindAsOf(ResourceType type,
                                                                  std::int64_t uid,
                                                                  std::int64_t revision) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  for (auto at = (*state)->changes.upper_bound(revision); at != (*state)->changes.end(); ++at) {
    for (const Version& version : *at->second.versions) {
      if (version.row.type == type && version.row.uid == uid) {
        return Complete(**state, version).before;
      }
    }
  }
  return std::nullopt;
}

}  // namespace croft::control::store
