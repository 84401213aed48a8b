#include "control/feed/feed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "control/feed/delta.h"
#include "control/feed/waits.h"
#include "croft/v1/node.pb.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::feed {
namespace {

using node::v1::ControlMessage;
using node::v1::Welcome;
using std::chrono::milliseconds;
using store::ResourceType;

constexpr std::int64_t kFarm = 500;

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
    options_.keep_revisions = 3;
    options_.keep_time = std::chrono::hours(1);
    feed_ = MakeFeed(store_, clock_, options_, [this](const NodeIdentity&, const auto& message) {
      reports_.push_back(message);
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

Welcome::Mode ModeOf(const Link& link) {
  return link.transport->messages.empty() ? Welcome::MODE_UNSPECIFIED
                                          : link.transport->messages.front().welcome().mode();
}

TEST_F(FeedTest, AnEmptyNodeGetsASnapshotThatEndsWithACut) {
  WriteSite("one");
  Link link = Connect(0, {});
  Run({&link});
  EXPECT_EQ(ModeOf(link), Welcome::SNAPSHOT);
  EXPECT_EQ(link.position.revision(), Revision());
  EXPECT_TRUE(link.transport->messages.back().batch().cut());
}

TEST_F(FeedTest, ANodeGetsWhatItLacksAndThenWhatChanges) {
  node::v1::Hello hello;
  *hello.mutable_position() = store_.GetHead()->position;
  WriteSite("one");
  Link link = Connect(0, hello);
  Run({&link});
  EXPECT_EQ(ModeOf(link), Welcome::DELTA);
  ASSERT_EQ(link.transport->messages.size(), 2U);
  EXPECT_EQ(link.transport->messages[1].batch().records(0).body(), "one");
  WriteSite("two");
  Run({&link});
  EXPECT_EQ(link.transport->messages.back().batch().records(0).body(), "two");
  EXPECT_EQ(link.position.revision(), Revision());
}

TEST_F(FeedTest, SyncedNodesShareTheBytesOfADelta) {
  Link a = ConnectSynced(0);
  Link b = ConnectSynced(1);
  WriteSite("one");
  Run({&a, &b});
  ASSERT_EQ(a.transport->bytes.size(), 2U);
  EXPECT_EQ(a.transport->bytes[1].get(), b.transport->bytes[1].get());
}

TEST_F(FeedTest, ASlowNodeHoldsOneMessageAndFallsBackToItsRevision) {
  Link slow = ConnectSynced(0);
  WriteSite("one");
  feed_->Step();
  const std::size_t before = slow.transport->messages.size();
  for (int i = 0; i < 600; ++i) {
    WriteSite("more");
    feed_->Step();
  }
  EXPECT_EQ(slow.transport->messages.size(), before);
  Run({&slow});
  EXPECT_EQ(slow.position.revision(), Revision());
  // The log no longer reaches back, so the rest came as one delta.
  EXPECT_LT(slow.transport->messages.size(), before + 10);
}

TEST_F(FeedTest, ANodeBelowTheFloorGetsASnapshotOfKnownHistory) {
  node::v1::Hello hello;
  *hello.mutable_position() = store_.GetHead()->position;
  for (int i = 0; i < 5; ++i) {
    WriteSite("x");
  }
  ASSERT_TRUE(store_.Compact(Revision()).ok());
  Link link = Connect(0, hello);
  Run({&link});
  EXPECT_EQ(ModeOf(link), Welcome::SNAPSHOT);
  EXPECT_TRUE(link.transport->messages.front().welcome().known_history());
}

TEST_F(FeedTest, AnUnknownTagGetsASnapshotAndALaterRevisionWaits) {
  node::v1::Hello hello;
  *hello.mutable_position() = store_.GetHead()->position;
  hello.mutable_position()->set_tag(1);
  Link other = Connect(0, hello);
  *hello.mutable_position() = store_.GetHead()->position;
  hello.mutable_position()->set_revision(Revision() + 1);
  Link ahead = Connect(1, hello);
  Run({&other, &ahead});
  EXPECT_EQ(ModeOf(other), Welcome::SNAPSHOT);
  EXPECT_EQ(ModeOf(ahead), Welcome::AHEAD);
  EXPECT_EQ(ahead.transport->messages.size(), 1U);
  WriteSite("one");
  Run({&ahead});
  EXPECT_EQ(ahead.transport->messages[1].welcome().mode(), Welcome::SNAPSHOT);
  EXPECT_EQ(ahead.position.revision(), Revision());
}

TEST_F(FeedTest, ANodeOfAnotherHistoryIsToldWhatMayVanish) {
  ConnectSynced(0);
  clock_.Advance(options_.marks_interval);
  feed_->Step();
  v1::VanishingSites accepted;
  accepted.set_epoch(7);
  accepted.set_sites(12);
  ASSERT_TRUE(store_.AcceptVanishing(nodes_[0].node_uid, accepted).ok());
  node::v1::Hello hello;
  hello.mutable_position()->set_epoch(99);
  hello.mutable_position()->set_revision(1);
  *hello.mutable_vanishing() = accepted;
  const Link link = Connect(0, hello);
  feed_->Step();
  ASSERT_FALSE(link.transport->messages.empty());
  const Welcome& welcome = link.transport->messages.front().welcome();
  EXPECT_FALSE(welcome.known_history());
  EXPECT_EQ(welcome.accepted_vanishing().sites(), 12);
  clock_.Advance(options_.marks_interval);
  feed_->Step();
  v1::NodeStatus status;
  ASSERT_TRUE(status.ParseFromString(store_.ReadMarks(0)->front().status));
  EXPECT_EQ(status.vanishing().sites(), 12);
}

TEST_F(FeedTest, AHistoryThatChangesClosesEveryStream) {
  const auto saved = store_.Save();
  WriteSite("lost");
  Link link = ConnectSynced(0);
  store_.Restore(saved);
  WriteSite("other");
  Run({&link});
  ASSERT_TRUE(link.transport->closed);
  EXPECT_TRUE(absl::IsAborted(*link.transport->closed));
}

TEST_F(FeedTest, AdmitsSnapshotsOneByOne) {
  options_.snapshots_at_once = 1;
  feed_ = MakeFeed(store_, clock_, options_, nullptr);
  Link a = Connect(0, {});
  Link b = Connect(1, {});
  feed_->Step();
  for (int i = 0; i < 5; ++i) {
    feed_->OnSent(b.session);
    feed_->Step();
  }
  EXPECT_EQ(b.transport->messages.size(), 1U);
  Run({&a, &b});
  EXPECT_EQ(b.position.revision(), Revision());
}

TEST_F(FeedTest, WaitsForEveryNodeInService) {
  Link a = ConnectSynced(0);
  Link b = ConnectSynced(1);
  WriteSite("one");
  const auto applied = Wait(v1::APPLIED);
  const auto serving = Wait(v1::SERVING);
  Run({&a});
  EXPECT_FALSE(*applied);
  Run({&a, &b});
  ASSERT_TRUE(*applied);
  EXPECT_TRUE((*applied)->reached());
  Serve(a, Revision());
  feed_->Step();
  EXPECT_FALSE(*serving);
  Serve(b, Revision());
  feed_->Step();
  ASSERT_TRUE(*serving);
  EXPECT_TRUE((*serving)->reached());
}

TEST_F(FeedTest, RevisionsOfAnotherHistoryAreNotWaitedFor) {
  WriteSite("one");
  node::v1::Hello hello;
  *hello.mutable_position() = store_.GetHead()->position;
  hello.mutable_position()->set_epoch(hello.position().epoch() + 1);
  hello.mutable_position()->set_revision(Revision() + 10);
  Link link = Connect(0, hello);
  Serve(link, Revision() + 10);
  const auto applied = Wait(v1::APPLIED);
  const auto serving = Wait(v1::SERVING);
  feed_->Step();
  EXPECT_FALSE(*applied);
  EXPECT_FALSE(*serving);
  Run({&link});
  EXPECT_EQ(link.position.revision(), Revision());
  ASSERT_TRUE(*applied);
  EXPECT_FALSE(*serving);
  Serve(link, Revision());
  feed_->Step();
  ASSERT_TRUE(*serving);
  EXPECT_TRUE((*serving)->reached());
}

TEST_F(FeedTest, AWaitListsLostAndDrainingNodesAndTimesOut) {
  Link a = ConnectSynced(0);
  Link lost = ConnectSynced(1);
  Link draining = ConnectSynced(2);
  feed_->OnClosed(lost.session);
  v1::Node node;
  node.set_name(nodes_[2].node);
  node.set_draining(true);
  Write(ResourceType::kNode, node.name(), node.SerializeAsString(), nodes_[2].node_uid);
  const auto answer = Wait(v1::APPLIED);
  feed_->Step();
  clock_.Advance(milliseconds(1001));
  feed_->Step();
  ASSERT_TRUE(*answer);
  EXPECT_FALSE((*answer)->reached());
  ASSERT_EQ((*answer)->nodes_size(), 3);
  EXPECT_EQ((*answer)->nodes(0).outcome(), v1::NodeProgress::BEHIND);
  EXPECT_EQ((*answer)->nodes(1).outcome(), v1::NodeProgress::NOT_CONNECTED);
  EXPECT_EQ((*answer)->nodes(2).outcome(), v1::NodeProgress::NODE_DRAINING);
  const auto later = Wait(v1::APPLIED);
  Run({&a});
  ASSERT_TRUE(*later);
  EXPECT_TRUE((*later)->reached());
}

TEST_F(FeedTest, ARefusedRecordFailsTheWaitWithItsReason) {
  Link link = ConnectSynced(0);
  const std::int64_t uid = WriteSite("bad");
  const auto answer = Wait(v1::SERVING);
  feed_->Step();
  node::v1::RecordResult refused;
  refused.set_type(node::v1::SITE);
  refused.set_uid(uid);
  refused.set_revision(Revision());
  refused.set_reason("site.bindings[0].port: too high");
  Acknowledge(link, store_.GetHead()->position, {refused});
  feed_->Step();
  ASSERT_TRUE(*answer);
  EXPECT_FALSE((*answer)->reached());
  EXPECT_EQ((*answer)->nodes(0).outcome(), v1::NodeProgress::REFUSED);
  EXPECT_EQ((*answer)->nodes(0).reason(), "site1: site.bindings[0].port: too high");
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[0].event().kind(), "record_quarantined");
}

TEST_F(FeedTest, ASiteBoundWhereANodeCannotListenFailsTheWaitAndNoOther) {
  Link link = ConnectSynced(0);
  const auto write = [&](const std::string& name, std::uint32_t port, v1::DesiredState state) {
    v1::Site site;
    site.set_name("farms/main/sites/" + name);
    site.set_state(state);
    site.add_bindings()->set_ip("*");
    site.mutable_bindings(0)->set_port(port);
    Write(ResourceType::kSite, site.name(), site.SerializeAsString());
    Run({&link});
  };
  const auto serve = [&](bool healed) {
    node::v1::NodeMessage message;
    message.mutable_marks()->set_applied_revision(Revision());
    message.mutable_marks()->set_serving_revision(Revision());
    if (!healed) {
      v1::MissingEndpoint& missing = *message.mutable_marks()->add_missing_endpoints();
      missing.set_ip("*");
      missing.set_port(81);
      missing.set_reason("cannot listen on 0.0.0.0:81: in use");
    }
    feed_->OnMessage(link.session, message);
    feed_->Step();
  };
  struct Case {
    std::string site;
    std::uint32_t port;
    v1::DesiredState state;
    bool healed;
    bool reached;
  };
  for (const Case& c :
       {Case{"other", 80, v1::STARTED, false, true}, Case{"there", 81, v1::STARTED, false, false},
        Case{"stopped", 81, v1::STOPPED, false, true},
        Case{"healed", 81, v1::STARTED, true, true}}) {
    write(c.site, c.port, c.state);
    const auto applied = Wait(v1::APPLIED);
    const auto serving = Wait(v1::SERVING);
    serve(c.healed);
    ASSERT_TRUE(*applied && *serving) << c.site;
    EXPECT_TRUE((*applied)->reached()) << c.site;
    EXPECT_EQ((*serving)->reached(), c.reached) << c.site;
    if (!c.reached) {
      EXPECT_EQ((*serving)->nodes(0).outcome(), v1::NodeProgress::REFUSED);
      EXPECT_EQ((*serving)->nodes(0).reason(),
                "farms/main/sites/there: cannot listen on 0.0.0.0:81: in use");
    }
  }
}

TEST_F(FeedTest, ARefusedRecordComesAgainOnRequestAndAfterAnUpgrade) {
  const std::int64_t uid = WriteSite("bad");
  node::v1::Hello hello;
  *hello.mutable_position() = store_.GetHead()->position;
  hello.set_version("1");
  node::v1::RecordResult& refused = *hello.add_quarantine();
  refused.set_type(node::v1::SITE);
  refused.set_uid(uid);
  refused.set_revision(Revision());
  Link link = Connect(0, hello);
  Run({&link});
  EXPECT_EQ(link.transport->messages.size(), 1U);
  node::v1::RecordKey key;
  key.set_type(node::v1::SITE);
  key.set_uid(uid);
  feed_->RetryRecord(link.node.node_uid, key);
  Run({&link});
  ASSERT_EQ(link.transport->messages.size(), 2U);
  EXPECT_EQ(link.transport->messages[1].batch().records(0).body(), "bad");
  feed_->OnClosed(link.session);
  clock_.Advance(milliseconds(100));
  feed_->Step();
  hello.set_version("2");
  link = Connect(0, hello);
  Run({&link});
  EXPECT_EQ(link.transport->messages.back().batch().records_size(), 1);
}

TEST_F(FeedTest, MarksReachTheStoreWithinTheirInterval) {
  Link link = ConnectSynced(0);
  clock_.Advance(milliseconds(60));
  Serve(link, 3);
  feed_->Step();
  const auto marks = *store_.ReadMarks(kFarm);
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].serving_revision, 3);
  EXPECT_TRUE(marks[0].connected);
  feed_->OnClosed(link.session);
  clock_.Advance(milliseconds(60));
  feed_->Step();
  EXPECT_FALSE(store_.ReadMarks(kFarm)->at(0).connected);
}

