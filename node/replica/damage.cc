#include "node/replica/damage.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cinttypes>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

namespace croft::node::replica {
namespace {

constexpr int kSlots = 64;

struct Slot {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::uintptr_t> end{0};
  std::array<char, PATH_MAX> directory{};  // written while begin is 0
};

std::array<Slot, kSlots> slots;
std::mutex slots_mutex;

thread_local const char* suspect = nullptr;  // SuspectScope's
struct sigaction previous_bus {};
struct sigaction previous_segv {};

// Async-signal-safe.
void OnFault(int signal_number, siginfo_t* info, void* /*context*/) {
  if (suspect != nullptr) {
    ExitDamaged(suspect);
  }
  // The fault's address is only compared.
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Slot& slot : slots) {
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin != 0 && address >= begin && address < slot.end.load(std::memory_order_relaxed)) {
      ExitDamaged(slot.directory.data());
    }
  }
  // Not ours: return into the same fault with the action from before.
  ::sigaction(signal_number, signal_number == SIGBUS ? &previous_bus : &previous_segv, nullptr);
}

void InstallHandlers() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action {};
    action.sa_sigaction = &OnFault;
    action.sa_flags = SA_SIGINFO;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &previous_bus);
    ::sigaction(SIGSEGV, &action, &previous_segv);
  });
}

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// Where the file is mapped, from /proc/self/maps: LMDB does not tell. Empty if it is not found.
Range FindMapping(int fd) {
  struct stat file {};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             &std::fclose);
  if (maps == nullptr || ::fstat(fd, &file) != 0) {
    return {};
  }
  Range found;
  std::array<char, PATH_MAX + 128> line{};
  while (std::fgets(line.data(), line.size(), maps.get()) != nullptr) {
    Range range;
    unsigned device_major = 0;
    unsigned device_minor = 0;
    std::uint64_t inode = 0;
    const int fields = std::sscanf(line.data(), "%" SCNxPTR "-%" SCNxPTR " %*s %*x %x:%x %" SCNu64,
                                   &range.begin, &range.end, &device_major, &device_minor, &inode);
    if (fields == 5 && inode == file.st_ino && device_major == major(file.st_dev) &&
        device_minor == minor(file.st_dev)) {
      found = range;
    }
  }
  return found;
}

}  // namespace

DamageWatch::DamageWatch(int fd, const std::string& directory) {
  InstallHandlers();
  const Range range = FindMapping(fd);
  if (range.begin == 0 || directory.size() >= PATH_MAX - sizeof kDamagedMarker) {
    return;
  }
  const std::lock_guard lock(slots_mutex);
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    if (slot.begin.load(std::memory_order_relaxed) == 0) {
      std::memcpy(slot.directory.data(), directory.c_str(), directory.size() + 1);
      slot.end.store(range.end, std::memory_order_relaxed);
      slot.begin.store(range.begin, std::memory_order_release);
      slot_ = i;
      return;
    }
  }
}

DamageWatch::~DamageWatch() {
  if (slot_ >= 0) {
    const std::lock_guard lock(slots_mutex);
    slots[static_cast<std::size_t>(slot_)].begin.store(0, std::memory_order_release);
  }
}

SuspectScope::SuspectScope(const std::string& directory) : before_(suspect) {
  InstallHandlers();
  suspect = directory.c_str();
}

SuspectScope::~SuspectScope() { suspect = before_; }

void ExitDamaged(const char* directory) noexcept {
  constexpr char kMessage[] = "replica: damaged page, the generation is set aside\n";
  const int at = ::open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int marker = ::openat(at, kDamagedMarker, O_CREAT | O_WRONLY | O_CLOEXEC, 0640);
  if (marker >= 0) {
    ::fsync(marker);
  }
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  ::_exit(kExitReplicaDamaged);
}

}  // namespace croft::node::replica
