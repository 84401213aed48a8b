// The LMDB environment of one generation, internal to node/replica. LMDB must not open one file
// twice in a process, so the writer's environment is shared with the readers of the same process.
// Thread-safe apart from what Open says.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <lmdb.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/replica/damage.h"
#include "node/replica/replica_format.h"
#include "proto/base/guarded.h"

namespace croft::node::replica {

enum class Access { kRead, kWrite, kWriteUnsynced };

// "read generation.1: MDB_CORRUPTED: ..." with the code that tells damage (data_loss) from a full
// disk (resource_exhausted) and the rest.
absl::Status LmdbError(int code, std::string_view what, const std::string& directory);

inline MDB_val ToVal(std::string_view bytes) {
  // LMDB takes void* but only reads keys and put values.
  return MDB_val{bytes.size(), const_cast<char*>(bytes.data())};
}
inline std::string_view ToView(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

class Environment {
  struct Private {};

 public:
  Environment(Private, std::string directory) : directory_(std::move(directory)) {}
  // kRead joins an environment that is open in this process, however it was opened; the write modes
  // are refused beside any other.
  static absl::StatusOr<std::shared_ptr<Environment>> Open(const std::string& directory,
                                                           Access access);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  const std::string& directory() const { return directory_; }
  MDB_env* get() const { return env_; }
  MDB_dbi records() const { return records_; }
  MDB_dbi names() const { return names_; }
  MDB_dbi bindings() const { return bindings_; }
  MDB_dbi meta() const { return meta_; }

  // A sealed value's payload, copied; nullopt if the key is absent; data_loss if the checksum is
  // wrong.
  absl::StatusOr<std::optional<std::string>> Get(MDB_txn* transaction, MDB_dbi table,
                                                 std::string_view key) const;

 private:
  friend class ReadTransaction;

  static void Close(Environment* environment) noexcept;
  absl::Status Initialise(Access access);
  absl::Status OpenTables(bool create);
  absl::Status SetModes() const;

  // Constant after Open.
  std::string directory_;
  MDB_env* env_ = nullptr;
  MDB_dbi records_ = 0, names_ = 0, bindings_ = 0, meta_ = 0;
  std::optional<DamageWatch> watch_;

  // Read transactions that were reset and keep their reader slot.
  Guarded<std::vector<MDB_txn*>> idle_;
};

// One read snapshot, of one thread, short.
class ReadTransaction {
 public:
  static absl::StatusOr<ReadTransaction> Begin(Environment& environment);
  ~ReadTransaction();
  ReadTransaction(ReadTransaction&& other) noexcept;
  ReadTransaction& operator=(ReadTransaction&&) = delete;

  MDB_txn* get() const { return transaction_; }

 private:
  ReadTransaction(Environment& environment, MDB_txn* transaction)
      : environment_(environment), transaction_(transaction) {}

  Environment& environment_;
  MDB_txn* transaction_;
};

// A cursor of a live transaction.
class Cursor {
 public:
  static absl::StatusOr<Cursor> Open(MDB_txn* transaction, MDB_dbi table);
  ~Cursor();
  Cursor(Cursor&& other) noexcept;
  Cursor& operator=(Cursor&&) = delete;

  // LMDB's code: MDB_SUCCESS, MDB_NOTFOUND at the end, or an error. The views live until the
  // transaction ends or writes.
  int Seek(std::string_view from);
  int Next();
  std::string_view key() const { return ToView(key_); }
  std::string_view value() const { return ToView(value_); }

 private:
  explicit Cursor(MDB_cursor* cursor) : cursor_(cursor) {}

  MDB_cursor* cursor_;
  MDB_val key_{};
  MDB_val value_{};
};

}  // namespace croft::node::replica
