// One import of accounts over gRPC: a batch is read, committed on the executor and answered before
// the next is read, so that a client can't run ahead of the database. The reactor owns itself until
// gRPC is done with it.
#pragma once

#include "control/api/grpc_types.h"
#include "control/api/services.h"

namespace croft::control::api {

inline constexpr int kImportRowsMax = 1000;  // of one message

BytesReactor* StartImportStream(const grpc::CallbackServerContext& context,
                                const Services& services);

}  // namespace croft::control::api
