// Takes connections from one listening socket of a loop. The socket outlives the listener: it is
// the launcher's. One loop only.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "node/listener/connection.h"
#include "node/listener/loop_core.h"
#include "proto/base/unique_fd.h"

namespace croft::node::listener {

class Acceptor {
 public:
  Acceptor(Loop& loop, UniqueFd socket, LocalAddress local);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  const LocalAddress& local() const { return state_->local; }

 private:
  // Kept by pending handlers.
  struct State {
    State(Loop& owner, LocalAddress address);
    Loop& loop;
    LocalAddress local;
    asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type> socket;
    asio::steady_timer pause;
    bool any_address = false;
  };
  static void Wait(const std::shared_ptr<State>& state);
  // False: wait a little, descriptors have run out.
  static bool AcceptSome(State& state);

  std::shared_ptr<State> state_;
};

}  // namespace croft::node::listener
