#include "tests/unit/control/store/fake_transaction.h"

#include <absl/status/status.h>

#include <algorithm>

#include "control/store/conflicts.h"
#include "control/store/row_type.h"
#include "proto/base/error.h"

namespace croft::control::store {
namespace {

FakeStore::RowKey KeyOf(const StoredResource& row) { return {TypeNumber(row.type), row.uid}; }

google::protobuf::Timestamp ToTimestamp(std::chrono::system_clock::time_point time) {
  const std::int64_t ms = UnixMillis(time);
  google::protobuf::Timestamp result;
  result.set_seconds(ms / 1000);
  result.set_nanos(static_cast<std::int32_t>(ms % 1000) * 1'000'000);
  return result;
}

std::uint32_t SmallestFreeIdentity(const FakeStore::State& state, std::int64_t farm_uid) {
  std::set<std::uint32_t> used;
  for (const auto& [key, row] : state.rows) {
    if (!row.deleted && row.type == ResourceType::kPool && row.farm_uid == farm_uid) {
      used.insert(row.identity);
    }
  }
  std::uint32_t identity = 1;
  while (used.contains(identity)) {
    ++identity;
  }
  return identity;
}

bool RefersTo(const StoredResource& from, const StoredResource& to) {
  switch (to.type) {
    case ResourceType::kOrganization:
      return from.organization_uid == to.uid;
    case ResourceType::kStore:
      return from.store_uid == to.uid;
    case ResourceType::kFarm:
      return from.farm_uid == to.uid;
    case ResourceType::kPlatform:
    case ResourceType::kNode:
    case ResourceType::kPool:
    case ResourceType::kSite:
    case ResourceType::kAccount:
    case ResourceType::kOperator:
    case ResourceType::kToken:
      return false;
  }
  return false;
}

}  // namespace

FakeTransaction::FakeTransaction(FakeStore& store, std::shared_ptr<const State> base,
                                 std::int64_t change_id)
    : store_(store),
      base_(std::move(base)),
      change_id_(change_id),
      time_(store.Now()),
      copy_(*base_) {}

absl::Status FakeTransaction::Do(Step step) {
  const auto current = store_.Current();
  if (!current.ok()) {
    return current.status();
  }
  absl::Status status = step(copy_);
  if (status.ok()) {
    steps_.push_back(std::move(step));
  }
  return status;
}

absl::StatusOr<std::int64_t> FakeTransaction::NextUid(ResourceType type) {
  auto uids = NextUids(type, 1);
  return uids.ok() ? absl::StatusOr<std::int64_t>(uids->front()) : uids.status();
}

absl::StatusOr<std::vector<std::int64_t>> FakeTransaction::NextUids(ResourceType /*type*/,
                                                                    int count) {
  const std::lock_guard lock(store_.mutex_);
  std::vector<std::int64_t> uids;
  for (int i = 0; i < count; ++i) {
    uids.push_back(store_.next_uid_++);
  }
  return uids;
}

absl::StatusOr<std::optional<StoredResource>> FakeTransaction::FindForUpdate(
    std::string_view name) {
  return Find(name);
}

absl::StatusOr<std::optional<StoredResource>> FakeTransaction::Find(std::string_view name) {
  if (const auto current = store_.Current(); !current.ok()) {
    return current.status();
  }
  const auto found = copy_.names.find(name);
  if (found == copy_.names.end()) {
    return std::nullopt;
  }
  read_.emplace(found->first, found->second);
  return copy_.rows.at(found->second);
}

absl::StatusOr<std::vector<StoredResource>> FakeTransaction::FindMany(
    ResourceType type, const std::vector<std::string>& names) {
  std::vector<StoredResource> rows;
  for (const std::string& name : names) {
    const auto found = copy_.names.find(name);
    if (found != copy_.names.end() && copy_.rows.at(found->second).type == type) {
      rows.push_back(copy_.rows.at(found->second));
    }
  }
  return rows;
}

absl::StatusOr<std::vector<StoredResource>> FakeTransaction::FindStores(std::int64_t farm_uid) {
  std::vector<StoredResource> rows;
  for (const auto& [name, key] : copy_.names) {
    const StoredResource& row = copy_.rows.at(key);
    if (row.type == ResourceType::kStore && row.farm_uid == farm_uid) {
      rows.push_back(row);
    }
  }
  return rows;
}

StoredResource FakeTransaction::Stamped(const StoredResource& row,
                                        const StoredResource* previous) const {
  StoredResource stamped = row;
  stamped.change_id = change_id_;
  stamped.revision = 0;
  stamped.created = previous == nullptr ? time_ : previous->created;
  stamped.updated = time_;
  return stamped;
}

void FakeTransaction::Note(const StoredResource& row, std::string_view action) {
  touched_.insert(KeyOf(row));
  v1::ChangedResource changed;
  changed.set_name(row.name);
  changed.set_action(std::string(action));
  log_.push_back(std::move(changed));
}

absl::Status FakeTransaction::Insert(const StoredResource& row) {
  const StoredResource stamped = Stamped(row, nullptr);
  const absl::Status status = Do([stamped](State& state) {
    const std::pair home(stamped.store_uid, stamped.home_path);
    const auto holder = state.homes.find(home);
    if (holder != state.homes.end() && !state.names.contains(stamped.name)) {
      return HomeTaken(stamped.home_path, holder->second);
    }
    if (!state.names.emplace(stamped.name, KeyOf(stamped)).second) {
      return NameTaken(stamped.name);
    }
    for (const auto& [key, other] : state.rows) {
      if (stamped.type == ResourceType::kPool && other.type == ResourceType::kPool &&
          !other.deleted && other.farm_uid == stamped.farm_uid &&
          other.identity == stamped.identity) {
        return Conflict("the farm's set of identities");
      }
    }
    state.rows[KeyOf(stamped)] = stamped;
    if (!stamped.home_path.empty()) {
      state.homes[home] = stamped.name;
    }
    return absl::OkStatus();
  });
  if (status.ok()) {
    Note(row, "create");
  }
  return status;
}

absl::Status FakeTransaction::Update(const StoredResource& row) {
  const auto found = copy_.rows.find(KeyOf(row));
  if (found == copy_.rows.end() || found->second.deleted) {
    return Conflict(row.name);
  }
  const std::int64_t expected = found->second.change_id;
  const StoredResource stamped = Stamped(row, &found->second);
  const absl::Status status = Do([stamped, expected](State& state) {
    StoredResource& current = state.rows[KeyOf(stamped)];
    if (current.deleted || current.change_id != expected) {
      return Conflict(stamped.name);
    }
    current = stamped;
    return absl::OkStatus();
  });
  if (status.ok()) {
    Note(row, "update");
  }
  return status;
}

absl::Status FakeTransaction::SetOwners(const StoredResource& row) {
  return Do([key = KeyOf(row), name = row.name, owners = row.owners](State& state) {
    const auto found = state.rows.find(key);
    if (found == state.rows.end() || found->second.deleted) {
      return Conflict(name);
    }
    found->second.owners = owners;
    return absl::OkStatus();
  });
}

absl::Status FakeTransaction::Delete(const StoredResource& row) {
  const auto found = copy_.rows.find(KeyOf(row));
  if (found == copy_.rows.end() || found->second.deleted) {
    return Conflict(row.name);
  }
  const std::int64_t expected = found->second.change_id;
  StoredResource stamped = Stamped(row, &found->second);
  stamped.deleted = true;
  const absl::Status status = Do([stamped, expected](State& state) {
    StoredResource& current = state.rows[KeyOf(stamped)];
    if (current.deleted || current.change_id != expected) {
      return Conflict(stamped.name);
    }
    current = stamped;
    state.names.erase(stamped.name);
    std::erase_if(state.homes, [&](const auto& home) { return home.second == stamped.name; });
    state.references.erase(KeyOf(stamped));
    if (stamped.type == ResourceType::kToken) {
      std::erase_if(state.token_hashes,
                    [&](const auto& token) { return token.second.first == stamped.uid; });
    }
    if (stamped.type == ResourceType::kSite) {
      std::erase_if(state.bindings, [&](const auto& b) { return b.second == stamped.uid; });
    }
    return absl::OkStatus();
  });
  if (status.ok()) {
    Note(row, "delete");
  }
  return status;
}

absl::StatusOr<std::optional<StoredResource>> FakeTransaction::FindDeletedForUpdate(
    std::string_view name, std::int64_t uid) {
  std::optional<StoredResource> newest;
  for (const auto& [key, row] : copy_.rows) {
    if (row.deleted && row.name == name && !row.body.empty() && (uid == 0 || row.uid == uid) &&
        (!newest || row.change_id > newest->change_id)) {
      newest = row;
    }
  }
  if (newest.has_value()) {
    const auto owner =
        copy_.rows.find({TypeNumber(ResourceType::kOrganization), newest->organization_uid});
    newest->organization = owner == copy_.rows.end() ? "" : owner->second.name;
  }
  return newest;
}

absl::Status FakeTransaction::Undelete(const StoredResource& row) {
  const auto found = copy_.rows.find(KeyOf(row));
  if (found == copy_.rows.end() || !found->second.deleted) {
    return Conflict(row.name);
  }
  const std::int64_t expected = found->second.change_id;
  StoredResource stamped = Stamped(row, &found->second);
  stamped.deleted = false;
  const absl::Status status = Do([stamped, expected](State& state) {
    const auto current = state.rows.find(KeyOf(stamped));
    if (current == state.rows.end() || current->second.change_id != expected) {
      return Conflict(stamped.name);
    }
    if (state.names.contains(stamped.name)) {
      return NameTaken(stamped.name);
    }
    for (const auto& [key, other] : state.rows) {
      if (stamped.identity != 0 && !other.deleted && other.farm_uid == stamped.farm_uid &&
          other.identity == stamped.identity) {
        return IdentityTaken(stamped.name, other.name);
      }
    }
    if (!stamped.home_path.empty()) {
      const auto [home, is_free] =
          state.homes.emplace(std::pair(stamped.store_uid, stamped.home_path), stamped.name);
      if (!is_free) {
        return HomeTaken(stamped.home_path, home->second);
      }
    }
    current->second = stamped;
    state.names.emplace(stamped.name, KeyOf(stamped));
    return absl::OkStatus();
  });
  if (status.ok()) {
    Note(row, "undelete");
  }
  return status;
}

absl::Status FakeTransaction::CommitAnswer(const ChangeInfo& info) {
  const std::lock_guard lock(store_.mutex_);
  auto replayed = Replay(store_.state_);
  if (!replayed.ok()) {
    return replayed.status();
  }
  auto state = std::make_shared<State>(*std::move(replayed));
  const KnownRequest known{info.request_fingerprint, info.answer, info.counts, 0};
  if (!info.request_id.empty() &&
      !state->requests.emplace(std::pair(info.who, info.request_id), known).second) {
    return Conflict("the request id " + info.request_id);
  }
  store_.state_ = std::move(state);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FakeTransaction::InsertMany(
    const std::vector<StoredResource>& rows) {
  std::vector<std::string> taken;
  for (const StoredResource& row : rows) {
    const absl::Status status = Insert(row);
    if (absl::IsAlreadyExists(status)) {
      taken.push_back(row.name);
    } else if (!status.ok()) {
      return status;
    }
  }
  return taken;
}

absl::Status FakeTransaction::SetBindings(std::int64_t farm_uid, std::int64_t site_uid,
                                          const std::vector<std::string>& encoded_keys) {
  return Do([farm_uid, site_uid, encoded_keys](State& state) {
    std::erase_if(state.bindings, [&](const auto& b) { return b.second == site_uid; });
    for (const std::string& key : encoded_keys) {
      const auto [at, inserted] = state.bindings.emplace(std::pair(farm_uid, key), site_uid);
      if (!inserted && at->second != site_uid) {
        const auto holder = state.rows.find({TypeNumber(ResourceType::kSite), at->second});
        return BindingTaken(key, holder == state.rows.end() ? "" : holder->second.name);
      }
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::int64_t> FakeTransaction::TakeHomeSlots(std::int64_t store_uid,
                                                            std::int64_t count) {
  const std::int64_t first = copy_.home_slots[store_uid];
  const absl::Status status = Do([store_uid, count, first](State& state) {
    std::int64_t& next = state.home_slots[store_uid];
    if (next != first) {
      return Conflict("the store's count of homes");
    }
    next += count;
    return absl::OkStatus();
  });
  return status.ok() ? absl::StatusOr<std::int64_t>(first) : status;
}

absl::StatusOr<std::int64_t> FakeTransaction::UsedHomeSlots(std::int64_t store_uid) {
  const auto found = copy_.home_slots.find(store_uid);
  return found == copy_.home_slots.end() ? 0 : found->second;
}

absl::StatusOr<std::uint32_t> FakeTransaction::TakeIdentity(std::int64_t farm_uid) {
  return SmallestFreeIdentity(copy_, farm_uid);
}

absl::StatusOr<std::vector<std::string>> FakeTransaction::FindReferences(const StoredResource& row,
                                                                         int limit) {
  std::vector<std::string> names;
  for (const auto& [key, other] : copy_.rows) {
    if (other.deleted || key == KeyOf(row) || std::ssize(names) >= limit) {
      continue;
    }
    const auto references = copy_.references.find(key);
    const bool listed = references != copy_.references.end() &&
                        std::ranges::find(references->second, row.name) != references->second.end();
    if (listed || RefersTo(other, row)) {
      names.push_back(other.name);
    }
  }
  std::ranges::sort(names);
  return names;
}

absl::Status FakeTransaction::SetReferences(const StoredResource& row,
                                            const std::vector<std::string>& resource_names) {
  return Do([key = KeyOf(row), resource_names](State& state) {
    state.references[key] = resource_names;
    return absl::OkStatus();
  });
}

absl::Status FakeTransaction::SetTokenHash(std::int64_t token_uid, std::int64_t operator_uid,
                                           std::string_view hash) {
  return Do([token_uid, operator_uid, hash = std::string(hash)](State& state) {
    std::pair<std::int64_t, std::int64_t>& uids = state.token_hashes[hash];
    if (uids.first != 0) {
      return Error(absl::StatusCode::kAlreadyExists, "another token has that secret; try again");
    }
    uids = {token_uid, operator_uid};
    return absl::OkStatus();
  });
}

absl::StatusOr<FakeStore::State> FakeTransaction::Replay(
    const std::shared_ptr<const State>& current) {
  if (current == base_) {
    return std::move(copy_);
  }
  State state = *current;
  for (const auto& [name, key] : read_) {
    const auto found = state.names.find(name);
    if (touched_.contains(key) ? false : found == state.names.end() || found->second != key) {
      return Conflict(name);
    }
  }
  for (const Step& step : steps_) {
    if (absl::Status status = step(state); !status.ok()) {
      return status;
    }
  }
  return state;
}

std::vector<Version> FakeTransaction::Compare(const State& before, const State& after,
                                              const FakeStore::LoggedChange& logged) const {
  std::vector<Version> versions;
  const std::int64_t change_revision = logged.change.revision();
  for (const FakeStore::RowKey& key : touched_) {
    const auto old = before.rows.find(key);
    const bool was_known = old != before.rows.end();
    const bool was_live = was_known && !old->second.deleted;
    Version version{.action = VersionAction::kCreate,
                    .change = logged.change,
                    .place = {.revision = change_revision,
                              .tag = logged.tag,
                              .type = key.first,
                              .uid = key.second},
                    .row = after.rows.at(key),
                    .before = std::nullopt};
    version.change.clear_resources();
    if (version.row.deleted && !was_live) {
      continue;
    }
    if (was_live) {
      version.before = old->second;
    }
    version.action = version.row.deleted ? VersionAction::kDelete
                     : was_live          ? VersionAction::kUpdate
                     : was_known         ? VersionAction::kUndelete
                                         : VersionAction::kCreate;
    versions.push_back(std::move(version));
  }
  return versions;
}

absl::StatusOr<CommittedChange> FakeTransaction::Commit(const ChangeInfo& info) {
  const std::uint64_t tag = store_.DrawId();
  const auto current = store_.Current();
  if (!current.ok()) {
    return current.status();
  }
  const std::lock_guard lock(store_.mutex_);
  const std::shared_ptr<const State> before = store_.state_;
  auto state = Replay(before);
  if (!state.ok()) {
    return state.status();
  }
  const std::int64_t revision = state->position.revision() + 1;
  state->position.set_revision(revision);
  state->position.set_tag(tag);
  for (const FakeStore::RowKey& key : touched_) {
    state->rows[key].revision = revision;
  }
  if (!info.request_id.empty()) {
    const KnownRequest known{info.request_fingerprint, info.answer, info.counts, revision};
    if (!state->requests.emplace(std::pair(info.who, info.request_id), known).second) {
      return Conflict("the request id " + info.request_id);
    }
  }
  FakeStore::LoggedChange& logged = state->changes[revision];
  logged.tag = tag;
  logged.change.set_revision(revision);
  *logged.change.mutable_time() = ToTimestamp(time_);
  logged.change.set_who(info.who);
  logged.change.set_request_id(info.request_id);
  logged.change.set_reason(info.reason);
  logged.change.mutable_resources()->Assign(log_.begin(), log_.end());
  logged.change.set_total(logged.change.resources_size());
  logged.versions = std::make_shared<const std::vector<Version>>(Compare(*before, *state, logged));
  store_.Publish(std::make_shared<State>(*std::move(state)));
  return CommittedChange{revision, tag};
}

}  // namespace croft::control::store
