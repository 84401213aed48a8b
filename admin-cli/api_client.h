// Calls control's API by method name, with messages known by descriptor: one path for every
// resource. A control that cannot be reached, or does not answer, is unavailable within seconds,
// whatever the call's own deadline. One thread.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/message.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "admin-cli/contexts.h"
#include "croft/v1/resource.pb.h"

namespace croft::admin_cli {

class ApiClient {
 public:
  explicit ApiClient(const Context& context);
  ~ApiClient();

  // `method` is "SiteService/CreateSite". Errors carry the ErrorDetail that control sent.
  absl::Status Call(const std::string& method, const google::protobuf::Message& request,
                    google::protobuf::Message& response,
                    std::chrono::milliseconds timeout = std::chrono::seconds(60));

  // What the last call did, as control counts it: "created=1"; empty if it doesn't say.
  const std::string& counts() const;

  // One request, answered by a stream. `on_response` sees each answer in `response` and returns
  // false to end it; so does `stopped`, which is asked at least ten times a second. OK when either
  // ended it, or control.
  absl::Status Watch(const std::string& method, const google::protobuf::Message& request,
                     google::protobuf::Message& response, const std::function<bool()>& on_response,
                     const std::function<bool()>& stopped);

  // Resources as a stream: `next` fills the next request and returns false at the end, on a thread
  // of its own; `on_response` sees each answer.
  absl::Status ImportResources(
      const std::function<bool(v1::ImportResourcesRequest&)>& next,
      const std::function<void(const v1::ImportResourcesResponse&)>& on_response);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace croft::admin_cli
