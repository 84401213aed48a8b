// One request on its way to a worker and the response on its way back. The connection owns and
// fills it, a PoolQueue finds it a worker, a WorkerSession carries it. News rings the connection's
// Wakeup. One loop only.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "node/listener/http1_request.h"
#include "node/listener/timer_wheel.h"
#include "node/listener/wakeup.h"
#include "proto/contract/routing.h"

namespace croft::node::listener {

class WorkerSession;
class PoolQueue;
class WorkerConnection;
class SplicePipe;

// Body bytes of a request kept here before the visitor is read no further.
inline constexpr std::size_t kUploadBufferBytes = 64 * 1024;

enum class Failure : std::uint8_t {
  kNone,
  kQueueFull,
  kPoolStopped,
  kPoolRemoved,
  kQueueTimeout,
  kWorkerLost,   // its connection ended while the request was there
  kRefused,      // the worker did not begin it: safe to send again
  kBadResponse,  // against HTTP/2 or the listener's limits
};

// Where a response's body goes at once while nothing of it waits, so that a large one is not copied
// on its way.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // Bytes from the front of `bytes` that were taken; the rest waits in Exchange::body.
  virtual std::size_t TakeBody(std::string_view bytes) = 0;
  // Whether it would take some now.
  virtual bool TakesBody() const = 0;
  // As TakeBody, of the first `bytes` that are in the pipe.
  virtual std::size_t TakePiped(SplicePipe& pipe, std::size_t bytes) = 0;
};

struct Exchange
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  enum class Place : std::uint8_t { kNowhere, kQueued, kInFlight };

  explicit Exchange(Wakeup& wakeup) : owner(wakeup) {}

  Wakeup& owner;

  // The request. Stays as it is until the exchange is over.
  const RequestHead* head = nullptr;
  const contract::Route* route = nullptr;
  std::string_view authority;
  bool has_body = false;

  // Request body that waits for the worker's window.
  std::string upload;
  std::size_t upload_taken = 0;
  bool upload_complete = false;
  std::int64_t upload_received = 0;  // bytes from the visitor, with their framing

  // The response. `header` has complete lines of HTTP/1.1, "name: value\r\n", without framing and
  // what belongs to a hop.
  int status = 0;
  std::string substatus;
  std::string header;
  int header_fields = 0;
  std::int64_t content_length = -1;
  bool head_done = false;
  bool ended = false;
  std::string body;
  std::size_t body_taken = 0;
  std::int64_t body_received = 0;
  BodySink* sink = nullptr;  // once the head has been sent
  Failure failure = Failure::kNone;

  Place place = Place::kNowhere;
  WorkerSession* session = nullptr;     // while kInFlight
  WorkerConnection* carrier = nullptr;  // while kInFlight
  std::int32_t stream_id = -1;
  PoolQueue* pool = nullptr;
  TimePoint queued_at;
  std::uint64_t lost_process_id =
      0;  // with kWorkerLost: whose death it was; 0 if it was not a death

  std::size_t upload_size() const { return upload.size() - upload_taken; }
  std::string_view body_view() const { return std::string_view(body).substr(body_taken); }

  // Ready for a (or another) response.
  void ResetResponse() {
    status = 0;
    substatus.clear();
    header.clear();
    header_fields = 0;
    content_length = -1;
    head_done = ended = false;
    body.clear();
    body_taken = 0;
    body_received = 0;
    sink = nullptr;
    failure = Failure::kNone;
    lost_process_id = 0;
  }
  void Fail(Failure why) {
    failure = why;
    place = Place::kNowhere;
    session = nullptr;
    stream_id = -1;
    owner.Ring();
  }
};

using ExchangeList = boost::intrusive::list<Exchange, boost::intrusive::constant_time_size<false>>;

}  // namespace croft::node::listener
