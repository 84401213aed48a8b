// The API as a client sees it that has no .proto: services and messages by gRPC reflection, calls
// with messages in text format. Counts and error details come with the answer. Whatever can be
// asked twice - reads, and what is refused - is asked of the JSON gateway too, which has to answer
// the same.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "croft/v1/error.pb.h"
#include "tests/integration/control/json_api.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {

struct Reply {
  grpc::Status status;
  std::unique_ptr<google::protobuf::Message> message;
  std::string counts;  // trailing metadata croft-counts

  bool ok() const { return status.ok(); }
  grpc::StatusCode code() const { return status.error_code(); }
  croft::v1::ErrorDetail detail() const { return DetailOf(status); }
  // One field of the answer as text; messages in text format.
  std::string Field(const std::string& name) const;
  // Of a list's answer: the names of what it holds.
  std::vector<std::string> Names() const;
};

class ReflectedApi {
 public:
  explicit ReflectedApi(const RunningControl& control);

  // Of packages croft.*.
  const std::vector<const google::protobuf::ServiceDescriptor*>& services() const {
    return services_;
  }
  const google::protobuf::MethodDescriptor* FindMethod(const std::string& full_name) const;

  // `text` is the request in text format. Every error has to have a detail with a reason.
  Reply Call(const google::protobuf::MethodDescriptor& method, const std::string& text,
             const std::string& token) const;
  // The request is `text` and then `more` bytes of the wire format.
  Reply CallWith(const google::protobuf::MethodDescriptor& method, const std::string& text,
                 const std::string& more, const std::string& token) const;

 private:
  void CompareWithJson(const google::protobuf::MethodDescriptor& method,
                       const google::protobuf::Message& request, const std::string& token,
                       const Reply& reply) const;
  void Load(const std::string& symbol);
  std::string Reflect(const std::string& request) const;

  std::shared_ptr<grpc::Channel> channel_;
  JsonApi json_;
  google::protobuf::DescriptorPool pool_;
  mutable google::protobuf::DynamicMessageFactory factory_;
  std::vector<const google::protobuf::ServiceDescriptor*> services_;
};

// A length-delimited field, by hand: for unknown fields, and a protocol without a library.
std::string WireField(int number, const std::string& bytes);

}  // namespace croft::tests
