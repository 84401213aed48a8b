// A directory under /tmp that goes with the test, reachable for the database's OS user.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace croft::control::private_database {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    path_ = "/tmp/croft-test-XXXXXX";
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
  std::string path_;
};

}  // namespace croft::control::private_database
