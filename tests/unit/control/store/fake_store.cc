#include "tests/unit/control/store/fake_store.h"

#include <algorithm>

#include "control/store/row_type.h"
#include "proto/base/check.h"
#include "proto/base/error.h"
#include "tests/unit/control/store/fake_transaction.h"

namespace croft::control::store {
namespace {

node::v1::Record ToRecord(const StoredResource& row) {
  node::v1::Record record;
  record.set_type(RecordTypeOf(row.type));
  record.set_uid(row.uid);
  record.set_revision(row.revision);
  record.set_deleted(row.deleted);
  if (!row.deleted) {
    record.set_body(row.body);
  }
  return record;
}

bool ConcernsFarm(const StoredResource& row, std::int64_t farm_uid) {
  return row.type == ResourceType::kPlatform ||
         (row.type == ResourceType::kFarm && row.uid == farm_uid) ||
         (row.type != ResourceType::kOrganization && row.farm_uid == farm_uid);
}

StoredResource WithOrganization(const FakeStore::State& state, StoredResource row) {
  const auto owner =
      state.rows.find({TypeNumber(ResourceType::kOrganization), row.organization_uid});
  row.organization = owner == state.rows.end() ? "" : owner->second.name;
  return row;
}

}  // namespace

FakeStore::FakeStore(std::uint64_t seed, const Clock* clock)
    : clock_(clock == nullptr ? &system_clock_ : clock), random_(seed) {
  auto state = std::make_shared<State>();
  state->position.set_epoch(random_() | 1);
  state_ = std::move(state);
}

FakeStore::~FakeStore() = default;

std::chrono::system_clock::time_point FakeStore::Now() const { return clock_->Now(); }

std::uint64_t FakeStore::DrawId() {
  const std::lock_guard lock(mutex_);
  return random_() | 1;
}

absl::StatusOr<std::shared_ptr<const FakeStore::State>> FakeStore::Current() {
  const std::lock_guard lock(mutex_);
  if (!available_) {
    return Error(absl::StatusCode::kUnavailable, "the database is away");
  }
  return state_;
}

void FakeStore::Publish(std::shared_ptr<const State> state) {
  state_ = std::move(state);
  notify_pending_ = true;
  notified_.notify_all();
}

std::shared_ptr<const FakeStore::State> FakeStore::Save() {
  const std::lock_guard lock(mutex_);
  return state_;
}

void FakeStore::Restore(std::shared_ptr<const State> state) {
  const std::lock_guard lock(mutex_);
  Publish(std::move(state));
}

void FakeStore::StartNewEpoch() {
  const std::lock_guard lock(mutex_);
  auto state = std::make_shared<State>(*state_);
  state->position.set_epoch(random_() | 1);
  Publish(std::move(state));
}

void FakeStore::SetAvailable(bool available) {
  const std::lock_guard lock(mutex_);
  available_ = available;
}

void FakeStore::OverwriteBody(ResourceType type, std::int64_t uid, std::string body) {
  const std::lock_guard lock(mutex_);
  auto state = std::make_shared<State>(*state_);
  state->rows.at({TypeNumber(type), uid}).body = std::move(body);
  state_ = std::move(state);
}

absl::StatusOr<std::unique_ptr<Transaction>> FakeStore::Begin() {
  auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  std::int64_t change_id = 0;
  {
    const std::lock_guard lock(mutex_);
    change_id = next_change_id_++;
  }
  return std::make_unique<FakeTransaction>(*this, *std::move(state), change_id);
}

absl::StatusOr<std::optional<StoredResource>> FakeStore::Find(std::string_view name) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  const auto found = (*state)->names.find(name);
  if (found == (*state)->names.end()) {
    return std::nullopt;
  }
  return WithOrganization(**state, (*state)->rows.at(found->second));
}

absl::StatusOr<std::optional<StoredResource>> FakeStore::FindDeleted(std::string_view name) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  std::optional<StoredResource> newest;
  for (const auto& [key, row] : (*state)->rows) {
    if (row.deleted && row.name == name && (!newest || row.change_id > newest->change_id)) {
      newest = WithOrganization(**state, row);
    }
  }
  return newest;
}

absl::StatusOr<std::optional<StoredResource>> FakeStore::FindByUid(ResourceType type,
                                                                   std::int64_t uid) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  const auto found = (*state)->rows.find({TypeNumber(type), uid});
  if (found == (*state)->rows.end() || found->second.deleted) {
    return std::nullopt;
  }
  return WithOrganization(**state, found->second);
}

bool FakeStore::IsWithin(const State& state, const StoredResource& row,
                         const std::vector<std::int64_t>& organizations) {
  std::int64_t at = row.type == ResourceType::kOrganization ? row.uid : row.organization_uid;
  while (at != 0) {
    if (std::ranges::find(organizations, at) != organizations.end()) {
      return true;
    }
    const auto organization = state.rows.find({TypeNumber(ResourceType::kOrganization), at});
    at = organization == state.rows.end() || organization->second.deleted
             ? 0
             : organization->second.organization_uid;
  }
  return false;
}

bool FakeStore::IsListed(const State& state, const StoredResource& row, const ListQuery& query) {
  const bool is_within = !query.within.has_value() || IsWithin(state, row, *query.within);
  return row.type == query.type && (query.show_deleted || !row.deleted) && is_within &&
         (query.farm_uid == 0 || row.farm_uid == query.farm_uid);
}

