#include "control/feed/node_marks.h"

#include <algorithm>
#include <optional>

#include "proto/base/error.h"
#include "proto/contract/resource_name.h"

namespace croft::control::feed {
namespace {

// More are not listed; the count of a node's troubles is not what helps.
constexpr std::size_t kQuarantineListed = 200;
// Names of refused records kept.
constexpr std::size_t kNamesMax = 10'000;
// Without a word for so many heartbeats, the instance that wrote "connected" is gone.
constexpr int kSilentHeartbeats = 4;
// What a store may round a time by.
constexpr std::chrono::milliseconds kClockGrain{1};

std::optional<contract::ResourceType> ResourceTypeOf(node::v1::RecordType type) {
  using contract::ResourceType;
  switch (type) {
    case node::v1::PLATFORM:
      return ResourceType::kPlatform;
    case node::v1::FARM:
      return ResourceType::kFarm;
    case node::v1::NODE:
      return ResourceType::kNode;
    case node::v1::STORE:
      return ResourceType::kStore;
    case node::v1::POOL:
      return ResourceType::kPool;
    case node::v1::SITE:
      return ResourceType::kSite;
    case node::v1::ACCOUNT:
      return ResourceType::kAccount;
    case node::v1::RECORD_TYPE_UNSPECIFIED:
    case node::v1::RecordType_INT_MIN_SENTINEL_DO_NOT_USE_:
    case node::v1::RecordType_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool IsConnected(const store::NodeMarks& marks, std::chrono::system_clock::time_point now,
                 std::chrono::milliseconds heartbeat_interval) {
  return marks.connected && now - marks.last_contact < kSilentHeartbeats * heartbeat_interval;
}

LocalNode& NodeMarksBook::Edit(const NodeIdentity& node) {
  changed_.insert(node.node_uid);
  const auto [found, fresh] = local_.try_emplace(node.node_uid);
  LocalNode& local = found->second;
  if (const auto left = problems_.find(node.node_uid); fresh && left != problems_.end()) {
    local.problem = left->second;
  }
  local.marks.node_uid = node.node_uid;
  local.marks.node = node.node;
  local.marks.farm_uid = node.farm_uid;
  local.marks.last_contact = clock_.Now();
  leaving_.erase(node.node_uid);
  return local;
}

void NodeMarksBook::Touch(std::int64_t node_uid) {
  const auto found = local_.find(node_uid);
  if (found != local_.end()) {
    found->second.marks.last_contact = clock_.Now();
    if (clock_.Monotonic() - found->second.written >= options_.heartbeat_interval) {
      changed_.insert(node_uid);
    }
  }
}

void NodeMarksBook::Leave(std::int64_t node_uid) {
  auto node = local_.extract(node_uid);
  changed_.erase(node_uid);
  if (!node.empty()) {
    node.mapped().marks.connected = false;
    problems_[node_uid] = node.mapped().problem;
    leaving_.insert(std::move(node));
  }
}

void NodeMarksBook::Forget(std::int64_t node_uid) {
  local_.erase(node_uid);
  leaving_.erase(node_uid);
  changed_.erase(node_uid);
  problems_.erase(node_uid);
}

void NodeMarksBook::SetDraining(std::int64_t node_uid, bool draining) {
  const auto found = local_.find(node_uid);
  if (found != local_.end() && found->second.marks.draining != draining) {
    found->second.marks.draining = draining;
    changed_.insert(node_uid);
  }
}

absl::Status NodeMarksBook::DropTakenOver() {
  if (leaving_.empty()) {
    return absl::OkStatus();
  }
  const auto rows = store_.ReadMarks(0);
  if (!rows.ok()) {
    return rows.status();
  }
  for (const store::NodeMarks& row : *rows) {
    const auto found = leaving_.find(row.node_uid);
    if (found != leaving_.end() && row.connected &&
        row.last_contact > found->second.marks.last_contact + kClockGrain) {
      leaving_.erase(found);
    }
  }
  return absl::OkStatus();
}

absl::Status NodeMarksBook::Flush() {
  const auto now = clock_.Monotonic();
  if ((changed_.empty() && leaving_.empty()) || now - flushed_ < options_.marks_interval) {
    return absl::OkStatus();
  }
  flushed_ = now;
  if (const absl::Status status = DropTakenOver(); !status.ok()) {
    return status;
  }
  std::vector<store::NodeMarks> rows;
  const auto add = [&](const LocalNode& node) {
    rows.push_back(node.marks);
    rows.back().status = MakeStatus(node).SerializeAsString();
  };
  for (const std::int64_t uid : changed_) {
    local_.at(uid).written = now;
    add(local_.at(uid));
  }
  for (const auto& [uid, node] : leaving_) {
    add(node);
  }
  if (rows.empty()) {
    return absl::OkStatus();
  }
  const absl::Status written = store_.WriteMarks(rows);
  if (written.ok()) {
    changed_.clear();
    leaving_.clear();
    rows_read_ = false;
  }
  return written;
}

v1::NodeStatus NodeMarksBook::MakeStatus(const LocalNode& node) {
  v1::NodeStatus status;
  status.set_problem(node.problem);
  status.set_version(node.version);
  for (const std::string& endpoint : node.endpoints) {
    status.add_endpoints(endpoint);
  }
  status.mutable_missing_endpoints()->Add(node.missing.begin(), node.missing.end());
  if (node.vanishing) {
    *status.mutable_vanishing() = *node.vanishing;
  }
  for (const auto& [id, refused] : node.refused) {
    if (static_cast<std::size_t>(status.quarantine_size()) == kQuarantineListed) {
      break;
    }
    v1::QuarantinedRecord& record = *status.add_quarantine();
    record.set_resource(NameOf(id));
    record.set_revision(refused.revision());
    record.set_reason(refused.reason());
  }
  return status;
}

std::string NodeMarksBook::NameOf(const RecordId& id) {
  if (const auto found = names_.find(id); found != names_.end()) {
    return found->second;
  }
  std::string name = fmt::format("{} {}", node::v1::RecordType_Name(id.first), id.second);
  const auto type = ResourceTypeOf(id.first);
  const auto row = type ? store_.FindByUid(*type, id.second)
                        : absl::StatusOr<std::optional<store::StoredResource>>(std::nullopt);
  if (!row.ok() || !row->has_value()) {
    return name;
  }
  if (names_.size() >= kNamesMax) {
    names_.clear();
  }
  return names_[id] = (*row)->name;
}

absl::StatusOr<std::vector<NodeRow>> NodeMarksBook::List(std::int64_t farm_uid) {
  const auto now = clock_.Monotonic();
  if (!rows_read_ || now - rows_at_ >= options_.marks_interval) {
    auto rows = store_.ReadMarks(0);
    if (!rows.ok()) {
      return rows.status();
    }
    rows_ = *std::move(rows);
    rows_read_ = true;
    rows_at_ = now;
  }
  std::map<std::int64_t, NodeRow> merged;
  for (const store::NodeMarks& row : rows_) {
    NodeRow& node = merged[row.node_uid];
    node.marks = row;
    node.marks.connected = IsConnected(row, clock_.Now(), options_.heartbeat_interval);
    node.status.ParseFromString(row.status);
  }
  for (const auto& [uid, node] : leaving_) {
    merged[uid] = NodeRow{node.marks, MakeStatus(node)};
  }
  for (const auto& [uid, node] : local_) {
    merged[uid] = NodeRow{node.marks, MakeStatus(node)};
  }
  std::vector<NodeRow> result;
  for (auto& [uid, node] : merged) {
    if (farm_uid == 0 || node.marks.farm_uid == farm_uid) {
      result.push_back(std::move(node));
    }
  }
  return result;
}

}  // namespace croft::control::feed
