#include "node/counters/counter_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <map>
#include <thread>

namespace croft::node::counters {
namespace {

using Key = std::pair<InstanceType, std::int64_t>;

class CounterMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto created = CounterMemory::Create();
    ASSERT_TRUE(created.ok()) << created.status();
    fd_ = std::move(*created);
  }

  std::unique_ptr<CounterMemory> Map(bool writable) const {
    auto mapped = CounterMemory::Map(fd_.get(), writable);
    EXPECT_TRUE(mapped.ok()) << mapped.status();
    return mapped.ok() ? std::move(*mapped) : nullptr;
  }

  // First value of every row; fails on a key seen twice.
  static std::map<Key, std::int64_t> FirstValues(const CounterMemory& memory) {
    std::map<Key, std::int64_t> values;
    memory.ForEach([&](InstanceType type, std::int64_t uid, const std::int64_t* row) {
      EXPECT_TRUE(values.emplace(Key(type, uid), row[0]).second) << "row twice: " << uid;
    });
    return values;
  }

  UniqueFd fd_;
};

TEST_F(CounterMemoryTest, CountsPerInstanceAndOutlivesItsMapping) {
  {
    auto memory = Map(true);
    memory->GetRow(InstanceType::kSite, 7).Add(SiteCounter::kRequestsTotal, 3);
    memory->GetRow(InstanceType::kSite, 7).Add(SiteCounter::kRequestsTotal);
    memory->GetRow(InstanceType::kPool, 7).Add(PoolCounter::kRequestsTotal, 10);
  }
  auto reader = Map(false);
  EXPECT_THAT(FirstValues(*reader),
              testing::UnorderedElementsAre(testing::Pair(Key(InstanceType::kSite, 7), 4),
                                            testing::Pair(Key(InstanceType::kPool, 7), 10)));
  EXPECT_EQ(reader->GetRow(InstanceType::kSite, 7).Get(SiteCounter::kRequestsTotal), 4);
}

TEST_F(CounterMemoryTest, EveryMemoryHasItsOwnBootId) {
  auto other_fd = CounterMemory::Create();
  ASSERT_TRUE(other_fd.ok());
  auto other = CounterMemory::Map(other_fd->get(), false);
  ASSERT_TRUE(other.ok());
  EXPECT_NE(Map(false)->boot_id(), (*other)->boot_id());
  EXPECT_EQ(Map(false)->boot_id(), Map(true)->boot_id());
}

TEST_F(CounterMemoryTest, AReaderNeitherAllotsNorLists) {
  auto reader = Map(false);
  EXPECT_EQ(reader->GetRow(InstanceType::kSite, 1).Get(SiteCounter::kRequestsTotal), 0);
  EXPECT_TRUE(FirstValues(*reader).empty());
}

TEST_F(CounterMemoryTest, ThreadsThatMeetOnNewRowsShareThem) {
  constexpr int kThreads = 4;
  constexpr int kSites = 500;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([this] {
        auto memory = Map(true);
        for (int uid = 1; uid <= kSites; ++uid) {
          memory->GetRow(InstanceType::kSite, uid).Add(SiteCounter::kRequestsTotal);
        }
      });
    }
  }
  const auto values = FirstValues(*Map(false));
  EXPECT_EQ(values.size(), std::size_t{kSites});
  for (const auto& [key, value] : values) {
    EXPECT_EQ(value, kThreads) << key.second;
  }
}

TEST_F(CounterMemoryTest, ResetsGaugesOnly) {
  auto memory = Map(true);
  const Row row = memory->GetRow(InstanceType::kPool, 1);
  row.Add(PoolCounter::kRequestsTotal, 5);
  row.Add(PoolCounter::kRequestsActive, 2);
  row.Add(PoolCounter::kRequestsQueued, 2);
  memory->ResetGauges();
  EXPECT_EQ(row.Get(PoolCounter::kRequestsTotal), 5);
  EXPECT_EQ(row.Get(PoolCounter::kRequestsActive), 0);
  EXPECT_EQ(row.Get(PoolCounter::kRequestsQueued), 0);
}

TEST_F(CounterMemoryTest, AFullMemoryCountsNowhereAndKeepsWhatItHas) {
  auto memory = Map(true);
  for (std::int64_t uid = 1; uid <= kRowsMax; ++uid) {
    memory->GetRow(InstanceType::kSite, uid).Add(SiteCounter::kRequestsTotal);
  }
  const Row beyond = memory->GetRow(InstanceType::kSite, kRowsMax + 1);
  beyond.Add(SiteCounter::kRequestsTotal);
  EXPECT_EQ(beyond.Get(SiteCounter::kRequestsTotal), 0);
  EXPECT_EQ(memory->GetRow(InstanceType::kSite, kRowsMax).Get(SiteCounter::kRequestsTotal), 1);
}

TEST_F(CounterMemoryTest, UntouchedRowsTakeNoMemory) {
  auto memory = Map(true);
  memory->GetRow(InstanceType::kSite, 1).Add(SiteCounter::kRequestsTotal);
  struct stat facts {};
  ASSERT_EQ(::fstat(fd_.get(), &facts), 0);
  EXPECT_LE(facts.st_blocks * 512, 4 * 4096);
}

TEST_F(CounterMemoryTest, CannotBeResized) {
  struct stat facts {};
  ASSERT_EQ(::fstat(fd_.get(), &facts), 0);
  EXPECT_NE(::ftruncate(fd_.get(), 0), 0);
  EXPECT_NE(::ftruncate(fd_.get(), facts.st_size * 2), 0);
}

TEST_F(CounterMemoryTest, RefusesWhatIsNoCounterMemory) {
  struct stat facts {};
  ASSERT_EQ(::fstat(fd_.get(), &facts), 0);
  const UniqueFd unsealed(::memfd_create("other", MFD_CLOEXEC));
  EXPECT_FALSE(CounterMemory::Map(unsealed.get(), false).ok()) << "empty";
  ASSERT_EQ(::ftruncate(unsealed.get(), facts.st_size), 0);
  EXPECT_FALSE(CounterMemory::Map(unsealed.get(), false).ok()) << "not sealed";
  const UniqueFd blank(::memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(blank.get(), facts.st_size), 0);
  ASSERT_EQ(::fcntl(blank.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_FALSE(CounterMemory::Map(blank.get(), false).ok()) << "no magic";
}

TEST_F(CounterMemoryTest, AReaderSurvivesAnythingAWriterMayWrite) {
  auto memory = Map(true);
  memory->GetRow(InstanceType::kSite, 1).Add(SiteCounter::kRequestsTotal);
  struct stat facts {};
  ASSERT_EQ(::fstat(fd_.get(), &facts), 0);
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  ASSERT_NE(bytes, MAP_FAILED);
  for (const int fill : {0xff, 0x01, 0x55}) {
    std::memset(bytes, fill, size);
    std::size_t rows = 0;
    memory->ForEach([&](InstanceType, std::int64_t, const std::int64_t*) { ++rows; });
    EXPECT_LE(rows, std::size_t{kRowsMax});
    memory->GetRow(InstanceType::kSite, 2).Add(SiteCounter::kRequestsTotal);
    memory->ResetGauges();
  }
  ::munmap(bytes, size);
}

}  // namespace
}  // namespace croft::node::counters
