// The API's streaming methods as a table, free of any transport, as methods.h is for the others. A
// stream works in turns: short pieces of work on a DbExecutor thread, never two at once, each
// ending with what is to be sent. The transport sends it, at its receiver's pace, before the next
// turn; nobody waits in between. So a handler needs no lock, no thread and no queue of its own.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "control/api/methods.h"
#include "control/domain/resources.h"

namespace croft::control::api {

// How often an idle stream gets a turn, and any open stream's token is looked at again.
inline constexpr std::chrono::milliseconds kStreamBeat{400};

// What a turn came to.
struct Turn {
  std::vector<MessagePtr> messages;  // sent in this order; keep them below 1 MiB in all
  bool last = false;                 // the stream ends well once they are sent
};

// One open stream. Turns may block on the store; an error ends the stream with it. Destroyed on any
// thread, after the last turn, soon after the caller has left.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;

  // The request of a server stream; each message of a client's, the next of which is taken once the
  // answer is sent.
  virtual absl::StatusOr<Turn> OnRequest(const domain::Caller& caller,
                                         const google::protobuf::Message& request) = 0;
  // Of a server stream, after the request: what there is to send. Comes at once after a turn that
  // sent something, otherwise when woken, at the latest after kStreamBeat.
  virtual absl::StatusOr<Turn> OnTurn(const domain::Caller& caller);
  // Of a client's stream: it has sent everything. Ends the stream unless overridden.
  virtual absl::StatusOr<Turn> OnEnd(const domain::Caller& caller);
};

// Gives the stream a turn soon; from any thread, at any time, also after the stream's end.
using Wake = std::function<void()>;
using OpenHandler = std::function<std::unique_ptr<StreamHandler>(Wake wake)>;

// Callers are operators, as everywhere in the API but for a node's feed.
struct StreamMethod {
  const google::protobuf::MethodDescriptor* descriptor = nullptr;
  OpenHandler open;

  MessagePtr MakeRequest() const;
};

// Filled while wiring, then constant; thread-safe from there on.
class StreamMethods {
 public:
  // By full name: "croft.v1.ReportService.WatchEvents".
  void Add(const std::string& full_name, OpenHandler open);

  // By descriptor; null if there is none.
  const StreamMethod* Find(const google::protobuf::MethodDescriptor* descriptor) const;

 private:
  std::map<const google::protobuf::MethodDescriptor*, StreamMethod> methods_;
};

}  // namespace croft::control::api
