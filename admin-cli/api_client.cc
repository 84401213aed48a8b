#include "admin-cli/api_client.h"

#include <grpc/support/log.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "admin-cli/server_certificate.h"
#include "croft/v1/error.pb.h"
#include "croft/v1/resource.grpc.pb.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::admin_cli {
namespace {

// Longest wait for a connection, its handshakes included. An operator sits before it.
constexpr int kConnectTimeoutMs = 5'000;
// A control that falls silent in the middle of a call, however long that may take, is noticed.
constexpr int kKeepaliveMs = 10'000;
constexpr int kKeepaliveTimeoutMs = 5'000;

// Trailing metadata of a write.
constexpr const char* kCountsHeader = "croft-counts";

// Why no connection came about, in the operator's words; gRPC's own where they say more.
std::string WhyUnreachable(const std::string& message, const Context& context) {
  const auto has = [&](std::string_view text) { return message.find(text) != std::string::npos; };
  if (has("certificate verify failed")) {
    if (auto dates = WrongDates(context.control, context.ca); dates.has_value()) {
      return *std::move(dates);
    }
    return "its certificate is not from the certificate authority of this context; give the "
           "context "
           "the ca.crt of that control's data directory";
  }
  if (has("Hostname Verification") || has("not verified") || has("Peer name")) {
    return "its certificate is for other host names; connect by one of them, or start "
           "croft-control "
           "with --advertise HOST";
  }
  if (has("wrong version number")) {
    return "what listens there does not speak TLS; is it croft-control's port?";
  }
  if (has("DNS resolution failed")) {
    return "no such host name";
  }
  if (has("Connection refused")) {
    return "nothing listens there (connection refused); is croft-control running?";
  }
  if (has("Handshake read failed") || has("Timeout") || has("imed out")) {
    return "no answer within " + std::to_string(kConnectTimeoutMs / 1000) + " s";
  }
  const auto last = message.rfind("last error: ");
  return last == std::string::npos ? message : message.substr(last + 12);
}

absl::Status FromGrpc(const grpc::Status& status, const Context& context) {
  if (status.ok()) {
    return absl::OkStatus();
  }
  auto code = static_cast<absl::StatusCode>(status.error_code());
  std::string message = status.error_message();
  if (code == absl::StatusCode::kDeadlineExceeded && status.error_details().empty()) {
    code = absl::StatusCode::kUnavailable;  // our deadline, not one that control speaks of
  }
  if (code == absl::StatusCode::kUnavailable && status.error_details().empty()) {
    // Only a call that never reached control fails by these words; others are control's own or of
    // a connection that broke.
    const bool connected =
        message.find("failed to connect to all addresses") == std::string::npos &&
        message.find("DNS resolution failed") == std::string::npos;
    message = "control at " + context.control +
              (connected ? " cannot answer: " + message
                         : " is unreachable: " + WhyUnreachable(message, context));
  }
  if (code == absl::StatusCode::kUnimplemented && message.empty()) {
    message = "control at " + context.control +
              " does not know this call; it is of another "
              "version than this croft";
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

absl::Status FromBuffer(grpc::ByteBuffer& buffer, google::protobuf::Message& message) {
  const grpc::Status status =
      grpc::SerializationTraits<google::protobuf::MessageLite>::Deserialize(&buffer, &message);
  return status.ok() ? absl::OkStatus() : absl::InternalError(status.error_message());
}

// Waits for the operation that was started last; whether it succeeded. Cancels the call as soon as
// `stopped` says so.
bool Await(grpc::CompletionQueue& queue, grpc::ClientContext& call,
           const std::function<bool()>& stopped) {
  constexpr auto kAskEvery = std::chrono::milliseconds(50);
  void* tag = nullptr;
  bool ok = false;
  for (;;) {
    const auto deadline = std::chrono::system_clock::now() + kAskEvery;
    switch (queue.AsyncNext(&tag, &ok, deadline)) {
      case grpc::CompletionQueue::GOT_EVENT:
        return ok;
      case grpc::CompletionQueue::SHUTDOWN:
        return false;
      case grpc::CompletionQueue::TIMEOUT:
        if (stopped()) {
          call.TryCancel();
        }
    }
  }
}

// gRPC's own log lines tell an operator nothing that the error does not; GRPC_VERBOSITY shows them.
void SilenceGrpc() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) {
    gpr_set_log_verbosity(static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1));
  }
}

}  // namespace

struct ApiClient::Connection {
  Context context;
  std::shared_ptr<grpc::Channel> channel;
  std::string counts;

