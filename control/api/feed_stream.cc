#include "control/api/feed_stream.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "control/api/peer.h"
#include "control/api/stream_end.h"
#include "control/api/wire.h"
#include "proto/base/error.h"
#include "proto/base/guarded.h"
#include "proto/base/log.h"

namespace croft::control::api {
namespace {

using SharedBytes = std::shared_ptr<const std::string>;

// A slice that shares the feed's bytes, which many streams send at once, instead of copying them.
grpc::ByteBuffer ShareBytes(SharedBytes bytes) {
  auto holder = std::make_unique<SharedBytes>(std::move(bytes));
  const std::string& text = **holder;
  void* data = const_cast<char*>(text.data());  // gRPC takes no pointer to const, and only reads
  const auto drop = [](void* held) {
    const std::unique_ptr<SharedBytes> dropped(static_cast<SharedBytes*>(held));
  };
  const grpc::Slice slice(data, text.size(), drop, holder.release());
  return grpc::ByteBuffer(&slice, 1);
}

class FeedStream final : public BytesReactor,
                         public feed::Transport,
                         public std::enable_shared_from_this<FeedStream> {
 public:
  explicit FeedStream(feed::Feed& feed) : feed_(feed) {}

  void Start(Credentials credentials, const Services& services) {
    self_ = shared_from_this();
    if (!end_.Begin()) {
      return;
    }
    auto work = [stream = self_, credentials = std::move(credentials),
                 &authorizer = services.authorizer] {
      const auto node = authorizer.GetNode(credentials);
      node.ok() ? stream->Open(*node) : stream->EndOperation(node.status());
    };
    if (!services.executor.TryPush(std::move(work))) {
      EndOperation(BusyError());
    }
  }

  // feed::Transport, from the feed's thread.
  void Send(SharedBytes message) override {
    if (end_.Begin()) {
      out_ = ShareBytes(std::move(message));
      StartWrite(&out_);
    }
  }
  void Close(const absl::Status& status) override { FinishIf(end_.End(status)); }

  // Reactions.
  void OnReadDone(bool ok) override {
    if (!ok) {
      Close(absl::OkStatus());  // the node has ended the stream
      return;
    }
    node::v1::NodeMessage message;
    if (absl::Status status = Parse(in_, message); !status.ok()) {
      Close(status);
      return;
    }
    feed_.OnMessage(read_session_, std::move(message));
    in_.Clear();
    StartRead(&in_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      EndOperation(Error(absl::StatusCode::kUnavailable, "the node's connection broke"));
      return;
    }
    FinishIf(end_.Complete());
    const feed::Feed::SessionId session = opened_.Lock()->OnSent();
    if (session != 0) {
      feed_.OnSent(session);
    }
  }

  void OnCancel() override {
    Close(Error(absl::StatusCode::kCancelled, "the stream was cancelled"));
  }

  void OnDone() override {
    const feed::Feed::SessionId session = opened_.Lock()->session;
    if (session != 0) {
      feed_.OnClosed(session);
    }
    self_.reset();
  }

 private:
  // The feed may send, and that be done, before it has returned the session's id.
  struct Opened {
    feed::Feed::SessionId session = 0;
    bool sent_before = false;

    feed::Feed::SessionId OnSent() {
      sent_before = session == 0;
      return session;
    }
  };

  void Open(const feed::NodeIdentity& node) {
    log::Info("api", "node connected", {{"node", node.node}});
    const feed::Feed::SessionId session = feed_.OnOpened(node, self_);
    bool sent = false;
    {
      auto opened = opened_.Lock();
      opened->session = session;
      sent = opened->sent_before;
    }
    if (sent) {
      feed_.OnSent(session);
    }
    read_session_ = session;
    StartRead(&in_);
    FinishIf(end_.Complete());
  }

  void EndOperation(const absl::Status& status) {
    FinishIf(end_.End(status));
    FinishIf(end_.Complete());
  }

  void FinishIf(const std::optional<absl::Status>& status) {
    if (status.has_value()) {
      Finish(ToGrpc(*status));
    }
  }

  feed::Feed& feed_;
  StreamEnd end_;
  Guarded<Opened> opened_;
  feed::Feed::SessionId read_session_ = 0;  // set before the first read, for its reaction
  grpc::ByteBuffer in_;                     // the outstanding read's
  grpc::ByteBuffer out_;                    // the outstanding write's
  std::shared_ptr<FeedStream> self_;
};

}  // namespace

BytesReactor* StartFeedStream(const grpc::CallbackServerContext& context,
                              const Services& services) {
  const auto stream = std::make_shared<FeedStream>(services.feed);
  stream->Start(ReadCredentials(context), services);
  return stream.get();
}

}  // namespace croft::control::api
