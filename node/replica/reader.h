// Reads a replica that another process writes. Any thread, one short transaction per call. A record
// whose checksum is wrong is reported as data_loss, and the caller tells the agent.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "croft/node/v1/feed.pb.h"
#include "node/replica/replica_format.h"

namespace croft::node::replica {

class Reader {
 public:
  // Opens the generation in `directory` (what Generations::Current() named) read only.
  static absl::StatusOr<std::unique_ptr<Reader>> Open(const std::string& directory);
  ~Reader();

  absl::StatusOr<v1::Position> GetPosition() const;
  // nullopt: not there. Parses nothing: `body` are the serialised croft.v1 message's bytes.
  struct Found {
    // The record's; the body need not have it.
    std::int64_t uid = 0;
    std::int64_t revision = 0;
    std::string body;
  };
  absl::StatusOr<std::optional<Found>> FindRecord(Key key) const;
  absl::StatusOr<std::optional<std::int64_t>> FindUid(v1::RecordType type,
                                                      std::string_view name) const;
  absl::StatusOr<std::optional<std::int64_t>> FindBinding(std::string_view encoded_key) const;
  // As FindUid then FindRecord, in one transaction (the request path of an account).
  absl::StatusOr<std::optional<Found>> FindRecordByName(v1::RecordType type,
                                                        std::string_view name) const;
  // All records of a type in uid order; `visit` returns false to stop. For agent start and tests,
  // not for the request path.
  absl::Status ForEach(
      v1::RecordType type,
      const std::function<bool(std::int64_t uid, const Found& record)>& visit) const;
  // The distinct (port, ip) prefixes of all bindings: what a node must listen on. Cost: one seek
  // per prefix.
  absl::StatusOr<std::vector<std::string>> ListEndpoints() const;

  struct Counts {
    std::int64_t records = 0, names = 0, bindings = 0;
  };
  absl::StatusOr<Counts> Count() const;

 private:
  struct Environment;
  explicit Reader(std::unique_ptr<Environment> environment);
  std::unique_ptr<Environment> environment_;
};

}  // namespace croft::node::replica
