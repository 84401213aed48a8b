// Messages from the loops to the agent, sent by the control link's thread. Thread-safe; events are
// bounded.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "croft/node/v1/channel.pb.h"
#include "proto/base/guarded.h"

namespace croft::node::listener {

class Outbox {
 public:
  // `wake` is called, from any thread, after a message was put in.
  explicit Outbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  void Put(v1::ListenerToAgent message);
  std::optional<v1::ListenerToAgent> Take();

  void AskStart(std::int64_t pool_uid);
  void TellDrained(std::uint64_t process_id);
  void TellServed(const v1::Position& position);
  void TellDamaged(const std::string& reason);

 private:
  static constexpr std::size_t kEventsMax = 1024;
  const std::function<void()> wake_;
  Guarded<std::deque<v1::ListenerToAgent>> messages_;
};

}  // namespace croft::node::listener
