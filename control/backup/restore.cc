#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "control/backup/backup.h"
#include "control/backup/files.h"
#include "control/backup/manifest.h"
#include "control/backup/pg_tools.h"
#include "control/data_directory.h"
#include "control/identity/file.h"
#include "control/private_database/cluster.h"
#include "control/private_database/postmaster_file.h"
#include "control/private_database/private_database.h"
#include "proto/base/error.h"

namespace croft::control::backup {
namespace {

using private_database::PrivateDatabase;

constexpr std::chrono::seconds kStopPatience{60};

// A restore that was killed leaves its server running.
absl::Status StopLeftServer(const std::string& directory) {
  const std::string cluster = private_database::Places(directory).cluster;
  const auto file = private_database::ReadPostmasterFile(cluster);
  if (!file.has_value() || !private_database::IsRunning(*file, cluster)) {
    return absl::OkStatus();
  }
  const auto process = private_database::OpenProcess(file->pid);
  if (!process.ok()) {
    return absl::OkStatus();  // gone just now
  }
  ::kill(file->pid, SIGINT);
  return private_database::WaitForEnd(*process, kStopPatience)
             ? absl::OkStatus()
             : Error(absl::StatusCode::kUnavailable,
                     "PostgreSQL {}, left in {} by a restore that was killed, does not end; stop "
                     "it by hand and try again",
                     file->pid, directory);
}

absl::Status Load(const std::string& backup, const Settings& settings, const std::string& url,
                  const Manifest& manifest) {
  const auto server_version = store::CheckEmptyDatabase(url);
  if (!server_version.ok()) {
    return server_version.status();
  }
  if (*server_version / 10'000 < manifest.database.server_version / 10'000) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the backup was made of PostgreSQL {}, this is {}; restore into one that is no "
                 "older",
                 manifest.database.server_version / 10'000, *server_version / 10'000);
  }
  const auto tools = PgTools::Find(*server_version, url, settings.run_as);
  return tools.ok() ? LoadDatabase(*tools, backup + "/" + kDump, store::NewHistorySql())
                    : tools.status();
}

absl::Status LoadPrivate(const std::string& backup, const std::string& data_dir,
                         const Settings& settings, const Manifest& manifest) {
  const auto database = PrivateDatabase::Start({.data_dir = data_dir});
  if (!database.ok()) {
    return database.status();
  }
  absl::Status status = Load(backup, settings, (*database)->url(), manifest);
  (*database)->Stop();
  return status;
}

// Control, which may not stay root, replaces all but the key at its start.
absl::Status CopyFiles(const std::string& backup, const std::string& data_dir,
                       const Settings& settings, const Manifest& manifest) {
  for (const FileFacts& file : manifest.files) {
    if (file.name == kDump) {
      continue;
    }
    const auto content = ReadSmallFile(backup + "/" + file.name);
    if (!content.ok()) {
      return content.status();
    }
    const std::string own = data_dir + "/" + file.name;
    const bool is_key = file.name == kKey;
    const bool elsewhere = is_key && settings.key_file != settings.data_dir + "/" + kKey;
    const mode_t mode = file.name == kCaCertificate ? 0644 : 0600;
    absl::Status status = elsewhere ? absl::OkStatus() : identity::WriteFile(own, *content, mode);
    if (status.ok() && !is_key && ::geteuid() == 0 &&
        ::chown(own.c_str(), settings.run_as, settings.run_as) != 0) {
      status = ErrnoError("chown {}", own);
    }
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

// The key that is yet to be written to a key file outside the data directory; empty when there is
// none to be, or it is there already.
absl::StatusOr<std::string> FindMissingKey(const std::string& backup, const Settings& settings) {
  if (settings.key_file == settings.data_dir + "/" + kKey) {
    return std::string();
  }
  auto key = ReadSmallFile(backup + "/" + kKey);
  if (!key.ok()) {
    return key.status();
  }
  const auto there = ReadSmallFile(settings.key_file);
  if (there.ok() && *there != *key) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "{} holds another key than the backup; name another --key-file",
                 settings.key_file);
  }
  if (!there.ok() && !absl::IsNotFound(there.status())) {
    return there.status();
  }
  return there.ok() ? std::string() : *key;
}

void SayNextStep(const std::string& backup, const Settings& settings, const Manifest& manifest) {
  const bool own_database = settings.database_url.empty();
  fmt::print(stderr,
             "restored {} of {}: revision {}, as a new history\n"
             "Next:\n"
             "  croft-control --data-dir {}{}{} ...   with --listen and --advertise as before\n"
             "  croft list nodes    nodes go on serving what they have and reconcile; one that "
             "would lose most\n"
             "                      of its sites asks first, and its PROBLEM has the command that "
             "lets them go\n",
             backup, manifest.time, manifest.database.revision, settings.data_dir,
             own_database ? "" : " --database-url URL",
             settings.key_file == settings.data_dir + "/" + kKey
                 ? ""
                 : " --key-file " + settings.key_file);
}

}  // namespace

absl::Status RestoreBackup(const std::string& directory, const Settings& settings) {
  const auto manifest = CheckBackup(directory);
  if (!manifest.ok()) {
    return manifest.status();
  }
  const auto missing_key = FindMissingKey(directory, settings);
  if (!missing_key.ok()) {
    return missing_key.status();
  }
  auto made = UnfinishedDirectory::Make(settings.data_dir, StopLeftServer);
  if (!made.ok()) {
    return made.status();
  }
  Settings inside = settings;
  inside.data_dir = made->path();
  const auto lock = OpenDataDirectory(inside);
  if (!lock.ok()) {
    return lock.status();
  }
  absl::Status status = CopyFiles(directory, made->path(), settings, *manifest);
  if (status.ok()) {
    status = settings.database_url.empty()
                 ? LoadPrivate(directory, made->path(), settings, *manifest)
                 : Load(directory, settings, settings.database_url, *manifest);
  }
  if (status.ok() && !missing_key->empty()) {
    status = identity::CreateFileOnce(settings.key_file, *missing_key, 0600);
  }
  if (status.ok()) {
    status = made->Finish();
  }
  if (status.ok()) {
    SayNextStep(directory, settings, *manifest);
  }
  return status;
}

}  // namespace croft::control::backup
