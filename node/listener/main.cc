// croft-listener: HTTP from visitors to workers. Started by the launcher; descriptor 3 is the
// agent's control channel, 4 its counter memory.
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <string>

#include "node/counters/counter_memory.h"
#include "node/link/inherited_fds.h"
#include "node/listener/control_link.h"
#include "proto/base/log.h"
#include "proto/base/unique_fd.h"

namespace {

using croft::UniqueFd;
namespace asio = boost::asio;
namespace listener = croft::node::listener;

constexpr std::chrono::seconds kFinishWithin{10};

// SIGTERM and SIGINT end the listener when requests are finished; SIGHUP opens the logs anew.
void WatchSignals(asio::io_context& io, asio::signal_set& signals, listener::ControlLink& link) {
  signals.async_wait([&](const boost::system::error_code& error, int signal) {
    if (error) {
      return;
    }
    if (signal != SIGHUP) {
      io.stop();
      return;
    }
    if (link.loops() != nullptr) {
      link.loops()->ReopenLogs();
    }
    WatchSignals(io, signals, link);
  });
}

// Every visitor is a descriptor.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int Serve() {
  RaiseDescriptorLimit();
  const UniqueFd memory(croft::node::link::kCounterMemoryFd);
  auto counters = croft::node::counters::CounterMemory::Map(memory.get(), true);
  if (!counters.ok()) {
    croft::log::Error("listener", "no counter memory; the launcher starts croft-listener",
                      {{"err", std::string(counters.status().message())}});
    return 1;
  }
  asio::io_context io(1);
  listener::ControlLink link(io, UniqueFd(croft::node::link::kControlChannelFd), **counters);
  asio::signal_set signals(io, SIGTERM, SIGINT, SIGHUP);
  WatchSignals(io, signals, link);
  link.Start();
  io.run();
  if (!link.ended().ok()) {
    croft::log::Info("listener", "the control channel ended",
                     {{"err", std::string(link.ended().message())}});
  }
  if (link.loops() == nullptr) {
    return link.ended().ok() ? 0 : 1;
  }
  link.loops()->Close(kFinishWithin);
  return 0;
}

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return Serve();
  } catch (const std::exception& error) {
    croft::log::Error("listener", "ended by a library's exception", {{"err", error.what()}});
    return 1;
  }
}
