// A node of the simulation: the real applier on a real replica, and a stream to the feed that
// delivers what it is told to, in order, unless it loses or repeats something.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "control/feed/feed.h"
#include "node/agent/feed_applier.h"
#include "node/replica/reader.h"
#include "node/replica/writer.h"

namespace croft::simulation {

// Control's end.
class SimulatedStream final : public control::feed::Transport {
 public:
  void Send(std::shared_ptr<const std::string> message) override {
    outstanding = true;
    down.push_back(std::move(message));
  }
  void Close(const absl::Status& /*status*/) override { closed = true; }

  control::feed::Feed::SessionId session = 0;
  bool outstanding = false;  // the feed is owed an OnSent
  bool closed = false;
  std::deque<std::shared_ptr<const std::string>> down;
  std::deque<node::v1::NodeMessage> up;
};

enum class Delivery { kOnce, kTwice, kLost };

class SimulatedNode {
 public:
  SimulatedNode(control::feed::NodeIdentity identity, std::string directory,
                std::size_t transaction_bytes_max);
  ~SimulatedNode();

  const control::feed::NodeIdentity& identity() const { return identity_; }
  SimulatedStream* stream() { return stream_.get(); }
  const node::v1::Position& position() const { return writer_->position(); }
  // Between two revisions, or with a record refused: not comparable with a revision of the store.
  bool unsettled() const;
  std::string FindViolation() const { return violation_; }
  const node::replica::Reader& reader() const { return *reader_; }

  void Connect(control::feed::Feed& feed);
  // The stream breaks; what was on it is gone.
  void Cut(control::feed::Feed& feed);
  // The process dies and starts again.
  void Restart(control::feed::Feed& feed);
  // Takes one message off the stream; false if there is none. Whether the replica changed is in
  // `committed`.
  bool DeliverDown(Delivery delivery, bool& committed, control::feed::Feed& feed);
  bool DeliverUp(control::feed::Feed& feed);

 private:
  void Open();
  bool Apply(const node::v1::ControlMessage& message);
  void NotePosition(const node::v1::Position& position);

  const control::feed::NodeIdentity identity_;
  const std::string directory_;
  const std::size_t transaction_bytes_max_;
  std::unique_ptr<node::replica::Writer> writer_;
  std::unique_ptr<node::replica::Reader> reader_;
  std::unique_ptr<node::agent::FeedApplier> applier_;
  std::shared_ptr<SimulatedStream> stream_;
  std::map<std::uint64_t, std::int64_t> highest_;  // by epoch
  std::string violation_;
};

}  // namespace croft::simulation
