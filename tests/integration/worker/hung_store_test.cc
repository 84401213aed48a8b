// A file store that hangs hurts only its own content, and heals by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/worker/worker_process.h"
#include "tests/sanitizer.h"

namespace croft::node::worker {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kHangingStoreUid = 20;

// Mounted while it lives; always able to let go, whatever state its daemon is in.
class HangingStore {
 public:
  explicit HangingStore(fs::path path) : path_(std::move(path)) {
    fs::create_directories(path_);
    const std::string program = std::string(std::getenv("CROFT_BIN")) + "/hanging-store";
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::execl(program.c_str(), program.c_str(), path_.c_str(), nullptr);
      ::_exit(127);
    }
    mounted_ = Eventually([&] {
      std::error_code error;
      return fs::exists(path_ / "site/page.txt", error) ||
             ::waitpid(pid_, nullptr, WNOHANG) == pid_;
    });
    std::error_code error;
    mounted_ = mounted_ && fs::exists(path_ / "site/page.txt", error);
  }
  ~HangingStore() {
    ::kill(pid_, SIGCONT);
    ::umount2(path_.c_str(), MNT_DETACH);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  HangingStore(const HangingStore&) = delete;
  HangingStore& operator=(const HangingStore&) = delete;

  bool mounted() const { return mounted_; }
  void Stop() const { ::kill(pid_, SIGSTOP); }
  void Continue() const { ::kill(pid_, SIGCONT); }
  void Kill() const { ::kill(pid_, SIGKILL); }
  std::string path() const { return path_.string(); }

 private:
  const fs::path path_;
  pid_t pid_ = 0;
  bool mounted_ = false;
};

class HungStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "mounting takes root";
    }
    store_ = std::make_unique<HangingStore>(worker_.directory() / "hanging");
    if (!store_->mounted()) {
      GTEST_SKIP() << "no FUSE on this machine";
    }
    worker_.WriteFile("site/local.txt", "local page");
    hanging_ = WorkerProcess::DefaultSettings(store_->path());
    hanging_.set_store_uid(kHangingStoreUid);
  }

  std::int32_t SubmitHanging(const std::string& path) {
    return worker_.client().Submit(
        WorkerProcess::Request("GET", path, hanging_, {.settings_number = 2, .root = "site"}));
  }
  ClientResponse GetHanging(const std::string& path) {
    return worker_.client().Await(SubmitHanging(path));
  }
  // The slowest of twenty requests for the local store's page.
  std::chrono::milliseconds SlowestLocal() {
    std::chrono::milliseconds slowest{0};
    for (int i = 0; i < 20; ++i) {
      const auto start = Clock::now();
      EXPECT_EQ(worker_.Get("/local.txt").body, "local page");
      slowest = std::max(
          slowest, std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start));
    }
    return slowest;
  }

  WorkerProcess worker_;
  std::unique_ptr<HangingStore> store_;
  v1::TargetSettings hanging_;
};

TEST_F(HungStoreTest, HurtsOnlyItsOwnContentAndHeals) {
  EXPECT_EQ(GetHanging("/page.txt").body, "remote page");
  EXPECT_EQ(GetHanging("/large.txt").body_bytes, 1 << 20);
  EXPECT_EQ(worker_.Get("/local.txt").body, "local page");

  store_->Stop();
  std::vector<std::int32_t> waiting;
  for (int i = 0; i < 60; ++i) {
    waiting.push_back(SubmitHanging("/page.txt"));
  }
  EXPECT_LT(SlowestLocal(), 200ms * kSanitizerFactor);
  const auto start = Clock::now();
  for (const std::int32_t stream : waiting) {
    const ClientResponse response = worker_.client().Await(stream);
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.Header("croft-substatus"), "101");
    EXPECT_EQ(response.Header("retry-after"), "5");
  }
  EXPECT_LT(Clock::now() - start, 4s);

  // From now on it is at once, but for a probe that soon gives up.
  for (int i = 0; i < 20; ++i) {
    const auto asked = Clock::now();
    EXPECT_EQ(GetHanging("/page.txt").status, 503);
    EXPECT_LT(Clock::now() - asked, 250ms);
  }
  EXPECT_LT(SlowestLocal(), 200ms * kSanitizerFactor);

  store_->Continue();
  EXPECT_TRUE(Eventually([&] { return GetHanging("/page.txt").body == "remote page"; }, 5s));
  EXPECT_EQ(GetHanging("/large.txt").body_bytes, 1 << 20);
}

TEST_F(HungStoreTest, DoesNotHoldUpTheEndOfTheProcess) {
  EXPECT_EQ(GetHanging("/page.txt").status, 200);
  store_->Stop();
  const std::int32_t stream = SubmitHanging("/page.txt");
  EXPECT_LT(SlowestLocal(), 200ms * kSanitizerFactor);
  ::kill(worker_.pid(), SIGTERM);
  EXPECT_EQ(worker_.client().Await(stream).status, 503);
  store_->Continue();  // a thread inside the kernel ends only then
  EXPECT_EQ(worker_.AwaitExit(), 0);
}

TEST_F(HungStoreTest, AnswersWhenItsOtherEndIsGone) {
  EXPECT_EQ(GetHanging("/page.txt").status, 200);
  store_->Kill();
  EXPECT_TRUE(Eventually([&] { return GetHanging("/page.txt").status == 503; }));
  EXPECT_EQ(worker_.Get("/local.txt").body, "local page");
}

}  // namespace
}  // namespace croft::node::worker
