// What a backup says about itself: DIR/manifest.json, and beside it its own sum in the form that
// `sha256sum -c` reads.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "control/backup/files.h"
#include "control/store/database_snapshot.h"

namespace croft::control::backup {

inline constexpr int kFormat = 1;
inline constexpr char kDump[] = "database.dump";  // of pg_dump, its custom format
inline constexpr char kKey[] = "key";
inline constexpr char kOperator[] = "operator.yaml";
inline constexpr char kCaCertificate[] = "ca.crt";

struct Manifest {
  std::string time;  // RFC 3339
  store::DatabaseFacts database;
  std::vector<FileFacts> files;
};

absl::Status WriteManifest(const std::string& directory, const Manifest& manifest);

// Reads it and compares every file with it; an error names the file. failed_precondition when this
// program does not know the format or the schema.
absl::StatusOr<Manifest> CheckBackup(const std::string& directory);

}  // namespace croft::control::backup