TEST_F(FeedTest, ASilentNodeIsLostAndAQuietOneGetsHeartbeats) {
  Link link = ConnectSynced(0);
  clock_.Advance(milliseconds(5001));
  feed_->Step();
  EXPECT_TRUE(link.transport->messages.back().has_heartbeat());
  clock_.Advance(milliseconds(15001));
  feed_->Step();
  EXPECT_TRUE(link.transport->closed);
}

TEST_F(FeedTest, WithoutANodeAChangeIsNoWork) {
  WriteSite("one");
  feed_->Step();
  EXPECT_GT(feed_->Step(), milliseconds(0));
  Link late = ConnectSynced(0);
  EXPECT_EQ(late.position.revision(), Revision());
}

TEST_F(FeedTest, ADeletedNodeIsSentAway) {
  Link link = ConnectSynced(0);
  const auto transaction = *store_.Begin();
  ASSERT_TRUE(transaction->Delete(**store_.Find(nodes_[0].node)).ok());
  ASSERT_TRUE(transaction->Commit({}).ok());
  feed_->OnNotify();
  Run({&link});
  ASSERT_TRUE(link.transport->closed);
  EXPECT_TRUE(absl::IsPermissionDenied(*link.transport->closed));
}

TEST_F(FeedTest, AStoreThatIsAwayHoldsNothingUpForGood) {
  Link link = ConnectSynced(0);
  WriteSite("one");
  store_.SetAvailable(false);
  log::SetLevel(log::Level::kError);
  EXPECT_EQ(feed_->Step(), milliseconds(200));
  store_.SetAvailable(true);
  Run({&link});
  EXPECT_EQ(link.position.revision(), Revision());
}

