// What is asked of the store, and where in lists and in the log of changes reading goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/filter.h"
#include "proto/contract/resource_name.h"

namespace croft::control::store {

using contract::ResourceType;

enum class ListOrder { kName, kCreation };

struct ListQuery {
  ResourceType type = ResourceType::kSite;
  std::int64_t farm_uid = 0;  // 0: all farms
  ListOrder order = ListOrder::kName;
  bool descending = false;
  // Keyset: what comes after this name and, among deleted ones, uid; or by creation after this uid.
  std::string after_name = {};
  std::int64_t after_uid = 0;
  int limit = 100;
  bool show_deleted = false;  // tombstones too
  // Leaves out what an index knows not to match; the caller matches what it gets.
  const contract::Filter* filter = nullptr;
  // Only what belongs to one of these organizations or to one below it (an organization is in
  // itself); nullopt: everything.
  std::optional<std::vector<std::int64_t>> within = std::nullopt;
};

// Newest first.
struct ChangeQuery {
  std::int64_t before_revision = 0;  // 0: from the newest on
  int limit = 100;
  std::string resource = {};  // only changes that touched it; empty: all
  std::string who = {};       // only this operator's; empty: all
  std::optional<std::chrono::system_clock::time_point> since = std::nullopt;  // not older
};

struct EventQuery {
  std::int64_t before_id = 0;  // newest first from here; 0: from the newest on
  // Oldest first, what was written after this one; events become visible in the order of their ids.
  std::optional<std::int64_t> after_id = std::nullopt;
  int limit = 100;
  std::string resource = {};  // a farm, node, site or pool; empty: all
  std::optional<std::chrono::system_clock::time_point> since = std::nullopt;  // not older
};

// A place in the log of changes: after what the change with this revision did to that resource. In
// a change resources are in order of type (TypeNumber) and uid.
struct LogPosition {
  static constexpr int kWholeChange = 32767;  // as type: after all of it

  std::int64_t revision = 0;
  std::uint64_t tag = 0;  // the change's
  int type = kWholeChange;
  std::int64_t uid = 0;
};

// The version of a resource that is next in its history.
struct HistoryPosition {
  std::int64_t uid = 0;
  std::int64_t change_id = 0;  // 0: there is none
};

}  // namespace croft::control::store
