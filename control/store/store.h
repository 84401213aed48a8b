// The only place where truth lives, as the rest of control sees it. Blocking; thread-safe;
// implemented on PostgreSQL (pg_store) and in memory for tests
// (tests/unit/control/store/fake_store). Errors: unavailable (database away), aborted
// (serialisation; retried inside first), already_exists (a unique constraint, detail names the
// holder), not_found, failed_precondition.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/store/change.h"
#include "control/store/counter_history.h"
#include "control/store/node_marks.h"
#include "control/store/queries.h"
#include "control/store/stored_operation.h"
#include "croft/node/v1/feed.pb.h"
#include "croft/v1/change.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/report.pb.h"
#include "croft/v1/resource.pb.h"
#include "proto/contract/resource_name.h"

namespace croft::control::store {

// How long a deleted resource can be undeleted, then it is purged.
inline constexpr std::chrono::hours kKeepDeleted{24 * 30};

// A row of a resource table. `body` is the serialised message without its output-only fields.
struct StoredResource {
  ResourceType type = ResourceType::kPlatform;
  std::int64_t uid = 0;
  std::string name;           // full resource name, canonical
  std::int64_t farm_uid = 0;  // 0: not a farm's
  std::int64_t organization_uid =
      0;                     // the owner; 0 only for the platform and the root organization
  std::string organization;  // its name (read side)
  std::int64_t store_uid =
      0;  // an account's home store, which can't be deleted under it; 0 for other types
  std::string home_path = {};  // an account's, unique in its store (write side); "" for other types
  std::uint32_t identity = 0;  // a pool's, unique in its farm; 0 for other types
  std::string body;
  std::string owners = {};  // a message of the type with its field_owners alone; not in the feed
  std::vector<std::string> terms;                 // contract::IndexTerms of it (write side)
  std::int64_t revision = 0;                      // of the last change (read side)
  std::int64_t change_id = 0;                     // the version: etag
  std::chrono::system_clock::time_point created;  // read side
  std::chrono::system_clock::time_point updated;  // of a deleted row: its deletion
  bool deleted = false;
};

// A token that is there, with the operator whose it is.
struct OperatorSession {
  StoredResource token_row;
  StoredResource operator_row;
};

// One read-write transaction. Everything written is stamped with one change id; Commit's last
// statement gives the revision. A transaction that is destroyed uncommitted leaves no trace. One
// thread.
class Transaction {
 public:
  virtual ~Transaction() = default;

