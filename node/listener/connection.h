// One visitor's connection: HTTP/1.1 requests one after the other, each answered here or relayed to
// a worker. It owns itself until its coroutine ends. One loop only.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "node/counters/counter_memory.h"
#include "node/listener/deadline.h"
#include "node/listener/exchange.h"
#include "node/listener/http1_request.h"
#include "node/listener/log_line.h"
#include "node/listener/response_relay.h"
#include "node/listener/task.h"
#include "node/listener/visitor_socket.h"
#include "proto/contract/routing.h"

namespace croft::node::listener {

class Loop;

// Where a connection came in.
struct LocalAddress {
  std::string ip;
  contract::IpBytes ip_bytes{};
  std::uint16_t port = 0;
  bool health = false;
};

// What a request needs while it is served; passed on from one request to the next.
struct RequestState {
  RequestHead head;
  std::optional<RequestParser> parser;
  contract::Route route;
  std::string authority;
  std::optional<Exchange> exchange;

  void Reset() {
    head.Clear();
    parser.reset();
    route = contract::Route();
    exchange.reset();
  }
};

// An answer the listener makes by itself.
struct OwnAnswer {
  int status = 0;
  std::string_view reason;   // for the error log; empty: not an error
  std::string extra_header;  // whole lines
  std::string_view body;     // empty: the error page
  bool may_keep_alive = true;
};

using ConnectionHook =
    boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

class Connection final : public SocketOwner, public ConnectionHook {
 public:
  Connection(Loop& loop, VisitorSocket::Socket socket, LocalAddress local, std::string client_ip,
             std::uint16_t client_port);
  ~Connection() override;

  void Start();
  // The listener ends: no more requests after the current one.
  void Drain() { wakeup_.Ring(); }
  void Abort();

  void OnSocketEvent() override;

 private:
  Task<> Run();
  // A whole head is in the buffer; false: the connection ends.
  Task<bool> ReadHead();
  // False: the connection ends.
  Task<bool> Serve();
  Task<bool> Relay();
  Task<bool> Answer(OwnAnswer answer);
  Task<> WriteAll(std::string_view bytes);
  // Lets the visitor read the last answer although he still sends.
  Task<> Linger();

  std::optional<Refusal> Parse();
  // What the listener answers by itself; nullopt: to be relayed.
  std::optional<OwnAnswer> Decide();
  static OwnAnswer RefusalAnswer(const Refusal& refusal);
  OwnAnswer HealthAnswer() const;
  OwnAnswer RouteAnswer() const;
  void FillExchange();
  void BeginSite();
  void LogError(int status, std::string_view reason);
  // Counters and the request log.
  void FinishRequest(int status, std::string_view substatus);
  LoggedRequest Logged() const;
  void OnHeadTimeout(bool begun);
  ResponseRelay::Context RelayContext(PoolQueue& pool);

  Loop& loop_;
  Wakeup wakeup_;
  Deadline deadline_;
  VisitorSocket socket_;
  const LocalAddress local_;
  const std::string client_ip_;
  const std::uint16_t client_port_;

  HeadScanner scanner_;
  std::size_t head_size_ = 0;
  std::optional<Refusal> head_refusal_;
  std::unique_ptr<RequestState> request_;  // while one is served
  counters::Row site_row_;
  TimePoint began_;
  std::int64_t sent_before_ = 0;
  std::int64_t idle_timeout_ms_;
  std::int64_t header_timeout_ms_;
  bool linger_ = false;

  Task<> run_;
  boost::intrusive_ptr<SocketOwner> self_;
};

}  // namespace croft::node::listener
