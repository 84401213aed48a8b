#include "node/worker/store/store.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "node/worker/store/confined_open.h"
#include "proto/base/log.h"

namespace croft::node::worker::store {
namespace {

using counters::StoreCounter;

// A store may be mounted, or mounted anew, under a running worker: its directory is looked up again
// in the background after the first time, and never used inline after the second.
constexpr std::chrono::milliseconds kDirectoryFresh{2'000};
constexpr std::chrono::milliseconds kDirectoryUsable{10'000};

// A disk may take long under load and still be well; a network that is silent for two seconds is
// not.
constexpr std::chrono::milliseconds kLocalStall{10'000};
constexpr std::chrono::milliseconds kRemoteStall{2'000};

constexpr int kFileFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
constexpr int kDirectoryFlags = O_PATH | O_DIRECTORY;

// File systems that answer from this machine alone, without a daemon or a network.
bool IsLocal(int fd) {
  constexpr std::array<std::uint64_t, 9> kLocalTypes = {
      EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,    TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC,
      F2FS_SUPER_MAGIC, SQUASHFS_MAGIC,  EROFS_SUPER_MAGIC_V1, 0x2fc12fc1 /* ZFS */};
  struct statfs facts {};
  return ::fstatfs(fd, &facts) == 0 &&
         std::find(kLocalTypes.begin(), kLocalTypes.end(),
                   static_cast<std::uint64_t>(facts.f_type)) != kLocalTypes.end();
}

// What says that the directory itself is no longer the one to ask.
bool IsStale(int error) { return error == ESTALE || error == ENOTCONN; }

}  // namespace

class Store::OpenJob final : public Job {
 public:
  OpenJob(std::shared_ptr<Store> store, OpenRequest request)
      : store_(std::move(store)), request_(std::move(request)) {}
  void Run() noexcept override { answer_ = store_->OpenBlocking(request_); }
  OpenAnswer Take() { return std::move(answer_); }

 private:
  const std::shared_ptr<Store> store_;
  const OpenRequest request_;
  OpenAnswer answer_;
};

class Store::RefreshJob final : public Job {
 public:
  explicit RefreshJob(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  void Run() noexcept override {
    store_->FreshDirectory(kDirectoryFresh);
    store_->refreshing_.store(false);
  }

 private:
  const std::shared_ptr<Store> store_;
};

Store::Store(std::int64_t uid, std::string path, const Clock& clock, counters::Row counters)
    : uid_(uid),
      path_(std::move(path)),
      clock_(clock),
      counters_(counters),
      threads_(std::make_shared<StoreThreads>(path_, StoreThreads::Limits{}, clock, counters)) {}

OpenAwaiter Store::Open(OpenRequest request, StoreWaits& waits) {
  return OpenAwaiter(*this, waits, std::move(request));
}

std::optional<OpenAnswer> Store::OpenInline(const OpenRequest& request) {
  const std::shared_ptr<const Directory> directory = CurrentDirectory();
  if (directory == nullptr || !directory->local) {
    return std::nullopt;
  }
  const auto age = clock_.Monotonic() - directory->opened;
  if (age > kDirectoryUsable) {
    return std::nullopt;
  }
  if (age > kDirectoryFresh) {
    RefreshInBackground();
  }
  Opened opened =
      OpenConfined(directory->fd.get(), request.path,
                   request.directory_only ? kDirectoryFlags : kFileFlags, Blocking::kNever);
  if (opened.error == EAGAIN) {
    return std::nullopt;
  }
  return MakeAnswer(std::move(opened.fd), opened.error, true, request);
}

OpenAnswer Store::OpenBlocking(const OpenRequest& request) {
  std::shared_ptr<const Directory> directory = FreshDirectory(kDirectoryFresh);
  OpenAnswer answer;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (directory->error != 0) {
      answer.outcome = OpenAnswer::Outcome::kStoreMissing;
      answer.error = directory->error;
      return answer;
    }
    Opened opened =
        OpenConfined(directory->fd.get(), request.path,
                     request.directory_only ? kDirectoryFlags : kFileFlags, Blocking::kAllowed);
    answer = MakeAnswer(std::move(opened.fd), opened.error,
                        directory->local && !opened.crossed_mount, request);
    if (!IsStale(answer.error)) {
      break;
    }
    directory = FreshDirectory(std::chrono::milliseconds(0));
  }
  if (answer.file != nullptr && request.read_ahead > 0 && S_ISREG(answer.facts.st_mode)) {
    answer.start.resize(
        std::min(request.read_ahead, static_cast<std::size_t>(answer.facts.st_size)));
    const ssize_t n = answer.file->ReadBlocking(answer.start.data(), answer.start.size(), 0);
    answer.start.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
  return answer;
}

OpenAnswer Store::MakeAnswer(UniqueFd fd, int error, bool inline_io, const OpenRequest& request) {
  counters_.Add(StoreCounter::kOpensTotal);
  OpenAnswer answer;
  if (fd && !request.directory_only && ::fstat(fd.get(), &answer.facts) != 0) {
    error = errno;
  }
  if (error != 0) {
    answer.error = error;
    return answer;
  }
  answer.outcome = OpenAnswer::Outcome::kOpened;
  if (!request.directory_only) {
    answer.file = std::make_shared<StoreFile>(std::move(fd), threads_, inline_io, counters_);
  }
  return answer;
}

std::shared_ptr<const Store::Directory> Store::CurrentDirectory() {
  const std::lock_guard lock(mutex_);
  return directory_;
}

std::shared_ptr<const Store::Directory> Store::FreshDirectory(std::chrono::milliseconds age_max) {
  const Time now = clock_.Monotonic();
  const std::shared_ptr<const Directory> current = CurrentDirectory();
  if (current != nullptr && current->error == 0 && now - current->opened < age_max) {
    return current;
  }
  auto fresh = std::make_shared<Directory>();
  Opened opened = OpenStoreDirectory(path_);
  fresh->fd = std::move(opened.fd);
  fresh->error = opened.error;
  fresh->opened = now;
  fresh->local = fresh->error == 0 && IsLocal(fresh->fd.get());
  threads_->SetStall(fresh->local ? kLocalStall : kRemoteStall);
  if (fresh->error != 0 && (current == nullptr || current->error != fresh->error)) {
    log::Warn(
        "worker", "cannot open a file store; its content gets 503",
        {{"store", std::to_string(uid_)}, {"path", path_}, {"err", std::strerror(fresh->error)}});
  }
  const std::lock_guard lock(mutex_);
  directory_ = fresh;
  return fresh;
}

void Store::RefreshInBackground() {
  if (refreshing_.exchange(true)) {
    return;
  }
  if (!threads_->Submit(std::make_shared<RefreshJob>(shared_from_this()),
                        StoreThreads::Kind::kRequest)) {
    refreshing_.store(false);
  }
}

OpenAwaiter::~OpenAwaiter() {
  if (ticket_.has_value()) {
    waits_.Forget(*ticket_);
  }
}

bool OpenAwaiter::await_ready() {
  answer_ = store_.OpenInline(request_);
  return answer_.has_value();
}

bool OpenAwaiter::await_suspend(std::coroutine_handle<> caller) {
  job_ = std::make_shared<Store::OpenJob>(store_.shared_from_this(), std::move(request_));
  ticket_ = waits_.StartRequest(store_.threads(), job_, [this, caller](bool finished) {
    ticket_.reset();
    if (finished) {
      answer_ = job_->Take();
    }
    caller.resume();
  });
  return ticket_.has_value();
}

OpenAnswer OpenAwaiter::await_resume() {
  if (answer_.has_value()) {
    return *std::move(answer_);
  }
  store_.counters().Add(StoreCounter::kBusyTotal);
  OpenAnswer busy;
  busy.outcome = OpenAnswer::Outcome::kBusy;
  return busy;
}

}  // namespace croft::node::worker::store
