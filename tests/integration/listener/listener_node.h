// The agent's side of a real croft-listener: a replica it writes, sockets it binds, the control
// channel it speaks on.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "croft/node/v1/channel.pb.h"
#include "croft/node/v1/feed.pb.h"
#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "node/counters/counter_memory.h"
#include "node/link/channel.h"
#include "node/replica/writer.h"

namespace croft::node::listener::test {

class ListenerNode {
 public:
  static constexpr std::int64_t kPool = 7;
  static constexpr std::int64_t kSite = 100;

  // Starts it with one farm, one store and one pool. `platform` are the platform's settings.
  explicit ListenerNode(const croft::v1::Settings& platform = {}, unsigned loops = 2);
  ~ListenerNode();

  std::uint16_t port() const { return port_; }
  std::uint16_t health_port() const { return health_port_; }
  const std::string& directory() const { return directory_; }
  std::string SocketPath(std::uint64_t process_id) const;
  int pid() const { return pid_; }

  // Writes records at the next revision and waits until the listener serves them.
  void Put(std::vector<v1::Record> records);
  // A site "NAME" on host "NAME.example" with "/" in the pool.
  void PutSite(std::int64_t uid, const std::string& name,
               const std::function<void(croft::v1::Site&)>& change = {});
  void SendPool(const std::function<void(v1::PoolUpdate&)>& change);
  // The pool runs these workers, by process id.
  void SetWorkers(const std::vector<std::uint64_t>& process_ids);
  // As a restarted agent does: setup, sockets, replica.
  void SayEverythingAgain();
  // Lets go of the sockets, and tells the listener to.
  void CloseEndpoint();
  void Send(const v1::AgentToListener& message, const std::vector<int>& descriptors = {});
  // The next message of that kind, others are kept; nullopt after ten seconds.
  std::optional<v1::ListenerToAgent> Expect(
      v1::ListenerToAgent::MessageCase kind,
      std::chrono::milliseconds limit = std::chrono::seconds(10));
  counters::CounterMemory& counters() { return *counters_; }
  std::string ReadLog(const std::string& name) const;
  bool LogHas(const std::string& name, const std::string& text) const;
  // SIGTERM and the exit status within 15 seconds; -1 if it does not end.
  int Stop();
  void Signal(int number) const;

 private:
  void WriteFirstRecords(const croft::v1::Settings& platform);
  void SendSetup();
  void Spawn(int channel, int memory);
  UniqueFd Bind(std::uint16_t& port) const;
  void BindSockets(std::uint16_t& port, std::vector<UniqueFd>& sockets, unsigned count);
  void SendSockets(std::uint16_t port, bool health, const std::vector<UniqueFd>& sockets);

  std::string directory_;
  std::unique_ptr<replica::Writer> writer_;
  std::unique_ptr<counters::CounterMemory> counters_;
  std::unique_ptr<link::Channel> channel_;
  std::deque<v1::ListenerToAgent> kept_;
  std::vector<UniqueFd> sockets_;
  std::vector<UniqueFd> health_sockets_;
  unsigned loops_;
  std::string replica_path_;
  std::int64_t revision_ = 0;
  std::uint16_t port_ = 0;
  std::uint16_t health_port_ = 0;
  int pid_ = -1;
};

template <typename Message>
v1::Record MakeRecord(v1::RecordType type, const Message& message) {
  v1::Record record;
  record.set_type(type);
  record.set_uid(message.uid());
  record.set_body(message.SerializeAsString());
  return record;
}

}  // namespace croft::node::listener::test
