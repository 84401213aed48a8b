// What the replica costs: a delta of one site beside many, a batch of a snapshot, and the lookups
// of a request. On the directory named by CROFT_BENCH_DIR, by default the temporary one; synced
// commits measure that disk.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "node/replica/reader.h"
#include "node/replica/writer.h"
#include "proto/base/check.h"
#include "tests/unit/node/replica/records.h"

namespace croft::node::replica {
namespace {

std::string BenchRoot() {
  const char* chosen = std::getenv("CROFT_BENCH_DIR");
  return chosen != nullptr ? chosen : std::filesystem::temp_directory_path().string();
}

v1::Record BenchSite(std::int64_t uid, std::int64_t revision) {
  return ASite(uid, revision, fmt::format("s{}", uid), {fmt::format("h{}.example", uid)});
}

v1::Record BenchAccount(std::int64_t uid) {
  croft::v1::Account account;
  account.set_name(fmt::format("farms/main/accounts/user{}", uid));
  account.set_organization("organizations/root");
  account.mutable_home()->set_store("farms/main/stores/one");
  account.mutable_home()->set_path(fmt::format("homes/{:02}/{:02}/{}", uid % 75, uid % 50, uid));
  return ARecord(v1::ACCOUNT, uid, 1, account.SerializeAsString());
}

// A replica with so many sites and accounts.
class Loaded {
 public:
  Loaded(std::int64_t sites, std::int64_t accounts, bool sync) {
    Check(::mkdtemp(directory_.data()) != nullptr, "make a directory");
    writer_ = *Writer::Open(directory_, {.sync = sync});
    reader_ = *Reader::Open(directory_);
    const auto transaction = *writer_->Begin();
    for (std::int64_t uid = 1; uid <= sites; ++uid) {
      Check(transaction->Apply(BenchSite(uid, 1), true).ok(), "load a site");
    }
    for (std::int64_t uid = 1; uid <= accounts; ++uid) {
      Check(transaction->Apply(BenchAccount(uid), true).ok(), "load an account");
    }
    Check(transaction->Commit().ok(), "commit");
  }
  ~Loaded() {
    reader_.reset();
    writer_.reset();
    std::filesystem::remove_all(directory_);
  }

  Writer& writer() { return *writer_; }
  const Reader& reader() const { return *reader_; }

 private:
  std::string directory_ = BenchRoot() + "/croft-bench-XXXXXX";
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Reader> reader_;
};

void CommitOneSite(benchmark::State& state) {
  Loaded loaded(state.range(0), 0, state.range(1) != 0);
  std::int64_t revision = 1;
  for ([[maybe_unused]] auto _ : state) {
    ++revision;
    const auto transaction = *loaded.writer().Begin();
    Check(transaction->Apply(BenchSite(revision % state.range(0) + 1, revision), false).ok(),
          "apply");
    Check(transaction->Commit().ok(), "commit");
  }
}
BENCHMARK(CommitOneSite)
    ->ArgNames({"sites", "synced"})
    ->Args({1'000, 0})
    ->Args({50'000, 0})
    ->Args({50'000, 1})
    ->Unit(benchmark::kMicrosecond);

void LoadSnapshotBatch(benchmark::State& state) {
  Loaded loaded(0, 0, true);
  std::int64_t uid = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto transaction = *loaded.writer().Begin();
    for (int i = 0; i < 6000; ++i) {
      Check(transaction->Apply(BenchAccount(++uid), true).ok(), "apply");
    }
    Check(transaction->Commit().ok(), "commit");
  }
  state.SetItemsProcessed(uid);
}
BENCHMARK(LoadSnapshotBatch)->Unit(benchmark::kMillisecond)->Iterations(30);

void FindAccountByName(benchmark::State& state) {
  const Loaded loaded(0, 200'000, false);
  std::int64_t uid = 1;
  for ([[maybe_unused]] auto _ : state) {
    uid = (uid * 48271) % 200'000 + 1;
    const auto found = loaded.reader().FindRecordByName(
        v1::ACCOUNT, fmt::format("farms/main/accounts/user{}", uid));
    Check(found.ok() && found->has_value(), "find");
  }
}
BENCHMARK(FindAccountByName);

}  // namespace
}  // namespace croft::node::replica

BENCHMARK_MAIN();
