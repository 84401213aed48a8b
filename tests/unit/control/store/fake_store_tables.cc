// The parts of FakeStore that are not resources: marks, tokens, secrets, events.
#include <algorithm>

#include "control/store/row_type.h"
#include "proto/base/error.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::store {

absl::Status FakeStore::WriteMarks(const std::vector<NodeMarks>& marks) {
  if (const auto state = Current(); !state.ok()) {
    return state.status();
  }
  const std::lock_guard lock(mutex_);
  for (const NodeMarks& mark : marks) {
    NodeMarks& kept = marks_[mark.node_uid];
    const v1::VanishingSites accepted = kept.accepted;
    kept = mark;
    kept.accepted = accepted;
  }
  notify_pending_ = true;
  notified_.notify_all();
  return absl::OkStatus();
}

absl::Status FakeStore::AcceptVanishing(std::int64_t node_uid, const v1::VanishingSites& accepted) {
  const std::lock_guard lock(mutex_);
  const auto found = marks_.find(node_uid);
  if (found == marks_.end()) {
    return Error(absl::StatusCode::kNotFound, "node {} has not connected yet", node_uid);
  }
  found->second.accepted = accepted;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NodeMarks>> FakeStore::ReadMarks(std::int64_t farm_uid) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  const std::lock_guard lock(mutex_);
  std::vector<NodeMarks> result;
  for (const auto& [uid, mark] : marks_) {
    const auto node = (*state)->rows.find({TypeNumber(ResourceType::kNode), uid});
    const bool gone = node != (*state)->rows.end() && node->second.deleted;
    if (!gone && (farm_uid == 0 || mark.farm_uid == farm_uid)) {
      result.push_back(mark);
    }
  }
  return result;
}

absl::Status FakeStore::InsertJoinToken(std::string_view hash, std::string_view node,
                                        std::chrono::system_clock::time_point expires) {
  const std::lock_guard lock(mutex_);
  join_tokens_[std::string(hash)] = JoinToken{std::string(node), expires};
  return absl::OkStatus();
}

absl::StatusOr<std::string> FakeStore::TakeJoinToken(std::string_view hash,
                                                     std::chrono::system_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = join_tokens_.find(hash);
  if (found == join_tokens_.end() || found->second.expires <= now) {
    return Error(absl::StatusCode::kNotFound,
                 "the join token is unknown, used or expired; make a new one with croft create "
                 "token");
  }
  std::string node = std::move(found->second.node);
  join_tokens_.erase(found);
  return node;
}

absl::StatusOr<std::optional<OperatorSession>> FakeStore::FindOperatorToken(std::string_view hash) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  const auto found = (*state)->token_hashes.find(hash);
  if (found == (*state)->token_hashes.end()) {
    return std::nullopt;
  }
  const auto token = FindByUid(ResourceType::kToken, found->second.first);
  const auto owner = FindByUid(ResourceType::kOperator, found->second.second);
  if (!token.ok() || !owner.ok() || !token->has_value() || !owner->has_value()) {
    return std::nullopt;
  }
  return OperatorSession{.token_row = **token, .operator_row = **owner};
}

absl::StatusOr<std::vector<std::string>> FakeStore::ListUnclaimedTokens() {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  std::vector<std::string> hashes;
  for (const auto& [hash, uids] : (*state)->token_hashes) {
    if (uids.first == 0) {
      hashes.push_back(hash);
    }
  }
  return hashes;
}

void FakeStore::AddUnclaimedToken(std::string_view hash) {
  const std::lock_guard lock(mutex_);
  auto state = std::make_shared<State>(*state_);
  state->token_hashes[std::string(hash)] = {0, 0};
  state_ = std::move(state);
}

absl::StatusOr<std::string> FakeStore::PutSecretIfAbsent(std::string_view key,
                                                         std::string_view value) {
  const std::lock_guard lock(mutex_);
  return secrets_.emplace(std::string(key), std::string(value)).first->second;
}

absl::Status FakeStore::InsertEvents(const std::vector<v1::Event>& events) {
  const std::lock_guard lock(mutex_);
  for (const v1::Event& event : events) {
    events_.push_back(event);
    events_.back().set_id(static_cast<std::int64_t>(events_.size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Event>> FakeStore::ListEvents(const EventQuery& query) {
  const std::lock_guard lock(mutex_);
  std::vector<v1::Event> result;
  const std::string members = query.resource + "/";
  const auto take = [&](const v1::Event& event) {
    const bool about = query.resource.empty() || event.node() == query.resource ||
                       event.site() == query.resource || event.pool() == query.resource ||
                       event.node().starts_with(members);
    const bool in_range = query.after_id.has_value()
                              ? event.id() > *query.after_id
                              : query.before_id == 0 || event.id() < query.before_id;
    const bool young = !query.since.has_value() ||
                       event.time().seconds() * 1000 + event.time().nanos() / 1'000'000 >=
                           UnixMillis(*query.since);
    if (about && in_range && young && std::ssize(result) < query.limit) {
      result.push_back(event);
    }
  };
  if (query.after_id.has_value()) {
    std::for_each(events_.begin(), events_.end(), take);
  } else {
    std::for_each(events_.rbegin(), events_.rend(), take);
  }
  return result;
}

}  // namespace croft::control::store
