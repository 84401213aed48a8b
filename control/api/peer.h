// The credentials of a call, as gRPC verified them.
#pragma once

#include "control/api/authorizer.h"
#include "control/api/grpc_types.h"

namespace croft::control::api {

Credentials ReadCredentials(const grpc::CallbackServerContext& context);

}  // namespace croft::control::api
