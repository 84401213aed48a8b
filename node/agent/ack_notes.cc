#include "node/agent/ack_notes.h"

#include <utility>

namespace croft::node::agent {

v1::RecordKey ToProto(const replica::Key& key) {
  v1::RecordKey proto;
  proto.set_type(key.type);
  proto.set_uid(key.uid);
  return proto;
}

void AckNotes::Drop(const replica::Key& key) {
  const auto is_it = [&](const auto& noted) {
    return noted.type() == key.type && noted.uid() == key.uid;
  };
  std::erase_if(refused_, is_it);
  std::erase_if(released_, is_it);
}

void AckNotes::Refused(const v1::RecordResult& result) {
  Drop({result.type(), result.uid()});
  refused_.push_back(result);
}

void AckNotes::Released(const replica::Key& key) {
  Drop(key);
  released_.push_back(ToProto(key));
}

v1::Ack AckNotes::Take(const v1::Position& position) {
  v1::Ack ack;
  *ack.mutable_position() = position;
  for (v1::RecordResult& result : refused_) {
    *ack.add_refused() = std::move(result);
  }
  for (v1::RecordKey& key : released_) {
    *ack.add_released() = std::move(key);
  }
  Clear();
  return ack;
}

void AckNotes::Clear() {
  refused_.clear();
  released_.clear();
}

}  // namespace croft::node::agent
