// The gateway's route table: the one place where a path is decided. Every method of the API stands
// at "/package.Service/Method", as the Connect protocol has it; pages stand beside them. Constant
// after construction; thread-safe.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "control/api/methods.h"
#include "control/api/stream_methods.h"

namespace croft::control::gateway {

// Answers GET at a path of its own.
struct Page {
  std::string path;  // "/metrics"
  std::string content_type;
  std::function<absl::StatusOr<std::string>()> make;
  bool blocks = false;  // on the store: it is made on the executor then
  // Whether an operator may have it; null: it is for everyone, without a token. With it, it blocks.
  std::function<absl::Status(const domain::Caller&)> may_read = nullptr;
};

// Exactly one is there.
struct Route {
  const Page* page = nullptr;
  const api::Method* unary = nullptr;
  const api::StreamMethod* stream = nullptr;
  absl::Status refusal = absl::OkStatus();
  int refusal_status = 0;  // HTTP
  std::string allow = {};  // of a 405
};

class Routes {
 public:
  Routes(const api::Methods& methods, const api::StreamMethods& streams, std::vector<Page> pages);

  // `target` is the request's, with its query.
  Route Find(std::string_view verb, std::string_view target) const;

 private:
  const api::Methods& methods_;
  const api::StreamMethods& streams_;
  const std::vector<Page> pages_;
  std::map<std::string, const google::protobuf::MethodDescriptor*, std::less<>> paths_;
};

}  // namespace croft::control::gateway
