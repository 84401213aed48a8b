#include "node/agent/feed_applier.h"

#include <gtest/gtest.h>

#include <limits>

#include "croft/v1/pool.pb.h"
#include "croft/v1/store.pb.h"
#include "node/agent/record_judge.h"
#include "node/replica/reader.h"
#include "proto/base/log.h"
#include "tests/unit/node/replica/records.h"
#include "tests/unit/node/replica/temp_directory.h"

namespace croft::node::agent {
namespace {

using replica::ADeletion;
using replica::ARecord;
using replica::ASite;
using replica::BindingKeyOf;

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

v1::Position At(std::int64_t revision, std::uint64_t epoch = 1) {
  v1::Position position;
  position.set_epoch(epoch);
  position.set_revision(revision);
  position.set_tag(static_cast<std::uint64_t>(revision) + 1000);
  return position;
}

v1::ControlMessage AWelcome(v1::Welcome::Mode mode, std::uint64_t epoch = 1, bool known = false) {
  v1::ControlMessage message;
  message.mutable_welcome()->set_mode(mode);
  message.mutable_welcome()->set_epoch(epoch);
  message.mutable_welcome()->set_known_history(known);
  return message;
}

v1::ControlMessage ADelta(const v1::Position& since, const v1::Position& to,
                          const std::vector<v1::Record>& records, int index = 0, bool cut = true) {
  v1::ControlMessage message;
  v1::Batch& batch = *message.mutable_batch();
  batch.mutable_records()->Add(records.begin(), records.end());
  *batch.mutable_since() = since;
  *batch.mutable_position() = to;
  batch.set_index(index);
  batch.set_cut(cut);
  return message;
}

v1::ControlMessage ARange(v1::RecordType type, std::int64_t after, std::int64_t through,
                          const v1::Position& start, const std::vector<v1::Record>& records) {
  v1::ControlMessage message;
  v1::Batch& batch = *message.mutable_batch();
  batch.mutable_records()->Add(records.begin(), records.end());
  v1::SnapshotRange& range = *batch.mutable_range();
  range.set_type(type);
  range.set_after(after);
  range.set_through(through);
  *range.mutable_start() = start;
  *range.mutable_seen() = start;
  return message;
}

class FeedApplierTest : public testing::Test {
 protected:
  FeedApplierTest() {
    log::SetLevel(log::Level::kError);
    writer_ = *replica::Writer::Open(directory_.path(), {.sync = false});
    reader_ = *replica::Reader::Open(directory_.path());
    applier_ = std::make_unique<FeedApplier>(*writer_, options_);
  }

  // A stream that begins with a snapshot of the records, ended at the position.
  void Load(const v1::Position& at, const std::vector<v1::Record>& records, bool known = false) {
    applier_->MakeHello();
    Send(AWelcome(v1::Welcome::SNAPSHOT, at.epoch(), known));
    SendSnapshot(at, records);
  }

  void SendSnapshot(const v1::Position& at, const std::vector<v1::Record>& records) {
    for (int type = v1::PLATFORM; type <= v1::ACCOUNT; ++type) {
      std::vector<v1::Record> of_type;
      for (const v1::Record& record : records) {
        if (record.type() == type) {
          of_type.push_back(record);
        }
      }
      last_ = Send(ARange(static_cast<v1::RecordType>(type), 0, kEnd, at, of_type));
      if (last_.close_stream) {
        return;
      }
    }
    last_ = Send(ADelta(at, at, {}));
  }

  ApplyOutcome Send(const v1::ControlMessage& message) {
    return applier_->OnControlMessage(message);
  }

  std::optional<std::int64_t> SiteNamed(const std::string& id) const {
    return *reader_->FindUid(v1::SITE, "farms/main/sites/" + id);
  }

