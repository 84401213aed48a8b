#include "admin-cli/api_client.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <thread>
#include <utility>

#include "croft/v1/account.grpc.pb.h"
#include "croft/v1/error.pb.h"
#include "proto/contract/errors.h"

namespace croft::admin_cli {
namespace {

absl::Status FromGrpc(const grpc::Status& status, const std::string& control) {
  if (status.ok()) {
    return absl::OkStatus();
  }
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  std::string message = status.error_message();
  if (code == absl::StatusCode::kUnavailable && status.error_details().empty()) {
    message = "control at " + control + " is unreachable: " + message;
  }
  absl::Status result(code, message);
  v1::ErrorDetail detail;
  if (!status.error_details().empty() && detail.ParseFromString(status.error_details())) {
    return contract::WithDetail(std::move(result), detail);
  }
  return result;
}

absl::Status ToBuffer(const google::protobuf::Message& message, grpc::ByteBuffer& buffer) {
  bool own = false;
  const grpc::Status status =
      grpc::SerializationTraits<google::protobuf::MessageLite>::Serialize(message, &buffer, &own);
  return status.ok() ? absl::OkStatus() : absl::InternalError(status.error_message());
}

}  // namespace

struct ApiClient::Connection {
  Context context;
  std::shared_ptr<grpc::Channel> channel;

  std::unique_ptr<grpc::ClientContext> NewCall() const {
    auto call = std::make_unique<grpc::ClientContext>();
    call->AddMetadata("authorization", "Bearer " + context.token);
    return call;
  }
};

ApiClient::ApiClient(const Context& context) : connection_(std::make_unique<Connection>()) {
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = context.ca;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(16 << 20);
  connection_->context = context;
  connection_->channel =
      grpc::CreateCustomChannel(context.control, grpc::SslCredentials(tls), arguments);
}

ApiClient::~ApiClient() = default;

absl::Status ApiClient::Call(const std::string& method, const google::protobuf::Message& request,
                             google::protobuf::Message& response,
                             std::chrono::milliseconds timeout) {
  grpc::ByteBuffer request_bytes;
  if (auto status = ToBuffer(request, request_bytes); !status.ok()) {
    return status;
  }
  const auto call = connection_->NewCall();
  call->set_deadline(std::chrono::system_clock::now() + timeout);
  grpc::GenericStub stub(connection_->channel);
  grpc::CompletionQueue queue;
  const auto reader =
      stub.PrepareUnaryCall(call.get(), "/croft.v1." + method, request_bytes, &queue);
  grpc::ByteBuffer response_bytes;
  grpc::Status status;
  reader->StartCall();
  reader->Finish(&response_bytes, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (!status.ok()) {
    return FromGrpc(status, connection_->context.control);
  }
  status = grpc::SerializationTraits<google::protobuf::MessageLite>::Deserialize(&response_bytes,
                                                                                 &response);
  return FromGrpc(status, connection_->context.control);
}

absl::Status ApiClient::ImportAccounts(
    const std::function<bool(v1::ImportAccountsRequest&)>& next,
    const std::function<void(const v1::ImportAccountsResponse&)>& on_response) {
  const auto stub = v1::AccountService::NewStub(connection_->channel);
  const auto call = connection_->NewCall();
  const auto stream = stub->ImportAccounts(call.get());
  std::jthread sender([&] {
    v1::ImportAccountsRequest request;
    while (next(request) && stream->Write(request)) {
      request.Clear();
    }
    stream->WritesDone();
  });
  v1::ImportAccountsResponse response;
  while (stream->Read(&response)) {
    on_response(response);
  }
  sender.join();
  return FromGrpc(stream->Finish(), connection_->context.control);
}

}  // namespace croft::admin_cli
