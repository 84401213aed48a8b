// The import of accounts as a stream: each message is a batch and a change, answered once it is
// committed.
#pragma once

#include "control/api/stream_methods.h"
#include "control/domain/resources.h"

namespace croft::control::api {

inline constexpr int kImportRowsMax = 1000;  // of one message

// `resources` must outlive the table.
void AddImportAccounts(domain::Resources& resources, StreamMethods& streams);

}  // namespace croft::control::api
