// What every write promises: request ids, counts, if_absent, allow_missing, labels.
#include <gmock/gmock.h>

#include <thread>

#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;

class WriteTest : public DomainTest {
 protected:
  absl::StatusOr<Written> CreateBob(const WriteOptions& options) {
    return resources_.Create(caller_, "farms/main", "bob", v1::Account(), options);
  }
  static constexpr char kBob[] = "farms/main/accounts/bob";
};

TEST_F(WriteTest, CountsWhatItDid) {
  const auto tried = CreateBob({.validate_only = true});
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(tried->counts.created(), 1);
  EXPECT_FALSE(Get<v1::Account>(kBob).ok());
  EXPECT_EQ(CreateBob({})->counts.created(), 1);
  v1::Account bob;
  bob.set_name(kBob);
  bob.set_state(v1::SUSPENDED);
  google::protobuf::FieldMask mask;
  mask.add_paths("state");
  EXPECT_EQ(resources_.Update(caller_, bob, mask, {})->counts.updated(), 1);
  EXPECT_EQ(resources_.Update(caller_, bob, mask, {})->counts.unchanged(), 1);
  EXPECT_EQ(resources_.Delete(caller_, ResourceType::kAccount, kBob, "", {})->counts.deleted(), 1);
}

TEST_F(WriteTest, ARequestIdIsAnsweredTheSameWay) {
  const WriteOptions options{.request_id = "r1", .request_fingerprint = "f1"};
  const auto first = CreateBob(options);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->repeated);
  ASSERT_TRUE(Delete(ResourceType::kAccount, kBob).ok());
  const auto revision = Revision();
  const auto again = CreateBob(options);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->counts.created(), 1);
  EXPECT_EQ(again->answer->ShortDebugString(), first->answer->ShortDebugString());
  EXPECT_EQ(Revision(), revision);
  const auto other = CreateBob({.request_id = "r1", .request_fingerprint = "f2"});
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonOf(other.status()), "REQUEST_ID_REUSED");
}

TEST_F(WriteTest, ARequestThatChangedNothingIsRememberedToo) {
  ASSERT_TRUE(CreateBob({}).ok());
  const WriteOptions options{.request_id = "r1", .request_fingerprint = "f1", .if_absent = true};
  const auto first = CreateBob(options);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->counts.unchanged(), 1);
  ASSERT_TRUE(Delete(ResourceType::kAccount, kBob).ok());
  const auto again = CreateBob(options);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->answer->ShortDebugString(), first->answer->ShortDebugString());
  EXPECT_FALSE(Get<v1::Account>(kBob).ok());
}

TEST_F(WriteTest, ConcurrentDuplicatesHaveOneEffectAndOneAnswer) {
  std::vector<std::string> answers(8);
  std::vector<std::thread> threads;
  for (std::string& answer : answers) {
    threads.emplace_back([&] {
      const auto written = CreateBob({.request_id = "r", .request_fingerprint = "f"});
      answer = written.ok() ? written->answer->ShortDebugString() : written.status().ToString();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& answer : answers) {
    EXPECT_EQ(answer, answers.front());
  }
  EXPECT_TRUE(Get<v1::Account>(kBob).ok());
}

TEST_F(WriteTest, CreateIfAbsentGivesBackWhatIsThere) {
  v1::Account bob;
  (*bob.mutable_labels())["k"] = "v";
  Create("farms/main", "bob", bob);
  const auto revision = Revision();
  const auto existing = CreateBob({.if_absent = true});
  ASSERT_TRUE(existing.ok()) << existing.status();
  EXPECT_EQ(static_cast<const v1::Account&>(*existing->answer).labels().at("k"), "v");
  EXPECT_EQ(Revision(), revision);
  EXPECT_EQ(ReasonOf(CreateBob({}).status()), "NAME_TAKEN");
}

TEST_F(WriteTest, DeleteMayAllowThatThereIsNone) {
  const auto gone =
      resources_.Delete(caller_, ResourceType::kAccount, kBob, "", {.allow_missing = true});
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_EQ(gone->answer->ByteSizeLong(), 0U);
  EXPECT_EQ(gone->counts.unchanged(), 1);
  EXPECT_TRUE(absl::IsNotFound(Delete(ResourceType::kAccount, kBob)));
}

TEST_F(WriteTest, LabelsAreSetOneByOneUnlessNamedAsAWhole) {
  v1::Account bob;
  (*bob.mutable_labels())["a"] = "1";
  Create("farms/main", "bob", bob);
  bob.set_name(kBob);
  bob.mutable_labels()->clear();
  (*bob.mutable_labels())["b"] = "2";
  ASSERT_TRUE(TryUpdate(bob).ok());
  EXPECT_EQ(Get<v1::Account>(kBob)->labels().size(), 2U);
  ASSERT_TRUE(TryUpdate(bob, {"labels.a"}).ok());
  EXPECT_FALSE(Get<v1::Account>(kBob)->labels().contains("a"));
  ASSERT_TRUE(TryUpdate(bob, {"labels"}).ok());
  EXPECT_EQ(Get<v1::Account>(kBob)->labels().size(), 1U);
  (*bob.mutable_labels())["Bad"] = "x";
  EXPECT_EQ(ReasonOf(TryUpdate(bob, {"labels"}).status()), "FIELD_INVALID");
}

TEST_F(WriteTest, RefusesRequestIdsAndReasonsNobodyCanRead) {
  EXPECT_TRUE(absl::IsInvalidArgument(CreateBob({.request_id = std::string(200, 'x')}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(CreateBob({.reason = "a\nb"}).status()));
}

}  // namespace
}  // namespace croft::control::domain
