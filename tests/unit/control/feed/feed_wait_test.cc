// Waiting until a revision is applied or serving.
#include "tests/unit/control/feed/feed_fixture.h"

namespace croft::control::feed {
namespace {

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

}  // namespace
}  // namespace croft::control::feed
