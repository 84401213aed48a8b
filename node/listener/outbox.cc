#include "node/listener/outbox.h"

namespace croft::node::listener {

void Outbox::Put(v1::ListenerToAgent message) {
  {
    auto messages = messages_.Lock();
    if (messages->size() >= kEventsMax && message.has_event()) {
      return;  // everything else is bounded by pools, workers and replica changes
    }
    messages->push_back(std::move(message));
  }
  wake_();
}

std::optional<v1::ListenerToAgent> Outbox::Take() {
  auto messages = messages_.Lock();
  if (messages->empty()) {
    return std::nullopt;
  }
  v1::ListenerToAgent first = std::move(messages->front());
  messages->pop_front();
  return first;
}

void Outbox::AskStart(std::int64_t pool_uid) {
  v1::ListenerToAgent message;
  message.mutable_start_pool()->set_pool_uid(pool_uid);
  Put(std::move(message));
}

void Outbox::TellDrained(std::uint64_t process_id) {
  v1::ListenerToAgent message;
  message.mutable_drained()->set_process_id(process_id);
  Put(std::move(message));
}

void Outbox::TellServed(const v1::Position& position) {
  v1::ListenerToAgent message;
  *message.mutable_served()->mutable_position() = position;
  Put(std::move(message));
}

void Outbox::TellDamaged(const std::string& reason) {
  v1::ListenerToAgent message;
  message.mutable_damaged()->set_reason(reason);
  Put(std::move(message));
}

}  // namespace croft::node::listener
