// One node's stream over gRPC: bridges its reactions to the feed, and the feed's bytes to at most
// one outstanding write. Authorised by the node's client certificate before the feed hears of it.
// The reactor owns itself until gRPC is done with it.
#pragma once

#include "control/api/grpc_types.h"
#include "control/api/services.h"

namespace croft::control::api {

BytesReactor* StartFeedStream(const grpc::CallbackServerContext& context, const Services& services);

}  // namespace croft::control::api
