#include "control/api/unary_call.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <memory>
#include <utility>

#include "control/api/peer.h"
#include "control/api/wire.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::control::api {
namespace {

class UnaryCall final : public grpc::ServerUnaryReactor,
                        public std::enable_shared_from_this<UnaryCall> {
 public:
  UnaryCall(grpc::CallbackServerContext& context, grpc::ByteBuffer& response)
      : context_(context), response_(response) {}

  void Start(const grpc::ByteBuffer& bytes,
             const Method& method, const Services& services) {
    self_ = shared_from_this();
    const std::shared_ptr<google::protobuf::Message> request = method.MakeRequest();
    if (absl::Status status = ParseStrictly(bytes, *request); !status.ok()) {
      Complete(status);
      return;
    }
    auto work = [call = self_, credentials = ReadCredentials(context_), request, &method,
                 &authorizer = services.authorizer] {
      Run(call, credentials, *request, method, authorizer);
    };
    if (!services.executor.TryPush(std::move(work))) {
      Complete(BusyError());
    }
  }

  // Only the first counts: an answer and a cancellation may race.
  void Complete(const absl::StatusOr<CallResult>& answer) {
    if (completed_.exchange(true)) {
      return;
    }
    if (answer.ok()) {
      response_ = Serialize(*answer->message);
      if (answer->counts.has_value()) {
        context_.AddTrailingMetadata(kCountsHeader, FormatCounts(*answer->counts));
      }
    }
    Finish(ToGrpc(answer.status()));
  }

  void OnCancel() override {
    Complete(Error(absl::StatusCode::kCancelled, "the caller left, or control is stopping"));
  }

  void OnDone() override { self_.reset(); }

 private:
  static void Run(const std::shared_ptr<UnaryCall>& call, const Credentials& credentials,
                  const google::protobuf::Message& request, const Method& method,
                  Authorizer& authorizer) {
    domain::Caller caller;
    if (method.access == Access::kOperator) {
      auto found = authorizer.GetOperator(credentials);
      if (!found.ok()) {
        call->Complete(found.status());
        return;
      }
      caller = *std::move(found);
    }
    method.handler(caller, request,
                   [call](const absl::StatusOr<CallResult>& answer) { call->Complete(answer); });
  }

  grpc::CallbackServerContext& context_;  // both gRPC's until OnDone
  grpc::ByteBuffer& response_;            // written once, before Finish
  std::atomic<bool> completed_{false};
  std::shared_ptr<UnaryCall> self_;
};

}  // namespace

absl::Status BusyError() {
  v1::ErrorDetail detail;
  detail.set_reason("BUSY");
  detail.set_retryable(true);
  return contract::WithDetail(
      Error(absl::StatusCode::kResourceExhausted,
            "control has more requests waiting for the database than it takes; try again"),
      detail);
}

grpc::ServerUnaryReactor* StartUnaryCall(grpc::CallbackServerContext& context,
                                         UnaryBytes bytes, const Method& method,
                                         const Services& services) {
  const auto call = std::make_shared<UnaryCall>(context, bytes.response);
  call->Start(bytes.request, method, services);
  return call.get();
}

}  // namespace croft::control::api
