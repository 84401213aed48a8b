// Manifests: resources written as YAML or JSON documents, as -o yaml and -o json print them. Each
// says "type: site" or has its full name. Reading is pure; the text is untrusted.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "admin-cli/nouns.h"

namespace croft::admin_cli {

inline constexpr std::size_t kManifestBytesMax = 16 * 1024 * 1024;
inline constexpr std::size_t kManifestProblemsMax = 100;

struct ManifestItem {
  std::string place;  // "shop.yaml:12"
  const Noun* noun = nullptr;
  // With its full name, names of others completed, and no output-only fields.
  MessagePtr resource;
};

struct Manifest {
  std::vector<ManifestItem> items;
  // "shop.yaml:12: bindings[0].prot: unknown field of Binding; the nearest is ...". With any of
  // them nothing should be done.
  std::vector<std::string> problems;
};

// Adds a file's resources, in its order. `file` says what the text is by its ending, otherwise its
// first letter does. `farm` is that of names that have none.
void ReadManifest(std::string_view text, const std::string& file, std::string_view farm,
                  Manifest& manifest);

// Puts what others name before them: organizations (a parent first), ... accounts; otherwise by
// place. What stands twice becomes a problem.
void OrderManifest(Manifest& manifest);

// Where a type stands in that order.
int ApplyRank(contract::ResourceType type);

// manifest_files.cc: reads the files, the directories (*.yaml, *.yml, *.json and *.jsonl below
// them, sorted; none that begins with a dot) and "-" for stdin, and orders what is in them.
// invalid_argument for a path that cannot be read.
absl::StatusOr<Manifest> LoadManifests(const std::vector<std::string>& paths,
                                       std::string_view farm);

}  // namespace croft::admin_cli
