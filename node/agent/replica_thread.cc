#include "node/agent/replica_thread.h"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "proto/base/log.h"

namespace croft::node::agent {

using std::chrono::steady_clock;

ReplicaThread::ReplicaThread(boost::asio::io_context& loop, Options options, Callbacks callbacks)
    : loop_(loop),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

ReplicaThread::~ReplicaThread() {
  thread_.request_stop();
  thread_.join();
}

void ReplicaThread::Open() {
  Queue([this] { OpenNow(); });
}

void ReplicaThread::MakeHello(StreamNumber stream) {
  Queue([this, stream] {
    if (applier_ == nullptr) {
      return;  // the stream begins again once the replica is open
    }
    boost::asio::post(loop_, [this, stream, hello = applier_->MakeHello()]() mutable {
      callbacks_.on_hello(stream, std::move(hello));
    });
  });
}

void ReplicaThread::Apply(StreamNumber stream, v1::ControlMessage message) {
  Queue([this, stream, message = std::move(message)] { ApplyNow(stream, message); });
}

void ReplicaThread::OnStreamLost() {
  Queue([this] {
    if (applier_ != nullptr) {
      applier_->OnStreamLost();
    }
  });
}

void ReplicaThread::SetAside(std::string reason) {
  Queue([this, reason = std::move(reason)] { SetAsideNow(reason); });
}

void ReplicaThread::Queue(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void ReplicaThread::Run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "replica");
  while (!stop.stop_requested()) {
    if (const std::optional<Task> task = WaitForTask(stop); task.has_value()) {
      (*task)();
    } else if (!stop.stop_requested()) {
      MaybeRefresh();
    }
  }
  applier_.reset();
  writer_.reset();
}

// nullopt when there is nothing to do but what NextRefresh said.
std::optional<ReplicaThread::Task> ReplicaThread::WaitForTask(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto has_task = [this] { return !tasks_.empty(); };
  const steady_clock::time_point refresh = NextRefresh();
  if (refresh == steady_clock::time_point::max()) {
    wake_.wait(lock, stop, has_task);
  } else {
    wake_.wait_until(lock, stop, refresh, has_task);
  }
  if (tasks_.empty()) {
    return std::nullopt;
  }
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

void ReplicaThread::OpenNow() {
  absl::Status status;
  if (!generations_.has_value()) {
    absl::StatusOr<replica::Generations> opened = replica::Generations::Open(options_.directory);
    status = opened.status();
    if (opened.ok()) {
      generations_ = *std::move(opened);
    }
  }
  if (status.ok()) {
    status = OpenWriter();
  }
  if (absl::IsDataLoss(status) && generations_.has_value()) {
    log::Error("agent", "replica is damaged; taking the older generation",
               {{"err", status.ToString()}});
    status = generations_->SetAsideCurrent();
    status.Update(status.ok() ? OpenWriter() : status);
  }
  if (status.ok()) {
    ReportOpened();
    return;
  }
  log::Error("agent", "replica cannot be opened", {{"err", status.ToString()}});
  boost::asio::post(loop_, [this, problem = "replica: " + std::string(status.message())] {
    callbacks_.on_problem(problem);
  });
}

absl::Status ReplicaThread::OpenWriter() {
  auto writer = replica::Writer::Open(generations_->current());
  if (!writer.ok()) {
    return writer.status();
  }
  writer_ = *std::move(writer);
  ApplierOptions options;
  options.version = options_.version;
  options.own_directory = options_.own_directory;
  applier_ = std::make_unique<FeedApplier>(*writer_, std::move(options));
  return absl::OkStatus();
}

void ReplicaThread::ReportOpened() {
  changed_since_refresh_ = true;
  last_change_ = steady_clock::now();
  log::Info(
      "agent", "replica is in service",
      {{"path", generations_->current()}, {"rev", std::to_string(writer_->position().revision())}});
  boost::asio::post(loop_, [this, path = generations_->current(), position = writer_->position()] {
    callbacks_.on_opened(path, position);
  });
}

void ReplicaThread::SetAsideNow(const std::string& reason) {
  if (!generations_.has_value()) {
    return;
  }
  log::Error("agent", "setting the replica's current generation aside",
             {{"path", generations_->current()}, {"err", reason}});
  applier_.reset();
  writer_.reset();
  if (const absl::Status status = generations_->SetAsideCurrent(); !status.ok()) {
    log::Error("agent", "generation cannot be set aside", {{"err", status.ToString()}});
    generations_.reset();
  }
  OpenNow();
}

void ReplicaThread::ApplyNow(StreamNumber stream, const v1::ControlMessage& message) {
  if (applier_ == nullptr) {
    return;
  }
  ApplyOutcome outcome = applier_->OnControlMessage(message);
  if (outcome.committed) {
    changed_since_refresh_ = true;
    last_change_ = steady_clock::now();
  }
  boost::asio::post(loop_, [this, stream, outcome = std::move(outcome)]() mutable {
    callbacks_.on_applied(stream, std::move(outcome));
  });
}

steady_clock::time_point ReplicaThread::NextRefresh() const {
  if (!changed_since_refresh_ || writer_ == nullptr) {
    return steady_clock::time_point::max();
  }
  return std::max(last_change_ + options_.refresh_after, not_refreshed_before_);
}

void ReplicaThread::MaybeRefresh() {
  const steady_clock::time_point now = steady_clock::now();
  if (NextRefresh() > now) {
    return;
  }
  const absl::Status status = generations_->RefreshOlder();
  changed_since_refresh_ = false;
  not_refreshed_before_ = steady_clock::now() + options_.refresh_interval;
  if (absl::IsFailedPrecondition(status)) {  // a snapshot is unfinished
    changed_since_refresh_ = true;
    not_refreshed_before_ = now + options_.refresh_after;
  } else if (!status.ok()) {
    log::Warn("agent", "older generation cannot be renewed", {{"err", status.ToString()}});
  }
}

}  // namespace croft::node::agent
