#include "node/agent/record_judge.h"

#include <google/protobuf/message.h>

#include <memory>

#include "croft/v1/account.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "node/replica/record_keys.h"
#include "proto/base/error.h"
#include "proto/contract/resource_name.h"
#include "proto/contract/validation.h"

namespace croft::node::agent {
namespace {

using google::protobuf::Message;

constexpr std::size_t kReasonBytesMax = 400;

std::unique_ptr<Message> ParseBody(v1::RecordType type, std::string_view body) {
  std::unique_ptr<Message> message = replica::NewRecordMessage(type);
  if (message != nullptr && !message->ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return nullptr;
  }
  return message;
}

std::string Shorten(std::string reason) {
  if (reason.size() > kReasonBytesMax) {
    reason.resize(kReasonBytesMax);
    reason += "...";
  }
  return reason;
}

bool IsIn(std::string_view path, std::string_view directory) {
  while (directory.size() > 1 && directory.back() == '/') {
    directory.remove_suffix(1);
  }
  return path.substr(0, directory.size()) == directory &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

// The name must be the type's canonical one; a uid, where the body has one, the record's.
std::optional<std::string> FindIdentityFault(const v1::Record& record, const Message& message) {
  const auto& type = *message.GetDescriptor();
  const auto& reflection = *message.GetReflection();
  const std::string name = reflection.GetString(message, type.FindFieldByName("name"));
  const auto parsed = contract::ParseResourceName(name, contract::TypeOf(message));
  if (!parsed.ok()) {
    return fmt::format("name: {}", std::string(parsed.status().message()));
  }
  if (contract::FormatResourceName(*parsed) != name) {
    return fmt::format("name: {} is not in canonical form", name);
  }
  const std::int64_t uid = reflection.GetInt64(message, type.FindFieldByName("uid"));
  if (uid != 0 && uid != record.uid()) {
    return fmt::format("uid: the body says {}, the record {}", uid, record.uid());
  }
  return std::nullopt;
}

// Takes `state` over from a message of the same type if it stops or suspends; false if it does not.
template <typename Resource, typename State>
bool TakeState(const Message& from, State stopped, Message& to) {
  if (static_cast<const Resource&>(from).state() != stopped) {
    return false;
  }
  static_cast<Resource&>(to).set_state(stopped);
  return true;
}

}  // namespace

std::optional<std::string> FindFault(const v1::Record& record, std::string_view own_directory) {
  if (record.deleted()) {
    return std::nullopt;
  }
  const std::unique_ptr<Message> message = ParseBody(record.type(), record.body());
  if (message == nullptr) {
    return fmt::format("the body of {} {} cannot be read", v1::RecordType_Name(record.type()),
                       record.uid());
  }
  if (auto fault = FindIdentityFault(record, *message)) {
    return Shorten(*std::move(fault));
  }
  const auto violations = contract::Validate(*message);
  if (!violations.empty()) {
    std::string reason =
        fmt::format("{}: {}", violations.front().field(), violations.front().description());
    if (violations.size() > 1) {
      reason += fmt::format(" (and {} more)", violations.size() - 1);
    }
    return Shorten(std::move(reason));
  }
  if (record.type() == v1::STORE && !own_directory.empty()) {
    const std::string& path = static_cast<const croft::v1::FileStore&>(*message).path();
    if (IsIn(path, own_directory)) {
      return Shorten(fmt::format("store.path: {} is where the node keeps its own files", path));
    }
  }
  if (const auto keys = replica::ReadRecordKeys(record.type(), record.body()); !keys.ok()) {
    return Shorten(std::string(keys.status().message()));
  }
  return std::nullopt;
}

std::optional<std::string> StoppedBody(const v1::Record& record, std::string_view last_good) {
  const std::unique_ptr<Message> bad = ParseBody(record.type(), record.body());
  const std::unique_ptr<Message> good = ParseBody(record.type(), last_good);
  if (bad == nullptr || good == nullptr) {
    return std::nullopt;
  }
  bool stops = false;
  if (record.type() == v1::SITE) {
    stops = TakeState<croft::v1::Site>(*bad, croft::v1::STOPPED, *good);
  } else if (record.type() == v1::POOL) {
    stops = TakeState<croft::v1::ApplicationPool>(*bad, croft::v1::STOPPED, *good);
  } else if (record.type() == v1::ACCOUNT) {
    stops = TakeState<croft::v1::Account>(*bad, croft::v1::SUSPENDED, *good);
  }
  return stops ? std::optional(good->SerializeAsString()) : std::nullopt;
}

}  // namespace croft::node::agent