  // The change id drawn by this transaction.
  virtual std::int64_t change_id() const = 0;
  // The transaction's time: the change's, and `created` and `updated` of what it writes.
  virtual std::chrono::system_clock::time_point time() const = 0;
  virtual absl::StatusOr<std::int64_t> NextUid(ResourceType type) = 0;
  virtual absl::StatusOr<std::vector<std::int64_t>> NextUids(ResourceType type, int count) = 0;
  // Reads a live row and locks it until the end.
  virtual absl::StatusOr<std::optional<StoredResource>> FindForUpdate(std::string_view name) = 0;
  // Reads a live row that this transaction will refer to: it can't be deleted until the end.
  virtual absl::StatusOr<std::optional<StoredResource>> Find(std::string_view name) = 0;
  // The live rows among these names, of one type, in no order; locks nothing.
  virtual absl::StatusOr<std::vector<StoredResource>> FindMany(
      ResourceType type, const std::vector<std::string>& names) = 0;
  // The farm's live stores by name, this transaction's own included; locks nothing.
  virtual absl::StatusOr<std::vector<StoredResource>> FindStores(std::int64_t farm_uid) = 0;
  // The deleted row of that name and uid (0: the one that was deleted last), locked until the end.
  virtual absl::StatusOr<std::optional<StoredResource>> FindDeletedForUpdate(std::string_view name,
                                                                             std::int64_t uid) = 0;
  // already_exists when the name is taken, or the home is another account's (detail reason
  // HOME_TAKEN, resource = the holder's name).
  virtual absl::Status Insert(const StoredResource& row) = 0;
  // Keeps the previous body in history.
  virtual absl::Status Update(const StoredResource& row) = 0;
  // Writes the row's owners alone, which is no change: CommitAnswer keeps it too.
  virtual absl::Status SetOwners(const StoredResource& row) = 0;
  // Leaves a tombstone, with the body, and frees the name. Its bindings and references go.
  virtual absl::Status Delete(const StoredResource& row) = 0;
  // Makes a deleted row a live one again. already_exists when its name, identity or home is taken.
  virtual absl::Status Undelete(const StoredResource& row) = 0;
  // Many new rows of one type in one statement; returns the names that were taken (and not
  // inserted).
  virtual absl::StatusOr<std::vector<std::string>> InsertMany(
      const std::vector<StoredResource>& rows) = 0;
  // Replaces the site's keys. already_exists with detail reason BINDING_TAKEN, resource = the
  // holder's name, when another site has one.
  virtual absl::Status SetBindings(std::int64_t farm_uid, std::int64_t site_uid,
                                   const std::vector<std::string>& encoded_keys) = 0;
  // Draws `count` consecutive home slots of a store; returns the first.
  virtual absl::StatusOr<std::int64_t> TakeHomeSlots(std::int64_t store_uid,
                                                     std::int64_t count) = 0;
  // How many were drawn so far.
  virtual absl::StatusOr<std::int64_t> UsedHomeSlots(std::int64_t store_uid) = 0;
  // Draws the smallest identity not used by a live pool of the farm.
  virtual absl::StatusOr<std::uint32_t> TakeIdentity(std::int64_t farm_uid) = 0;
  // Names of live resources that refer to this one (sites using a pool, accounts in a store, ...),
  // at most `limit`.
  virtual absl::StatusOr<std::vector<std::string>> FindReferences(const StoredResource& row,
                                                                  int limit) = 0;
  // Records which resources this one refers to, for FindReferences; replaces the previous set.
  virtual absl::Status SetReferences(const StoredResource& row,
                                     const std::vector<std::string>& resource_names) = 0;
  // The hash by which FindOperatorToken knows the token from now on; it goes when the token is
  // deleted. already_exists when another token has it.
  virtual absl::Status SetTokenHash(std::int64_t token_uid, std::int64_t operator_uid,
                                    std::string_view hash) = 0;
  // What `work` wrote is undone where it fails; the transaction goes on. `work` may not nest
  // another.
  virtual absl::Status Try(const std::function<absl::Status()>& work) = 0;
  virtual absl::Status InsertOperation(const StoredOperation& operation) = 0;
  // How far it is now. A conflict when it has ended, or another instance has taken it up.
  virtual absl::Status SaveOperation(const StoredOperation& operation) = 0;
  // `by`: who, and why. Only the first counts, and none once it has ended.
  virtual absl::Status AskToCancel(std::int64_t uid, std::string_view by) = 0;
  // The change row (revision, tag, who, ...), then COMMIT and NOTIFY. unknown when the outcome is
  // in doubt: look the request id up.
  virtual absl::StatusOr<CommittedChange> Commit(const ChangeInfo& info) = 0;
  // Ends a transaction that wrote no resource: what is kept is the answer to its request id, if it
  // has one, owners, and an operation's state.
  virtual absl::Status CommitAnswer(const ChangeInfo& info) = 0;
};

enum class VersionAction { kCreate, kUpdate, kDelete, kUndelete };

// What one change did to one resource.
struct Version {
  VersionAction action = VersionAction::kCreate;
  v1::Change change;  // without its resources
  LogPosition place;  // the log goes on after it
  // As the change left it; `deleted` after a deletion, then with the body it had. What has been
  // purged since has no owner (organization_uid 0).
  StoredResource row;
  // As it was before; nullopt where it was not there.
  std::optional<StoredResource> before;
};

struct LogPage {
  std::vector<Version> versions;
  LogPosition next;  // where to go on; unchanged when there is nothing new
};

struct HistoryPage {
  std::vector<Version> versions;
  HistoryPosition next;
};

class Store {
 public:
  virtual ~Store() = default;

  // ---- resources
  virtual absl::StatusOr<std::unique_ptr<Transaction>> Begin() = 0;
  virtual absl::StatusOr<std::optional<StoredResource>> Find(std::string_view name) = 0;
  // The one of that name which was deleted last.
  virtual absl::StatusOr<std::optional<StoredResource>> FindDeleted(std::string_view name) = 0;
  virtual absl::StatusOr<std::optional<StoredResource>> FindByUid(ResourceType type,
                                                                  std::int64_t uid) = 0;
  virtual absl::StatusOr<std::vector<StoredResource>> List(const ListQuery& query) = 0;
  virtual absl::StatusOr<std::optional<std::int64_t>> FindBinding(std::int64_t farm_uid,
                                                                  std::string_view encoded_key) = 0;
  virtual absl::StatusOr<std::optional<KnownRequest>> FindRequest(std::string_view who,
                                                                  std::string_view request_id) = 0;
  // Each with its first 100 resources, and how many there are.
  virtual absl::StatusOr<std::vector<v1::Change>> ListChanges(const ChangeQuery& query) = 0;
  // What changes did, in the order in which they did it, up to a revision (0: the newest). May be
  // short of `limit` before the end.
  virtual absl::StatusOr<LogPage> ListLog(const LogPosition& after, std::int64_t last_revision,
                                          int limit) = 0;
  // Versions of the resources that have, or had, the name, newest first; several of one name follow
  // each other, the one that changed last first. Found also when deleted and purged.
  virtual absl::StatusOr<HistoryPage> ListHistory(std::string_view name,
                                                  const HistoryPosition& from, int limit) = 0;
  // What a resource that changed after the revision was then; nullopt where it was not there.
  virtual absl::StatusOr<std::optional<StoredResource>> FindAsOf(ResourceType type,
                                                                 std::int64_t uid,
                                                                 std::int64_t revision) = 0;
  // The live resources of a type that the change with this revision wrote, as they are now; at most
  // `limit`.
  virtual absl::StatusOr<std::vector<StoredResource>> ListWritten(std::int64_t revision,
                                                                  ResourceType type, int limit) = 0;

