// What a change costs in the database, on a private PostgreSQL of its own: accounts imported beside
// COPY into a table with the same constraints, and one site committed alone and beside an import.
// Prints medians and spreads; `db_commit_bench [ACCOUNTS]`, 100000 unless told.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "control/domain/resource_import.h"
#include "control/domain/resources.h"
#include "control/store/pg_store.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/base/check.h"
#include "proto/base/log.h"
#include "tests/unit/control/store/test_database.h"

namespace croft::control {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kBatchRows = 1000;
constexpr int kCommits = 200;

double MillisecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

class Bench {
 public:
  Bench() : url_(store::TestDatabase::Get().MakeDatabase()) {
    auto opened = store::OpenPgStore({.url = url_});
    Check(opened.ok(), std::string(opened.status().message()));
    store_ = *std::move(opened);
    resources_ = std::make_unique<domain::Resources>(*store_);
    Must(resources_->CreateFirstResources());
    Create("", "main", v1::Farm());
    Create("farms/main", "web", v1::ApplicationPool());
    v1::FileStore files;
    files.set_path("/srv/files");
    files.mutable_homes()->add_fan_out(75);
    files.mutable_homes()->add_fan_out(50);
    Create("farms/main", "files", files);
  }

  // Accounts named prefix0, prefix1, ...; returns milliseconds.
  double Import(const std::string& prefix, int count) {
    const auto start = SteadyClock::now();
    for (int first = 0; first < count; first += kBatchRows) {
      domain::ImportRows batch;
      for (int i = first; i < std::min(count, first + kBatchRows); ++i) {
        batch.Add()->mutable_resource()->mutable_account()->set_name(
            fmt::format("farms/main/accounts/{}{}", prefix, i));
      }
      const auto imported =
          Import(*store_, resources_->access(), domain::SystemCaller("bench"), batch, {});
      Must(imported.status());
      Check(imported->errors().empty(), "a row failed");
    }
    return MillisecondsSince(start);
  }

  // The accounts just imported, by COPY in one transaction into a table like the one they are in.
  double Copy(const std::string& file) {
    auto& database = store::TestDatabase::Get();
    database.Execute(url_, "COPY (SELECT * FROM resource WHERE type = 7) TO '" + file + "'");
    database.Execute(url_, "CREATE TABLE peer (LIKE resource INCLUDING ALL)");
    const auto start = SteadyClock::now();
    database.Execute(url_, "COPY peer FROM '" + file + "'");
    const double elapsed = MillisecondsSince(start);
    database.Execute(url_, "DROP TABLE peer");
    return elapsed;
  }

  // Milliseconds of each of `count` sites, one commit each, sorted.
  std::vector<double> CommitSites(const std::string& prefix, int count) {
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      v1::Site site;
      site.add_bindings()->set_host(prefix + std::to_string(i) + ".example");
      v1::Application& application = *site.add_applications();
      application.set_path("/");
      application.set_pool("farms/main/pools/web");
      application.mutable_root()->set_store("farms/main/stores/files");
      const auto start = SteadyClock::now();
      Create("farms/main", prefix + std::to_string(i), site);
      times.push_back(MillisecondsSince(start));
    }
    std::sort(times.begin(), times.end());
    return times;
  }

 private:
  static void Must(const absl::Status& status) {
    Check(status.ok(), std::string(status.message()));
  }
  void Create(std::string_view parent, std::string_view id,
              const google::protobuf::Message& resource) {
    Must(resources_->Create(domain::SystemCaller("bench"), parent, id, resource, {}).status());
  }

  const std::string url_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<domain::Resources> resources_;
};

void Print(const char* what, const std::vector<double>& times) {
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  fmt::print("{:<34} p50 {:7.2f} ms   p99 {:7.2f} ms   max {:7.2f} ms\n", what, at(0.5), at(0.99),
             times.back());
}

int Run(int accounts) {
  log::SetLevel(log::Level::kWarn);
  ::setenv("CROFT_SCRATCH", "/var/tmp", 0);  // a disk: what a commit waits for
  Bench bench;
  const double imported = bench.Import("user", accounts);
  std::vector<double> copies;
  for (int i = 0; i < 3; ++i) {
    copies.push_back(bench.Copy("/tmp/croft-bench-copy-" + std::to_string(::getpid())));
  }
  std::sort(copies.begin(), copies.end());
  fmt::print("{:<34} {:9.0f} ms   {:7.0f} rows/s\n", "import of accounts", imported,
             accounts / imported * 1000);
  fmt::print("{:<34} {:9.0f} ms   (of three: {:.0f} to {:.0f})\n", "COPY, same constraints",
             copies[1], copies[0], copies[2]);
  fmt::print("{:<34} {:9.2f} x\n", "import / COPY", imported / copies[1]);

  Print("one site, alone", bench.CommitSites("alone", kCommits));
  std::atomic<bool> stop{false};
  std::jthread importer([&] {
    for (int i = 0; !stop; ++i) {
      bench.Import(fmt::format("more{}-", i), kBatchRows);
    }
  });
  Print("one site, beside an import", bench.CommitSites("beside", kCommits));
  stop = true;
  return 0;
}

}  // namespace
}  // namespace croft::control

int main(int argc, char** argv) {
  return croft::control::Run(argc > 1 ? std::atoi(argv[1]) : 100'000);
}
