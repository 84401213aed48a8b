// A feed on a store in memory, and nodes that take what it sends.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "control/feed/delta.h"
#include "control/feed/feed.h"
#include "control/feed/waits.h"
#include "croft/v1/node.pb.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::feed {

using node::v1::ControlMessage;
using node::v1::Welcome;
using std::chrono::milliseconds;
using store::ResourceType;

inline constexpr std::int64_t kFarm = 500;

class FakeTransport final : public Transport {
 public:
  void Send(Message message) override {
    ControlMessage parsed;
    parsed.ParseFromString(*message);
    messages.push_back(parsed);
    bytes.push_back(std::move(message));
  }
  void Close(const absl::Status& status) override { closed = status; }

  std::vector<ControlMessage> messages;
  std::vector<Message> bytes;
  std::optional<absl::Status> closed;
};

// One node's end of a stream.
struct Link {
  NodeIdentity node;
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  Feed::SessionId session = 0;
  std::size_t taken = 0;
  node::v1::Position position;
};

class FeedTest : public testing::Test {
 protected:
  FeedTest() {
    log::SetLevel(log::Level::kError);
    options_.keep_deleted = std::chrono::hours(1);
    feed_ = MakeFeed(store_, clock_, options_, [this](const NodeIdentity&, const auto& message) {
      if (message.has_counters() || message.has_event()) {
        reports_.push_back(message);
      }
    });
    for (int i = 0; i < 3; ++i) {
      v1::Node node;
      node.set_name(fmt::format("farms/main/nodes/n{}", i));
      nodes_.push_back(
          {Write(ResourceType::kNode, node.name(), node.SerializeAsString()), node.name(), kFarm});
    }
  }

  // A new row, or another body of the one with that uid.
  std::int64_t Write(ResourceType type, const std::string& name, const std::string& body,
                     std::int64_t uid = 0) {
    const auto transaction = *store_.Begin();
    store::StoredResource row;
    row.type = type;
    row.name = name;
    row.farm_uid = kFarm;
    row.body = body;
    row.uid = uid != 0 ? uid : *transaction->NextUid(type);
    EXPECT_TRUE((uid != 0 ? transaction->Update(row) : transaction->Insert(row)).ok());
    EXPECT_TRUE(transaction->Commit({}).ok());
    feed_->OnNotify();
    return row.uid;
  }
  std::int64_t WriteSite(const std::string& body) {
    return Write(ResourceType::kSite, fmt::format("site{}", ++sites_), body);
  }
  std::int64_t Revision() { return store_.GetHead()->position.revision(); }

  Link Connect(int node, node::v1::Hello hello) {
    Link link;
    link.node = nodes_[static_cast<std::size_t>(node)];
    link.session = feed_->OnOpened(link.node, link.transport);
    link.position = hello.position();
    node::v1::NodeMessage message;
    *message.mutable_hello() = std::move(hello);
    feed_->OnMessage(link.session, message);
    return link;
  }
  // A node that holds the head and has said so.
  Link ConnectSynced(int node) {
    node::v1::Hello hello;
    *hello.mutable_position() = store_.GetHead()->position;
    hello.set_version("1");
    Link link = Connect(node, hello);
    Run({&link});
    return link;
  }

  // Rounds in which each node takes what comes and acknowledges cuts, until nothing moves.
  void Run(const std::vector<Link*>& links) {
    for (int still = 0; still < 3; ++still) {
      feed_->Step();
      for (Link* link : links) {
        while (link->taken < link->transport->messages.size()) {
          still = 0;
          const ControlMessage& message = link->transport->messages[link->taken++];
          feed_->OnSent(link->session);
          if (message.batch().cut()) {
            Acknowledge(*link, message.batch().position());
          }
        }
      }
    }
  }
  void Acknowledge(Link& link, const node::v1::Position& position,
                   std::vector<node::v1::RecordResult> refused = {}) {
    link.position = position;
    node::v1::NodeMessage ack;
    *ack.mutable_ack()->mutable_position() = position;
    ack.mutable_ack()->mutable_refused()->Add(refused.begin(), refused.end());
    feed_->OnMessage(link.session, ack);
  }
  void Serve(const Link& link, std::int64_t revision) {
    node::v1::NodeMessage message;
    message.mutable_marks()->set_applied_revision(revision);
    message.mutable_marks()->set_serving_revision(revision);
    feed_->OnMessage(link.session, message);
  }

  // The answer, once there is one.
  std::shared_ptr<std::optional<v1::WaitForRevisionResponse>> Wait(v1::WaitLevel level) {
    v1::WaitForRevisionRequest request;
    request.set_revision(Revision());
    request.set_level(level);
    request.set_timeout_ms(1000);
    auto answer = std::make_shared<std::optional<v1::WaitForRevisionResponse>>();
    feed_->Wait(request, kFarm, [answer](auto response) { *answer = std::move(response); });
    return answer;
  }

  FakeClock clock_;
  store::FakeStore store_{1, &clock_};
  FeedOptions options_;
  std::unique_ptr<Feed> feed_;
  std::vector<NodeIdentity> nodes_;
  std::vector<node::v1::NodeMessage> reports_;
  int sites_ = 0;
};

inline Welcome::Mode ModeOf(const Link& link) {
  return link.transport->messages.empty() ? Welcome::MODE_UNSPECIFIED
                                          : link.transport->messages.front().welcome().mode();
}

}  // namespace croft::control::feed