  // Ends early when the connection fails: the call that follows then says why.
  absl::Status Await() const {
    const auto deadline =
        std::chrono::system_clock::now() + std::chrono::milliseconds(kConnectTimeoutMs);
    for (;;) {
      const grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
      if (state == GRPC_CHANNEL_READY || state == GRPC_CHANNEL_TRANSIENT_FAILURE) {
        return absl::OkStatus();
      }
      if (!channel->WaitForStateChange(state, deadline)) {
        return Error(absl::StatusCode::kUnavailable,
                     "control at {} is unreachable: it takes connections, but does not answer "
                     "within {} s",
                     context.control, kConnectTimeoutMs / 1000);
      }
    }
  }

  std::unique_ptr<grpc::ClientContext> NewCall() const {
    auto call = std::make_unique<grpc::ClientContext>();
    call->AddMetadata("authorization", "Bearer " + context.token);
    return call;
  }
};

ApiClient::ApiClient(const Context& context) : connection_(std::make_unique<Connection>()) {
  SilenceGrpc();
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = context.ca;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(16 << 20);
  // gRPC gives one connection attempt at least this long.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // as many as it takes
  connection_->context = context;
  connection_->channel =
      grpc::CreateCustomChannel(context.control, grpc::SslCredentials(tls), arguments);
}

ApiClient::~ApiClient() = default;

const std::string& ApiClient::counts() const { return connection_->counts; }

absl::Status ApiClient::Call(const std::string& method, const google::protobuf::Message& request,
                             google::protobuf::Message& response,
                             std::chrono::milliseconds timeout) {
  grpc::ByteBuffer request_bytes;
  if (auto status = ToBuffer(request, request_bytes); !status.ok()) {
    return status;
  }
  if (auto status = connection_->Await(); !status.ok()) {
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
  const auto counts = call->GetServerTrailingMetadata().find(kCountsHeader);
  connection_->counts = counts == call->GetServerTrailingMetadata().end()
                            ? ""
                            : std::string(counts->second.data(), counts->second.size());
  if (!status.ok()) {
    return FromGrpc(status, connection_->context);
  }
  status = grpc::SerializationTraits<google::protobuf::MessageLite>::Deserialize(&response_bytes,
                                                                                 &response);
  return FromGrpc(status, connection_->context);
}

absl::Status ApiClient::Watch(const std::string& method, const google::protobuf::Message& request,
                              google::protobuf::Message& response,
                              const std::function<bool()>& on_response,
                              const std::function<bool()>& stopped) {
  grpc::ByteBuffer request_bytes;
  if (auto status = ToBuffer(request, request_bytes); !status.ok()) {
    return status;
  }
  if (auto status = connection_->Await(); !status.ok()) {
    return status;
  }
  const auto call = connection_->NewCall();
  grpc::GenericStub stub(connection_->channel);
  grpc::CompletionQueue queue;
  const auto stream = stub.PrepareCall(call.get(), "/croft.v1." + method, &queue);
  void* const tag = nullptr;
  stream->StartCall(tag);
  bool open = Await(queue, *call, stopped);
  if (open) {
    stream->WriteLast(request_bytes, grpc::WriteOptions(), tag);
    open = Await(queue, *call, stopped);
  }
  absl::Status read;
  bool ended = false;
  while (open && !ended && read.ok()) {
    grpc::ByteBuffer response_bytes;
    stream->Read(&response_bytes, tag);
    open = Await(queue, *call, stopped);
    if (open) {
      read = FromBuffer(response_bytes, response);
      ended = read.ok() && !on_response();
    }
  }
  if (open) {
    call->TryCancel();
  }
  grpc::Status status;
  stream->Finish(&status, tag);
  Await(queue, *call, stopped);
  return ended || stopped() ? absl::OkStatus()
         : !read.ok()       ? read
                            : FromGrpc(status, connection_->context);
}

absl::Status ApiClient::ImportResources(
    const std::function<bool(v1::ImportResourcesRequest&)>& next,
    const std::function<void(const v1::ImportResourcesResponse&)>& on_response) {
  if (auto status = connection_->Await(); !status.ok()) {
    return status;
  }
  const auto stub = v1::ResourceService::NewStub(connection_->channel);
  const auto call = connection_->NewCall();
  const auto stream = stub->ImportResources(call.get());
  std::jthread sender([&] {
    v1::ImportResourcesRequest request;
    while (next(request) && stream->Write(request)) {
      request.Clear();
    }
    stream->WritesDone();
  });
  v1::ImportResourcesResponse response;
  while (stream->Read(&response)) {
    on_response(response);
  }
  sender.join();
  return FromGrpc(stream->Finish(), connection_->context);
}

}  // namespace croft::admin_cli
