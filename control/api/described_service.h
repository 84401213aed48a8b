// A gRPC service made from its .proto descriptor: each unary method is served from the methods
// table, each stream by its opener. So a method is written once, and gRPC's reflection and every
// other server of the API see the same list.
#pragma once

#include <google/protobuf/descriptor.h>

#include <functional>
#include <map>
#include <memory>

#include "control/api/grpc_types.h"
#include "control/api/services.h"

namespace grpc {
class Service;
}

namespace croft::control::api {

using OpenStream = std::function<BytesReactor*(const grpc::CallbackServerContext& context,
                                               const Services& services)>;
using Streams = std::map<const google::protobuf::MethodDescriptor*, OpenStream>;

// Check fails when a method has neither. The service must outlive the server.
std::shared_ptr<grpc::Service> MakeService(const google::protobuf::ServiceDescriptor& descriptor,
                                           const Streams& streams, const Services& services);

}  // namespace croft::control::api
