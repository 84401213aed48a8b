#include "control/api/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <utility>
#include <vector>

#include "control/api/described_service.h"
#include "control/api/feed_stream.h"
#include "control/api/methods.h"
#include "proto/base/error.h"

namespace croft::control::api {
namespace {

// How long calls under way may take to end when the server stops.
constexpr std::chrono::milliseconds kGrace{1'000};
// A dead connection is noticed within this, also when the peer's machine is gone.
constexpr int kKeepaliveMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 10'000;

void SetLimits(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMessageBytesMax);
  builder.SetMaxSendMessageSize(kMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT,
                             0);  // a second control on the port is an error
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 256);
}

// Operators present no certificate; one that is presented must be our authority's.
std::shared_ptr<grpc::ServerCredentials> MakeCredentials(const ServerOptions& options) {
  grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  tls.pem_root_certs = options.ca;
  tls.pem_key_cert_pairs.push_back(
      {.private_key = options.certificate.key, .cert_chain = options.certificate.certificate});
  return grpc::SslServerCredentials(tls);
}

}  // namespace

struct Server::Parts {
  std::vector<std::shared_ptr<grpc::Service>> services;  // outlive the server
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      const Services& services) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  const OwnStreams own_streams = {
      {GetMethod("croft.node.v1.NodeFeed.Connect"), StartFeedStream},
  };
  auto parts = std::make_unique<Parts>();
  grpc::ServerBuilder builder;
  SetLimits(builder);
  builder.AddListeningPort(options.address, MakeCredentials(options), &parts->port);
  for (const google::protobuf::ServiceDescriptor* descriptor : AllServices()) {
    parts->services.push_back(MakeService(*descriptor, own_streams, services));
    builder.RegisterService(parts->services.back().get());
  }
  parts->server = builder.BuildAndStart();
  if (parts->server == nullptr || parts->port == 0) {
    return Error(absl::StatusCode::kUnavailable,
                 "cannot listen on {}: is the port taken, or the address not this machine's?",
                 options.address);
  }
  return std::make_unique<Server>(std::move(parts), Key());
}

Server::Server(std::unique_ptr<Parts> parts, Key) : parts_(std::move(parts)) {}

Server::~Server() { parts_->server->Shutdown(std::chrono::system_clock::now() + kGrace); }

int Server::port() const { return parts_->port; }

}  // namespace croft::control::api
