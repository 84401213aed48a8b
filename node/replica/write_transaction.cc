#include "node/replica/write_transaction.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <tuple>
#include <utility>

#include "node/replica/damage.h"
#include "proto/base/error.h"

namespace croft::node::replica {
namespace {

// A commit copies whole pages of each table; below this much it can fail halfway.
constexpr std::size_t kFreeBytesMin = std::size_t{1} << 20;
constexpr std::size_t kGrowthPerByte = 4;

// Free for us on the replica's file system; everything if that cannot be read.
std::size_t FreeBytes(const std::string& directory) {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0) {
    return std::numeric_limits<std::size_t>::max();
  }
  return static_cast<std::size_t>(status.f_bavail) * status.f_frsize;
}

absl::Status DiskFull(const std::string& directory, std::size_t free, std::size_t needed) {
  return Error(absl::StatusCode::kResourceExhausted,
               "disk full: {} KiB free at {}, the next change needs {} KiB; make room there",
               free / 1024, directory, needed / 1024);
}

std::string QuarantineKey(Key key) { return std::string(kQuarantinePrefix) + EncodeKey(key); }

}  // namespace

absl::StatusOr<std::unique_ptr<WriteTransaction>> WriteTransaction::Begin(Writer::State& state) {
  MDB_env* env = state.environment->get();
  // Slots of readers that died would pin pages for ever.
  mdb_reader_check(env, nullptr);
  MDB_txn* transaction = nullptr;
  if (const int code = mdb_txn_begin(env, nullptr, 0, &transaction); code != MDB_SUCCESS) {
    return LmdbError(code, "begin writing replica", state.environment->directory());
  }
  return std::unique_ptr<WriteTransaction>(new WriteTransaction(state, transaction));
}

WriteTransaction::~WriteTransaction() {
  if (transaction_ != nullptr) {
    mdb_txn_abort(transaction_);
  }
}

absl::StatusOr<std::optional<Writer::Held>> WriteTransaction::Find(Key key) {
  auto payload = environment_.Get(transaction_, environment_.records(), EncodeKey(key));
  if (!payload.ok()) {
    return payload.status();
  }
  if (!payload->has_value()) {
    return std::nullopt;
  }
  if ((*payload)->size() < 8) {
    return Error(absl::StatusCode::kDataLoss, "replica {}: short record", environment_.directory());
  }
  return Writer::Held{DecodeInt(**payload), (*payload)->substr(8)};
}

absl::Status WriteTransaction::Apply(const v1::Record& record, bool force) {
  const Key key{record.type(), record.uid()};
  if (record.deleted()) {
    return Remove(key);
  }
  const auto held = Find(key);
  if (!held.ok()) {
    return held.status();
  }
  if (!force && held->has_value() && (*held)->revision >= record.revision()) {
    return absl::OkStatus();
  }
  const auto now = ReadRecordKeys(record.type(), record.body());
  const auto before = HeldKeys(record.type(), *held);
  if (!now.ok() || !before.ok()) {
    return now.ok() ? before.status() : now.status();
  }
  absl::Status status;
  if (!before->name.empty() && before->name != now->name) {
    status.Update(Unpoint(environment_.names(), EncodeName(key.type, before->name), key.uid));
  }
  for (const std::string& binding : before->bindings) {
    if (!std::binary_search(now->bindings.begin(), now->bindings.end(), binding)) {
      status.Update(Unpoint(environment_.bindings(), binding, key.uid));
    }
  }
  const Claim claim{key.type, key.uid, record.revision(), force};
  if (!now->name.empty()) {
    status.Update(Point(environment_.names(), EncodeName(key.type, now->name), claim));
  }
  for (const std::string& binding : now->bindings) {
    status.Update(Point(environment_.bindings(), binding, claim));
  }
  status.Update(
      Put(environment_.records(), EncodeKey(key), EncodeInt(record.revision()) + record.body()));
  return status;
}

absl::Status WriteTransaction::ReplaceHeld(Key key, const Writer::Held& held) {
  return Put(environment_.records(), EncodeKey(key), EncodeInt(held.revision) + held.body);
}

absl::StatusOr<RecordKeys> WriteTransaction::HeldKeys(v1::RecordType type,
                                                      const std::optional<Writer::Held>& held) {
  if (!held) {
    return RecordKeys{};
  }
  auto keys = ReadRecordKeys(type, held->body);
  if (!keys.ok()) {
    return Error(absl::StatusCode::kDataLoss, "replica {}: {}", environment_.directory(),
                 std::string(keys.status().message()));
  }
  return keys;
}