  // ---- operations
  virtual absl::StatusOr<std::optional<StoredOperation>> FindOperation(std::int64_t uid) = 0;
  virtual absl::StatusOr<std::vector<StoredOperation>> ListOperations(
      const OperationQuery& query) = 0;
  // Takes up the one under way that has waited longest and that no other living instance has taken
  // up; it may be this instance's already.
  virtual absl::StatusOr<std::optional<StoredOperation>> ClaimOperation() = 0;

  // ---- feed
  virtual absl::StatusOr<FeedHead> GetHead() = 0;
  // Whether this database's history has that (epoch, revision, tag).
  virtual absl::StatusOr<bool> KnowsPosition(const node::v1::Position& position) = 0;
  // Calls `emit` with every record that concerns the farm (its members, the farm itself, the
  // platform) and whose revision is above `since`, deleted ones included, in one repeatable-read
  // transaction, ordered by (type, uid); returns the position of that transaction. out_of_range
  // when since is above 0 and below the compaction floor: some tombstones are gone.
  virtual absl::StatusOr<node::v1::Position> ReadDelta(
      std::int64_t farm_uid, std::int64_t since_revision,
      const std::function<void(node::v1::Record)>& emit) = 0;
  // Up to `limit` live records of the type with uid > after, ascending: a chunk of a snapshot.
  virtual absl::StatusOr<std::vector<node::v1::Record>> ReadSnapshotChunk(std::int64_t farm_uid,
                                                                          node::v1::RecordType type,
                                                                          std::int64_t after_uid,
                                                                          int limit) = 0;
  // Purges what was deleted before the time and raises the floor to the newest of it. Changes and
  // history stay: they are the audit. Answers to requests, join tokens, events and operations that
  // have ended go at their time.
  virtual absl::Status Compact(std::chrono::system_clock::time_point deleted_before) = 0;
  // Blocks up to `timeout` for a NOTIFY of a change or of marks; true if one came, or may have been
  // missed. One caller.
  virtual absl::StatusOr<bool> WaitForNotify(std::chrono::milliseconds timeout) = 0;

  // ---- nodes
  virtual absl::Status WriteMarks(const std::vector<NodeMarks>& marks) = 0;
  virtual absl::StatusOr<std::vector<NodeMarks>> ReadMarks(std::int64_t farm_uid) = 0;  // 0: all
  // Keeps an operator's word with the node's marks; not_found if it has none.
  virtual absl::Status AcceptVanishing(std::int64_t node_uid,
                                       const v1::VanishingSites& accepted) = 0;

  // ---- identity. Hashes only; never the token itself.
  virtual absl::Status InsertJoinToken(std::string_view hash, std::string_view node,
                                       std::chrono::system_clock::time_point expires) = 0;
  // Takes the token out of use and returns its node's name; not_found if unknown, expired or used.
  virtual absl::StatusOr<std::string> TakeJoinToken(std::string_view hash,
                                                    std::chrono::system_clock::time_point now) = 0;
  // nullopt when there is no such token, or its operator is deleted.
  virtual absl::StatusOr<std::optional<OperatorSession>> FindOperatorToken(
      std::string_view hash) = 0;
  // Hashes of administrators' tokens from before tokens were resources. SetTokenHash takes one
  // over.
  virtual absl::StatusOr<std::vector<std::string>> ListUnclaimedTokens() = 0;
  // Encrypted blobs (the CA key and certificate) by key. PutSecret keeps an existing value (first
  // start of several instances) and returns it.
  virtual absl::StatusOr<std::string> PutSecretIfAbsent(std::string_view key,
                                                        std::string_view value) = 0;

  // ---- events
  virtual absl::Status InsertEvents(const std::vector<v1::Event>& events) = 0;
  virtual absl::StatusOr<std::vector<v1::Event>> ListEvents(const EventQuery& query) = 0;

  // ---- counter history
  virtual absl::Status WriteCounters(const CounterStep& step) = 0;
  // Ascending; only steps in which a node was heard from (that node, or one of the farm).
  virtual absl::StatusOr<std::vector<HistoryPoint>> ReadCounterHistory(
      const HistoryQuery& query) = 0;
  // One bounded round of making longer steps and of dropping what is older than it is kept. True
  // when there is more to do.
  virtual absl::StatusOr<bool> TendCounterHistory(std::int64_t now,
                                                  const HistoryRetention& retention) = 0;
};

}  // namespace croft::control::store
