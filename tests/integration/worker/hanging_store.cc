// A FUSE file system for the tests: a directory "site" with "page.txt" and "large.txt", every
// answer from this process, nothing cached by the kernel. Stopped by SIGSTOP, it is a file store
// that hangs. usage: hanging-store MOUNTPOINT
#define FUSE_USE_VERSION 31

#include <fuse3/fuse.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr off_t kLargeBytes = 1 << 20;
constexpr std::string_view kPage = "remote page";

off_t SizeOf(std::string_view path) {
  if (path == "/site/page.txt") {
    return static_cast<off_t>(kPage.size());
  }
  return path == "/site/large.txt" ? kLargeBytes : -1;
}

int GetAttributes(const char* path, struct stat* facts, fuse_file_info* /*file*/) {
  *facts = {};
  if (std::string_view(path) == "/" || std::string_view(path) == "/site") {
    facts->st_mode = S_IFDIR | 0755;
    facts->st_nlink = 2;
    return 0;
  }
  facts->st_size = SizeOf(path);
  facts->st_mode = S_IFREG | 0644;
  facts->st_nlink = 1;
  facts->st_mtime = 784'111'777;
  return facts->st_size < 0 ? -ENOENT : 0;
}

int Open(const char* path, fuse_file_info* file) {
  file->direct_io = 1;
  return SizeOf(path) < 0 ? -ENOENT : 0;
}

int Read(const char* path, char* to, size_t room, off_t offset, fuse_file_info* /*file*/) {
  const off_t left = SizeOf(path) - offset;
  if (left <= 0) {
    return 0;
  }
  const size_t count = std::min(room, static_cast<size_t>(left));
  if (std::string_view(path) == "/site/page.txt") {
    std::memcpy(to, kPage.data() + offset, count);
  } else {
    std::memset(to, 'x', count);
  }
  return static_cast<int>(count);
}

void* Initialize(fuse_conn_info* /*connection*/, fuse_config* config) {
  config->entry_timeout = 0;
  config->attr_timeout = 0;
  config->negative_timeout = 0;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  fuse_operations operations{};
  operations.getattr = &GetAttributes;
  operations.open = &Open;
  operations.read = &Read;
  operations.init = &Initialize;
  std::string options = "-oallow_other,default_permissions,fsname=croft-hanging-store";
  std::string foreground = "-f";
  std::string single = "-s";
  char* arguments[] = {argv[0], foreground.data(), single.data(), options.data(), argv[1], nullptr};
  return fuse_main(5, arguments, &operations, nullptr);
}
