#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "node/replica/damage.h"
#include "node/replica/environment.h"
#include "node/replica/generations.h"
#include "proto/base/error.h"

namespace croft::node::replica {
namespace {

std::string ClosedMarker(const std::string& directory) { return directory + "/closed"; }

// Changes with every write to the data file; empty if there is none.
std::string Fingerprint(const std::string& directory) {
  struct stat file {};
  if (::stat((directory + "/data.mdb").c_str(), &file) != 0) {
    return {};
  }
  return fmt::format("{} {} {}.{:09}\n", file.st_ino, file.st_size, file.st_mtim.tv_sec,
                     file.st_mtim.tv_nsec);
}

absl::Status VerifyTable(const Environment& environment, const ReadTransaction& transaction,
                         MDB_dbi table) {
  auto cursor = Cursor::Open(transaction.get(), table);
  if (!cursor.ok()) {
    return cursor.status();
  }
  int code = cursor->Seek({});
  for (; code == MDB_SUCCESS; code = cursor->Next()) {
    if (!Unseal(cursor->key(), cursor->value())) {
      return Error(absl::StatusCode::kDataLoss, "replica {}: wrong checksum",
                   environment.directory());
    }
  }
  return code == MDB_NOTFOUND ? absl::OkStatus()
                              : LmdbError(code, "walk replica", environment.directory());
}

}  // namespace

absl::Status VerifyGeneration(const std::string& directory) {
  if (::access((directory + "/" + kDamagedMarker).c_str(), F_OK) == 0) {
    return Error(absl::StatusCode::kDataLoss, "replica {}: marked as damaged", directory);
  }
  const SuspectScope suspect(directory);
  const auto environment = Environment::Open(directory, Access::kRead);
  if (!environment.ok()) {
    return environment.status();
  }
  const auto transaction = ReadTransaction::Begin(**environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  for (const MDB_dbi table : {(*environment)->records(), (*environment)->names(),
                              (*environment)->bindings(), (*environment)->meta()}) {
    if (const absl::Status status = VerifyTable(**environment, *transaction, table); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

void MarkClosed(const std::string& directory) {
  // Best effort: without the mark, the next start walks the file.
  std::ofstream(ClosedMarker(directory), std::ios::trunc) << Fingerprint(directory);
}

bool IsMarkedClosed(const std::string& directory) {
  std::ifstream file(ClosedMarker(directory));
  std::string line;
  std::getline(file, line);
  const std::string now = Fingerprint(directory);
  return !now.empty() && line + "\n" == now &&
         ::access((directory + "/" + kDamagedMarker).c_str(), F_OK) != 0;
}

}  // namespace croft::node::replica
