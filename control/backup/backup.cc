#include "control/backup/backup.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "control/backup/files.h"
#include "control/backup/manifest.h"
#include "control/backup/pg_tools.h"
#include "control/data_directory.h"
#include "control/identity/authority.h"
#include "control/identity/key_file.h"
#include "control/private_database/cluster.h"
#include "control/private_database/private_database.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

namespace croft::control::backup {
namespace {

using private_database::PrivateDatabase;

// Where the database is. A private one whose control does not run is started meanwhile.
struct Source {
  std::string url;
  UniqueFd lock = {};
  std::unique_ptr<PrivateDatabase> started = {};
};

absl::StatusOr<Source> OpenSource(const Settings& settings) {
  if (!settings.database_url.empty()) {
    return Source{.url = settings.database_url};
  }
  const std::string cluster = private_database::Places(settings.data_dir).cluster;
  std::error_code error;
  if (!std::filesystem::exists(cluster, error)) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "there is no database in {}; give the --data-dir that croft-control runs with, "
                 "and its --database-url if it has one",
                 settings.data_dir);
  }
  auto running = PrivateDatabase::FindRunning(settings.data_dir);
  if (running.ok()) {
    return Source{.url = *std::move(running)};
  }
  auto lock = OpenDataDirectory(settings);
  if (!lock.ok()) {
    return lock.status();
  }
  auto started = PrivateDatabase::Start({.data_dir = settings.data_dir});
  if (!started.ok()) {
    return started.status();
  }
  const std::string url = (*started)->url();
  return Source{.url = url, .lock = *std::move(lock), .started = *std::move(started)};
}

// A backup whose key does not open the database's secrets would be worth nothing.
absl::Status CheckKey(const std::string& key_file, store::DatabaseSnapshot& snapshot) {
  struct stat about {};
  if (::stat(key_file.c_str(), &about) != 0) {
    return ErrnoError("key file {} (--key-file)", key_file);
  }
  const auto key = identity::SealingKey::LoadOrCreate(key_file);
  if (!key.ok()) {
    return key.status();
  }
  const auto sealed = snapshot.ReadSecret(identity::kAuthoritySecret);
  if (!sealed.ok()) {
    return sealed.status();
  }
  if (sealed->empty()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the database has no certificate authority yet; start croft-control on it first");
  }
  return key->Unseal(identity::kAuthoritySecret, *sealed).status();
}

absl::StatusOr<FileFacts> WriteDump(const std::string& directory, const Settings& settings,
                                    const std::string& url,
                                    const store::DatabaseSnapshot& snapshot) {
  const auto tools = PgTools::Find(snapshot.facts().server_version, url, settings.run_as);
  if (!tools.ok()) {
    return tools.status();
  }
  auto file = NewFile::Create(directory, kDump);
  if (!file.ok()) {
    return file.status();
  }
  ProgressLine progress("backing the database up");
  const absl::Status dumped = DumpDatabase(*tools, snapshot.id(), [&](std::string_view bytes) {
    progress.Add(bytes.size());
    return file->Write(bytes);
  });
  return dumped.ok() ? file->Close() : dumped;
}

// The key, and what lies beside it; only the key must be there.
absl::Status CopyFiles(const std::string& directory, const Settings& settings,
                       std::vector<FileFacts>& files) {
  const std::pair<const char*, std::string> sources[] = {
      {kKey, settings.key_file},
      {kOperator, settings.data_dir + "/" + kOperator},
      {kCaCertificate, settings.data_dir + "/" + kCaCertificate}};
  for (const auto& [name, path] : sources) {
    const auto content = ReadSmallFile(path);
    if (absl::IsNotFound(content.status()) && name != kKey) {
      continue;
    }
    if (!content.ok()) {
      return content.status();
    }
    auto written = WriteNewFile(directory, name, *content);
    if (!written.ok()) {
      return written.status();
    }
    files.push_back(*std::move(written));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeBackup(const std::string& directory, const Settings& settings) {
  auto made = UnfinishedDirectory::Make(directory);
  if (!made.ok()) {
    return made.status();
  }
  const auto source = OpenSource(settings);
  if (!source.ok()) {
    return source.status();
  }
  const auto snapshot = store::DatabaseSnapshot::Take(source->url);
  if (!snapshot.ok()) {
    return snapshot.status();
  }
  if (absl::Status status = CheckKey(settings.key_file, **snapshot); !status.ok()) {
    return status;
  }
  Manifest manifest{
      .time = fmt::format("{:%FT%TZ}",
                          fmt::gmtime(std::chrono::system_clock::to_time_t(SystemClock().Now()))),
      .database = (*snapshot)->facts(),
      .files = {}};
  auto dump = WriteDump(made->path(), settings, source->url, **snapshot);
  if (!dump.ok()) {
    return dump.status();
  }
  manifest.files.push_back(*std::move(dump));
  absl::Status status = CopyFiles(made->path(), settings, manifest.files);
  if (status.ok()) {
    status = WriteManifest(made->path(), manifest);
  }
  if (status.ok()) {
    status = made->Finish();
  }
  if (status.ok()) {
    fmt::print(
        stderr,
        "{}: revision {}, database {:.1f} MiB\n"
        "It holds the keys of the farm: who can read it can act as control. Keep it private, "
        "and try a restore now and then.\n",
        directory, manifest.database.revision,
        static_cast<double>(manifest.files.front().size) / (1 << 20));
  }
  return status;
}

absl::Status VerifyBackup(const std::string& directory) {
  const auto manifest = CheckBackup(directory);
  if (!manifest.ok()) {
    return manifest.status();
  }
  for (const FileFacts& file : manifest->files) {
    fmt::print("{}\t{}\t{}\n", file.name, file.size, file.sha256);
  }
  fmt::print(stderr, "{} is whole: made {}, revision {}, schema {}, PostgreSQL {}\n", directory,
             manifest->time, manifest->database.revision, manifest->database.schema,
             manifest->database.server_version / 10'000);
  return absl::OkStatus();
}

}  // namespace croft::control::backup
