#include "node/replica/reader.h"

#include "node/replica/environment.h"
#include "proto/base/error.h"

namespace croft::node::replica {
namespace {

constexpr std::size_t kEndpointBytes = 18;  // port and address, the head of a binding's key

absl::StatusOr<std::optional<Reader::Found>> FindIn(const Environment& environment,
                                                    const ReadTransaction& transaction, Key key) {
  auto payload = environment.Get(transaction.get(), environment.records(), EncodeKey(key));
  if (!payload.ok()) {
    return payload.status();
  }
  if (!payload->has_value()) {
    return std::nullopt;
  }
  std::string& bytes = **payload;
  if (bytes.size() < 8) {
    return Error(absl::StatusCode::kDataLoss, "replica {}: short record", environment.directory());
  }
  Reader::Found found{.uid = key.uid, .revision = DecodeInt(bytes), .body = {}};
  found.body = std::move(bytes);
  found.body.erase(0, 8);
  return found;
}

absl::StatusOr<std::optional<std::int64_t>> FindUidIn(const Environment& environment,
                                                      const ReadTransaction& transaction,
                                                      MDB_dbi table, std::string_view key) {
  const auto payload = environment.Get(transaction.get(), table, key);
  if (!payload.ok()) {
    return payload.status();
  }
  if (!payload->has_value() || (*payload)->size() != 8) {
    return std::nullopt;
  }
  return DecodeInt(**payload);
}

// The smallest key after every key that begins with `prefix`; empty if there is none.
std::string AfterPrefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xFF) {
    prefix.pop_back();
  }
  if (!prefix.empty()) {
    prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  }
  return prefix;
}

}  // namespace

struct Reader::Environment {
  std::shared_ptr<replica::Environment> shared;
};

Reader::Reader(std::unique_ptr<Environment> environment) : environment_(std::move(environment)) {}
Reader::~Reader() = default;

absl::StatusOr<std::unique_ptr<Reader>> Reader::Open(const std::string& directory) {
  auto shared = replica::Environment::Open(directory, Access::kRead);
  if (!shared.ok()) {
    return shared.status();
  }
  auto environment = std::make_unique<Environment>();
  environment->shared = *std::move(shared);
  return std::unique_ptr<Reader>(new Reader(std::move(environment)));
}

absl::StatusOr<v1::Position> Reader::GetPosition() const {
  replica::Environment& environment = *environment_->shared;
  const auto transaction = ReadTransaction::Begin(environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  const auto payload = environment.Get(transaction->get(), environment.meta(), kPositionKey);
  if (!payload.ok()) {
    return payload.status();
  }
  v1::Position position;
  if (payload->has_value() && !position.ParseFromString(**payload)) {
    return Error(absl::StatusCode::kDataLoss, "replica {}: unreadable position",
                 environment.directory());
  }
  return position;
}

absl::StatusOr<std::optional<Reader::Found>> Reader::FindRecord(Key key) const {
  replica::Environment& environment = *environment_->shared;
  const auto transaction = ReadTransaction::Begin(environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  return FindIn(environment, *transaction, key);
}

absl::StatusOr<std::optional<std::int64_t>> Reader::FindUid(v1::RecordType type,
                                                            std::string_view name) const {
  replica::Environment& environment = *environment_->shared;
  const auto transaction = ReadTransaction::Begin(environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  return FindUidIn(environment, *transaction, environment.names(), EncodeName(type, name));
}

absl::StatusOr<std::optional<std::int64_t>> Reader::FindBinding(
    std::string_view encoded_key) const {
  replica::Environment& environment = *environment_->shared;
  const auto transaction = ReadTransaction::Begin(environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  return FindUidIn(environment, *transaction, environment.bindings(), encoded_key);
}

absl::StatusOr<std::optional<Reader::Found>> Reader::FindRecordByName(v1::RecordType type,
                                                                      std::string_view name) const {
  replica::Environment& environment = *environment_->shared;
  const auto transaction = ReadTransaction::Begin(environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  const auto uid =
      FindUidIn(environment, *transaction, environment.names(), EncodeName(type, name));
  if (!uid.ok()) {
    return uid.status();
  }
  if (!uid->has_value()) {
    return std::nullopt;
  }
  return FindIn(environment, *transaction, Key{type, **uid});
}

absl::Status Reader::ForEach(
    v1::RecordType type,
    const std::function<bool(std::int64_t uid, const Found& record)>& visit) const {
  replica::Environment& environment = *environment_->shared;
  const auto transaction = ReadTransaction::Begin(environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  auto cursor = Cursor::Open(transaction->get(), environment.records());
  if (!cursor.ok()) {
    return cursor.status();
  }
  int code = cursor->Seek(EncodeKey(Key{type, 0}));
  for (; code == MDB_SUCCESS; code = cursor->Next()) {
    const std::optional<Key> key = DecodeKey(cursor->key());
    const std::optional<std::string_view> payload = Unseal(cursor->key(), cursor->value());
    if (!key || !payload || payload->size() < 8) {
      return Error(absl::StatusCode::kDataLoss, "replica {}: wrong checksum",
                   environment.directory());
    }
    if (key->type != type || !visit(key->uid, Found{.uid = key->uid,
                                                    .revision = DecodeInt(*payload),
                                                    .body = std::string(payload->substr(8))})) {
      return absl::OkStatus();
    }
  }
  return code == MDB_NOTFOUND ? absl::OkStatus()
                              : LmdbError(code, "walk replica", environment.directory());
}

absl::StatusOr<std::vector<std::string>> Reader::ListEndpoints() const {
  replica::Environment& environment = *environment_->shared;
  const auto transaction = ReadTransaction::Begin(environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  auto cursor = Cursor::Open(transaction->get(), environment.bindings());
  if (!cursor.ok()) {
    return cursor.status();
  }
  std::vector<std::string> endpoints;
  int code = cursor->Seek({});
  while (code == MDB_SUCCESS) {
    endpoints.emplace_back(cursor->key().substr(0, kEndpointBytes));
    const std::string next = AfterPrefix(endpoints.back());
    if (next.empty()) {
      return endpoints;
    }
    code = cursor->Seek(next);
  }
  if (code != MDB_NOTFOUND) {
    return LmdbError(code, "walk replica", environment.directory());
  }
  return endpoints;
}

absl::StatusOr<Reader::Counts> Reader::Count() const {
  replica::Environment& environment = *environment_->shared;
  const auto transaction = ReadTransaction::Begin(environment);
  if (!transaction.ok()) {
    return transaction.status();
  }
  Counts counts;
  for (const auto& [table, count] : {std::pair{environment.records(), &counts.records},
                                     std::pair{environment.names(), &counts.names},
                                     std::pair{environment.bindings(), &counts.bindings}}) {
    MDB_stat stat{};
    if (const int code = mdb_stat(transaction->get(), table, &stat); code != MDB_SUCCESS) {
      return LmdbError(code, "count in replica", environment.directory());
    }
    *count = static_cast<std::int64_t>(stat.ms_entries);
  }
  return counts;
}

}  // namespace croft::node::replica
