// One open stream, whatever carries it: authorises, gives the handler its turns on the executor,
// and lets the transport send what they came to. Thread-safe. Kept alive by its transport until
// Finish, and by turns under way.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "control/api/authorizer.h"
#include "control/api/services.h"
#include "control/api/stream_methods.h"

namespace croft::control::api {

// How a stream's messages travel. Called from any thread, without a lock of the call's held, never
// twice at once but for Finish.
class StreamTransport {
 public:
  virtual ~StreamTransport() = default;
  // Asks for the caller's next message: OnMessage or OnEnd follows.
  virtual void Read() = 0;
  // OnSent follows, once the receiver has room for more.
  virtual void Send(std::vector<MessagePtr> messages) = 0;
  // The last call, whatever is under way.
  virtual void Finish(const absl::Status& status) = 0;
};

class StreamCall : public std::enable_shared_from_this<StreamCall> {
 public:
  // `method` is one of the services' table.
  StreamCall(std::shared_ptr<StreamTransport> transport, Credentials credentials,
             const StreamMethod& method, const Services& services);

  void Start();

  // The transport's news.
  void OnMessage(MessagePtr message);
  void OnEnd();
  void OnSent();
  // The caller has left, or control is stopping: finishes with the status.
  void OnClosed(const absl::Status& status);

  // The beat's, on an executor's thread: looks at the token again; gives an idle stream its turn.
  void CheckCaller();
  void TakeTurnIfIdle();

 private:
  // What the stream waits for.
  enum class Phase { kCaller, kTurn, kSending, kWake, kFinished };
  using Work = std::function<absl::StatusOr<Turn>(StreamHandler&, const domain::Caller&)>;

  // False when the stream has ended.
  bool Enter(Phase phase);
  void WakeUp();
  void PushTurn(Work work);
  void PushNextTurn();
  void RunTurn(const Work& work);
  // After a turn whose messages are sent. `again`: the handler may have more.
  void GoOn(bool last, bool again);
  void Finish(const absl::Status& status);

  const std::shared_ptr<StreamTransport> transport_;
  const Credentials credentials_;
  const StreamMethod& method_;
  const Services services_;

  std::unique_ptr<StreamHandler> handler_;  // the turns'
  bool last_ = false;                       // the turns': what is being sent is the last

  std::mutex mutex_;  // protects all below
  Phase phase_ = Phase::kCaller;
  bool woken_ = false;
};

}  // namespace croft::control::api
