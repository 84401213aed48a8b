#include "control/api/grpc_stream.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "control/api/peer.h"
#include "control/api/stream_call.h"
#include "control/api/stream_end.h"
#include "control/api/wire.h"
#include "proto/base/error.h"

namespace croft::control::api {
namespace {

class GrpcStream final : public BytesReactor,
                         public StreamTransport,
                         public std::enable_shared_from_this<GrpcStream> {
 public:
  GrpcStream(const grpc::CallbackServerContext& context, const StreamMethod& method)
      : context_(context), method_(method) {}

  void Start(const Services& services) {
    self_ = shared_from_this();
    call_ = std::make_shared<StreamCall>(self_, ReadCredentials(context_), method_, services);
    call_->Start();
  }

  // StreamTransport.
  void Read() override { StartRead(&in_); }

  void Send(std::vector<MessagePtr> messages) override {
    if (end_.Begin()) {
      messages_ = std::move(messages);
      sent_ = 0;
      writing_ = true;
      WriteNext();
    }
  }

  void Finish(const absl::Status& status) override {
    if (!end_.Begin()) {  // so that gRPC keeps the context until Complete
      return;
    }
    FinishIf(end_.End(status));
    if (!status.ok() && writing_) {
      context_.TryCancel();  // a receiver that holds up the write would hold up the end too
    }
    FinishIf(end_.Complete());
  }

  // Reactions.
  void OnReadDone(bool ok) override {
    if (!ok) {
      call_->OnEnd();
      return;
    }
    MessagePtr message = method_.MakeRequest();
    const absl::Status status = ParseStrictly(in_, *message);
    in_.Clear();
    if (status.ok()) {
      call_->OnMessage(std::move(message));
    } else {
      call_->OnClosed(status);
    }
  }

  void OnWriteDone(bool ok) override {
    if (ok && ++sent_ < messages_.size()) {
      WriteNext();
      return;
    }
    messages_.clear();
    writing_ = false;
    if (!ok) {
      call_->OnClosed(Error(absl::StatusCode::kUnavailable, "the connection broke"));
    }
    FinishIf(end_.Complete());
    if (ok) {
      call_->OnSent();
    }
  }

  void OnCancel() override {
    call_->OnClosed(Error(absl::StatusCode::kCancelled, "the caller left, or control is stopping"));
  }

  void OnDone() override {
    call_.reset();
    self_.reset();
  }

 private:
  void WriteNext() {
    out_ = Serialize(*messages_[sent_]);
    // Without a buffer hint: gRPC may hold a hinted write back that carries the initial metadata,
    // and never report it done.
    StartWrite(&out_);
  }

  void FinishIf(const std::optional<absl::Status>& status) {
    if (status.has_value()) {
      BytesReactor::Finish(ToGrpc(*status));
    }
  }

  const grpc::CallbackServerContext& context_;
  const StreamMethod& method_;
  StreamEnd end_;
  std::atomic<bool> writing_{false};
  grpc::ByteBuffer in_;               // the outstanding read's
  std::vector<MessagePtr> messages_;  // the outstanding write's, as the next two
  std::size_t sent_ = 0;
  grpc::ByteBuffer out_;
  std::shared_ptr<StreamCall> call_;
  std::shared_ptr<GrpcStream> self_;
};

}  // namespace

BytesReactor* StartGrpcStream(const grpc::CallbackServerContext& context,
                              const StreamMethod& method, const Services& services) {
  const auto stream = std::make_shared<GrpcStream>(context, method);
  stream->Start(services);
  return stream.get();
}

}  // namespace croft::control::api
