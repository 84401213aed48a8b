// Create, get, list, update, delete and undelete of every resource type, once: which type and which
// verb is read from a method's descriptor.
#pragma once

#include <google/protobuf/descriptor.h>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "control/api/methods.h"
#include "control/domain/resources.h"
#include "proto/contract/resource_name.h"

namespace croft::control::api {

enum class Verb { kCreate, kGet, kList, kUpdate, kDelete, kUndelete };

struct StandardMethod {
  Verb verb = Verb::kGet;
  contract::ResourceType type = contract::ResourceType::kPlatform;
};

// nullopt for a method with a use case of its own.
std::optional<StandardMethod> FindStandardMethod(
    const google::protobuf::MethodDescriptor& descriptor);

// Fills in what is not stored with a resource, on its way out of get and list.
using Decorate = std::function<absl::Status(std::span<const MessagePtr>)>;
using Decorators = std::map<contract::ResourceType, Decorate>;

// Adds every standard method of the service. `resources` must outlive the table.
void AddStandardMethods(const google::protobuf::ServiceDescriptor& service,
                        domain::Resources& resources, const Decorators& decorators,
                        Methods& methods);

// Hash of a request, the same for equal messages whatever bytes they came as.
std::string Fingerprint(const google::protobuf::Message& request);

}  // namespace croft::control::api
