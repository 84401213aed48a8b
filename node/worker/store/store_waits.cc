#include "node/worker/store/store_waits.h"

#include <atomic>
#include <boost/asio/post.hpp>
#include <utility>
#include <vector>

namespace croft::node::worker::store {
namespace {

constexpr std::chrono::seconds kRequestPatience{10};
constexpr std::chrono::seconds kReadPatience{30};
constexpr std::chrono::milliseconds kTickInterval{100};

}  // namespace

// Runs the job and brings it back to the loop, where its results belong.
class StoreWaits::LoopJob final : public Job {
 public:
  LoopJob(StoreWaits& waits, Ticket ticket, std::shared_ptr<Job> job)
      : waits_(waits), ticket_(ticket), job_(std::move(job)) {}

  void Run() noexcept override {
    if (given_up_.load(std::memory_order_relaxed)) {
      return;
    }
    job_->Run();
    boost::asio::post(waits_.io_, [&waits = waits_, ticket = ticket_, job = std::move(job_)] {
      waits.Finish(ticket, true);
    });
  }

  // If it still waits for a thread, it need not run any more.
  void GiveUp() { given_up_.store(true, std::memory_order_relaxed); }

 private:
  StoreWaits& waits_;
  const Ticket ticket_;
  std::shared_ptr<Job> job_;
  std::atomic<bool> given_up_{false};
};

std::optional<StoreWaits::Ticket> StoreWaits::StartRequest(
    const std::shared_ptr<StoreThreads>& threads, std::shared_ptr<Job> job, Done done) {
  auto loop_job = std::make_shared<LoopJob>(*this, next_ticket_, std::move(job));
  if (!threads->Submit(loop_job, StoreThreads::Kind::kRequest)) {
    return std::nullopt;
  }
  return Add(threads, loop_job, std::move(done), true);
}

StoreWaits::Ticket StoreWaits::StartRead(const std::shared_ptr<StoreThreads>& threads,
                                         std::shared_ptr<Job> job, Done done) {
  auto loop_job = std::make_shared<LoopJob>(*this, next_ticket_, std::move(job));
  threads->Submit(loop_job, StoreThreads::Kind::kFollowUp);
  return Add(threads, loop_job, std::move(done), false);
}

// The job may have run by now, but its result comes through the loop, so never before this.
StoreWaits::Ticket StoreWaits::Add(const std::shared_ptr<StoreThreads>& threads,
                                   const std::shared_ptr<LoopJob>& job, Done done,
                                   bool ends_when_hung) {
  const auto patience = ends_when_hung ? kRequestPatience : kReadPatience;
  waits_.emplace(next_ticket_, Wait{threads, job, clock_.Monotonic() + patience, ends_when_hung,
                                    std::move(done)});
  ArmTick();
  return next_ticket_++;
}

void StoreWaits::Forget(Ticket ticket) {
  const auto at = waits_.find(ticket);
  if (at != waits_.end()) {
    at->second.job->GiveUp();
    waits_.erase(at);
  }
}

void StoreWaits::ArmTick() {
  if (tick_armed_) {
    return;
  }
  tick_armed_ = true;
  tick_.expires_after(kTickInterval);
  tick_.async_wait([this](const boost::system::error_code& error) {
    tick_armed_ = false;
    if (!error) {
      OnTick();
    }
  });
}

void StoreWaits::OnTick() {
  const Time now = clock_.Monotonic();
  std::vector<Ticket> over;
  for (const auto& [ticket, wait] : waits_) {
    if (now >= wait.deadline || (wait.ends_when_hung && wait.threads->IsHung())) {
      over.push_back(ticket);
    }
  }
  for (const Ticket ticket : over) {
    if (const auto at = waits_.find(ticket); at != waits_.end()) {
      at->second.job->GiveUp();
    }
    Finish(ticket, false);
  }
  if (!waits_.empty()) {
    ArmTick();
  }
}

void StoreWaits::Finish(Ticket ticket, bool finished) {
  const auto at = waits_.find(ticket);
  if (at == waits_.end()) {
    return;  // forgotten, or given up before
  }
  const Done done = std::move(at->second.done);
  waits_.erase(at);
  done(finished);
}

}  // namespace croft::node::worker::store
