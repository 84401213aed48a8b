// A read-write transaction on PostgreSQL (read committed; rows that decide something are locked).
#pragma once

#include <string>
#include <vector>

#include "control/store/pg_connection.h"
#include "control/store/store.h"

namespace croft::control::store {

class PgTransaction final : public Transaction {
 public:
  // Draws the change id. `pool` must outlive it.
  static absl::StatusOr<std::unique_ptr<Transaction>> Begin(ConnectionPool& pool);
  PgTransaction(ConnectionPool& pool, ConnectionPool::Lease lease, std::int64_t change_id,
                std::chrono::system_clock::time_point time);
  ~PgTransaction() override;

  std::int64_t change_id() const override { return change_id_; }
  std::chrono::system_clock::time_point time() const override { return time_; }

  // ---- pg_transaction.cc
  absl::StatusOr<std::int64_t> NextUid(ResourceType type) override;
  absl::StatusOr<std::vector<std::int64_t>> NextUids(ResourceType type, int count) override;
  absl::StatusOr<std::optional<StoredResource>> FindForUpdate(std::string_view name) override;
  absl::StatusOr<std::optional<StoredResource>> Find(std::string_view name) override;
  absl::StatusOr<std::optional<StoredResource>> FindDeletedForUpdate(std::string_view name,
                                                                     std::int64_t uid) override;
  absl::StatusOr<std::vector<StoredResource>> FindStores(std::int64_t farm_uid) override;
  absl::StatusOr<std::vector<StoredResource>> FindMany(
      ResourceType type, const std::vector<std::string>& names) override;
  absl::Status Try(const std::function<absl::Status()>& work) override;
  absl::StatusOr<CommittedChange> Commit(const ChangeInfo& info) override;
  absl::Status CommitAnswer(const ChangeInfo& info) override;

  // ---- pg_writes.cc
  absl::Status Insert(const StoredResource& row) override;
  absl::Status Update(const StoredResource& row) override;
  absl::Status SetOwners(const StoredResource& row) override;
  absl::Status Delete(const StoredResource& row) override;
  absl::Status Undelete(const StoredResource& row) override;
  absl::StatusOr<std::vector<std::string>> InsertMany(
      const std::vector<StoredResource>& rows) override;

  // ---- pg_constraints.cc
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

  // ---- pg_operations.cc
  absl::Status InsertOperation(const StoredOperation& operation) override;
  absl::Status SaveOperation(const StoredOperation& operation) override;
  absl::Status AskToCancel(std::int64_t uid, std::string_view by) override;

 private:
  // Why a row could not be inserted: what it would share is another row's.
  absl::Status FindTaken(const StoredResource& row);
  // already_exists when a live row has the name, the identity or the home of a deleted one.
  absl::Status CheckFree(const StoredResource& row);
  // InsertMany's two ways: all of them, or already_exists; and those whose name is free, more
  // slowly.
  absl::Status CopyRows(const std::vector<StoredResource>& rows);
  // Of new rows, those that were inserted.
  absl::Status InsertTerms(const std::vector<StoredResource>& rows);
  absl::StatusOr<std::vector<std::string>> InsertFreeNames(const std::vector<StoredResource>& rows);
  absl::StatusOr<std::optional<StoredResource>> FindLocked(std::string_view name,
                                                           std::string_view lock);
  // `locked` has the uid of a row, or nothing.
  absl::StatusOr<std::optional<StoredResource>> ReadLocked(int type, const Rows& locked);
  // For a request that changed no resource.
  absl::Status KeepAnswer(const ChangeInfo& info);
  // After COMMIT lost its connection: what became of it.
  absl::StatusOr<CommittedChange> ResolveCommit(CommittedChange change, const absl::Status& lost);

  ConnectionPool& pool_;
  ConnectionPool::Lease connection_;
  const std::int64_t change_id_;
  const std::chrono::system_clock::time_point time_;
  bool open_ = true;
};

}  // namespace croft::control::store