absl::StatusOr<std::vector<StoredResource>> FakeStore::List(const ListQuery& query) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  using Key = std::pair<std::string_view, std::int64_t>;
  const auto key_of = [&](std::string_view name, std::int64_t uid) {
    return Key(query.order == ListOrder::kName ? name : std::string_view(), uid);
  };
  const auto precedes = [&](const Key& a, const Key& b) {
    return query.descending ? b < a : a < b;
  };
  // Without tombstones a name is a key by itself.
  const bool by_name_alone = query.order == ListOrder::kName && !query.show_deleted;
  const Key after = key_of(query.after_name, query.after_uid);
  const bool begins =
      query.order == ListOrder::kName ? query.after_name.empty() : query.after_uid == 0;
  std::vector<const StoredResource*> chosen;
  for (const auto& [row_key, row] : (*state)->rows) {
    const bool is_after = begins || (by_name_alone && row.name == query.after_name
                                         ? begins
                                         : precedes(after, key_of(row.name, row.uid)));
    if (is_after && IsListed(**state, row, query)) {
      chosen.push_back(&row);
    }
  }
  std::ranges::sort(chosen, [&](const StoredResource* a, const StoredResource* b) {
    return precedes(key_of(a->name, a->uid), key_of(b->name, b->uid));
  });
  std::vector<StoredResource> rows;
  for (const StoredResource* row : chosen) {
    if (std::ssize(rows) < query.limit) {
      rows.push_back(WithOrganization(**state, *row));
    }
  }
  return rows;
}

absl::StatusOr<std::optional<std::int64_t>> FakeStore::FindBinding(std::int64_t farm_uid,
                                                                   std::string_view encoded_key) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  const auto found = (*state)->bindings.find({farm_uid, std::string(encoded_key)});
  return found == (*state)->bindings.end() ? std::nullopt : std::optional(found->second);
}

absl::StatusOr<std::optional<KnownRequest>> FakeStore::FindRequest(std::string_view who,
                                                                   std::string_view request_id) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  const auto found = (*state)->requests.find({std::string(who), std::string(request_id)});
  return found == (*state)->requests.end() ? std::nullopt : std::optional(found->second);
}

absl::StatusOr<std::vector<StoredResource>> FakeStore::ListWritten(std::int64_t revision,
                                                                   ResourceType type, int limit) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  std::vector<StoredResource> written;
  const auto logged = (*state)->changes.find(revision);
  if (logged == (*state)->changes.end()) {
    return written;
  }
  for (const v1::ChangedResource& changed : logged->second.change.resources()) {
    const auto name = (*state)->names.find(changed.name());
    if (name == (*state)->names.end() || std::ssize(written) == limit) {
      continue;
    }
    const StoredResource& row = (*state)->rows.at(name->second);
    if (row.type == type) {
      written.push_back(WithOrganization(**state, row));
    }
  }
  return written;
}

absl::StatusOr<FeedHead> FakeStore::GetHead() {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  return FeedHead{(*state)->position, (*state)->compaction_floor};
}

absl::StatusOr<bool> FakeStore::KnowsPosition(const node::v1::Position& position) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  if (position.epoch() != (*state)->position.epoch()) {
    return false;
  }
  if (position.revision() == 0) {
    return position.tag() == 0;
  }
  const auto found = (*state)->changes.find(position.revision());
  return found != (*state)->changes.end() && found->second.tag == position.tag();
}

absl::StatusOr<node::v1::Position> FakeStore::ReadDelta(
    std::int64_t farm_uid, std::int64_t since_revision,
    const std::function<void(node::v1::Record)>& emit) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  if (since_revision > 0 && since_revision < (*state)->compaction_floor) {
    return Error(absl::StatusCode::kOutOfRange, "revision {} is below the compaction floor",
                 since_revision);
  }
  for (const auto& [key, row] : (*state)->rows) {
    if (row.revision > since_revision && ConcernsFarm(row, farm_uid)) {
      emit(ToRecord(row));
    }
  }
  return (*state)->position;
}

absl::StatusOr<std::vector<node::v1::Record>> FakeStore::ReadSnapshotChunk(
    std::int64_t farm_uid, node::v1::RecordType type, std::int64_t after_uid, int limit) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  std::vector<node::v1::Record> records;
  for (auto at = (*state)->rows.upper_bound({type, after_uid});
       at != (*state)->rows.end() && at->first.first == type && std::ssize(records) < limit; ++at) {
    if (!at->second.deleted && ConcernsFarm(at->second, farm_uid)) {
      records.push_back(ToRecord(at->second));
    }
  }
  return records;
}

void FakeStore::Purge(const std::function<bool(const StoredResource&)>& is_old,
                      std::int64_t floor) {
  const std::lock_guard lock(mutex_);
  auto state = std::make_shared<State>(*state_);
  std::erase_if(state->rows, [&](const auto& item) {
    if (!item.second.deleted || !is_old(item.second)) {
      return false;
    }
    floor = std::max(floor, item.second.revision);
    state->home_slots.erase(item.second.type == ResourceType::kStore ? item.second.uid : 0);
    return true;
  });
  state->compaction_floor = std::max(state->compaction_floor, floor);
  state_ = std::move(state);
}

absl::Status FakeStore::Compact(std::chrono::system_clock::time_point deleted_before) {
  Purge([&](const StoredResource& row) { return row.updated < deleted_before; }, 0);
  PurgeOperations();
  return absl::OkStatus();
}

void FakeStore::PurgeThrough(std::int64_t revision) {
  const std::int64_t floor = std::min(revision, Save()->position.revision());
  Purge([&](const StoredResource& row) { return row.revision <= floor; }, floor);
}

absl::StatusOr<bool> FakeStore::WaitForNotify(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  notified_.wait_for(lock, timeout, [this] { return notify_pending_; });
  return std::exchange(notify_pending_, false);
}

}  // namespace croft::control::store
