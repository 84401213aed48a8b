#include "control/private_database/cluster.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/base/random.h"

namespace croft::control::private_database {
namespace {

namespace fs = std::filesystem;

constexpr char kDebianVersions[] = "/usr/lib/postgresql";

bool HasBinaries(const std::string& dir) {
  return ::access((dir + "/postgres").c_str(), X_OK) == 0 &&
         ::access((dir + "/initdb").c_str(), X_OK) == 0;
}

// "15" of an existing cluster, empty if there is none.
std::string ReadMajorVersion(const std::string& cluster_dir) {
  std::ifstream file(cluster_dir + "/PG_VERSION");
  std::string version;
  file >> version;
  return version;
}

std::string FindNewest() {
  int newest = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(kDebianVersions, error)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (version > newest && HasBinaries(entry.path().string() + "/bin")) {
      newest = version;
    }
  }
  return newest == 0 ? "" : std::to_string(newest);
}

absl::Status WritePrivateFile(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), text.data(), text.size()) != std::ssize(text) ||
      ::fsync(file.get()) != 0) {
    return ErrnoError("write {}", path);
  }
  return absl::OkStatus();
}

absl::Status MakeDirectory(const std::string& path, const Identity& identity) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoError("mkdir {}", path);
  }
  if (::geteuid() == 0 && ::chown(path.c_str(), identity.uid, identity.gid) != 0) {
    return ErrnoError("chown {}", path);
  }
  return absl::OkStatus();
}

// Whether the database's user can reach the directory; the error names the first one that stops it.
absl::Status CheckReachable(const std::string& dir, const Identity& identity) {
  if (::geteuid() != 0) {
    return absl::OkStatus();
  }
  fs::path at = "/";
  for (const fs::path& part : fs::path(dir)) {
    at /= part;
    struct stat entry {};
    if (::stat(at.c_str(), &entry) != 0) {
      return ErrnoError("{}", at.string());
    }
    const mode_t need = entry.st_uid == identity.uid ? S_IXUSR : S_IXOTH;
    if ((entry.st_mode & need) == 0) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "the database's OS user (uid {}) can't enter {}; chmod o+x it, or choose "
                   "another --data-dir",
                   identity.uid, at.string());
    }
  }
  return absl::OkStatus();
}

absl::Status InitializeCluster(const std::string& dir, const std::string& bin_dir,
                               const Places& places, const Identity& identity) {
  const auto password = ReadOrMakePassword(places);
  if (!password.ok()) {
    return password.status();
  }
  const std::string password_file = places.root + "/initdb.password";
  if (absl::Status status = WritePrivateFile(password_file, *password); !status.ok()) {
    return status;
  }
  if (::geteuid() == 0 && ::chown(password_file.c_str(), identity.uid, identity.gid) != 0) {
    return ErrnoError("chown {}", password_file);
  }
  Program initdb;
  initdb.path = bin_dir + "/initdb";
  initdb.arguments = {"--pgdata=" + dir,           "--username=" + std::string(kUser),
                      "--pwfile=" + password_file, "--auth-local=scram-sha-256",
                      "--auth-host=reject",        "--data-checksums",
                      "--encoding=UTF8",           "--locale=C.UTF-8",
                      "--no-instructions"};
  initdb.output = places.start_log;
  absl::Status status = RunProgram(initdb, identity, std::chrono::seconds(120));
  ::unlink(password_file.c_str());
  if (!status.ok()) {
    return status;
  }
  Program single;
  single.path = bin_dir + "/postgres";
  single.arguments = {"--single", "-D", dir, "postgres"};
  single.input = fmt::format("CREATE DATABASE {};\n", kDatabase);
  single.output = places.start_log;
  return RunProgram(single, identity, std::chrono::seconds(120));
}

}  // namespace

Places::Places(const std::string& data_dir)
    : root(data_dir + "/pg"),
      cluster(root + "/cluster"),
      start_log(root + "/start.log"),
      log_dir(root + "/log"),
      password(data_dir + "/pg.password"),
      lock(data_dir + "/pg.lock") {}

absl::StatusOr<std::string> FindBinaries(const Places& places, const std::string& bin_dir) {
  const std::string needed = ReadMajorVersion(places.cluster);
  if (!bin_dir.empty()) {
    if (HasBinaries(bin_dir)) {
      return bin_dir;
    }
    return Error(absl::StatusCode::kFailedPrecondition, "no postgres and initdb in {}", bin_dir);
  }
  const std::string newest = FindNewest();
  if (newest.empty()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "PostgreSQL is not installed: apt-get install postgresql, or give --database-url");
  }
  const std::string chosen = needed.empty() ? newest : needed;
  const std::string dir = fmt::format("{}/{}/bin", kDebianVersions, chosen);
  if (HasBinaries(dir)) {
    return dir;
  }
  return Error(absl::StatusCode::kFailedPrecondition,
               "the database in {} was made by PostgreSQL {}, installed is {}; either apt-get "
               "install postgresql-{}, or with both installed move it: pg_upgrade -b "
               "/usr/lib/postgresql/{}/bin -B /usr/lib/postgresql/{}/bin -d {} -D NEW_DIRECTORY "
               "(see README), or restore a dump",
               places.cluster, needed, newest, needed, needed, newest, places.cluster);
}

absl::StatusOr<std::string> FindClientPrograms(int major) {
  const std::string dir = fmt::format("{}/{}/bin", kDebianVersions, major);
  for (const char* program : {"pg_dump", "pg_restore", "psql"}) {
    if (::access((dir + "/" + program).c_str(), X_OK) != 0) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "the database is PostgreSQL {0}, and there is no {1}/{2} here: apt-get install "
                   "postgresql-client-{0}",
                   major, dir, program);
    }
  }
  return dir;
}

absl::StatusOr<std::string> ReadOrMakePassword(const Places& places) {
  std::ifstream file(places.password);
  std::string password;
  if (file >> password) {
    return password;
  }
  password = RandomHex(24);
  if (absl::Status status = WritePrivateFile(places.password, password); !status.ok()) {
    return status;
  }
  return password;
}

absl::Status CreateCluster(const Places& places, const std::string& bin_dir,
                           const Identity& identity) {
  for (const std::string& dir : {places.root, places.log_dir}) {
    if (absl::Status status = MakeDirectory(dir, identity); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = CheckReachable(places.root, identity); !status.ok()) {
    return status;
  }
  std::error_code error;
  if (fs::exists(places.cluster, error)) {
    return absl::OkStatus();
  }
  const std::string half_made = places.cluster + ".new";
  fs::remove_all(half_made, error);
  if (absl::Status status = InitializeCluster(half_made, bin_dir, places, identity); !status.ok()) {
    return status;
  }
  if (::rename(half_made.c_str(), places.cluster.c_str()) != 0) {
    return ErrnoError("rename {}", half_made);
  }
  log::Info("private_database", "made a database cluster", {{"directory", places.cluster}});
  return absl::OkStatus();
}

}  // namespace croft::control::private_database
