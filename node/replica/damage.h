// What happens when the kernel cannot give a mapped page of a replica (file truncated, disk error):
// the process gets SIGBUS; and when LMDB follows what a garbled page says out of the mapping: it
// gets SIGSEGV. The handler marks the generation as damaged, where it may write there,
// and ends the process with kExitReplicaDamaged; the agent, or the agent's next start, then takes
// the older generation into service. Environments register by themselves; nothing is to be
// installed.
#pragma once

#include <cstddef>
#include <string>

namespace croft::node::replica {

// Exit status of a process that met a damaged page: the parent sets the current generation aside.
inline constexpr int kExitReplicaDamaged = 76;

// In a generation's directory; its presence means damaged.
inline constexpr char kDamagedMarker[] = "damaged";

// While it lives, a SIGBUS inside the mapping of the file behind `fd` is taken as damage of the
// generation in `directory`.
class DamageWatch {
 public:
  DamageWatch(int fd, const std::string& directory);
  ~DamageWatch();
  DamageWatch(const DamageWatch&) = delete;
  DamageWatch& operator=(const DamageWatch&) = delete;

 private:
  int slot_ = -1;
};

// While it lives, a SIGSEGV or SIGBUS of this thread is taken as damage of the generation in
// `directory`, wherever it hits. For walks over pages that nothing has vouched for yet, and for
// commits, which read lists of free pages that no walk sees.
class SuspectScope {
 public:
  // `directory` outlives the scope.
  explicit SuspectScope(const std::string& directory);
  ~SuspectScope();
  SuspectScope(const SuspectScope&) = delete;
  SuspectScope& operator=(const SuspectScope&) = delete;

 private:
  const char* const before_;
};

// Marks `directory` and ends the process, as the handler does; for LMDB's own assertions, which
// fail on torn inner pages.
[[noreturn]] void ExitDamaged(const char* directory) noexcept;

}  // namespace croft::node::replica
