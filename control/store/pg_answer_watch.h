// Sees to it that no call waits for ever for a PostgreSQL that has stopped answering, also where
// the kernel would never tell (a unix socket to a stopped server): the connection is shut down when
// its time has passed, which ends the wait. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace croft::control::store {

class AnswerWatch {
  struct Watched {
    int socket = -1;
    std::chrono::steady_clock::time_point deadline;
    bool expired = false;
  };

 public:
  // Deadlines are looked at so often.
  static constexpr std::chrono::milliseconds kInterval{500};

  AnswerWatch();

  // While it lives, the socket is watched. The socket must outlive it.
  class Turn {
   public:
    Turn(AnswerWatch& watch, int socket, std::chrono::milliseconds limit);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();
    bool expired() const;

   private:
    AnswerWatch& watch_;
    std::list<Watched>::iterator entry_;
  };

 private:
  void Run(const std::stop_token& stop);

  std::mutex mutex_;
  std::list<Watched> watched_;  // protected by mutex_
  std::condition_variable_any tick_;

  std::jthread thread_;  // last: it uses all above
};

}  // namespace croft::control::store