  replica::TempDirectory directory_;
  ApplierOptions options_;
  std::unique_ptr<replica::Writer> writer_;
  std::unique_ptr<replica::Reader> reader_;
  std::unique_ptr<FeedApplier> applier_;
  ApplyOutcome last_;
};

TEST_F(FeedApplierTest, ASnapshotFillsAnEmptyReplica) {
  EXPECT_EQ(applier_->MakeHello().position().epoch(), 0U);
  Load(At(5), {ASite(1, 2, "a", {"a.example"}), ASite(2, 5, "b")});
  EXPECT_EQ(last_.ack->position().revision(), 5);
  EXPECT_TRUE(last_.all);
  EXPECT_EQ(SiteNamed("a"), 1);
  EXPECT_EQ(applier_->MakeHello().position().revision(), 5);
  EXPECT_FALSE(applier_->MakeHello().has_snapshot());
}

TEST_F(FeedApplierTest, ADeltaIsSeenOnlyAtItsCut) {
  Load(At(5), {ASite(1, 2, "a")});
  Send(ADelta(At(5), At(8), {ASite(2, 8, "b")}, 0, false));
  EXPECT_EQ(SiteNamed("b"), std::nullopt);
  const ApplyOutcome outcome = Send(ADelta(At(5), At(8), {ADeletion(v1::SITE, 1, 7)}, 1, true));
  EXPECT_EQ(outcome.ack->position().revision(), 8);
  ASSERT_EQ(outcome.changed.size(), 2U);
  EXPECT_FALSE(outcome.all);
  EXPECT_EQ(SiteNamed("a"), std::nullopt);
  EXPECT_EQ(SiteNamed("b"), 2);
}

TEST_F(FeedApplierTest, ALostStreamLeavesNothingHalfApplied) {
  Load(At(5), {ASite(1, 2, "a")});
  Send(ADelta(At(5), At(8), {ASite(2, 8, "b")}, 0, false));
  EXPECT_EQ(applier_->MakeHello().position().revision(), 5);
  EXPECT_EQ(reader_->Count()->records, 1);
}

TEST_F(FeedApplierTest, TellsALostBatchAndIgnoresARepeatedOne) {
  Load(At(5), {});
  Send(ADelta(At(5), At(8), {ASite(1, 8, "a")}, 0, false));
  EXPECT_FALSE(Send(ADelta(At(5), At(8), {ASite(1, 8, "a")}, 0, false)).close_stream);
  EXPECT_TRUE(Send(ADelta(At(5), At(8), {ASite(3, 8, "c")}, 2, true)).close_stream);
  EXPECT_EQ(reader_->Count()->records, 0);
}

TEST_F(FeedApplierTest, RefusesADeltaThatDoesNotFollow) {
  Load(At(5), {});
  EXPECT_TRUE(Send(ADelta(At(6), At(8), {})).close_stream);
  EXPECT_TRUE(Send(ADelta(At(3), At(4), {})).close_stream);
  EXPECT_NE(Send(ADelta(At(3), At(4), {})).problem.find("older"), std::string::npos);
  EXPECT_FALSE(Send(ADelta(At(4), At(6), {})).close_stream);
  EXPECT_EQ(writer_->position().revision(), 6);
}

TEST_F(FeedApplierTest, ABadRecordLeavesItsLastGoodVersionAndTheOthersApply) {
  Load(At(5), {ASite(1, 2, "a", {"a.example"})});
  const ApplyOutcome outcome =
      Send(ADelta(At(5), At(6), {ARecord(v1::SITE, 1, 6, "\x07 garbage"), ASite(2, 6, "b")}));
  ASSERT_EQ(outcome.ack->refused_size(), 1);
  EXPECT_EQ(outcome.ack->refused(0).revision(), 6);
  EXPECT_EQ(SiteNamed("a"), 1);
  EXPECT_EQ(SiteNamed("b"), 2);
  EXPECT_EQ(applier_->MakeHello().quarantine_size(), 1);
}

TEST_F(FeedApplierTest, AStoreInTheNodesOwnDirectoryIsRefused) {
  const auto fault = [](const std::string& path) {
    croft::v1::FileStore store;
    store.set_name("farms/main/stores/s");
    store.set_organization("organizations/root");
    store.set_path(path);
    return FindFault(ARecord(v1::STORE, 7, 1, store.SerializeAsString()), "/srv/node/");
  };
  EXPECT_EQ(fault("/srv/node"), "store.path: /srv/node is where the node keeps its own files");
  EXPECT_TRUE(fault("/srv/node/log").has_value());
  EXPECT_EQ(fault("/srv/nodes"), std::nullopt);
  EXPECT_EQ(fault("/srv"), std::nullopt);
}

TEST_F(FeedApplierTest, TheReasonNamesWhatIsWrong) {
  croft::v1::Site site;
  site.set_name("farms/main/sites/a");
  site.set_organization("organizations/root");
  site.add_bindings()->set_ip("*");
  site.mutable_bindings(0)->set_port(99999);
  v1::Record wrong_uid = ASite(3, 6, "c");
  croft::v1::Site named;
  named.set_name("farms/main/sites/c");
  named.set_organization("organizations/root");
  named.set_uid(4);
  wrong_uid.set_body(named.SerializeAsString());
  Load(At(5), {});
  const ApplyOutcome outcome = Send(ADelta(
      At(5), At(6),
      {ARecord(v1::SITE, 1, 6, site.SerializeAsString()), ASite(2, 6, "Not A Name"), wrong_uid}));
  ASSERT_EQ(outcome.ack->refused_size(), 3);
  EXPECT_NE(outcome.ack->refused(0).reason().find("bindings[0].port"), std::string::npos)
      << outcome.ack->refused(0).reason();
  EXPECT_NE(outcome.ack->refused(1).reason().find("name"), std::string::npos);
  EXPECT_NE(outcome.ack->refused(2).reason().find("uid"), std::string::npos);
}

TEST_F(FeedApplierTest, AGoodVersionEndsTheQuarantineAndSoDoesADeletion) {
  Load(At(5), {ASite(1, 2, "a")});
  Send(ADelta(At(5), At(6), {ARecord(v1::SITE, 1, 6, "\x07"), ARecord(v1::SITE, 2, 6, "\x07")}));
  const ApplyOutcome outcome =
      Send(ADelta(At(6), At(7), {ASite(1, 7, "fixed"), ADeletion(v1::SITE, 2, 7)}));
  EXPECT_EQ(outcome.ack->released_size(), 2);
  EXPECT_EQ(outcome.ack->refused_size(), 0);
  EXPECT_TRUE(writer_->quarantine().empty());
  EXPECT_EQ(SiteNamed("fixed"), 1);
}

TEST_F(FeedApplierTest, WhatABadRecordStopsIsStoppedAllTheSame) {
  Load(At(5), {ASite(1, 2, "a", {"a.example"})});
  croft::v1::Site bad;
  bad.set_name("farms/main/sites/a");
  bad.set_state(croft::v1::STOPPED);
  bad.add_bindings()->set_port(99999);
  Send(ADelta(At(5), At(6), {ARecord(v1::SITE, 1, 6, bad.SerializeAsString())}));
  croft::v1::Site held;
  held.ParseFromString((*reader_->FindRecord({v1::SITE, 1}))->body);
  EXPECT_EQ(held.state(), croft::v1::STOPPED);
  EXPECT_EQ(*reader_->FindBinding(BindingKeyOf("a.example")), 1);
  EXPECT_EQ(writer_->quarantine().size(), 1U);
}

TEST_F(FeedApplierTest, ASnapshotIsResumedAndTakesAwayWhatIsGone) {
  Load(At(5), {ASite(1, 2, "a"), ASite(2, 2, "b")});
  applier_->MakeHello();
  Send(AWelcome(v1::Welcome::SNAPSHOT, 1, true));
  Send(ARange(v1::PLATFORM, 0, kEnd, At(9), {}));
  const v1::Hello hello = applier_->MakeHello();
  EXPECT_EQ(hello.position().revision(), 5);
  EXPECT_EQ(hello.snapshot().type(), v1::PLATFORM);
  Send(AWelcome(v1::Welcome::SNAPSHOT, 1, true));
  for (const v1::RecordType type : {v1::FARM, v1::NODE, v1::STORE, v1::POOL}) {
    EXPECT_FALSE(Send(ARange(type, 0, kEnd, At(9), {})).close_stream);
  }
  EXPECT_TRUE(Send(ARange(v1::SITE, 3, kEnd, At(9), {})).close_stream);
  Send(ARange(v1::SITE, 0, 1, At(9), {}));
  Send(ARange(v1::SITE, 1, kEnd, At(9), {ASite(2, 2, "b")}));
  Send(ARange(v1::ACCOUNT, 0, kEnd, At(9), {}));
  const ApplyOutcome outcome = Send(ADelta(At(9), At(9), {}));
  EXPECT_EQ(outcome.ack->position().revision(), 9);
  EXPECT_EQ(SiteNamed("a"), std::nullopt);
  EXPECT_EQ(SiteNamed("b"), 2);
}

class VanishingTest : public FeedApplierTest {
 protected:
  VanishingTest() {
    std::vector<v1::Record> sites;
    for (std::int64_t uid = 1; uid <= 30; ++uid) {
      sites.push_back(ASite(uid, 2, "s" + std::to_string(uid)));
    }
    Load(At(5), sites);
  }
};

TEST_F(VanishingTest, AnotherHistoryThatTakesMostSitesIsRefused) {
  Load(At(3, 2), {ASite(1, 2, "s1")});
  EXPECT_TRUE(last_.close_stream);
  EXPECT_NE(last_.problem.find("29 of 30 sites would vanish"), std::string::npos) << last_.problem;
  EXPECT_EQ(SiteNamed("s30"), 30);
  EXPECT_EQ(writer_->position().epoch(), 1U);
}

TEST_F(VanishingTest, AnOperatorsWordIsGoodForOneHistoryAndNumber) {
  struct Case {
    std::uint64_t epoch;
    std::int64_t sites;
    bool accepted;
  };
  for (const Case& c : {Case{2, 28, false}, Case{1, 29, false}, Case{2, 29, true}}) {
    Load(At(3, 2), {ASite(1, 2, "s1")});
    ASSERT_TRUE(last_.vanishing.has_value());
    EXPECT_EQ(last_.vanishing->epoch(), 2U);
    EXPECT_EQ(last_.vanishing->sites(), 29);
    EXPECT_EQ(last_.vanishing->held(), 30);
    EXPECT_EQ(applier_->MakeHello().vanishing().sites(), 29);
    v1::ControlMessage welcome = AWelcome(v1::Welcome::SNAPSHOT, 2);
    welcome.mutable_welcome()->mutable_accepted_vanishing()->set_epoch(c.epoch);
    welcome.mutable_welcome()->mutable_accepted_vanishing()->set_sites(c.sites);
    Send(welcome);
    SendSnapshot(At(3, 2), {ASite(1, 2, "s1")});
    EXPECT_EQ(last_.close_stream, !c.accepted);
    EXPECT_EQ(last_.vanishing.has_value(), !c.accepted);
    EXPECT_EQ(SiteNamed("s30").has_value(), !c.accepted);
  }
  EXPECT_FALSE(applier_->MakeHello().has_vanishing());
}

TEST_F(VanishingTest, TheSameHistoryMayTakeAnything) {
  Load(At(9), {ASite(1, 2, "s1")}, true);
  EXPECT_FALSE(last_.close_stream);
  EXPECT_EQ(reader_->Count()->records, 1);
}

TEST_F(FeedApplierTest, AHugeDeltaCommitsInPartsAndSaysSoWhenItIsCutOff) {
  Load(At(5), {});
  options_.transaction_bytes_max = 10;
  applier_ = std::make_unique<FeedApplier>(*writer_, options_);
  applier_->MakeHello();
  Send(AWelcome(v1::Welcome::DELTA));
  EXPECT_TRUE(Send(ADelta(At(5), At(8), {ASite(1, 8, "a")}, 0, false)).committed);
  EXPECT_EQ(writer_->position().revision(), 5);
  EXPECT_EQ(applier_->MakeHello().partial_delta().revision(), 8);
  Send(AWelcome(v1::Welcome::DELTA));
  EXPECT_TRUE(Send(ADelta(At(5), At(7), {})).close_stream);
  EXPECT_FALSE(Send(ADelta(At(5), At(8), {ASite(1, 8, "a")})).close_stream);
  EXPECT_FALSE(applier_->MakeHello().has_partial_delta());
}

}  // namespace
}  // namespace croft::node::agent
