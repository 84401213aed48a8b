// The small pages that go with errors and redirects. Pure.
#pragma once

#include <string>
#include <string_view>

#include "node/worker/http/request.h"
#include "node/worker/http/response.h"

namespace croft::node::worker::handlers {

// "Not Found"; "Error" for a status without a name here.
std::string_view ReasonPhrase(int status);

http::Response MakeErrorPage(int status, int substatus, http::Method method);

// 301; `location` is percent-encoded already.
http::Response MakeRedirect(std::string location, http::Method method);

}  // namespace croft::node::worker::handlers
