// The JSON gateway as a client sees it: one kept HTTPS connection, unary calls with messages that
// are known by descriptor.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "tests/integration/control/running_control.h"

namespace croft::tests {

struct JsonReply {
  int http_status = 0;
  std::string body;
  std::string counts;  // header croft-counts

  bool ok() const { return http_status == 200; }
  // Of an error, as Connect names it: "not_found".
  std::string code() const;
  // The ErrorDetail that travels beside it.
  croft::v1::ErrorDetail detail() const;
};

class JsonApi {
 public:
  explicit JsonApi(const RunningControl& control);
  ~JsonApi();

  JsonReply Call(const google::protobuf::MethodDescriptor& method,
                 const google::protobuf::Message& request, const std::string& token) const;

 private:
  struct Connection;
  const std::unique_ptr<Connection> connection_;
};

// The answer's JSON as a message of its type.
void ParseJson(const std::string& json, google::protobuf::Message& message);

// "NOT_FOUND" -> "not_found".
std::string ConnectCode(grpc::StatusCode code);

}  // namespace croft::tests
