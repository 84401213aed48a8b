// A real croft-launcher in a directory of its own, with parts that the test speaks for: the test is
// the agent.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "croft/node/v1/channel.pb.h"
#include "croft/node/v1/launcher.pb.h"
#include "node/link/channel.h"

namespace croft::node::launcher {

inline constexpr uid_t kFirst = 58100;
inline constexpr uid_t kLast = 58119;  // four pools

struct Answer {
  v1::LauncherMessage message;
  std::vector<UniqueFd> descriptors;
};

// Polls; false when ten seconds have passed.
bool Eventually(const std::function<bool()>& holds);
// Gone, or a zombie that nobody has reaped yet.
bool IsDead(pid_t pid);
// A field of /proc/PID/status ("Uid"), blanks as single spaces.
std::string StatusField(pid_t pid, const std::string& name);

class LaunchedNode {
 public:
  LaunchedNode();
  ~LaunchedNode();

  // Starts the launcher; as `uid` if that is not 0. Its output goes to `log()`.
  void StartLauncher(uid_t uid = 0);
  // The next agent that the launcher starts says hello; the test takes its place.
  void AwaitAgent();

  void Send(const v1::LauncherRequest& request, const std::vector<int>& descriptors = {});
  // The next message for the agent, within ten seconds.
  Answer Next();
  // One request and its one answer.
  Answer Ask(v1::LauncherRequest request);
  Answer StartWorker(std::uint32_t identity, std::int64_t pool_uid = 1);
  Answer StartListener();
  Answer OpenEndpoint(const std::string& ip, std::uint32_t port, std::uint32_t count);
  std::vector<Answer> Inventory();

  std::filesystem::path data_dir() const { return directory_ / "d"; }
  const std::filesystem::path& directory() const { return directory_; }
  pid_t launcher() const { return launcher_; }
  pid_t agent() const { return agent_; }
  link::Channel& channel() { return *channel_; }
  std::string log() const;
  // Waits for the launcher's end; -1 if it has not ended within fifteen seconds.
  int AwaitEnd();

 private:
  std::filesystem::path directory_;
  UniqueFd agents_;  // where agents say hello
  std::unique_ptr<link::Channel> channel_;
  std::uint64_t last_request_ = 0;
  pid_t launcher_ = 0;
  pid_t agent_ = 0;
};

// What a part of a node says on its control channel, within ten seconds.
v1::WorkerToAgent NextFrom(link::Channel& channel);

}  // namespace croft::node::launcher
