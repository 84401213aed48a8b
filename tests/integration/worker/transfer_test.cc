// How files travel: large ones in bounded memory, slow visitors, files that change underneath.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/worker/worker_process.h"
#include "tests/sanitizer.h"

namespace croft::node::worker {
namespace {

namespace fs = std::filesystem;
using counters::WorkerCounter;

constexpr std::int64_t kMebibyte = 1 << 20;
// Far below what the files in flight would take.
constexpr std::int64_t kMemoryKibMax = 128 * 1024 * kSanitizerFactor;

std::string Numbered(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) {
    text += std::to_string(i) + "\n";
  }
  text.resize(size);
  return text;
}

TEST(Transfer, StreamsAGigabyteInBoundedMemory) {
  WorkerProcess worker;
  const fs::path path = worker.WriteFile("site/large.bin", "");
  fs::resize_file(path, 1024 * kMebibyte);
  Http2Client client(worker.socket_path(), {.stream_window = 256 * 1024, .keep_bodies = false});
  const ClientResponse response = client.Await(client.Submit(WorkerProcess::Request(
      "GET", "/large.bin", worker.settings(), {.settings_number = 1, .root = "site"})));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body_bytes, 1024 * kMebibyte);
  EXPECT_EQ(response.error_code, 0U);
  EXPECT_LT(worker.PeakMemoryKib(), kMemoryKibMax);
}

TEST(Transfer, IsExactForColdFilesOfAllSizes) {
  WorkerProcess worker;
  for (const std::size_t size :
       {1UL, 4'095UL, 16'384UL, 65'535UL, 65'536UL, 65'537UL, 131'072UL, 262'145UL, 3'000'001UL}) {
    const std::string text = Numbered(size);
    const fs::path path = worker.WriteFile("site/file.txt", text);
    const int fd = ::open(path.c_str(), O_RDONLY);
    ::fsync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
    EXPECT_TRUE(worker.Get("/file.txt").body == text) << "cold, " << size;
    EXPECT_TRUE(worker.Get("/file.txt").body == text) << "warm, " << size;
  }
  EXPECT_GT(worker.WorkerCounterValue(WorkerCounter::kInlineReadsTotal), 0);
}

TEST(Transfer, HoldsLittleForVisitorsWhoTakeNothing) {
  WorkerProcess worker({.max_concurrent_requests = 1'000});
  worker.WriteFile("site/large.txt", std::string(8 * kMebibyte, 'x'));
  Http2Client client(worker.socket_path(),
                     {.stream_window = 65'535, .keep_bodies = false, .credit_windows = false});
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 200; ++i) {
    streams.push_back(client.Submit(WorkerProcess::Request(
        "GET", "/large.txt", worker.settings(), {.settings_number = 1, .root = "site"})));
  }
  EXPECT_TRUE(client.RunUntil([&] {
    for (const std::int32_t stream : streams) {
      if (client.response(stream).body_bytes < 65'535) {
        return false;
      }
    }
    return true;
  }));
  // Others on the same connection and on others are not held up.
  worker.WriteFile("site/small.txt", "small");
  EXPECT_EQ(
      client
          .Await(client.Submit(WorkerProcess::Request("GET", "/small.txt", worker.settings(),
                                                      {.settings_number = 1, .root = "site"})))
          .status,
      200);
  EXPECT_EQ(worker.Get("/small.txt").body, "small");
  EXPECT_LT(worker.PeakMemoryKib(), kMemoryKibMax);
}

TEST(Transfer, ResetsTheStreamWhenTheFileShrinks) {
  WorkerProcess worker;
  const fs::path path = worker.WriteFile("site/file.txt", std::string(8 * kMebibyte, 'x'));
  Http2Client client(worker.socket_path(), {.stream_window = 65'535, .credit_windows = false});
  const std::int32_t stream = client.Submit(WorkerProcess::Request(
      "GET", "/file.txt", worker.settings(), {.settings_number = 1, .root = "site"}));
  ASSERT_TRUE(client.RunUntil([&] { return client.response(stream).body_bytes == 65'535; }));
  fs::resize_file(path, 1'000);
  client.Credit(stream, 1 << 20);
  const ClientResponse cut = client.Await(stream);
  EXPECT_EQ(cut.error_code, static_cast<std::uint32_t>(NGHTTP2_INTERNAL_ERROR));
  EXPECT_LT(cut.body_bytes, 8 * kMebibyte);
  EXPECT_EQ(worker.Get("/file.txt").body_bytes, 1'000);
}

TEST(Transfer, ForgetsAStreamThatTheListenerResets) {
  WorkerProcess worker;
  worker.WriteFile("site/file.txt", std::string(8 * kMebibyte, 'x'));
  Http2Client client(worker.socket_path(), {.stream_window = 65'535, .credit_windows = false});
  const std::int32_t stream = client.Submit(WorkerProcess::Request(
      "GET", "/file.txt", worker.settings(), {.settings_number = 1, .root = "site"}));
  ASSERT_TRUE(client.RunUntil([&] { return client.response(stream).body_bytes == 65'535; }));
  client.Reset(stream);
  EXPECT_TRUE(client.RunUntil([&] { return client.response(stream).done; }));
  EXPECT_TRUE(
      Eventually([&] { return worker.WorkerCounterValue(WorkerCounter::kRequestsActive) == 0; }));
}

TEST(Transfer, AnswersAsManyAtOnceAsThePoolAllows) {
  WorkerProcess worker({.max_concurrent_requests = 300});
  worker.WriteFile("site/page.txt", "text");
  EXPECT_EQ(worker.Get("/page.txt").status, 200);
  EXPECT_EQ(worker.client().max_streams(), 300U);
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 300; ++i) {
    streams.push_back(worker.client().Submit(WorkerProcess::Request(
        "GET", "/page.txt", worker.settings(), {.settings_number = 0, .root = "site"})));
  }
  for (const std::int32_t stream : streams) {
    EXPECT_EQ(worker.client().Await(stream).body, "text");
  }
  EXPECT_EQ(worker.WorkerCounterValue(WorkerCounter::kRequestsTotal), 301);
  EXPECT_TRUE(
      Eventually([&] { return worker.WorkerCounterValue(WorkerCounter::kRequestsActive) == 0; }));
}

}  // namespace
}  // namespace croft::node::worker
