// A directory that goes with the test, reachable for the database's OS user: in memory, where there
// is room, since making a cluster on a busy disk takes ten seconds; CROFT_SCRATCH chooses
// otherwise.
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace croft::control::private_database {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    path_ = Base() + "/croft-test-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) {
      std::abort();
    }
    ::chmod(path_.c_str(), 0711);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  static std::string Base() {
    constexpr std::uint64_t kRoomBytes = 1ULL << 30;
    if (const char* chosen = std::getenv("CROFT_SCRATCH")) {
      return chosen;
    }
    struct statvfs memory {};
    const bool roomy = ::statvfs("/dev/shm", &memory) == 0 &&
                       memory.f_bavail * memory.f_frsize >= kRoomBytes &&
                       ::access("/dev/shm", W_OK) == 0;
    return roomy ? "/dev/shm" : "/tmp";
  }

  std::string path_;
};

}  // namespace croft::control::private_database
