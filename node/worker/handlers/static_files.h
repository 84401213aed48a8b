// Serves files: GET and HEAD, default documents, the redirect to a directory's slash, conditional
// and range requests. Its settings are StaticFileSettings and DefaultDocumentSettings in
// proto/croft/v1/settings.proto.
#pragma once

#include "node/worker/handlers/context.h"
#include "node/worker/http/request.h"
#include "node/worker/http/response.h"
#include "node/worker/task.h"

namespace croft::node::worker::handlers {

// Both references outlive the task. `request.site` is set.
Task<http::Response> ServeStaticFile(const http::Request& request, const Context& context);

}  // namespace croft::node::worker::handlers
