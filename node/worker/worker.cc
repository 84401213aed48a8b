#include "node/worker/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::node::worker {
namespace {

using boost::system::error_code;

constexpr int kSetupTimeoutMs = 30'000;
constexpr std::chrono::seconds kSignalDrainMax{10};
// A pool that wants more than a few cores has more workers.
constexpr unsigned kLoopsMax = 4;
// When the pool sets no limit.
constexpr std::uint32_t kStreamsDefault = 5'000;
constexpr std::int64_t kStreamsMax = 100'000;

absl::StatusOr<node::v1::WorkerSetup> AwaitSetup(link::Channel& channel) {
  while (true) {
    auto received = channel.Receive();
    if (!received.ok()) {
      return received.status();
    }
    if (received->has_value()) {
      node::v1::AgentToWorker message;
      if (absl::Status parsed = link::ParseMessage((*received)->bytes, message); !parsed.ok()) {
        return parsed;
      }
      if (!message.has_setup()) {
        return absl::FailedPreconditionError("the agent's first message is not WorkerSetup");
      }
      return message.setup();
    }
    pollfd ready{.fd = channel.fd(), .events = POLLIN, .revents = 0};
    const int n = ::poll(&ready, 1, kSetupTimeoutMs);
    if (n == 0) {
      return absl::DeadlineExceededError("no WorkerSetup from the agent within 30 s");
    }
  }
}

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

std::size_t LoopCount() {
  return std::clamp(std::thread::hardware_concurrency() / 2, 1U, kLoopsMax);
}

std::uint32_t StreamsOf(const node::v1::WorkerSetup& setup) {
  const std::int64_t wanted = setup.max_concurrent_requests();
  return wanted <= 0 ? kStreamsDefault : static_cast<std::uint32_t>(std::min(wanted, kStreamsMax));
}

[[noreturn]] void EndProcess(int status) {
  // Not exit(): a thread that hangs in a store's file system would never let it finish.
  ::_exit(status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Worker>> Worker::Start(Inherited inherited) {
  std::signal(SIGPIPE, SIG_IGN);
  RaiseDescriptorLimit();
  link::Channel channel(std::move(inherited.channel));
  auto setup = AwaitSetup(channel);
  if (!setup.ok()) {
    return setup.status();
  }
  auto memory = counters::CounterMemory::Map(inherited.counters.get(), true);
  if (!memory.ok()) {
    return memory.status();
  }
  return std::make_unique<Worker>(Private{}, std::move(channel), *std::move(memory),
                                  std::move(inherited.listening), *std::move(setup));
}

Worker::Worker(Private, link::Channel channel, std::unique_ptr<counters::CounterMemory> memory,
               UniqueFd listening, node::v1::WorkerSetup setup)
    : setup_(std::move(setup)),
      memory_(std::move(memory)),
      stores_(clock_, memory_.get()),
      loops_([&] {
        EventLoop::Settings settings;
        settings.max_streams = StreamsOf(setup_);
        settings.counters = memory_->GetRow(counters::InstanceType::kWorker,
                                            static_cast<std::int64_t>(setup_.process_id()));
        if (setup_.separate_identities()) {
          settings.peer_uid = setup_.listener_uid();
        }
        std::vector<std::unique_ptr<EventLoop>> loops;
        for (std::size_t i = 0; i < LoopCount(); ++i) {
          UniqueFd own(::fcntl(listening.get(), F_DUPFD_CLOEXEC, 0));
          loops.push_back(std::make_unique<EventLoop>(std::move(own), clock_, stores_, settings));
        }
        return loops;
      }()),
      channel_(std::move(channel)),
      channel_ready_(loops_.front()->io(), channel_.fd()),
      signals_(loops_.front()->io(), SIGTERM),
      last_resort_(loops_.front()->io()),
      loops_left_(loops_.size()) {}

void Worker::Run() {
  for (std::size_t i = 1; i < loops_.size(); ++i) {
    std::thread([&loop = *loops_[i]] {
      pthread_setname_np(pthread_self(), "loop");
      loop.Run();
    }).detach();
  }
  WatchChannel();
  WatchSignals();
  node::v1::WorkerToAgent ready;
  ready.mutable_ready();
  Send(ready);
  log::Info("worker", "ready", {{"pool", setup_.pool_name()}});
  loops_.front()->Run();
  EndProcess(1);  // a loop runs until the process ends
}

void Worker::WatchChannel() {
  channel_ready_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                            [this](const error_code& error) {
                              if (!error) {
                                OnChannelReadable();
                              }
                            });
}

void Worker::OnChannelReadable() {
  while (true) {
    auto received = channel_.Receive();
    if (!received.ok()) {
      // Without an agent it goes on serving; the launcher, which keeps the other end, ends it when
      // it ends.
      log::Warn("worker", "the agent's channel is closed",
                {{"err", std::string(received.status().message())}});
      return;
    }
    if (!received->has_value()) {
      break;
    }
    node::v1::AgentToWorker message;
    if (const absl::Status parsed = link::ParseMessage((*received)->bytes, message); !parsed.ok()) {
      log::Warn("worker", "refused a message of the agent",
                {{"err", std::string(parsed.message())}});
      continue;
    }
    OnMessage(message);
  }
  WatchChannel();
}

void Worker::OnMessage(const node::v1::AgentToWorker& message) {
  switch (message.message_case()) {
    case node::v1::AgentToWorker::kPing:
      AnswerPing(message.ping().sequence(), 1);
      break;
    case node::v1::AgentToWorker::kDrain:
      Drain();
      break;
    case node::v1::AgentToWorker::kSetup:  // only the first one counts
    case node::v1::AgentToWorker::MESSAGE_NOT_SET:
      break;
  }
}

// The ping goes through every loop, so that an answer means that all of them turn.
void Worker::AnswerPing(std::uint64_t sequence, std::size_t loop) {
  if (loop < loops_.size()) {
    boost::asio::post(loops_[loop]->io(),
                      [this, sequence, loop] { AnswerPing(sequence, loop + 1); });
    return;
  }
  boost::asio::post(loops_.front()->io(), [this, sequence] {
    node::v1::WorkerToAgent pong;
    pong.mutable_pong()->set_sequence(sequence);
    Send(pong);
  });
}

void Worker::Send(const node::v1::WorkerToAgent& message) {
  if (const absl::Status sent = channel_.Send(message); !sent.ok()) {
    log::Warn("worker", "cannot answer the agent", {{"err", std::string(sent.message())}});
  }
}

void Worker::WatchSignals() {
  signals_.async_wait([this](const error_code& error, int /*signal*/) {
    if (error) {
      return;
    }
    Drain();
    last_resort_.expires_after(kSignalDrainMax);
    last_resort_.async_wait([](const error_code&) { EndProcess(0); });
  });
}

void Worker::Drain() {
  if (draining_) {
    return;
  }
  draining_ = true;
  log::Info("worker", "draining", {{"pool", setup_.pool_name()}});
  for (const auto& loop : loops_) {
    loop->Drain([this] {
      boost::asio::post(loops_.front()->io(), [this] {
        if (--loops_left_ == 0) {
          log::Info("worker", "drained", {{"pool", setup_.pool_name()}});
          EndProcess(0);
        }
      });
    });
  }
}

}  // namespace croft::node::worker
