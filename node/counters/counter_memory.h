// Counters in shared memory (a memfd the launcher keeps), so that they outlive the process that
// counts. A table of rows, one per instance, allotted at first use. Any number of threads add; the
// agent reads. Untrusted to its reader: a worker may write anything into its own.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "node/counters/catalogue.h"
#include "proto/base/unique_fd.h"

namespace croft::node::counters {

// Rows the memory has room for; pages that were never touched cost nothing.
inline constexpr std::uint32_t kRowsMax = 1u << 18;

// A row's values; stays valid as long as its CounterMemory. Default-constructed, it counts nowhere.
class Row {
 public:
  Row() = default;
  template <typename Counter>
  void Add(Counter counter, std::int64_t by = 1) const {
    if (values_ != nullptr) {
      values_[static_cast<std::uint32_t>(counter)].fetch_add(by, std::memory_order_relaxed);
    }
  }
  template <typename Counter>
  std::int64_t Get(Counter counter) const {
    return values_ == nullptr
               ? 0
               : values_[static_cast<std::uint32_t>(counter)].load(std::memory_order_relaxed);
  }

 private:
  friend class CounterMemory;
  explicit Row(std::atomic<std::int64_t>* values) : values_(values) {}
  std::atomic<std::int64_t>* values_ = nullptr;
};

class CounterMemory {
 public:
  // A new, sealed-size memfd with a random boot id; the launcher calls it.
  static absl::StatusOr<UniqueFd> Create();
  // Maps it for counting (`writable`) or reading. The descriptor may be closed afterwards.
  static absl::StatusOr<std::unique_ptr<CounterMemory>> Map(int fd, bool writable);
  ~CounterMemory();

  std::uint64_t boot_id() const;
  // The row of an instance, allotted at first use; a row that counts nowhere when the memory is
  // full. Thread-safe, lock-free when it exists.
  Row GetRow(InstanceType type, std::int64_t uid);
  // Sets the gauges of every row to 0: a process that died cannot take back what was in flight.
  void ResetGauges();
  // Every allotted row, bounded whatever the memory says.
  void ForEach(const std::function<void(InstanceType, std::int64_t uid,
                                        const std::int64_t values[kCountersMax])>& visit) const;

 private:
  struct Layout;

 public:
  // Map's alone.
  explicit CounterMemory(Layout* layout, bool writable) : layout_(layout), writable_(writable) {}
  CounterMemory(const CounterMemory&) = delete;
  CounterMemory& operator=(const CounterMemory&) = delete;

 private:
  // Constant after construction.
  Layout* layout_;
  bool writable_;
};

}  // namespace croft::node::counters
