#include "node/agent/control_session.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "proto/base/log.h"

namespace croft::node::agent {

using google::protobuf::util::MessageDifferencer;

ControlSession::ControlSession(boost::asio::io_context& loop, const Clock& clock, Timing timing,
                               Reports reports, Hooks hooks)
    : clock_(clock),
      timing_(timing),
      reports_(reports),
      hooks_(std::move(hooks)),
      retry_timer_(loop),
      silence_timer_(loop),
      report_timer_(loop),
      backoff_(timing.reconnect) {}

void ControlSession::Start() { Connect(); }

void ControlSession::Stop() {
  stopped_ = true;
  stream_ += 1;
  retry_timer_.cancel();
  silence_timer_.cancel();
  report_timer_.cancel();
  if (connection_ != nullptr) {
    connection_->Close();
    connection_.reset();
  }
}

void ControlSession::Connect() {
  const StreamNumber stream = ++stream_;
  welcomed_ = writing_ = reading_paused_ = hello_sent_ = heartbeat_due_ = false;
  hello_.reset();
  acks_.clear();
  counter_reports_.clear();
  heard_ = clock_.Monotonic();
  connection_ = hooks_.connect({
      .on_message = [this,
                     stream](v1::ControlMessage message) { OnMessage(stream, std::move(message)); },
      .on_written =
          [this, stream] {
            if (stream == stream_) {
              writing_ = false;
              WriteNext();
            }
          },
      .on_closed = [this, stream](const absl::Status& status) { OnClosed(stream, status); },
  });
  ArmSilence();
  hooks_.on_connecting(stream);
}

void ControlSession::SendHello(StreamNumber stream, v1::Hello hello) {
  if (stream == stream_ && connection_ != nullptr) {
    hello_ = std::move(hello);
    WriteNext();
  }
}

void ControlSession::ReadNext(StreamNumber stream) {
  if (stream == stream_ && connection_ != nullptr && std::exchange(reading_paused_, false)) {
    heard_ = clock_.Monotonic();
    connection_->ReadNext();
  }
}

void ControlSession::SendAck(StreamNumber stream, v1::Ack ack) {
  if (stream != stream_ || connection_ == nullptr) {
    return;
  }
  backoff_.Reset();                // only a stream that gets something done ends a row of failures
  if (acks_.size() >= kAcksMax) {  // a later position says it all; the records' results add up
    v1::Ack& last = acks_.back();
    *last.mutable_position() = ack.position();
    last.mutable_refused()->MergeFrom(ack.refused());
    last.mutable_released()->MergeFrom(ack.released());
  } else {
    acks_.push_back(std::move(ack));
  }
  WriteNext();
}

void ControlSession::CloseStream(StreamNumber stream) {
  if (stream == stream_ && connection_ != nullptr) {
    connection_->Close();
  }
}

void ControlSession::SetMarks(const v1::Marks& marks) {
  if (MessageDifferencer::Equals(marks, marks_)) {
    return;
  }
  marks_ = marks;
  marks_moved_ = true;
  WriteNext();
}

void ControlSession::OnMessage(StreamNumber stream, v1::ControlMessage message) {
  if (stream != stream_) {
    return;
  }
  heard_ = clock_.Monotonic();
  reading_paused_ = true;
  switch (message.message_case()) {
    case v1::ControlMessage::kWelcome:
      OnWelcome(message.welcome());
      hooks_.on_message(stream, std::move(message));
      return;
    case v1::ControlMessage::kBatch:
    case v1::ControlMessage::kCommand:
      hooks_.on_message(stream, std::move(message));
      return;
    case v1::ControlMessage::kHeartbeat:
      heartbeat_sequence_ = message.heartbeat().sequence();
      heartbeat_due_ = true;
      WriteNext();
      ReadNext(stream);
      return;
    case v1::ControlMessage::MESSAGE_NOT_SET:  // from a newer control
      ReadNext(stream);
      return;
  }
}

void ControlSession::OnWelcome(const v1::Welcome& welcome) {
  welcomed_ = true;
  marks_moved_ = true;
  last_error_.clear();
  reports_.counters.ForgetReported();
  report_interval_ =
      std::chrono::milliseconds(std::max(welcome.report_interval_ms(), kReportIntervalMsMin));
  log::Info("agent", "connected to control",
            {{"mode", v1::Welcome::Mode_Name(welcome.mode())},
             {"epoch", std::to_string(welcome.epoch())}});
  ArmReport();
  WriteNext();
}

void ControlSession::OnClosed(StreamNumber stream, const absl::Status& status) {
  if (stream != stream_ || stopped_) {
    return;
  }
  stream_ += 1;  // what belongs to it is dropped
  connection_.reset();
  silence_timer_.cancel();
  report_timer_.cancel();
  std::string text(status.ToString());
  if (welcomed_ || text != last_error_) {
    log::Warn("agent", "control is not reachable; serving goes on", {{"err", text}});
    last_error_ = std::move(text);
  }
  welcomed_ = false;
  retry_timer_.expires_after(backoff_.Next());
  retry_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopped_) {
      Connect();
    }
  });
}

bool ControlSession::IsSilent() const {
  return !reading_paused_ && clock_.Monotonic() - heard_ > timing_.silence_limit;
}

void ControlSession::ArmSilence() {
  silence_timer_.expires_after(timing_.silence_limit / 4);
  silence_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || connection_ == nullptr) {
      return;
    }
    if (IsSilent()) {
      log::Warn("agent", "control has fallen silent");
      connection_->Close();
      return;
    }
    ArmSilence();
  });
}

void ControlSession::ArmReport() {
  report_timer_.expires_after(report_interval_);
  report_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || !welcomed_) {
      return;
    }
    if (counter_reports_.empty()) {  // otherwise control has not taken the last round yet
      std::ranges::move(reports_.counters.Collect(), std::back_inserter(counter_reports_));
    }
    WriteNext();
    ArmReport();
  });
}

void ControlSession::WriteNext() {
  if (connection_ == nullptr || writing_) {
    return;
  }
  if (std::optional<v1::NodeMessage> next = TakeNext(); next.has_value()) {
    writing_ = true;
    connection_->Write(*std::move(next));
  }
}

std::optional<v1::NodeMessage> ControlSession::TakeNext() {
  v1::NodeMessage message;
  if (hello_.has_value()) {
    *message.mutable_hello() = *std::move(hello_);
    hello_.reset();
    hello_sent_ = true;
    return message;
  }
  if (!hello_sent_) {
    return std::nullopt;
  }
  if (!acks_.empty()) {
    *message.mutable_ack() = std::move(acks_.front());
    acks_.pop_front();
  } else if (welcomed_ && std::exchange(marks_moved_, false)) {
    *message.mutable_marks() = marks_;
  } else if (std::exchange(heartbeat_due_, false)) {
    message.mutable_heartbeat()->set_sequence(heartbeat_sequence_);
  } else if (!welcomed_) {
    return std::nullopt;
  } else if (std::optional<v1::EventReport> event = reports_.events.Take(); event.has_value()) {
    *message.mutable_event() = *std::move(event);
  } else if (!counter_reports_.empty()) {
    *message.mutable_counters() = std::move(counter_reports_.front());
    counter_reports_.pop_front();
  } else {
    return std::nullopt;
  }
  return message;
}

}  // namespace croft::node::agent
