// The files behind -f.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "admin-cli/manifest.h"
#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

namespace fs = std::filesystem;

bool IsManifest(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".json" || ending == ".jsonl";
}

// At most a byte more than a manifest may have.
std::string ReadAll(std::istream& input) {
  std::string text;
  std::vector<char> part(64 * 1024);
  while (text.size() <= kManifestBytesMax && input) {
    input.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(input.gcount()));
  }
  return text;
}

absl::Status Unreadable(const std::string& path, const std::error_code& error) {
  return Error(absl::StatusCode::kInvalidArgument, "cannot read {}: {}", path, error.message());
}

absl::StatusOr<std::vector<std::string>> FilesBelow(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, error);
  while (!error && at != fs::recursive_directory_iterator()) {
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden) {
      at.disable_recursion_pending();
    } else if (IsManifest(at->path()) && at->is_regular_file(error)) {
      files.push_back(at->path().string());
    }
    at.increment(error);
  }
  if (error) {
    return Unreadable(directory, error);
  }
  if (files.empty()) {
    return Error(absl::StatusCode::kInvalidArgument, "no *.yaml, *.yml, *.json or *.jsonl in {}",
                 directory);
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    auto below = FilesBelow(path);
    if (!below.ok()) {
      return below.status();
    }
    files.insert(files.end(), below->begin(), below->end());
  }
  return files;
}

}  // namespace

absl::StatusOr<Manifest> LoadManifests(const std::vector<std::string>& paths,
                                       std::string_view farm) {
  const auto files = FilesOf(paths);
  if (!files.ok()) {
    return files.status();
  }
  Manifest manifest;
  for (const std::string& file : *files) {
    if (file == "-") {
      ReadManifest(ReadAll(std::cin), "stdin", farm, manifest);
      continue;
    }
    std::ifstream input(file, std::ios::binary);
    if (!input) {
      return Unreadable(file, std::make_error_code(static_cast<std::errc>(errno)));
    }
    ReadManifest(ReadAll(input), file, farm, manifest);
  }
  if (manifest.problems.empty()) {
    OrderManifest(manifest);
  }
  return manifest;
}

}  // namespace croft::admin_cli
