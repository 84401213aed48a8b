// What a call needs to be answered. The parts outlive the server; all are thread-safe.
#pragma once

#include "control/api/authorizer.h"
#include "control/api/db_executor.h"
#include "control/api/live_streams.h"
#include "control/api/methods.h"
#include "control/api/stream_methods.h"
#include "control/domain/resources.h"
#include "control/feed/feed.h"

namespace croft::control::api {

struct Services {
  Authorizer& authorizer;
  DbExecutor& executor;
  const Methods& methods;
  const StreamMethods& streams;
  LiveStreams& live_streams;
  feed::Feed& feed;
};

// What a caller is told when the executor's queue is full.
absl::Status BusyError();

}  // namespace croft::control::api
