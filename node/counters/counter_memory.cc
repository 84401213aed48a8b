#include "node/counters/counter_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

#include "proto/base/error.h"
#include "proto/base/random.h"

namespace croft::node::counters {
namespace {

constexpr std::uint64_t kMagic = 0x31'63'6e'74'66'6f'72'63;  // "croftnc1"
constexpr std::uint32_t kIndexSize = kRowsMax * 2;           // at most half full: short probes
constexpr std::size_t kHeaderBytes = 4096;

struct Header {
  std::uint64_t magic;
  std::uint64_t boot_id;
  std::atomic<std::uint32_t> rows_allotted;
};

// Key first: it is written once, before the index names the row.
struct alignas(64) RowSlot {
  std::atomic<std::uint32_t> type;
  std::atomic<std::uint32_t>
      listed;  // 0 while, or because, the index names another row for this key
  std::atomic<std::int64_t> uid;
  std::array<std::atomic<std::int64_t>, kCountersMax> values;
};
static_assert(sizeof(RowSlot) == 256);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::uint32_t FirstProbe(InstanceType type, std::int64_t uid) {
  std::uint64_t x = static_cast<std::uint64_t>(uid) * 8 + static_cast<std::uint32_t>(type);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;  // splitmix64's finaliser
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>((x ^ (x >> 31)) % kIndexSize);
}

bool HasKey(const RowSlot& row, InstanceType type, std::int64_t uid) {
  return row.type.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(type) &&
         row.uid.load(std::memory_order_relaxed) == uid;
}

}  // namespace

// Rows are allotted one after the other, so that the memory in use is as large as what is counted;
// the index finds a row by its key.
struct CounterMemory::Layout {
  alignas(kHeaderBytes) Header header;
  alignas(kHeaderBytes) std::array<std::atomic<std::uint32_t>, kIndexSize> index;  // row + 1
  alignas(kHeaderBytes) std::array<RowSlot, kRowsMax> rows;

  std::uint32_t RowsAllotted() const {
    return std::min(header.rows_allotted.load(std::memory_order_acquire), kRowsMax);
  }
  // A row nobody else has, with its key; nullopt when the memory is full.
  std::optional<std::uint32_t> AllotRow(InstanceType type, std::int64_t uid) {
    std::uint32_t next = header.rows_allotted.load(std::memory_order_relaxed);
    do {
      if (next >= kRowsMax) {
        return std::nullopt;
      }
    } while (!header.rows_allotted.compare_exchange_weak(next, next + 1));
    rows[next].type.store(static_cast<std::uint32_t>(type), std::memory_order_relaxed);
    rows[next].uid.store(uid, std::memory_order_relaxed);
    return next;
  }
};

absl::StatusOr<UniqueFd> CounterMemory::Create() {
  UniqueFd fd(::memfd_create("croft-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), sizeof(Layout)) != 0) {
    return ErrnoError("create counter memory");
  }
  Header header{.magic = kMagic, .boot_id = RandomId(), .rows_allotted = 0};
  if (::pwrite(fd.get(), &header, sizeof(header), 0) != ssize_t{sizeof(header)} ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ErrnoError("prepare counter memory");
  }
  return fd;
}

absl::StatusOr<std::unique_ptr<CounterMemory>> CounterMemory::Map(int fd, bool writable) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) {
    return ErrnoError("stat counter memory");
  }
  // A memory that could shrink would end its reader by SIGBUS.
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (facts.st_size != off_t{sizeof(Layout)} || seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "descriptor {} is no counter memory of this version: {} bytes, seals {}", fd,
                 facts.st_size, seals);
  }
  void* address = ::mmap(nullptr, sizeof(Layout), writable ? PROT_READ | PROT_WRITE : PROT_READ,
                         MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    return ErrnoError("map counter memory");
  }
  auto memory = std::make_unique<CounterMemory>(static_cast<Layout*>(address), writable);
  if (memory->layout_->header.magic != kMagic) {
    return Error(absl::StatusCode::kInvalidArgument, "descriptor {} is no counter memory", fd);
  }
  return memory;
}

CounterMemory::~CounterMemory() { ::munmap(layout_, sizeof(Layout)); }

std::uint64_t CounterMemory::boot_id() const { return layout_->header.boot_id; }

Row CounterMemory::GetRow(InstanceType type, std::int64_t uid) {
  std::optional<std::uint32_t> mine;
  std::uint32_t probe = FirstProbe(type, uid);
  for (std::uint32_t tries = 0; tries < kIndexSize; ++tries, probe = (probe + 1) % kIndexSize) {
    std::uint32_t named = layout_->index[probe].load(std::memory_order_acquire);
    if (named == 0) {
      if (!mine && writable_) {
        mine = layout_->AllotRow(type, uid);
      }
      if (!mine) {
        return Row();
      }
      if (layout_->index[probe].compare_exchange_strong(named, *mine + 1)) {
        named = *mine + 1;
      }
    }
    if (named > kRowsMax || !HasKey(layout_->rows[named - 1], type, uid)) {
      continue;
    }
    RowSlot& row = layout_->rows[named - 1];
    if (writable_ && row.listed.load(std::memory_order_relaxed) == 0) {
      row.listed.store(1, std::memory_order_release);
    }
    return Row(row.values.data());
  }
  return Row();
}

void CounterMemory::ResetGauges() {
  for (std::uint32_t i = 0; i < layout_->RowsAllotted(); ++i) {
    RowSlot& row = layout_->rows[i];
    const auto facts = Catalogue(static_cast<InstanceType>(row.type.load()));
    for (std::size_t c = 0; c < facts.size(); ++c) {
      if (facts[c].gauge) {
        row.values[c].store(0, std::memory_order_relaxed);
      }
    }
  }
}

void CounterMemory::ForEach(
    const std::function<void(InstanceType, std::int64_t, const std::int64_t[kCountersMax])>& visit)
    const {
  std::array<std::int64_t, kCountersMax> values{};
  for (std::uint32_t i = 0; i < layout_->RowsAllotted(); ++i) {
    const RowSlot& row = layout_->rows[i];
    const auto type = static_cast<InstanceType>(row.type.load(std::memory_order_relaxed));
    if (row.listed.load(std::memory_order_acquire) != 1 || Catalogue(type).empty()) {
      continue;
    }
    for (std::size_t c = 0; c < kCountersMax; ++c) {
      values[c] = row.values[c].load(std::memory_order_relaxed);
    }
    visit(type, row.uid.load(std::memory_order_relaxed), values.data());
  }
}

}  // namespace croft::node::counters
