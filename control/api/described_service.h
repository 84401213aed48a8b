// A gRPC service made from its .proto descriptor: each method is served from the table of methods
// or of streams. So a method is written once, and gRPC's reflection and every other server of the
// API see the same list.
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

// Streams that are gRPC's alone, and speak to its reactor themselves.
using OpenStream = std::function<BytesReactor*(const grpc::CallbackServerContext& context,
                                               const Services& services)>;
using OwnStreams = std::map<const google::protobuf::MethodDescriptor*, OpenStream>;

// The service must outlive the server.
std::shared_ptr<grpc::Service> MakeService(const google::protobuf::ServiceDescriptor& descriptor,
                                           const OwnStreams& own_streams, const Services& services);

}  // namespace croft::control::api
