#include "node/replica/record_keys.h"

#include <algorithm>

#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "node/replica/replica_format.h"
#include "proto/base/error.h"
#include "proto/contract/binding_rules.h"

namespace croft::node::replica {
namespace {

// Of every resource message.
constexpr int kNameField = 1;

absl::Status AddBindings(const croft::v1::Site& site, std::vector<std::string>& keys) {
  for (const croft::v1::Binding& binding : site.bindings()) {
    const auto normal = contract::NormalizeBinding(binding);
    if (!normal.ok()) {
      return normal.status();
    }
    keys.push_back(contract::EncodeBindingKey(contract::MakeBindingKey(*normal)));
    if (keys.back().size() > kKeyBytesMax) {
      return Error(absl::StatusCode::kInvalidArgument, "binding {} is too long",
                   contract::FormatBinding(*normal));
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<google::protobuf::Message> NewRecordMessage(v1::RecordType type) {
  switch (type) {
    case v1::PLATFORM:
      return std::make_unique<croft::v1::Platform>();
    case v1::FARM:
      return std::make_unique<croft::v1::Farm>();
    case v1::NODE:
      return std::make_unique<croft::v1::Node>();
    case v1::STORE:
      return std::make_unique<croft::v1::FileStore>();
    case v1::POOL:
      return std::make_unique<croft::v1::ApplicationPool>();
    case v1::SITE:
      return std::make_unique<croft::v1::Site>();
    case v1::ACCOUNT:
      return std::make_unique<croft::v1::Account>();
    case v1::RECORD_TYPE_UNSPECIFIED:
    case v1::RecordType_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::RecordType_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return nullptr;
}

absl::StatusOr<RecordKeys> ReadRecordKeys(v1::RecordType type, std::string_view body) {
  const std::unique_ptr<google::protobuf::Message> message = NewRecordMessage(type);
  if (message == nullptr) {
    return Error(absl::StatusCode::kInvalidArgument, "unknown record type {}",
                 static_cast<int>(type));
  }
  if (!message->ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return Error(absl::StatusCode::kInvalidArgument, "the body is no {}", message->GetTypeName());
  }
  RecordKeys keys;
  keys.name = message->GetReflection()->GetString(
      *message, message->GetDescriptor()->FindFieldByNumber(kNameField));
  if (EncodeName(type, keys.name).size() > kKeyBytesMax) {
    return Error(absl::StatusCode::kInvalidArgument, "the name is longer than {} bytes",
                 kKeyBytesMax - 1);
  }
  if (type == v1::SITE) {
    const auto& site = static_cast<const croft::v1::Site&>(*message);
    if (const absl::Status status = AddBindings(site, keys.bindings); !status.ok()) {
      return status;
    }
  }
  return keys;
}

}  // namespace croft::node::replica
