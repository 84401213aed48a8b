// A transaction of FakeStore: works on a copy, notes what it did, and does it again on the current
// state at commit.
#pragma once

#include <set>

#include "tests/unit/control/store/fake_store.h"

namespace croft::control::store {

class FakeTransaction final : public Transaction {
 public:
  FakeTransaction(FakeStore& store, std::shared_ptr<const FakeStore::State> base,
                  std::int64_t change_id);

  std::int64_t change_id() const override { return change_id_; }
  std::chrono::system_clock::time_point time() const override { return time_; }
  absl::StatusOr<std::int64_t> NextUid(ResourceType type) override;
  absl::StatusOr<std::vector<std::int64_t>> NextUids(ResourceType type, int count) override;
  absl::StatusOr<std::optional<StoredResource>> FindForUpdate(std::string_view name) override;
  absl::StatusOr<std::optional<StoredResource>> Find(std::string_view name) override;
  absl::StatusOr<std::optional<StoredResource>> FindDeletedForUpdate(std::string_view name,
                                                                     std::int64_t uid) override;
  absl::StatusOr<std::vector<StoredResource>> FindStores(std::int64_t farm_uid) override;
  absl::StatusOr<std::vector<StoredResource>> FindMany(
      ResourceType type, const std::vector<std::string>& names) override;
  absl::Status Insert(const StoredResource& row) override;
  absl::Status Update(const StoredResource& row) override;
  absl::Status SetOwners(const StoredResource& row) override;
  absl::Status Delete(const StoredResource& row) override;
  absl::Status Undelete(const StoredResource& row) override;
  absl::StatusOr<std::vector<std::string>> InsertMany(
      const std::vector<StoredResource>& rows) override;
  absl::Status SetBindings(std::int64_t farm_uid, std::int64_t site_uid,
                           const std::vector<std::string>& encoded_keys) override;
  absl::StatusOr<std::int64_t> TakeHomeSlots(std::int64_t store_uid, std::int64_t count) override;
  absl::StatusOr<std::int64_t> UsedHomeSlots(std::int64_t store_uid) override;
  absl::StatusOr<std::uint32_t> TakeIdentity(std::int64_t farm_uid) override;
  absl::StatusOr<std::vector<std::string>> FindReferences(const StoredResource& row,
                                                          int limit) override;
  absl::Status SetReferences(const StoredResource& row,
                             const std::vector<std::string>& resource_names) override;
  absl::Status SetTokenHash(std::int64_t token_uid, std::int64_t operator_uid,
                            std::string_view hash) override;
  absl::Status Try(const std::function<absl::Status()>& work) override;
  absl::Status InsertOperation(const StoredOperation& operation) override;
  absl::Status SaveOperation(const StoredOperation& operation) override;
  absl::Status AskToCancel(std::int64_t uid, std::string_view by) override;
  absl::StatusOr<CommittedChange> Commit(const ChangeInfo& info) override;
  absl::Status CommitAnswer(const ChangeInfo& info) override;

 private:
  using State = FakeStore::State;
  using Step = std::function<absl::Status(State&)>;

  // Applies the step to the copy and, if that went well, notes it for the commit.
  absl::Status Do(Step step);
  // The state to publish: the copy, or the noted steps applied to what is current now.
  absl::StatusOr<State> Replay(const std::shared_ptr<const State>& current);
  StoredResource Stamped(const StoredResource& row, const StoredResource* previous) const;
  void Note(const StoredResource& row, std::string_view action);
  // What it did to each row it touched.
  std::vector<Version> Compare(const State& before, const State& after,
                               const FakeStore::LoggedChange& logged) const;

  FakeStore& store_;
  const std::shared_ptr<const State> base_;
  const std::int64_t change_id_;
  const std::chrono::system_clock::time_point time_;
  State copy_;
  std::vector<Step> steps_;
  std::set<FakeStore::RowKey> touched_;
  std::vector<v1::ChangedResource> log_;
  std::map<std::string, FakeStore::RowKey> read_;  // what it refers to, which must still be there
};

}  // namespace croft::control::store