TEST_F(FeedTest, CompactsWhatIsOldInTimeAndInRevisions) {
  Link link = ConnectSynced(0);
  for (int i = 0; i < 10; ++i) {
    WriteSite("x");
  }
  Run({&link});
  clock_.Advance(std::chrono::minutes(11));
  Serve(link, 1);
  feed_->Step();
  EXPECT_EQ(store_.GetHead()->compaction_floor, 0);
  clock_.Advance(std::chrono::minutes(60));
  Serve(link, 1);
  feed_->Step();
  EXPECT_EQ(store_.GetHead()->compaction_floor, Revision() - 3);
}

TEST(DeltaBuilder, CutsIntoBatchesAndMarksTheLast) {
  FeedOptions options;
  options.batch_bytes_max = 2000;
  DeltaBuilder builder({}, options);
  for (int i = 0; i < 10; ++i) {
    node::v1::Record record;
    record.set_uid(i);
    record.set_body(std::string(600, 'x'));
    builder.Add(record, true);
  }
  node::v1::Position to;
  to.set_revision(9);
  const auto delta = builder.Finish(to);
  ASSERT_EQ(delta->messages.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    ControlMessage message;
    ASSERT_TRUE(message.ParseFromString(*delta->messages[i]));
    EXPECT_LE(delta->messages[i]->size(), options.batch_bytes_max);
    EXPECT_EQ(message.batch().index(), static_cast<int>(i));
    EXPECT_EQ(message.batch().cut(), i == 4);
    EXPECT_EQ(message.batch().position().revision(), 9);
  }
}

}  // namespace
}  // namespace croft::control::feed
