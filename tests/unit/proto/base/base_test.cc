#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/guarded.h"
#include "proto/base/published.h"
#include "proto/base/random.h"
#include "proto/base/retry.h"
#include "proto/base/unique_fd.h"

namespace croft {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, DoublesWithinItsUpperHalfUpToTheMost) {
  for (int round = 0; round < 50; ++round) {
    Backoff backoff({milliseconds(100), milliseconds(1500)});
    for (const int ceiling : {100, 200, 400, 800, 1500, 1500, 1500}) {
      const auto wait = backoff.Next().count();
      EXPECT_GE(wait, ceiling / 2);
      EXPECT_LE(wait, ceiling);
    }
    backoff.Reset();
    EXPECT_LE(backoff.Next().count(), 100);
  }
}

TEST(Backoff, SpreadsAHerd) {
  std::set<std::int64_t> waits;
  for (int i = 0; i < 100; ++i) {
    Backoff backoff({milliseconds(1000), milliseconds(1000)});
    waits.insert(backoff.Next().count());
  }
  EXPECT_GT(waits.size(), 20U);
}

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

int OpenNull() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(UniqueFd, ClosesWhatItOwnsOnce) {
  const int raw = OpenNull();
  ASSERT_GE(raw, 0);
  {
    UniqueFd first(raw);
    UniqueFd second(std::move(first));
    EXPECT_EQ(first.get(), -1);  // NOLINT(bugprone-use-after-move): moved-from is empty
    EXPECT_FALSE(static_cast<bool>(first));
    EXPECT_TRUE(static_cast<bool>(second));
    UniqueFd third;
    third = std::move(second);
    EXPECT_EQ(third.get(), raw);
    EXPECT_TRUE(IsOpen(raw));
  }
  EXPECT_FALSE(IsOpen(raw));
}

TEST(UniqueFd, ReleasesAndResets) {
  const int raw = OpenNull();
  UniqueFd fd(raw);
  EXPECT_EQ(fd.release(), raw);
  EXPECT_TRUE(IsOpen(raw));
  fd.reset(raw);
  const int other = OpenNull();
  fd = UniqueFd(other);
  EXPECT_FALSE(IsOpen(raw));
  fd.reset();
  EXPECT_FALSE(IsOpen(other));
}

TEST(Published, AReaderSeesTheLatestValueAndKeepsItsOwnAlive) {
  Published<std::string> published(std::make_shared<const std::string>("one"));
  Published<std::string>::Reader reader(published);
  const std::shared_ptr<const std::string> one = reader.Get();
  EXPECT_EQ(*one, "one");
  published.Publish(std::make_shared<const std::string>("two"));
  EXPECT_EQ(*reader.Get(), "two");
  EXPECT_EQ(*published.Get(), "two");
  EXPECT_EQ(*one, "one");
  EXPECT_EQ(reader.Get().get(), reader.Get().get());
}

TEST(Published, ReadersNeverSeeAnOlderValueAfterANewerOne) {
  Published<int> published(std::make_shared<const int>(0));
  constexpr int kLast = 2000;
  std::atomic<bool> ordered{true};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      Published<int>::Reader reader(published);
      for (int seen = 0; seen < kLast;) {
        const int now = *reader.Get();
        ordered = ordered && now >= seen;
        seen = now;
      }
    });
  }
  for (int value = 1; value <= kLast; ++value) {
    published.Publish(std::make_shared<const int>(value));
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_TRUE(ordered);
}

TEST(Guarded, LetsOneThreadInAtATime) {
  Guarded<int> counter(std::in_place, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) {
        ++*counter.Lock();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(*counter.Lock(), 4000);
}

TEST(FakeClock, StandsStillUntilTold) {
  FakeClock clock;
  const auto wall = clock.Now();
  const auto steady = clock.Monotonic();
  EXPECT_EQ(clock.Now(), wall);
  clock.Advance(milliseconds(1500));
  EXPECT_EQ(clock.Now() - wall, milliseconds(1500));
  EXPECT_EQ(clock.Monotonic() - steady, milliseconds(1500));
  EXPECT_EQ(UnixMillis(clock.Now()) - UnixMillis(wall), 1500);
}

TEST(SystemClock, GoesForward) {
  const SystemClock clock;
  const auto before = clock.Monotonic();
  EXPECT_GE(clock.Monotonic(), before);
  EXPECT_GT(UnixMillis(clock.Now()), 1'600'000'000'000);
}

TEST(Random, DiffersAndHasTheAskedLength) {
  EXPECT_NE(RandomId(), RandomId());
  EXPECT_EQ(RandomHex(16).size(), 32U);
  EXPECT_NE(RandomHex(16), RandomHex(16));
  EXPECT_EQ(RandomHex(8).find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(Error, NamesTheThingAndKeepsErrno) {
  const absl::Status status = Error(absl::StatusCode::kNotFound, "site {} is unknown", "a");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(status.message()), "site a is unknown");
  errno = ENOENT;
  const absl::Status missing = ErrnoError("open {}", "/x");
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), ::testing::HasSubstr("open /x"));
}

}  // namespace
}  // namespace croft
