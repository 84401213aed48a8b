// The conversation with control: connects, says hello, hands what comes to the replica, sends acks,
// marks, events and counters, and begins again with a jittered back-off when the stream ends or
// falls silent. Serving never waits for it. Supervision loop only.
#pragma once

#include <absl/status/status.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "croft/node/v1/feed.pb.h"
#include "node/agent/control_transport.h"
#include "node/agent/counter_collector.h"
#include "node/agent/event_queue.h"
#include "proto/base/clock.h"
#include "proto/base/retry.h"

namespace croft::node::agent {

class ControlSession {
 public:
  // Names the stream a result belongs to; results of an earlier one are dropped.
  using StreamNumber = std::uint64_t;

  struct Hooks {
    // Makes a connection (ConnectToControl).
    std::function<std::shared_ptr<ControlConnection>(ControlConnection::Callbacks)> connect;
    // A stream begins: answer with SendHello.
    std::function<void(StreamNumber)> on_connecting;
    // Welcome, Batch or Command: answer with ReadNext when it has been taken in.
    std::function<void(StreamNumber, v1::ControlMessage)> on_message;
  };
  struct Timing {
    // Without a word from control for this long, the stream is given up. Control sends a heartbeat
    // every 5 s, which is answered with its own sequence.
    std::chrono::milliseconds silence_limit{20'000};
    BackoffLimits reconnect{.first = std::chrono::milliseconds(100),
                            .most = std::chrono::milliseconds(10'000)};
  };
  static constexpr std::size_t kAcksMax = 64;
  static constexpr std::int64_t kReportIntervalMsMin = 100;

  struct Reports {
    EventQueue& events;
    CounterCollector& counters;
  };

  ControlSession(boost::asio::io_context& loop, const Clock& clock, Timing timing, Reports reports,
                 Hooks hooks);

  void Start();
  // No callback runs afterwards.
  void Stop();

  void SendHello(StreamNumber stream, v1::Hello hello);
  void ReadNext(StreamNumber stream);
  void SendAck(StreamNumber stream, v1::Ack ack);
  // Gives the stream up; another follows after the back-off.
  void CloseStream(StreamNumber stream);
  // The same, for whatever stream there is: what it was told is no longer so.
  void Restart() { CloseStream(stream_); }
  // What is sent whenever it moves, and with each new stream.
  void SetMarks(const v1::Marks& marks);
  // An event was pushed.
  void OnEvent() { WriteNext(); }
  bool connected() const { return welcomed_; }

 private:
  void Connect();
  void OnMessage(StreamNumber stream, v1::ControlMessage message);
  void OnWelcome(const v1::Welcome& welcome);
  void OnClosed(StreamNumber stream, const absl::Status& status);
  void ArmSilence();
  void ArmReport();
  void WriteNext();
  std::optional<v1::NodeMessage> TakeNext();
  bool IsSilent() const;

  // Constant after construction.
  const Clock& clock_;
  const Timing timing_;
  const Reports reports_;
  const Hooks hooks_;

  // Supervision loop only.
  boost::asio::steady_timer retry_timer_;
  boost::asio::steady_timer silence_timer_;
  boost::asio::steady_timer report_timer_;
  Backoff backoff_;
  bool stopped_ = false;
  std::shared_ptr<ControlConnection> connection_;
  StreamNumber stream_ = 0;
  bool welcomed_ = false;
  bool writing_ = false;
  // A message is with the replica; control's silence is our doing.
  bool reading_paused_ = false;
  std::chrono::steady_clock::time_point heard_;
  std::chrono::milliseconds report_interval_{1'000};
  std::string last_error_;

  // What waits to be written, most urgent first.
  std::optional<v1::Hello> hello_;
  bool hello_sent_ = false;
  std::deque<v1::Ack> acks_;
  v1::Marks marks_;
  bool marks_moved_ = false;
  bool heartbeat_due_ = false;
  std::int64_t heartbeat_sequence_ = 0;  // control's last
  std::deque<v1::CounterReport> counter_reports_;
};

}  // namespace croft::node::agent
