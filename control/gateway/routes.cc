#include "control/gateway/routes.h"

#include <utility>

#include "proto/base/error.h"
#include "proto/contract/text_rules.h"

namespace croft::control::gateway {
namespace {

Route Refuse(int http_status, absl::Status why, std::string allow = {}) {
  Route route;
  route.refusal = std::move(why);
  route.refusal_status = http_status;
  route.allow = std::move(allow);
  return route;
}

Route RefuseVerb(std::string_view path, const std::string& allowed) {
  return Refuse(405, Error(absl::StatusCode::kUnimplemented, "{} takes {} only", path, allowed),
                allowed);
}

}  // namespace

Routes::Routes(const api::Methods& methods, const api::StreamMethods& streams,
               std::vector<Page> pages)
    : methods_(methods), streams_(streams), pages_(std::move(pages)) {
  for (const google::protobuf::ServiceDescriptor* service : api::AllServices()) {
    for (int i = 0; i < service->method_count(); ++i) {
      paths_["/" + service->full_name() + "/" + service->method(i)->name()] = service->method(i);
    }
  }
}

Route Routes::Find(std::string_view verb, std::string_view target) const {
  const std::string_view path = target.substr(0, target.find('?'));
  for (const Page& page : pages_) {
    if (page.path == path) {
      Route route;
      route.page = &page;
      return verb == "GET" ? route : RefuseVerb(path, "GET");
    }
  }
  const auto at = paths_.find(path);
  if (at == paths_.end()) {
    return Refuse(404, Error(absl::StatusCode::kUnimplemented,
                             "there is nothing at {}; GET /openapi.json lists what there is",
                             contract::Shorten(path)));
  }
  if (verb != "POST") {
    return RefuseVerb(path, "POST");
  }
  Route route;
  route.unary = methods_.Find(at->second);
  route.stream = streams_.Find(at->second);
  if (route.unary == nullptr && route.stream == nullptr) {
    return Refuse(501, Error(absl::StatusCode::kUnimplemented, "{} is not served here", path));
  }
  return route;
}

}  // namespace croft::control::gateway
