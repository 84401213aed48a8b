// One event loop: a thread, an io_context, its listening sockets, its visitors, its share of every
// pool. Methods belong to the loop's thread unless they say otherwise.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "node/listener/acceptor.h"
#include "node/listener/connection.h"
#include "node/listener/loop_core.h"
#include "node/listener/loop_logs.h"
#include "node/listener/pool_queue.h"
#include "node/listener/router.h"
#include "node/listener/shared.h"

namespace croft::node::listener {

class Loop {
 public:
  Loop(unsigned index, Shared& shared, std::shared_ptr<const replica::Reader> reader);
  ~Loop();

  // The thread's whole life: until Close() and the last connection's end.
  void Run();
  // From any thread: runs `work` on the loop.
  template <typename Work>
  void Post(Work work) {
    asio::post(core_.io(), [this, work = std::move(work)]() mutable {
      work(*this);
      core_.Settle();
    });
  }

  void Listen(UniqueFd socket, const LocalAddress& local);
  void StopListening(const std::string& ip, std::uint16_t port);
  void ApplyPool(std::int64_t pool_uid, const WorkerStates& workers);
  void WakePool(std::int64_t pool_uid);
  void DropKeys(const v1::ReplicaChanged& change);
  void SetReader(std::shared_ptr<const replica::Reader> reader);
  // Takes no more connections, lets requests finish.
  void Close();
  // Cuts what is left.
  void Abort();

  // For connections.
  LoopCore& core() { return core_; }
  Router& router() { return router_; }
  LoopLogs& logs() { return logs_; }
  Shared& shared() { return shared_; }
  const bool& closing() const { return closing_; }
  PoolQueue& Pool(std::int64_t uid);
  counters::Row SiteRow(std::int64_t uid);
  std::unique_ptr<RequestState> TakeRequest();
  void GiveRequest(std::unique_ptr<RequestState> request);
  // Told to the agent once per replica.
  void ReportDamage(const std::string& why);
  void Add(Connection& connection) { connections_.push_back(connection); }
  void Remove(Connection& connection);

 private:
  // Advances the wheel every so often, while there is something in it.
  void Tick();
  void OnTick();
  void StopWhenEmpty();

  LoopCore core_;
  const unsigned index_;
  Shared& shared_;
  Router router_;
  LoopLogs logs_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer ticker_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  boost::intrusive::list<Connection, boost::intrusive::base_hook<ConnectionHook>,
                         boost::intrusive::constant_time_size<false>>
      connections_;
  boost::unordered_flat_map<std::int64_t, std::unique_ptr<PoolQueue>> pools_;
  boost::unordered_flat_map<std::int64_t, counters::Row> site_rows_;
  std::vector<std::unique_ptr<RequestState>> spare_requests_;
  bool ticking_ = false;
  bool closing_ = false;
  bool damage_told_ = false;
};

}  // namespace croft::node::listener
