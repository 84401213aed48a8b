// What follows what in the feed: positions, and the ranges of a snapshot, which go through the
// types of records one after the other, each by uid. Pure.
#pragma once

#include <cstdint>
#include <limits>

#include "croft/node/v1/feed.pb.h"

namespace croft::node::agent {

// The end of a type's uids.
inline constexpr std::int64_t kLastUid = std::numeric_limits<std::int64_t>::max();
inline constexpr v1::RecordType kFirstType = v1::PLATFORM;
inline constexpr v1::RecordType kLastType = v1::ACCOUNT;

bool IsSame(const v1::Position& a, const v1::Position& b);
// Whether `range` begins where `done` ended.
bool Continues(const v1::SnapshotRange& done, const v1::SnapshotRange& range);
// Whether `range` was taken in before `done` was.
bool IsPast(const v1::SnapshotRange& done, const v1::SnapshotRange& range);
// Whether a snapshot is whole that was taken in up to `done`.
bool IsComplete(const v1::SnapshotRange& done);

}  // namespace croft::node::agent
