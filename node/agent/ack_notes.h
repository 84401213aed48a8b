// What the next ack says about records: which were refused and which of the quarantined ones are
// well again. Only a record's last state counts. One thread.
#pragma once

#include <vector>

#include "croft/node/v1/feed.pb.h"
#include "node/replica/writer.h"

namespace croft::node::agent {

v1::RecordKey ToProto(const replica::Key& key);

class AckNotes {
 public:
  void Refused(const v1::RecordResult& result);
  void Released(const replica::Key& key);
  // An ack of `position` with what was noted since the last one.
  v1::Ack Take(const v1::Position& position);
  void Clear();

 private:
  // Forgets the record.
  void Drop(const replica::Key& key);

  std::vector<v1::RecordResult> refused_;
  std::vector<v1::RecordKey> released_;
};

}  // namespace croft::node::agent
