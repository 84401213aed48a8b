// Past values of counters, as top shows them beside the present ones.
#pragma once

#include <string>

#include "admin-cli/api_client.h"
#include "croft/v1/report.pb.h"

namespace croft::admin_cli {

// The last hour of one counter of one instance as a line of bars; empty if control has none.
std::string LastHour(ApiClient& client, const v1::TopRequest& top, const std::string& instance,
                     const std::string& counter);

}  // namespace croft::admin_cli
