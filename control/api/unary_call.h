// One unary call over gRPC: parse, authorise, run the method's handler on the executor, finish with
// its answer or when the caller leaves. The reactor owns itself until gRPC is done with it.
#pragma once

#include "control/api/grpc_types.h"
#include "control/api/methods.h"
#include "control/api/services.h"

namespace croft::control::api {

struct UnaryBytes {
  const grpc::ByteBuffer& request;
  grpc::ByteBuffer& response;  // gRPC's until the call is done
};

grpc::ServerUnaryReactor* StartUnaryCall(grpc::CallbackServerContext& context,
                                         UnaryBytes bytes, const Method& method,
                                         const Services& services);

}  // namespace croft::control::api
