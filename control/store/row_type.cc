#include "control/store/row_type.h"

namespace croft::control::store {

using contract::ResourceType;

int TypeNumber(ResourceType type) {
  switch (type) {
    case ResourceType::kPlatform:
      return node::v1::PLATFORM;
    case ResourceType::kFarm:
      return node::v1::FARM;
    case ResourceType::kNode:
      return node::v1::NODE;
    case ResourceType::kStore:
      return node::v1::STORE;
    case ResourceType::kPool:
      return node::v1::POOL;
    case ResourceType::kSite:
      return node::v1::SITE;
    case ResourceType::kAccount:
      return node::v1::ACCOUNT;
    case ResourceType::kOrganization:
      return 101;
    case ResourceType::kOperator:
      return 102;
    case ResourceType::kToken:
      return 103;
  }
  return 0;
}

std::optional<ResourceType> TypeOfNumber(int number) {
  for (const contract::ResourceTypeFacts& facts : contract::AllResourceTypes()) {
    if (TypeNumber(facts.type) == number) {
      return facts.type;
    }
  }
  return std::nullopt;
}

node::v1::RecordType RecordTypeOf(ResourceType type) {
  const int number = TypeNumber(type);
  return node::v1::RecordType_IsValid(number) ? static_cast<node::v1::RecordType>(number)
                                              : node::v1::RECORD_TYPE_UNSPECIFIED;
}

}  // namespace croft::control::store
