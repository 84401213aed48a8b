#include "tests/unit/control/feed/feed_fixture.h"

namespace croft::control::feed {
namespace {

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
  store_.PurgeThrough(Revision());
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

TEST_F(FeedTest, AProblemIsShownUntilTheNodeSaysOtherwise) {
  const Link link = ConnectSynced(0);
  node::v1::NodeMessage message;
  message.mutable_marks()->set_problem("disk full");
  feed_->OnMessage(link.session, message);
  const auto shown = [this] {
    clock_.Advance(std::chrono::seconds(1));
    feed_->Step();
    v1::NodeStatus status;
    EXPECT_TRUE(status.ParseFromString(store_.ReadMarks(kFarm)->front().status));
    return status.problem();
  };
  EXPECT_EQ(shown(), "disk full");
  feed_->OnClosed(link.session);
  const Link again = ConnectSynced(0);
  EXPECT_EQ(shown(), "disk full") << "a node that only connected again";
  message.mutable_marks()->clear_problem();
  feed_->OnMessage(again.session, message);
  EXPECT_EQ(shown(), "");
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

TEST_F(FeedTest, PurgesWhatWasDeletedLongEnoughAgo) {
  Link link = ConnectSynced(0);
  const auto uid = WriteSite("x");
  const auto transaction = *store_.Begin();
  ASSERT_TRUE(transaction->Delete(**store_.FindByUid(ResourceType::kSite, uid)).ok());
  ASSERT_TRUE(transaction->Commit({}).ok());
  const std::int64_t deletion = Revision();
  WriteSite("y");
  Run({&link});
  clock_.Advance(std::chrono::minutes(11));
  Serve(link, 1);
  feed_->Step();
  EXPECT_EQ(store_.GetHead()->compaction_floor, 0);
  clock_.Advance(std::chrono::minutes(60));
  Serve(link, 1);
  feed_->Step();
  EXPECT_EQ(store_.GetHead()->compaction_floor, deletion);
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
