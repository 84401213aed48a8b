#include "node/replica/environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "proto/base/error.h"

namespace croft::node::replica {
namespace {

// An entry without an environment is one that is being opened or closed, which is done without the
// lock: LMDB has its own, and a writer may hold those of one environment while it opens another.
struct OpenEnvironments {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::weak_ptr<Environment>> by_path;
};

OpenEnvironments& Opened() {
  static OpenEnvironments opened;
  return opened;
}

void OnAssertion(MDB_env* env, const char* /*message*/) {
  const auto* environment = static_cast<const Environment*>(mdb_env_get_userctx(env));
  ExitDamaged(environment->directory().c_str());
}

absl::StatusCode CodeOf(int code) {
  switch (code) {
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_INCOMPATIBLE:
    case MDB_BAD_DBI:
    case MDB_BAD_VALSIZE:
    case MDB_CURSOR_FULL:
    // As a transaction's first error: a table's root cannot be read, which LMDB notes but does not
    // return. (After another error nothing goes on with a transaction.)
    case MDB_BAD_TXN:
      return absl::StatusCode::kDataLoss;
    case MDB_MAP_FULL:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case MDB_READERS_FULL:
      return absl::StatusCode::kResourceExhausted;
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status LmdbError(int code, std::string_view what, const std::string& directory) {
  return Error(CodeOf(code), "{} {}: {}", what, directory, mdb_strerror(code));
}

absl::StatusOr<std::shared_ptr<Environment>> Environment::Open(const std::string& directory,
                                                               Access access) {
  std::error_code no_canonical;
  std::string path = std::filesystem::canonical(directory, no_canonical).string();
  if (no_canonical) {
    return Error(absl::StatusCode::kNotFound, "replica {}: {}", directory, no_canonical.message());
  }
  OpenEnvironments& opened = Opened();
  std::shared_ptr<Environment> present;  // goes after the lock: its end may be Close
  std::unique_lock lock(opened.mutex);
  opened.changed.wait(lock, [&] {
    const auto found = opened.by_path.find(path);
    present = found == opened.by_path.end() ? nullptr : found->second.lock();
    return found == opened.by_path.end() || present != nullptr;
  });
  if (present != nullptr) {
    if (access == Access::kRead) {
      return present;
    }
    return Error(absl::StatusCode::kFailedPrecondition,
                 "replica {} is already open in this process; open its writer first and once",
                 path);
  }
  opened.by_path[path] = {};
  lock.unlock();
  const std::shared_ptr<Environment> made(std::make_unique<Environment>(Private{}, path).release(),
                                          &Environment::Close);
  if (const absl::Status status = made->Initialise(access); !status.ok()) {
    return status;
  }
  lock.lock();
  opened.by_path[path] = made;
  opened.changed.notify_all();
  return made;
}

void Environment::Close(Environment* environment) noexcept {
  const std::string path = environment->directory();
  std::default_delete<Environment>()(environment);
  OpenEnvironments& opened = Opened();
  const std::lock_guard lock(opened.mutex);
  opened.by_path.erase(path);
  opened.changed.notify_all();
}

absl::Status Environment::Initialise(Access access) {
  const bool writes = access != Access::kRead;
  if (const int code = mdb_env_create(&env_); code != MDB_SUCCESS) {
    return LmdbError(code, "make an environment for", directory_);
  }
  mdb_env_set_userctx(env_, this);
  mdb_env_set_assert(env_, &OnAssertion);
  mdb_env_set_mapsize(env_, kMapBytes);
  mdb_env_set_maxdbs(env_, kTables);
  mdb_env_set_maxreaders(env_, kReadersMax);
  unsigned flags = MDB_NOTLS;
  flags |= writes ? 0U : unsigned{MDB_RDONLY};
  flags |= access == Access::kWriteUnsynced ? unsigned{MDB_NOSYNC} : 0U;
  if (const int code = mdb_env_open(env_, directory_.c_str(), flags, 0660); code != MDB_SUCCESS) {
    return LmdbError(code, "open replica", directory_);
  }
  int fd = -1;
  mdb_env_get_fd(env_, &fd);
  watch_.emplace(fd, directory_);
  if (writes) {
    if (const absl::Status status = SetModes(); !status.ok()) {
      return status;
    }
  }
  return OpenTables(writes);
}

absl::Status Environment::SetModes() const {
  struct stat parent {};
  if (::stat(directory_.c_str(), &parent) != 0) {
    return ErrnoError("stat {}", directory_);
  }
  for (const auto& [file, mode] : {std::pair{"data.mdb", 0640}, std::pair{"lock.mdb", 0660}}) {
    const std::string path = directory_ + "/" + file;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      return ErrnoError("stat {}", path);
    }
    if (status.st_gid != parent.st_gid &&
        ::chown(path.c_str(), static_cast<uid_t>(-1), parent.st_gid) != 0) {
      return ErrnoError("give {} to the group of its directory", path);
    }
    if (::chmod(path.c_str(), static_cast<mode_t>(mode)) != 0) {
      return ErrnoError("chmod {}", path);
    }
  }
  return absl::OkStatus();
}

absl::Status Environment::OpenTables(bool create) {
  MDB_txn* transaction = nullptr;
  if (const int code =
          mdb_txn_begin(env_, nullptr, create ? 0U : unsigned{MDB_RDONLY}, &transaction);
      code != MDB_SUCCESS) {
    return LmdbError(code, "begin in replica", directory_);
  }
  const unsigned flags = create ? unsigned{MDB_CREATE} : 0U;
  for (const auto& [name, table] : {std::pair{"records", &records_}, std::pair{"names", &names_},
                                    std::pair{"bindings", &bindings_}, std::pair{"meta", &meta_}}) {
    if (const int code = mdb_dbi_open(transaction, name, flags, table); code != MDB_SUCCESS) {
      mdb_txn_abort(transaction);
      // A file without its tables was never completed by a writer.
      return LmdbError(code == MDB_NOTFOUND ? ENOENT : code, "open a table of replica", directory_);
    }
  }
  const int code = mdb_txn_commit(transaction);
  return code == MDB_SUCCESS ? absl::OkStatus() : LmdbError(code, "open tables of", directory_);
}

Environment::~Environment() {
  for (MDB_txn* transaction : *idle_.Lock()) {
    mdb_txn_abort(transaction);
  }
  watch_.reset();
  if (env_ != nullptr) {
    mdb_env_close(env_);
  }
}

absl::StatusOr<std::optional<std::string>> Environment::Get(MDB_txn* transaction, MDB_dbi table,
                                                            std::string_view key) const {
  if (key.empty() || key.size() > kKeyBytesMax) {
    return std::nullopt;
  }
  MDB_val key_val = ToVal(key);
  MDB_val value{};
  const int code = mdb_get(transaction, table, &key_val, &value);
  if (code == MDB_NOTFOUND) {
    return std::nullopt;
  }
  if (code != MDB_SUCCESS) {
    return LmdbError(code, "read replica", directory_);
  }
  const std::optional<std::string_view> payload = Unseal(key, ToView(value));
  if (!payload) {
    return Error(absl::StatusCode::kDataLoss, "replica {}: wrong checksum", directory_);
  }
  return std::string(*payload);
}

absl::StatusOr<ReadTransaction> ReadTransaction::Begin(Environment& environment) {
  MDB_txn* transaction = nullptr;
  {
    auto idle = environment.idle_.Lock();
    if (!idle->empty()) {
      transaction = idle->back();
      idle->pop_back();
    }
  }
  if (transaction != nullptr) {
    if (mdb_txn_renew(transaction) == MDB_SUCCESS) {
      return ReadTransaction(environment, transaction);
    }
    mdb_txn_abort(transaction);
  }
  const int code = mdb_txn_begin(environment.get(), nullptr, MDB_RDONLY, &transaction);
  if (code != MDB_SUCCESS) {
    return LmdbError(code, "begin reading replica", environment.directory());
  }
  return ReadTransaction(environment, transaction);
}

ReadTransaction::~ReadTransaction() {
  if (transaction_ != nullptr) {
    mdb_txn_reset(transaction_);
    environment_.idle_.Lock()->push_back(transaction_);
  }
}

ReadTransaction::ReadTransaction(ReadTransaction&& other) noexcept
    : environment_(other.environment_), transaction_(std::exchange(other.transaction_, nullptr)) {}

absl::StatusOr<Cursor> Cursor::Open(MDB_txn* transaction, MDB_dbi table) {
  MDB_cursor* cursor = nullptr;
  const int code = mdb_cursor_open(transaction, table, &cursor);
  if (code != MDB_SUCCESS) {
    return LmdbError(code, "open a cursor of", "the replica");
  }
  return Cursor(cursor);
}

Cursor::~Cursor() {
  if (cursor_ != nullptr) {
    mdb_cursor_close(cursor_);
  }
}

Cursor::Cursor(Cursor&& other) noexcept
    : cursor_(std::exchange(other.cursor_, nullptr)), key_(other.key_), value_(other.value_) {}

int Cursor::Seek(std::string_view from) {
  key_ = ToVal(from);
  return mdb_cursor_get(cursor_, &key_, &value_, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
}

int Cursor::Next() { return mdb_cursor_get(cursor_, &key_, &value_, MDB_NEXT); }

}  // namespace croft::node::replica
