// What a process that the launcher started is, has, and can't do.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "tests/integration/launcher/launched_node.h"

namespace croft::node::launcher {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uid_t kOrdinaryUser = 58190;

std::string Quadruple(uid_t id) {
  const std::string text = std::to_string(id);
  return text + " " + text + " " + text + " " + text;
}

std::map<int, std::string> DescriptorsOf(pid_t pid) {
  std::map<int, std::string> links;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    links[std::stoi(entry.path().filename())] = fs::read_symlink(entry.path());
  }
  return links;
}

std::string FileText(const fs::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

struct stat FactsOf(const fs::path& path) {
  struct stat facts {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0) << path;
  return facts;
}

class IsolationTest : public testing::Test {
 protected:
  void StartNode(uid_t uid) {
    node_.StartLauncher(uid);
    node_.AwaitAgent();
  }

  static void ExpectPowerless(pid_t pid) {
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
      EXPECT_EQ(StatusField(pid, set), "0000000000000000") << set;
    }
    EXPECT_EQ(StatusField(pid, "NoNewPrivs"), "1");
    EXPECT_EQ(StatusField(pid, "SigBlk"), "0000000000000000");
    EXPECT_EQ(StatusField(pid, "SigIgn"), "0000000000000000");
  }

  LaunchedNode node_;
};

class IsolationAsRootTest : public IsolationTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "needs root: identities";
    }
    StartNode(0);
  }
};

TEST_F(IsolationAsRootTest, EveryPartHasItsIdentityAndNoPower) {
  const pid_t listener = node_.StartListener().message.process().pid();
  const Answer worker = node_.StartWorker(3);
  const pid_t worker_pid = worker.message.process().pid();
  EXPECT_EQ(worker.message.process().uid(), kFirst + 19);
  struct Row {
    pid_t pid;
    uid_t uid;
    std::string groups;
  };
  for (const Row& row :
       {Row{node_.agent(), kFirst, ""}, Row{listener, kFirst + 1, std::to_string(kFirst)},
        Row{worker_pid, kFirst + 19, ""}}) {
    EXPECT_EQ(StatusField(row.pid, "Uid"), Quadruple(row.uid));
    EXPECT_EQ(StatusField(row.pid, "Gid"), Quadruple(row.uid));
    EXPECT_EQ(StatusField(row.pid, "Groups"), row.groups);
    EXPECT_EQ(StatusField(row.pid, "CapBnd"), "0000000000000000");
    ExpectPowerless(row.pid);
  }
  const auto inventory = node_.Inventory();
  EXPECT_TRUE(inventory.back().message.inventory_end().separate_identities());
  EXPECT_EQ(inventory.back().message.inventory_end().listener_uid(), kFirst + 1);
}

TEST_F(IsolationAsRootTest, TheDataDirectoryHasItsOwnersAndModes) {
  struct Row {
    const char* path;
    mode_t mode;
    uid_t uid;
    gid_t gid;
  };
  const std::string socket = node_.StartWorker(0).message.process().socket_path();
  for (const Row& row :
       {Row{"", 0755, 0, 0}, Row{"identity", 0700, kFirst, kFirst},
        Row{"replica", 0750, kFirst, kFirst}, Row{"log", 0750, kFirst + 1, kFirst + 1},
        Row{"run", 0755, 0, 0}, Row{"run/w", 0750, 0, kFirst + 1},
        Row{socket.c_str(), 0660, 0, kFirst + 1}}) {
    const struct stat facts = FactsOf(node_.data_dir() / row.path);
    EXPECT_EQ(facts.st_mode & 07777, row.mode) << row.path;
    EXPECT_EQ(facts.st_uid, row.uid) << row.path;
    EXPECT_EQ(facts.st_gid, row.gid) << row.path;
  }
}

TEST_F(IsolationAsRootTest, APartGetsItsDescriptorsAndNoOthers) {
  Answer worker = node_.StartWorker(0);
  Answer listener = node_.StartListener();
  // Ready: the loader has closed what it opened.
  for (Answer* answer : {&worker, &listener}) {
    link::Channel channel(std::move(answer->descriptors[0]));
    EXPECT_TRUE(NextFrom(channel).has_ready());
  }
  const auto links = DescriptorsOf(worker.message.process().pid());
  std::vector<int> numbers;
  for (const auto& [number, link] : links) {
    numbers.push_back(number);
  }
  ASSERT_THAT(numbers, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(links.at(0), "/dev/null");
  EXPECT_THAT(links.at(3), HasSubstr("socket:"));
  EXPECT_THAT(links.at(4), HasSubstr("croft-counters"));
  EXPECT_THAT(links.at(5), HasSubstr("socket:"));
  EXPECT_EQ(DescriptorsOf(listener.message.process().pid()).size(), 5u);
}

TEST_F(IsolationAsRootTest, APartKnowsNothingOfTheLaunchersSurroundings) {
  const pid_t pid = node_.StartWorker(0).message.process().pid();
  const std::string proc = "/proc/" + std::to_string(pid);
  std::string environment = FileText(proc + "/environ");
  std::replace(environment.begin(), environment.end(), '\0', '\n');
  EXPECT_EQ(environment,
            "PATH=/usr/local/bin:/usr/bin:/bin\nLANG=C.UTF-8\nCROFT_LOG=debug\nTZ=UTC\n");
  EXPECT_EQ(FileText(proc + "/cmdline"), std::string("croft-worker\0", 13));
  EXPECT_EQ(fs::read_symlink(proc + "/cwd"), "/");
  EXPECT_EQ(StatusField(pid, "Umask"), "0027");
  EXPECT_EQ(::getsid(pid), pid);
  EXPECT_EQ(FileText(proc + "/oom_score_adj"), "300\n");
  EXPECT_THAT(FileText(proc + "/limits"), testing::ContainsRegex("Max core file size +0 +0 "));
}

TEST_F(IsolationAsRootTest, AnotherRangeTakesTheDirectoryOver) {
  const fs::path file = node_.data_dir() / "replica/data.mdb";
  std::ofstream(file) << "x";
  ASSERT_EQ(::chown((node_.data_dir() / "replica").c_str(), 58180, 58180), 0);
  ASSERT_EQ(::chown(file.c_str(), 58180, 58180), 0);
  ::kill(node_.launcher(), SIGTERM);
  ASSERT_EQ(node_.AwaitEnd(), 0);
  node_.StartLauncher();
  node_.AwaitAgent();
  EXPECT_EQ(FactsOf(file).st_uid, kFirst);
}

TEST_F(IsolationTest, WithoutPrivilegeEverythingIsOneUserAndSaysSo) {
  const uid_t user = ::geteuid() == 0 ? kOrdinaryUser : ::geteuid();
  StartNode(::geteuid() == 0 ? kOrdinaryUser : 0);
  const Answer worker = node_.StartWorker(1);
  ASSERT_EQ(worker.message.error(), "");
  for (const pid_t pid : {node_.agent(), node_.StartListener().message.process().pid(),
                          pid_t{worker.message.process().pid()}}) {
    EXPECT_EQ(StatusField(pid, "Uid"), Quadruple(user));
    ExpectPowerless(pid);
  }
  EXPECT_EQ(worker.message.process().uid(), user);
  const auto inventory = node_.Inventory();
  EXPECT_FALSE(inventory.back().message.inventory_end().separate_identities());
  EXPECT_EQ(inventory.back().message.inventory_end().listener_uid(), user);
  EXPECT_THAT(node_.OpenEndpoint("127.0.0.1", 1, 1).message.error(), HasSubstr("need root"));
}

}  // namespace
}  // namespace croft::node::launcher