absl::Status WriteTransaction::Point(MDB_dbi table, std::string_view key, const Claim& claim) {
  const auto payload = environment_.Get(transaction_, table, key);
  if (!payload.ok()) {
    return payload.status();
  }
  if (payload->has_value()) {
    const std::int64_t holder = DecodeInt(**payload);
    if (holder == claim.uid) {
      return absl::OkStatus();
    }
    const auto held = Find(Key{claim.type, holder});
    if (!held.ok()) {
      return held.status();
    }
    if (!claim.force && held->has_value() &&
        std::tuple((*held)->revision, holder) > std::tuple(claim.revision, claim.uid)) {
      return absl::OkStatus();
    }
  }
  return Put(table, key, EncodeInt(claim.uid));
}

absl::Status WriteTransaction::Unpoint(MDB_dbi table, std::string_view key, std::int64_t uid) {
  const auto payload = environment_.Get(transaction_, table, key);
  if (!payload.ok()) {
    return payload.status();
  }
  if (!payload->has_value() || DecodeInt(**payload) != uid) {
    return absl::OkStatus();
  }
  return Delete(table, key);
}

absl::Status WriteTransaction::Remove(Key key) {
  const auto held = Find(key);
  if (!held.ok() || !held->has_value()) {
    return held.status();
  }
  const auto keys = HeldKeys(key.type, *held);
  if (!keys.ok()) {
    return keys.status();
  }
  absl::Status status = Unpoint(environment_.names(), EncodeName(key.type, keys->name), key.uid);
  for (const std::string& binding : keys->bindings) {
    status.Update(Unpoint(environment_.bindings(), binding, key.uid));
  }
  status.Update(Delete(environment_.records(), EncodeKey(key)));
  return status;
}

absl::StatusOr<std::vector<Key>> WriteTransaction::ListGaps(const v1::SnapshotRange& range,
                                                            const std::vector<std::int64_t>& keep) {
  std::vector<Key> gaps;
  auto cursor = Cursor::Open(transaction_, environment_.records());
  if (!cursor.ok()) {
    return cursor.status();
  }
  int code = cursor->Seek(EncodeKey(Key{range.type(), range.after()}));
  for (; code == MDB_SUCCESS; code = cursor->Next()) {
    const std::optional<Key> key = DecodeKey(cursor->key());
    if (!key || key->type != range.type() || key->uid > range.through()) {
      break;
    }
    if (key->uid > range.after() && !std::binary_search(keep.begin(), keep.end(), key->uid)) {
      gaps.push_back(*key);
    }
  }
  if (code != MDB_SUCCESS && code != MDB_NOTFOUND) {
    return LmdbError(code, "walk replica", environment_.directory());
  }
  return gaps;
}

absl::StatusOr<std::vector<Key>> WriteTransaction::DeleteGaps(
    const v1::SnapshotRange& range, const std::vector<std::int64_t>& keep) {
  auto gaps = ListGaps(range, keep);
  if (!gaps.ok()) {
    return gaps;
  }
  for (const Key& key : *gaps) {
    if (const absl::Status status = Remove(key); !status.ok()) {
      return status;
    }
  }
  return gaps;
}

absl::Status WriteTransaction::NoteGaps(const v1::SnapshotRange& range,
                                        const std::vector<std::int64_t>& keep) {
  const auto gaps = ListGaps(range, keep);
  absl::Status status = gaps.status();
  for (std::size_t i = 0; status.ok() && i < gaps->size(); ++i) {
    status = Put(environment_.meta(), std::string(kVanishingPrefix) + EncodeKey((*gaps)[i]), {});
  }
  return status;
}

absl::StatusOr<std::vector<Key>> WriteTransaction::ListVanishing() {
  auto cursor = Cursor::Open(transaction_, environment_.meta());
  if (!cursor.ok()) {
    return cursor.status();
  }
  std::vector<Key> keys;
  int code = cursor->Seek(kVanishingPrefix);
  for (; code == MDB_SUCCESS; code = cursor->Next()) {
    if (cursor->key().substr(0, kVanishingPrefix.size()) != kVanishingPrefix) {
      break;
    }
    if (const auto key = DecodeKey(cursor->key().substr(kVanishingPrefix.size()))) {
      keys.push_back(*key);
    }
  }
  if (code != MDB_SUCCESS && code != MDB_NOTFOUND) {
    return LmdbError(code, "walk replica", environment_.directory());
  }
  return keys;
}

