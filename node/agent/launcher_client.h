// The agent's side of the launcher's channel (fd 3): typed requests, answers by callback on the
// supervision loop, exits as notices. Loop thread only. The launcher dies only together with the
// agent, so nothing is retried here.
#pragma once

#include <absl/status/statusor.h>

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "croft/node/v1/launcher.pb.h"
#include "node/agent/message_channel.h"

namespace croft::node::agent {

// A process as the launcher hands it over.
struct StartedProcess {
  v1::Process process;
  UniqueFd channel;
  UniqueFd counters;
};

struct Inventory {
  std::vector<StartedProcess> processes;
  std::vector<v1::Endpoint> endpoints;
  bool separate_identities = false;
  std::uint32_t listener_uid = 0;
};

class LauncherClient {
 public:
  struct Notices {
    std::function<void(const v1::ProcessExited&)> on_exited;
    // The channel broke: the launcher is going, and the agent with it.
    std::function<void(const absl::Status&)> on_lost;
  };
  using OnStarted = std::function<void(absl::StatusOr<StartedProcess>)>;
  using OnEndpoint = std::function<void(absl::StatusOr<std::vector<UniqueFd>>)>;
  using OnInventory = std::function<void(absl::StatusOr<Inventory>)>;

  LauncherClient(boost::asio::io_context& loop, UniqueFd socket, Notices notices);
  ~LauncherClient();

  void GetInventory(OnInventory done);
  void StartListener(OnStarted done);
  void StartWorker(std::int64_t pool_uid, std::uint32_t identity, OnStarted done);
  void Kill(std::uint64_t process_id, int signal);
  // `count` sockets, the same ones each time it is asked.
  void OpenEndpoint(const std::string& ip, std::uint16_t port, std::uint32_t count,
                    OnEndpoint done);
  void CloseEndpoint(const std::string& ip, std::uint16_t port);

 private:
  struct Answer {
    v1::LauncherMessage message;
    std::vector<UniqueFd> descriptors;
  };
  // Returns false while more answers with the same id are to come.
  using OnAnswer = std::function<bool(absl::StatusOr<Answer>)>;
  void Request(v1::LauncherRequest request, OnAnswer done);
  void StartProcess(v1::LauncherRequest request, OnStarted done);
  void OnMessage(link::Received received);

  boost::asio::io_context& loop_;
  Notices notices_;
  std::shared_ptr<MessageChannel> channel_;
  std::uint64_t last_request_id_ = 0;
  std::unordered_map<std::uint64_t, OnAnswer> waiting_;
};

}  // namespace croft::node::agent
