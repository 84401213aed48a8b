// Carries a stream of the table over gRPC: at most one outstanding read and one outstanding write,
// so that gRPC's flow control reaches the handler. The reactor owns itself until gRPC is done with
// it.
#pragma once

#include "control/api/grpc_types.h"
#include "control/api/services.h"
#include "control/api/stream_methods.h"

namespace croft::control::api {

BytesReactor* StartGrpcStream(const grpc::CallbackServerContext& context,
                              const StreamMethod& method, const Services& services);

}  // namespace croft::control::api
