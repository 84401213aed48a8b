#include "node/worker/store/store_threads.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "proto/base/log.h"

namespace croft::node::worker::store {
namespace {

constexpr std::chrono::milliseconds kProbeIntervalMax{30'000};
constexpr std::size_t kStackBytes = 256 * 1024;

struct ThreadStart {
  std::shared_ptr<StoreThreads> threads;
  std::size_t slot = 0;
};

}  // namespace

StoreThreads::StoreThreads(std::string name, Limits limits, const Clock& clock,
                           counters::Row counters)
    : name_(std::move(name)),
      limits_(limits),
      clock_(clock),
      counters_(counters),
      slots_(limits.threads_total_max),
      stall_(limits.stall),
      probe_interval_(limits.probe_interval) {}

bool StoreThreads::Submit(std::shared_ptr<Job> job, Kind kind) {
  std::unique_lock lock(mutex_);
  const bool taken = SubmitLocked(std::move(job), kind);
  const News news = std::exchange(news_, {});
  lock.unlock();
  Tell(news);
  return taken;
}

bool StoreThreads::SubmitLocked(std::shared_ptr<Job> job, Kind kind) {
  const Time now = clock_.Monotonic();
  if (kind == Kind::kRequest) {
    if (UpdateHung(now)) {
      if (now < next_probe_) {
        return false;
      }
      next_probe_ = now + probe_interval_;
      probe_interval_ = std::min(probe_interval_ * 2, kProbeIntervalMax);
      queue_.push_front(std::move(job));
      WakeOrStart(now);
      return true;
    }
    if (queue_.size() >= limits_.queue_max) {
      return false;
    }
  }
  queue_.push_back(std::move(job));
  WakeOrStart(now);
  return true;
}

bool StoreThreads::IsHung() {
  std::unique_lock lock(mutex_);
  const bool hung = UpdateHung(clock_.Monotonic());
  const News news = std::exchange(news_, {});
  lock.unlock();
  Tell(news);
  return hung;
}

void StoreThreads::Tell(const News& news) {
  if (news.job) {
    wake_.notify_one();
  }
  if (news.thread_error != 0) {
    log::Warn("worker", "cannot start a thread for a file store",
              {{"store", name_}, {"err", std::to_string(news.thread_error)}});
  }
  if (news.hangs) {
    log::Warn("worker", "file store does not answer; its content gets 503", {{"store", name_}});
  }
  if (news.answers) {
    log::Info("worker", "file store answers again", {{"store", name_}});
  }
}

void StoreThreads::SetStall(std::chrono::milliseconds stall) {
  const std::lock_guard lock(mutex_);
  stall_ = stall;
}

bool StoreThreads::UpdateHung(Time now) {
  if (!hung_ && running_ > 0 && now - last_progress_ > stall_) {
    hung_ = true;
    probe_interval_ = limits_.probe_interval;
    next_probe_ = now + probe_interval_;
    news_.hangs = true;
  }
  return hung_;
}

void StoreThreads::WakeOrStart(Time now) {
  if (idle_ >= queue_.size()) {
    news_.job = true;
    return;
  }
  const auto stuck =
      static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [&](const Slot& slot) {
        return slot.running && now - slot.since > stall_;
      }));
  if (threads_ - stuck < limits_.threads_max && threads_ < limits_.threads_total_max) {
    StartThread();
  }
}

void StoreThreads::StartThread() {
  const auto free =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.used; });
  if (free == slots_.end()) {
    return;
  }
  auto start = std::make_unique<ThreadStart>();
  start->threads = shared_from_this();
  start->slot = static_cast<std::size_t>(free - slots_.begin());
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, &StoreThreads::ThreadMain, start.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    news_.thread_error = error;
    return;
  }
  static_cast<void>(start.release());  // the thread's from here on
  free->used = true;
  ++threads_;
}

void* StoreThreads::ThreadMain(void* argument) {
  const std::unique_ptr<ThreadStart> start(static_cast<ThreadStart*>(argument));
  pthread_setname_np(pthread_self(), "store");
  start->threads->Serve(start->slot);
  return nullptr;
}

void StoreThreads::Serve(std::size_t slot) {
  std::unique_lock lock(mutex_);
  while (std::shared_ptr<Job> job = TakeJob(lock, slot)) {
    lock.unlock();
    job->Run();
    job.reset();
    lock.lock();
    FinishJob(slot);
    if (const News news = std::exchange(news_, {}); news.answers) {
      lock.unlock();
      Tell(news);
      lock.lock();
    }
  }
}

std::shared_ptr<Job> StoreThreads::TakeJob(std::unique_lock<std::mutex>& lock, std::size_t slot) {
  ++idle_;
  wake_.wait_for(lock, limits_.idle, [this] { return !queue_.empty(); });
  --idle_;
  if (queue_.empty()) {
    slots_[slot] = {};
    --threads_;
    return nullptr;
  }
  std::shared_ptr<Job> job = std::move(queue_.front());
  queue_.pop_front();
  const Time now = clock_.Monotonic();
  if (running_++ == 0) {
    last_progress_ = now;
  }
  slots_[slot].running = true;
  slots_[slot].since = now;
  counters_.Add(counters::StoreCounter::kThreadsBusy, 1);
  return job;
}

void StoreThreads::FinishJob(std::size_t slot) {
  slots_[slot].running = false;
  --running_;
  last_progress_ = clock_.Monotonic();
  counters_.Add(counters::StoreCounter::kThreadsBusy, -1);
  if (hung_) {
    hung_ = false;
    news_.answers = true;
  }
}

}  // namespace croft::node::worker::store
