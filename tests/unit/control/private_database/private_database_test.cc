#include "control/private_database/private_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <fstream>
#include <pqxx/connection>
#include <pqxx/nontransaction>
#include <thread>

#include "control/private_database/cluster.h"
#include "control/private_database/postmaster_file.h"
#include "tests/unit/control/private_database/scratch_directory.h"

namespace croft::control::private_database {
namespace {

using testing::HasSubstr;

std::unique_ptr<PrivateDatabase> StartIn(const std::string& data_dir) {
  Options options;
  options.data_dir = data_dir;
  auto database = PrivateDatabase::Start(options);
  EXPECT_TRUE(database.ok()) << database.status();
  return database.ok() ? *std::move(database) : nullptr;
}

std::string Select(const std::string& url, const std::string& sql) {
  try {
    pqxx::connection connection(url);
    return pqxx::nontransaction(connection).exec1(sql)[0].c_str();
  } catch (const std::exception& e) {
    return std::string("error: ") + e.what();
  }
}

bool Eventually(const std::function<bool()>& predicate, std::chrono::seconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// A process that holds a database and is killed: what a crash of control is.
pid_t StartHolder(const std::string& data_dir) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    const auto database = StartIn(data_dir);
    const char ready = database != nullptr ? 'y' : 'n';
    EXPECT_EQ(::write(ends[1], &ready, 1), 1);
    ::pause();
    ::_exit(0);
  }
  char ready = 'n';
  EXPECT_EQ(::read(ends[0], &ready, 1), 1);
  EXPECT_EQ(ready, 'y');
  ::close(ends[0]);
  ::close(ends[1]);
  return holder;
}

void Kill(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

// A stopped cluster, made once and copied, since making one takes seconds.
const std::string& Template() {
  static const ScratchDirectory directory;
  static const bool made = StartIn(directory.path()) != nullptr;
  EXPECT_TRUE(made);
  return directory.path();
}

class PrivateDatabaseTest : public testing::Test {
 protected:
  const std::string& dir() const { return directory_.path(); }
  static void CopyTemplate(const std::string& to) {
    const Program copy{.path = "/bin/cp", .arguments = {"-a", Template() + "/.", to}};
    const Identity own{::geteuid(), ::getegid(), {}};
    EXPECT_TRUE(RunProgram(copy, own, std::chrono::seconds(60)).ok());
    ::chmod(to.c_str(), 0711);
  }
  std::string cluster() const { return Places(dir()).cluster; }

  ScratchDirectory directory_;
};

TEST_F(PrivateDatabaseTest, ServesASocketToItsOwnerAndStopsCleanly) {
  auto database = StartIn(dir());
  ASSERT_NE(database, nullptr);
  EXPECT_FALSE(database->adopted());
  EXPECT_EQ(Select(database->url(), "SELECT current_database()"), "croft");
  EXPECT_EQ(Select(database->url(), "SHOW data_checksums"), "on");
  EXPECT_EQ(Select(database->url(), "SHOW fsync"), "on");
  EXPECT_EQ(Select(database->url(), "SHOW listen_addresses"), "");
  EXPECT_THAT(Select(database->url() + " password=wrong", "SELECT 1"), HasSubstr("password"));
  struct stat entry {};
  ASSERT_EQ(::stat((dir() + "/pg.password").c_str(), &entry), 0);
  EXPECT_EQ(entry.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat((dir() + "/pg").c_str(), &entry), 0);
  EXPECT_EQ(entry.st_mode & 0777U, ::geteuid() == 0 ? 0711U : 0700U);
  ASSERT_EQ(::stat(cluster().c_str(), &entry), 0);
  EXPECT_EQ(entry.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat(("/proc/" + std::to_string(database->server_pid())).c_str(), &entry), 0);
  EXPECT_NE(entry.st_uid, 0U);

  Options second;
  second.data_dir = dir();
  EXPECT_THAT(std::string(PrivateDatabase::Start(second).status().message()),
              HasSubstr("another croft-control"));

  Select(database->url(), "CREATE TABLE t AS SELECT 42 AS x; SELECT 1");
  const int pid = database->server_pid();
  database.reset();
  EXPECT_NE(::kill(pid, 0), 0);
  EXPECT_FALSE(ReadPostmasterFile(cluster()).has_value());
  database = StartIn(dir());
  ASSERT_NE(database, nullptr);
  EXPECT_EQ(Select(database->url(), "SELECT x FROM t"), "42");
}

TEST_F(PrivateDatabaseTest, AdoptsTheServerOfAKilledHolder) {
  CopyTemplate(dir());
  const pid_t holder = StartHolder(dir());
  const auto file = ReadPostmasterFile(cluster());
  ASSERT_TRUE(file.has_value());
  Kill(holder);
  auto database = StartIn(dir());
  ASSERT_NE(database, nullptr);
  EXPECT_TRUE(database->adopted());
  EXPECT_EQ(database->server_pid(), file->pid);
  EXPECT_EQ(Select(database->url(), "SELECT 1"), "1");
  database.reset();
  EXPECT_FALSE(ReadPostmasterFile(cluster()).has_value());
}

TEST_F(PrivateDatabaseTest, ASocketPathThatWouldBeTooLongGoesElsewhere) {
  const std::string deep = dir() + "/" + std::string(100, 'd');
  ASSERT_EQ(::mkdir(deep.c_str(), 0711), 0);
  CopyTemplate(deep);
  auto database = StartIn(deep);
  ASSERT_NE(database, nullptr);
  EXPECT_THAT(database->url(), HasSubstr("/tmp/croft-pg-"));
  EXPECT_EQ(Select(database->url(), "SELECT 1"), "1");
}

TEST_F(PrivateDatabaseTest, AStaleFileWithSomeoneElsesNumberIsCleared) {
  CopyTemplate(dir());
  // A living process of the database's own user, so that PostgreSQL itself would take it for a
  // server.
  const auto identity = FindIdentity("postgres").value();
  const Program sleeper{.path = "/bin/sleep", .arguments = {"60"}};
  const pid_t other = StartProgram(sleeper, identity).value();
  std::ofstream(cluster() + "/postmaster.pid") << other << "\n"
                                               << cluster() << "\n1700000000\n5432\n"
                                               << dir() << "/pg/socket\n\n";
  const auto database = StartIn(dir());
  Kill(other);
  ASSERT_NE(database, nullptr);
  EXPECT_FALSE(database->adopted());
  EXPECT_EQ(Select(database->url(), "SELECT 1"), "1");
}

TEST_F(PrivateDatabaseTest, AKilledServerIsStartedAgain) {
  CopyTemplate(dir());
  const auto database = StartIn(dir());
  ASSERT_NE(database, nullptr);
  const int first = database->server_pid();
  ::kill(first, SIGKILL);
  EXPECT_TRUE(
      Eventually([&] { return database->server_pid() != 0 && database->server_pid() != first; },
                 std::chrono::seconds(30)));
  EXPECT_EQ(Select(database->url(), "SELECT 1"), "1");
}

TEST_F(PrivateDatabaseTest, AHalfMadeClusterIsMadeAnew) {
  ASSERT_EQ(::mkdir((dir() + "/pg").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir((cluster() + ".new").c_str(), 0700), 0);
  std::ofstream(cluster() + ".new/PG_VERSION") << "15\n";
  const auto database = StartIn(dir());
  ASSERT_NE(database, nullptr);
  EXPECT_EQ(Select(database->url(), "SELECT 1"), "1");
}

TEST_F(PrivateDatabaseTest, AnotherMajorVersionNamesTheWaysOut) {
  ASSERT_EQ(::mkdir((dir() + "/pg").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir(cluster().c_str(), 0700), 0);
  std::ofstream(cluster() + "/PG_VERSION") << "9\n";
  Options options;
  options.data_dir = dir();
  const absl::Status status = PrivateDatabase::Start(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("made by PostgreSQL 9"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("pg_upgrade"));
}

TEST_F(PrivateDatabaseTest, AMissingUserOrDirectoryIsSaid) {
  Options options;
  options.data_dir = dir() + "/none";
  EXPECT_EQ(PrivateDatabase::Start(options).status().code(), absl::StatusCode::kNotFound);
  if (::geteuid() == 0) {
    options.data_dir = dir();
    options.os_user = "nosuchuser";
    EXPECT_THAT(std::string(PrivateDatabase::Start(options).status().message()),
                HasSubstr("nosuchuser"));
  }
}

}  // namespace
}  // namespace croft::control::private_database
