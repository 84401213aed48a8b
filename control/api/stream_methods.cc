#include "control/api/stream_methods.h"

#include <utility>

#include "proto/base/check.h"

namespace croft::control::api {

absl::StatusOr<Turn> StreamHandler::OnTurn(const domain::Caller&) {
  return Turn{.messages = {}, .last = true};
}

absl::StatusOr<Turn> StreamHandler::OnEnd(const domain::Caller&) {
  return Turn{.messages = {}, .last = true};
}

MessagePtr StreamMethod::MakeRequest() const {
  const auto* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor->input_type());
  return MessagePtr(prototype->New());
}

void StreamMethods::Add(const std::string& full_name, OpenHandler open) {
  const auto* descriptor = GetMethod(full_name);
  Check(descriptor->client_streaming() || descriptor->server_streaming(),
        "a method that streams nothing is in the streams' table");
  methods_[descriptor] = {.descriptor = descriptor, .open = std::move(open)};
}

const StreamMethod* StreamMethods::Find(
    const google::protobuf::MethodDescriptor* descriptor) const {
  const auto at = methods_.find(descriptor);
  return at == methods_.end() ? nullptr : &at->second;
}

}  // namespace croft::control::api
