#include "node/listener/loop.h"

#include <algorithm>
#include <chrono>

#include "proto/base/log.h"

namespace croft::node::listener {
namespace {

constexpr std::size_t kSpareRequestsMax = 256;

}  // namespace

Loop::Loop(unsigned index, Shared& shared, std::shared_ptr<const replica::Reader> reader)
    : index_(index),
      shared_(shared),
      router_(std::move(reader)),
      logs_(core_, shared.logs, shared.node),
      work_(core_.io().get_executor()),
      ticker_(core_.io()) {
  core_.wheel().OnRestEnds([this] {
    core_.wheel().Advance(LoopCore::Now());
    Tick();
  });
}

Loop::~Loop() = default;

void Loop::Run() {
  Tick();
  core_.io().run();
  // What is left are aborted handlers; they let go of what they hold.
  pools_.clear();
  core_.io().restart();
  core_.io().poll();
}

void Loop::Tick() {
  if (std::exchange(ticking_, true)) {
    return;
  }
  ticker_.expires_after(TimerWheel::kTick);
  ticker_.async_wait([this](const boost::system::error_code& error) {
    ticking_ = false;
    if (!error) {
      OnTick();
    }
  });
}

void Loop::OnTick() {
  core_.wheel().Advance(LoopCore::Now());
  core_.Settle();
  StopWhenEmpty();
  if (closing_ || !core_.wheel().Rest()) {
    Tick();
  }
}

void Loop::Listen(UniqueFd socket, const LocalAddress& local) {
  if (!closing_) {
    acceptors_.push_back(std::make_unique<Acceptor>(*this, std::move(socket), local));
  }
}

void Loop::StopListening(const std::string& ip, std::uint16_t port) {
  std::erase_if(acceptors_, [&](const auto& acceptor) {
    return acceptor->local().ip == ip && acceptor->local().port == port;
  });
}

PoolQueue& Loop::Pool(std::int64_t uid) {
  auto& pool = pools_[uid];
  if (pool == nullptr) {
    pool =
        std::make_unique<PoolQueue>(PoolQueue::Context{core_, index_, shared_.loops, shared_.outbox,
                                                       shared_.peer, shared_.wake_pool},
                                    shared_.pools.Get(uid));
    pool->Apply(shared_.pools.Workers(uid));
  }
  return *pool;
}

void Loop::ApplyPool(std::int64_t pool_uid, const WorkerStates& workers) {
  Pool(pool_uid).Apply(workers);
}

void Loop::WakePool(std::int64_t pool_uid) { Pool(pool_uid).Dispatch(); }

void Loop::DropKeys(const v1::ReplicaChanged& change) { router_.Drop(change); }

void Loop::SetReader(std::shared_ptr<const replica::Reader> reader) {
  router_.SetReader(std::move(reader));
  damage_told_ = false;
}

void Loop::ReportDamage(const std::string& why) {
  if (!std::exchange(damage_told_, true)) {
    shared_.outbox.TellDamaged(why);
  }
}

counters::Row Loop::SiteRow(std::int64_t uid) {
  const auto found = site_rows_.find(uid);
  if (found != site_rows_.end()) {
    return found->second;
  }
  const counters::Row row = shared_.counters.GetRow(counters::InstanceType::kSite, uid);
  site_rows_.emplace(uid, row);
  return row;
}

std::unique_ptr<RequestState> Loop::TakeRequest() {
  if (spare_requests_.empty()) {
    return std::make_unique<RequestState>();
  }
  std::unique_ptr<RequestState> request = std::move(spare_requests_.back());
  spare_requests_.pop_back();
  return request;
}

void Loop::GiveRequest(std::unique_ptr<RequestState> request) {
  if (spare_requests_.size() < kSpareRequestsMax) {
    request->Reset();
    spare_requests_.push_back(std::move(request));
  }
}

void Loop::Remove(Connection& connection) { connection.ConnectionHook::unlink(); }

void Loop::Close() {
  closing_ = true;
  acceptors_.clear();
  Tick();  // which ends the loop
  for (Connection& connection : connections_) {
    connection.Drain();
  }
}

void Loop::Abort() {
  for (Connection& connection : connections_) {
    connection.Abort();
  }
}

void Loop::StopWhenEmpty() {
  if (closing_ && connections_.empty()) {
    logs_.Flush();
    work_.reset();
    core_.io().stop();
  }
}

}  // namespace croft::node::listener
