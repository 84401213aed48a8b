#include "node/agent/control_transport.h"

#include <fmt/chrono.h>
#include <grpcpp/grpcpp.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "croft/node/v1/feed.grpc.pb.h"
#include "proto/base/error.h"

namespace croft::node::agent {
namespace {

constexpr int kMessageBytesMax = 4 << 20;

absl::Status ToStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

// gRPC says only that a handshake failed.
absl::Status NamingExpiry(const absl::Status& status,
                          std::chrono::system_clock::time_point expires) {
  constexpr std::chrono::system_clock::time_point kUnknown;
  if (status.ok() || expires == kUnknown || expires > std::chrono::system_clock::now()) {
    return status;
  }
  return Error(
      status.code(),
      "the node's certificate expired on {:%Y-%m-%d %H:%M} UTC by this machine's clock; set "
      "the clock if it is wrong, else give the node a new join token (croft enroll node) "
      "and start its agent again: {}",
      fmt::gmtime(expires), std::string(status.message()));
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const grpc::SslCredentialsOptions& tls) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  // Each attempt is a connection of its own; the pace is the session's.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::SslCredentials(tls), arguments);
}

// Reactions post to the loop; writes, reads and the hold are the loop's alone, so none of them can
// begin after the end.
class Stream final : public ControlConnection,
                     public grpc::ClientBidiReactor<v1::NodeMessage, v1::ControlMessage>,
                     public std::enable_shared_from_this<Stream> {
 public:
  Stream(boost::asio::io_context& loop, std::shared_ptr<grpc::Channel> channel, Callbacks callbacks)
      : loop_(loop),
        callbacks_(std::move(callbacks)),
        stub_(v1::NodeFeed::NewStub(std::move(channel))) {}

  void Begin() {
    self_ = shared_from_this();
    stub_->async()->Connect(&context_, this);
    AddHold();
    StartRead(&incoming_);
    StartCall();
  }

  void Write(v1::NodeMessage message) override {
    if (open_) {
      outgoing_ = std::move(message);
      StartWrite(&outgoing_);
    }
  }
  void ReadNext() override {
    if (open_) {
      StartRead(&incoming_);
    }
  }
  void Close() override {
    if (std::exchange(open_, false)) {
      context_.TryCancel();
      RemoveHold();
    }
  }

  void OnReadDone(bool ok) override {
    boost::asio::post(loop_, [self = self_, ok] {
      if (!ok) {
        self->Close();
      } else if (self->open_) {
        self->callbacks_.on_message(std::move(self->incoming_));
      }
    });
  }
  void OnWriteDone(bool ok) override {
    boost::asio::post(loop_, [self = self_, ok] {
      if (!ok) {
        self->Close();
      } else if (self->open_) {
        self->callbacks_.on_written();
      }
    });
  }
  void OnDone(const grpc::Status& status) override {
    boost::asio::post(loop_, [self = std::move(self_), status = ToStatus(status)] {
      self->open_ = false;
      self->callbacks_.on_closed(status);
    });
  }

 private:
  boost::asio::io_context& loop_;
  const Callbacks callbacks_;
  const std::unique_ptr<v1::NodeFeed::Stub> stub_;
  grpc::ClientContext context_;
  // gRPC's between a Start and its reaction.
  v1::ControlMessage incoming_;
  v1::NodeMessage outgoing_;
  // Keeps it until OnDone.
  std::shared_ptr<Stream> self_;
  // Loop only. Whether the hold is held.
  bool open_ = true;
};

}  // namespace

std::shared_ptr<ControlConnection> ConnectToControl(boost::asio::io_context& loop,
                                                    const std::string& address,
                                                    const Identity& identity,
                                                    ControlConnection::Callbacks callbacks) {
  const grpc::SslCredentialsOptions tls{.pem_root_certs = identity.ca,
                                        .pem_private_key = identity.key,
                                        .pem_cert_chain = identity.certificate};
  callbacks.on_closed = [expires = identity.expires,
                         on_closed = std::move(callbacks.on_closed)](const absl::Status& status) {
    on_closed(NamingExpiry(status, expires));
  };
  auto stream = std::make_shared<Stream>(loop, MakeChannel(address, tls), std::move(callbacks));
  stream->Begin();
  return stream;
}

void Enroll(boost::asio::io_context& loop, const EnrollTarget& target,
            const v1::EnrollRequest& request,
            std::function<void(absl::StatusOr<v1::EnrollResponse>)> done) {
  struct Call {
    std::unique_ptr<v1::Enrollment::Stub> stub;
    grpc::ClientContext context;
    v1::EnrollRequest request;
    v1::EnrollResponse response;
  };
  auto call = std::make_shared<Call>();
  const grpc::SslCredentialsOptions tls{
      .pem_root_certs = target.ca, .pem_private_key = "", .pem_cert_chain = ""};
  call->stub = v1::Enrollment::NewStub(MakeChannel(target.address, tls));
  call->context.set_deadline(std::chrono::system_clock::now() + target.deadline);
  call->request = request;
  call->stub->async()->Enroll(&call->context, &call->request, &call->response,
                              [&loop, call, done = std::move(done)](const grpc::Status& status) {
                                boost::asio::post(loop, [call, done, status = ToStatus(status)] {
                                  if (status.ok()) {
                                    done(std::move(call->response));
                                  } else {
                                    done(status);
                                  }
                                });
                              });
}

}  // namespace croft::node::agent
