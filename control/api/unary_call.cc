#include "control/api/unary_call.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <memory>
#include <utility>

#include "control/api/peer.h"
#include "control/api/wire.h"
#include "proto/base/error.h"

namespace croft::control::api {
namespace {

class UnaryCall final : public grpc::ServerUnaryReactor,
                        public std::enable_shared_from_this<UnaryCall> {
 public:
  explicit UnaryCall(grpc::ByteBuffer& response) : response_(response) {}

  void Start(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& bytes,
             const Method& method, const Services& services) {
    self_ = shared_from_this();
    const std::shared_ptr<google::protobuf::Message> request = method.MakeRequest();
    if (absl::Status status = ParseStrictly(bytes, *request); !status.ok()) {
      Complete(status);
      return;
    }
    auto work = [call = self_, credentials = ReadCredentials(context), request, &method,
                 &authorizer = services.authorizer] {
      Run(call, credentials, *request, method, authorizer);
    };
    if (!services.executor.TryPush(std::move(work))) {
      Complete(BusyError());
    }
  }

  // Only the first counts: an answer and a cancellation may race.
  void Complete(absl::StatusOr<MessagePtr> answer) {
    if (completed_.exchange(true)) {
      return;
    }
    if (answer.ok()) {
      response_ = Serialize(**answer);
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
    method.handler(caller, request, [call](absl::StatusOr<MessagePtr> answer) {
      call->Complete(std::move(answer));
    });
  }

  grpc::ByteBuffer& response_;  // written once, before Finish
  std::atomic<bool> completed_{false};
  std::shared_ptr<UnaryCall> self_;
};

}  // namespace

absl::Status BusyError() {
  return Error(absl::StatusCode::kResourceExhausted,
               "control has more requests waiting for the database than it takes; try again");
}

grpc::ServerUnaryReactor* StartUnaryCall(const grpc::CallbackServerContext& context,
                                         UnaryBytes bytes, const Method& method,
                                         const Services& services) {
  const auto call = std::make_shared<UnaryCall>(bytes.response);
  call->Start(context, bytes.request, method, services);
  return call.get();
}

}  // namespace croft::control::api
