// A whole node: real launcher, agent, listener and workers in a directory of their own, and a
// visitor to it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace croft::node::agent {

struct Answer {
  int status = 0;  // 0: no answer
  std::string body;
};

// GET over a connection of its own, within five seconds.
Answer Get(std::uint16_t port, const std::string& host, const std::string& path);
// A port that was free a moment ago.
std::uint16_t FreePort();

class RunningNode {
 public:
  RunningNode();
  ~RunningNode();

  // Adds a line to node.yaml.
  void Configure(const std::string& line);
  // Writes a file below the data directory, readable by the agent.
  std::string WriteFile(const std::string& name, const std::string& text);
  void Start();
  // SIGTERM to the launcher; waits for its end.
  void Stop();

  // Writes nonsense over every page of the current generation but the first two, which LMDB reads
  // only at its start.
  void DamageReplica();

  // Live processes of a program ("croft-worker") below the launcher.
  std::vector<pid_t> Pids(const std::string& program) const;
  // The only one; 0 if there is not exactly one.
  pid_t Pid(const std::string& program) const;
  const std::filesystem::path& directory() const { return directory_; }
  std::filesystem::path content() const { return directory_ / "content"; }
  // What the processes wrote, and why the listener failed requests.
  std::string log() const;
  std::string ErrorLog() const;

 private:
  std::filesystem::path directory_;
  pid_t launcher_ = 0;
};

}  // namespace croft::node::agent
