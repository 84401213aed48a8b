#include "tests/simulation/simulated_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "proto/base/check.h"

namespace croft::simulation {

SimulatedNode::SimulatedNode(control::feed::NodeIdentity identity, std::string directory,
                             std::size_t transaction_bytes_max)
    : identity_(std::move(identity)),
      directory_(std::move(directory)),
      transaction_bytes_max_(transaction_bytes_max) {
  std::filesystem::create_directories(directory_);
  Open();
}

SimulatedNode::~SimulatedNode() {
  applier_.reset();
  reader_.reset();
  writer_.reset();
  std::filesystem::remove_all(directory_);
}

void SimulatedNode::Open() {
  applier_.reset();
  reader_.reset();
  writer_.reset();
  auto writer = node::replica::Writer::Open(directory_, {.sync = false});
  Check(writer.ok(), writer.status().ToString());
  writer_ = *std::move(writer);
  auto reader = node::replica::Reader::Open(directory_);
  Check(reader.ok(), reader.status().ToString());
  reader_ = *std::move(reader);
  node::agent::ApplierOptions options;
  options.version = "1";
  options.transaction_bytes_max = transaction_bytes_max_;
  // An older copy of the database may well lack most sites here.
  options.vanishing_percent_max = 100;
  applier_ = std::make_unique<node::agent::FeedApplier>(*writer_, options);
}

bool SimulatedNode::unsettled() const {
  return writer_->unfinished_snapshot() || writer_->partial_delta() ||
         !writer_->quarantine().empty();
}

void SimulatedNode::NotePosition(const node::v1::Position& position) {
  std::int64_t& highest = highest_[position.epoch()];
  if (position.revision() < highest) {
    violation_ = fmt::format("{} went back from revision {} to {}", identity_.node, highest,
                             position.revision());
  }
  highest = std::max(highest, position.revision());
}

void SimulatedNode::Connect(control::feed::Feed& feed) {
  stream_ = std::make_shared<SimulatedStream>();
  stream_->session = feed.OnOpened(identity_, stream_);
  node::v1::NodeMessage message;
  *message.mutable_hello() = applier_->MakeHello();
  NotePosition(message.hello().position());
  stream_->up.push_back(std::move(message));
}

void SimulatedNode::Cut(control::feed::Feed& feed) {
  if (stream_ != nullptr) {
    feed.OnClosed(stream_->session);
    stream_.reset();
    applier_->OnStreamLost();
  }
}

void SimulatedNode::Restart(control::feed::Feed& feed) {
  Cut(feed);
  Open();
}

bool SimulatedNode::Apply(const node::v1::ControlMessage& message) {
  node::agent::ApplyOutcome outcome = applier_->OnControlMessage(message);
  NotePosition(outcome.position);
  Check(!outcome.damaged, outcome.problem);
  if (outcome.ack) {
    NotePosition(outcome.ack->position());
    node::v1::NodeMessage ack;
    *ack.mutable_ack() = *std::move(outcome.ack);
    stream_->up.push_back(std::move(ack));
  }
  if (outcome.close_stream) {
    stream_->closed = true;
  }
  return outcome.committed;
}

bool SimulatedNode::DeliverDown(Delivery delivery, bool& committed, control::feed::Feed& feed) {
  committed = false;
  if (stream_ == nullptr || stream_->down.empty()) {
    return false;
  }
  node::v1::ControlMessage message;
  Check(message.ParseFromString(*stream_->down.front()), "control's message can be read");
  stream_->down.pop_front();
  if (stream_->outstanding && stream_->down.empty()) {
    stream_->outstanding = false;
    feed.OnSent(stream_->session);
  }
  const int times = delivery == Delivery::kOnce ? 1 : delivery == Delivery::kTwice ? 2 : 0;
  for (int i = 0; i < times && !stream_->closed; ++i) {
    committed = Apply(message) || committed;
  }
  return true;
}

bool SimulatedNode::DeliverUp(control::feed::Feed& feed) {
  if (stream_ == nullptr || stream_->up.empty()) {
    return false;
  }
  feed.OnMessage(stream_->session, std::move(stream_->up.front()));
  stream_->up.pop_front();
  return true;
}

}  // namespace croft::simulation