absl::Status WriteTransaction::ForgetVanishing() {
  const auto keys = ListVanishing();
  absl::Status status = keys.status();
  for (std::size_t i = 0; status.ok() && i < keys->size(); ++i) {
    status = Delete(environment_.meta(), std::string(kVanishingPrefix) + EncodeKey((*keys)[i]));
  }
  return status;
}

absl::StatusOr<std::int64_t> WriteTransaction::Count(v1::RecordType type) {
  auto cursor = Cursor::Open(transaction_, environment_.records());
  if (!cursor.ok()) {
    return cursor.status();
  }
  std::int64_t count = 0;
  int code = cursor->Seek(EncodeKey(Key{type, 0}));
  for (; code == MDB_SUCCESS; code = cursor->Next()) {
    if (static_cast<v1::RecordType>(cursor->key().front()) != type) {
      break;
    }
    ++count;
  }
  if (code != MDB_SUCCESS && code != MDB_NOTFOUND) {
    return LmdbError(code, "walk replica", environment_.directory());
  }
  return count;
}

absl::Status WriteTransaction::SetQuarantine(const v1::RecordResult& result) {
  const Key key{result.type(), result.uid()};
  meta_.quarantine[key] = result;
  return Put(environment_.meta(), QuarantineKey(key), result.SerializeAsString());
}

absl::Status WriteTransaction::ClearQuarantine(Key key) {
  if (meta_.quarantine.erase(key) == 0) {
    return absl::OkStatus();
  }
  return Delete(environment_.meta(), QuarantineKey(key));
}

absl::Status WriteTransaction::SetPosition(const v1::Position& position) {
  meta_.position = position;
  return Put(environment_.meta(), kPositionKey, position.SerializeAsString());
}

absl::Status WriteTransaction::SetUnfinishedSnapshot(
    const std::optional<v1::SnapshotRange>& range) {
  meta_.snapshot = range;
  return range ? Put(environment_.meta(), kSnapshotKey, range->SerializeAsString())
               : Delete(environment_.meta(), kSnapshotKey);
}

absl::Status WriteTransaction::SetPartialDelta(const std::optional<v1::Position>& target) {
  meta_.partial = target;
  return target ? Put(environment_.meta(), kPartialKey, target->SerializeAsString())
                : Delete(environment_.meta(), kPartialKey);
}

absl::Status WriteTransaction::Commit() {
  const std::size_t free = FreeBytes(environment_.directory());
  const std::size_t needed = kFreeBytesMin + bytes_ * kGrowthPerByte;
  MDB_txn* transaction = std::exchange(transaction_, nullptr);
  if (free < needed) {
    mdb_txn_abort(transaction);
    return DiskFull(environment_.directory(), free, needed);
  }
  const SuspectScope suspect(environment_.directory());
  if (const int code = mdb_txn_commit(transaction); code != MDB_SUCCESS) {
    return WriteError(code, "commit to replica");
  }
  state_.meta = std::move(meta_);
  return absl::OkStatus();
}

absl::Status WriteTransaction::Put(MDB_dbi table, std::string_view key, std::string_view payload) {
  const std::string sealed = Seal(key, payload);
  MDB_val key_val = ToVal(key);
  MDB_val value = ToVal(sealed);
  bytes_ += key.size() + sealed.size();
  const int code = mdb_put(transaction_, table, &key_val, &value, 0);
  return code == MDB_SUCCESS ? absl::OkStatus() : WriteError(code, "write to replica");
}

absl::Status WriteTransaction::Delete(MDB_dbi table, std::string_view key) {
  MDB_val key_val = ToVal(key);
  bytes_ += key.size();
  const int code = mdb_del(transaction_, table, &key_val, nullptr);
  return code == MDB_SUCCESS || code == MDB_NOTFOUND ? absl::OkStatus()
                                                     : WriteError(code, "delete from replica");
}

absl::Status WriteTransaction::WriteError(int code, std::string_view what) const {
  const std::size_t free = FreeBytes(environment_.directory());
  const std::size_t needed = kFreeBytesMin + bytes_ * kGrowthPerByte;
  const bool wants_space = code == EIO || code == ENOSPC || code == EDQUOT;
  if (wants_space && free < needed) {
    return DiskFull(environment_.directory(), free, needed);
  }
  return LmdbError(code, what, environment_.directory());
}

}  // namespace croft::node::replica
