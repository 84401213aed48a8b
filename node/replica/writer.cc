#include "node/replica/writer.h"

#include <utility>

#include "node/replica/generations.h"
#include "node/replica/write_transaction.h"
#include "proto/base/error.h"

namespace croft::node::replica {
namespace {

absl::Status DamagedMeta(const Environment& environment) {
  return Error(absl::StatusCode::kDataLoss, "replica {}: unreadable meta table",
               environment.directory());
}

template <typename Message>
absl::StatusOr<std::optional<Message>> ReadMeta(const Environment& environment,
                                                const ReadTransaction& transaction,
                                                std::string_view key) {
  const auto payload = environment.Get(transaction.get(), environment.meta(), key);
  if (!payload.ok()) {
    return payload.status();
  }
  if (!payload->has_value()) {
    return std::nullopt;
  }
  Message message;
  if (!message.ParseFromString(**payload)) {
    return DamagedMeta(environment);
  }
  return message;
}

absl::StatusOr<std::map<Key, v1::RecordResult>> ReadQuarantine(const Environment& environment,
                                                               const ReadTransaction& transaction) {
  auto cursor = Cursor::Open(transaction.get(), environment.meta());
  if (!cursor.ok()) {
    return cursor.status();
  }
  std::map<Key, v1::RecordResult> quarantine;
  int code = cursor->Seek(kQuarantinePrefix);
  for (; code == MDB_SUCCESS; code = cursor->Next()) {
    if (cursor->key().substr(0, kQuarantinePrefix.size()) != kQuarantinePrefix) {
      break;
    }
    const auto payload = Unseal(cursor->key(), cursor->value());
    v1::RecordResult result;
    if (!payload || !result.ParseFromArray(payload->data(), static_cast<int>(payload->size()))) {
      return DamagedMeta(environment);
    }
    quarantine[Key{result.type(), result.uid()}] = result;
  }
  if (code != MDB_SUCCESS && code != MDB_NOTFOUND) {
    return LmdbError(code, "walk replica", environment.directory());
  }
  return quarantine;
}

absl::StatusOr<ReplicaMeta> ReadWholeMeta(Environment& environment) {
  const auto transaction = ReadTransaction::Begin(environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  auto position = ReadMeta<v1::Position>(environment, *transaction, kPositionKey);
  auto snapshot = ReadMeta<v1::SnapshotRange>(environment, *transaction, kSnapshotKey);
  auto partial = ReadMeta<v1::Position>(environment, *transaction, kPartialKey);
  auto quarantine = ReadQuarantine(environment, *transaction);
  for (const absl::Status& status :
       {position.status(), snapshot.status(), partial.status(), quarantine.status()}) {
    if (!status.ok()) {
      return status;
    }
  }
  ReplicaMeta meta;
  meta.position = position->value_or(v1::Position());
  meta.snapshot = *std::move(snapshot);
  meta.partial = *std::move(partial);
  meta.quarantine = *std::move(quarantine);
  return meta;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Writer>> Writer::Open(const std::string& directory,
                                                     WriterOptions options) {
  auto environment =
      Environment::Open(directory, options.sync ? Access::kWrite : Access::kWriteUnsynced);
  if (!environment.ok()) {
    return environment.status();
  }
  auto meta = ReadWholeMeta(**environment);
  if (!meta.ok()) {
    return meta.status();
  }
  auto state = std::make_unique<State>();
  state->environment = *std::move(environment);
  state->meta = *std::move(meta);
  return std::unique_ptr<Writer>(new Writer(std::move(state)));
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Writer::~Writer() {
  const std::string directory = state_->environment->directory();
  state_.reset();
  MarkClosed(directory);
}

const v1::Position& Writer::position() const { return state_->meta.position; }

std::optional<v1::SnapshotRange> Writer::unfinished_snapshot() const {
  return state_->meta.snapshot;
}

std::optional<v1::Position> Writer::partial_delta() const { return state_->meta.partial; }

std::vector<v1::RecordResult> Writer::quarantine() const {
  std::vector<v1::RecordResult> all;
  for (const auto& [key, result] : state_->meta.quarantine) {
    all.push_back(result);
  }
  return all;
}

absl::StatusOr<std::unique_ptr<Writer::Transaction>> Writer::Begin() {
  auto transaction = WriteTransaction::Begin(*state_);
  if (!transaction.ok()) {
    return transaction.status();
  }
  return std::unique_ptr<Transaction>(*std::move(transaction));
}

}  // namespace croft::node::replica
