#include "tests/simulation/feed_simulation.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "proto/base/log.h"

namespace croft::simulation {
namespace {

// In memory where the machine has room for that.
class FeedSimulation : public testing::Test {
 protected:
  void SetUp() override {
    log::SetLevel(log::Level::kError);
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    scratch_ = (in_memory ? std::string("/dev/shm") : testing::TempDir()) + "/croft-sim-XXXXXX";
    ASSERT_NE(::mkdtemp(scratch_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(scratch_); }

  std::string scratch_;
};

// Seeds that once found something.
constexpr std::uint64_t kRegress[] = {10, 18, 659, 1022};

std::uint64_t CountFromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST_F(FeedSimulation, SeedsThatOnceFailed) {
  for (const std::uint64_t seed : kRegress) {
    EXPECT_EQ(RunFeedSimulation(seed, scratch_), "") << "seed " << seed;
  }
}

// CROFT_SIM_SEEDS: how many (fewer in the sanitizers' presets); CROFT_SIM_FIRST: from which on.
TEST_F(FeedSimulation, EveryReplicaEqualsAFreshSnapshot) {
  const std::uint64_t count = CountFromEnvironment("CROFT_SIM_SEEDS", 1000);
  const std::uint64_t first = CountFromEnvironment("CROFT_SIM_FIRST", 1);
  int failed = 0;
  for (std::uint64_t seed = first; seed < first + count && failed < 10; ++seed) {
    const std::string wrong = RunFeedSimulation(seed, scratch_);
    EXPECT_EQ(wrong, "") << "seed " << seed << " (run it alone: CROFT_SIM_FIRST=" << seed
                         << " CROFT_SIM_SEEDS=1)";
    failed += wrong.empty() ? 0 : 1;
  }
}

}  // namespace
}  // namespace croft::simulation
