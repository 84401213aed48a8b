#include "node/launcher/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::node::launcher {
namespace {

namespace fs = std::filesystem;

constexpr int kBacklog = 4096;
// Room that the longest socket name takes below D: "/run/w/" + ten digits + ".sock" + the final
// zero.
constexpr std::size_t kSocketNameBytes = 7 + 10 + 5 + 1;
constexpr std::size_t kPathBytesMax = sizeof(sockaddr_un::sun_path) - kSocketNameBytes;

absl::Status MakeWithParents(const std::string& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) {
    return Error(absl::StatusCode::kFailedPrecondition, "make directory {}: {}", path,
                 failed.message());
  }
  return absl::OkStatus();
}

// After another identity range was in use: everything below gets the new owner. Follows no symbolic
// link.
absl::Status GiveContents(const std::string& path, uid_t uid, gid_t gid) {
  std::error_code failed;
  for (fs::recursive_directory_iterator entry(path, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (::lchown(entry->path().c_str(), uid, gid) != 0) {
      return ErrnoError("give {} to user {}", entry->path().string(), uid);
    }
  }
  return failed
             ? Error(absl::StatusCode::kFailedPrecondition, "read {}: {}", path, failed.message())
             : absl::OkStatus();
}

struct Part {
  const char* name;
  mode_t mode;
  uid_t uid;
  gid_t gid;
};

absl::Status MakePart(const std::string& data_dir, const Part& part) {
  const std::string path = data_dir + part.name;
  if (::mkdir(path.c_str(), part.mode) != 0 && errno != EEXIST) {
    return ErrnoError("make directory {}", path);
  }
  const UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!directory || ::fstat(directory.get(), &facts) != 0) {
    return ErrnoError("open directory {}", path);
  }
  if (facts.st_uid != part.uid || facts.st_gid != part.gid) {
    if (::fchown(directory.get(), part.uid, part.gid) != 0) {
      return ErrnoError("give {} to user {}", path, part.uid);
    }
    if (const absl::Status status = GiveContents(path, part.uid, part.gid); !status.ok()) {
      return status;
    }
  }
  if (::fchmod(directory.get(), part.mode) != 0) {
    return ErrnoError("set the mode of {}", path);
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> LockRun(const std::string& data_dir) {
  const std::string path = data_dir + "/run/launcher.lock";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock) {
    return ErrnoError("open {}", path);
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(lock.get(), 0) != 0 || ::write(lock.get(), pid.data(), pid.size()) < 0) {
      return ErrnoError("write {}", path);
    }
    return lock;
  }
  std::array<char, 16> holder{};
  const ssize_t size = ::read(lock.get(), holder.data(), holder.size());
  std::string pid(holder.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  pid.erase(pid.find_last_not_of('\n') + 1);
  return Error(absl::StatusCode::kUnavailable,
               "{} is in use by another croft-launcher (pid {}); stop it, or choose another "
               "--data-dir",
               data_dir, pid);
}

void RemoveLeftSockets(const std::string& data_dir) {
  std::error_code failed;
  for (fs::directory_iterator entry(data_dir + "/run/w", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".sock") {
      ::unlink(entry->path().c_str());
    }
  }
}

// Other users must be able to pass through every directory above D.
void WarnOfClosedParents(const std::string& data_dir) {
  for (fs::path at = fs::path(data_dir).parent_path();; at = at.parent_path()) {
    struct stat facts {};
    if (::stat(at.c_str(), &facts) == 0 && (facts.st_mode & S_IXOTH) == 0) {
      log::Warn("launcher", "a directory above the node's is closed to Croft's users",
                {{"directory", at.string()}, {"remedy", "chmod o+x, or another --data-dir"}});
    }
    if (at == at.parent_path()) {
      return;
    }
  }
}

}  // namespace

absl::StatusOr<DataDirectory> DataDirectory::Prepare(const std::string& path,
                                                     const Identities& identities) {
  if (path.size() > kPathBytesMax) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "--data-dir {}: has {} bytes, but the sockets in it allow for at most {}; choose "
                 "a shorter path",
                 path, path.size(), kPathBytesMax);
  }
  if (const absl::Status status = MakeWithParents(path); !status.ok()) {
    return status;
  }
  const Identity agent = identities.Agent();
  const Identity listener = identities.Listener();
  const uid_t own_uid = ::geteuid();
  const gid_t own_gid = ::getegid();
  const absl::Status made = MakePart(path, Part{"/run", 0755, own_uid, own_gid});
  if (!made.ok()) {
    return made;
  }
  auto lock = LockRun(path);
  if (!lock.ok()) {
    return lock.status();
  }
  for (const Part& part :
       {Part{"/identity", 0700, agent.uid, agent.gid}, Part{"/replica", 0750, agent.uid, agent.gid},
        Part{"/log", 0750, listener.uid, listener.gid},
        Part{"/run/w", 0750, own_uid, listener.gid}}) {
    if (const absl::Status status = MakePart(path, part); !status.ok()) {
      return status;
    }
  }
  if (identities.separate()) {
    if (::chmod(path.c_str(), 0755) != 0) {
      return ErrnoError("set the mode of {}", path);
    }
    WarnOfClosedParents(path);
  }
  RemoveLeftSockets(path);
  return DataDirectory(path, listener, std::move(*lock));
}

std::string DataDirectory::SocketPath(std::uint64_t process_id) const {
  return fmt::format("{}/run/w/{}.sock", path_, process_id);
}

absl::StatusOr<UniqueFd> DataDirectory::ListenForWorker(std::uint64_t process_id) const {
  const std::string path = SocketPath(process_id);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error(absl::StatusCode::kInvalidArgument, "socket path {} is too long", path);
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::chmod(path.c_str(), 0660) != 0 ||
      ::chown(path.c_str(), static_cast<uid_t>(-1), listener_.gid) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return ErrnoError("listen on {}", path);
  }
  return socket;
}

void DataDirectory::RemoveSocket(std::uint64_t process_id) const {
  ::unlink(SocketPath(process_id).c_str());
}

}  // namespace croft::node::launcher
