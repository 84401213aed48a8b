// The key-encryption key: a 0600 file given to every instance of control, with which secrets in the
// database are sealed. AES-256-GCM, the secret's name as additional data, so that one secret cannot
// be put in another's place.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace croft::control::identity {

// Constant after construction; thread-safe.
class SealingKey {
 public:
  // Reads the file, or makes it with a random key. failed_precondition when anyone but its owner
  // may read it.
  static absl::StatusOr<SealingKey> LoadOrCreate(const std::string& path);

  absl::StatusOr<std::string> Seal(std::string_view name, std::string_view secret) const;
  // failed_precondition when it was sealed with another key, for another name, or was changed.
  absl::StatusOr<std::string> Unseal(std::string_view name, std::string_view sealed) const;

 private:
  static constexpr std::size_t kKeyBytes = 32;
  using Key = std::array<std::uint8_t, kKeyBytes>;
  SealingKey(const Key& key, std::string path) : key_(key), path_(std::move(path)) {}

  Key key_;
  std::string path_;
};

}  // namespace croft::control::identity
