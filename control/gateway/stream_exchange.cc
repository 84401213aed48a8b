#include "control/gateway/stream_exchange.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "control/api/server.h"
#include "control/api/stream_call.h"
#include "control/gateway/connect_error.h"
#include "proto/base/error.h"

namespace croft::control::gateway {
namespace {

namespace asio = boost::asio;

// What the stream asks of its connection.
struct Command {
  enum class Kind { kRead, kSend, kFinish };
  Kind kind = Kind::kRead;
  std::string text = {};
  absl::Status status = absl::OkStatus();
};

class LineTransport final : public api::StreamTransport {
 public:
  explicit LineTransport(std::shared_ptr<Inbox<Command>> inbox) : inbox_(std::move(inbox)) {}

  void Read() override { inbox_->Push({.kind = Command::Kind::kRead}); }
  void Send(std::vector<api::MessagePtr> messages) override {
    std::string text;
    for (const api::MessagePtr& message : messages) {
      text += Encode(*message, Codec::kJsonLines) + "\n";
    }
    inbox_->Push({.kind = Command::Kind::kSend, .text = std::move(text)});
  }
  void Finish(const absl::Status& status) override {
    inbox_->Push({.kind = Command::Kind::kFinish, .status = status});
  }

 private:
  const std::shared_ptr<Inbox<Command>> inbox_;
};

// The connection's side of one stream; lives in its coroutine.
class Conversation {
 public:
  Conversation(Exchange exchange, const api::StreamMethod& method, BodyReader& body)
      : exchange_(std::move(exchange)),
        method_(method),
        body_(body),
        reader_(exchange_.connection->strand(), exchange_.environment.door),
        call_(std::make_shared<api::StreamCall>(std::make_shared<LineTransport>(reader_.inbox()),
                                                exchange_.credentials, method,
                                                exchange_.environment.services)) {}

  asio::awaitable<void> Run() {
    call_->Start();
    const Deadline deadline = exchange_.terms.DeadlineFromNow();
    for (;;) {
      // Who hears nothing for a while hears at least that it was understood.
      const Deadline patience =
          begun_ ? Deadline::max() : std::chrono::steady_clock::now() + api::kStreamBeat;
      const auto command = co_await reader_.Take(std::min(deadline, patience));
      if (!command.has_value() && std::chrono::steady_clock::now() >= deadline) {
        call_->OnClosed(
            Error(absl::StatusCode::kDeadlineExceeded, "connect-timeout-ms has passed"));
      } else if (!command.has_value()) {
        co_await Begin();
      } else if (command->kind == Command::Kind::kRead) {
        co_await Read();
      } else if (command->kind == Command::Kind::kSend) {
        co_await Send(command->text);
      } else {
        co_await End(command->status);
        co_return;
      }
    }
  }

 private:
  Connection& connection() { return *exchange_.connection; }

  void OnBroken() { call_->OnClosed(Error(absl::StatusCode::kCancelled, "the caller left")); }

  asio::awaitable<void> Begin() {
    if (!begun_) {
      begun_ = true;
      writable_ = co_await connection().WriteStreamHeader(exchange_.terms.content_type);
      if (!writable_) {
        OnBroken();
      }
    }
  }

  asio::awaitable<void> Read() {
    absl::StatusOr<std::optional<std::string>> text;
    if (method_.descriptor->client_streaming()) {
      text = co_await body_.ReadLine(api::kMessageBytesMax);
    } else {
      text = co_await body_.ReadAll(api::kMessageBytesMax);
      WatchForLeave();
    }
    if (!text.ok()) {
      call_->OnClosed(text.status());
      co_return;
    }
    if (!text->has_value()) {
      call_->OnEnd();
      co_return;
    }
    api::MessagePtr message = method_.MakeRequest();
    const absl::Status status = Decode(**text, Codec::kJson, *message);
    status.ok() ? call_->OnMessage(std::move(message)) : call_->OnClosed(status);
  }

  // A stream that only sends would not notice for long that nobody is there.
  void WatchForLeave() {
    asio::co_spawn(connection().strand(), AwaitLeave(exchange_.connection, call_), asio::detached);
  }

  static asio::awaitable<void> AwaitLeave(std::shared_ptr<Connection> connection,
                                          std::weak_ptr<api::StreamCall> call) {
    co_await connection->AwaitLeave();
    const auto open = call.lock();
    if (open != nullptr) {
      open->OnClosed(Error(absl::StatusCode::kCancelled, "the caller left"));
    }
  }

  asio::awaitable<void> Send(const std::string& text) {
    co_await Begin();
    if (writable_) {
      writable_ = co_await connection().WriteChunk(text);
      writable_ ? call_->OnSent() : OnBroken();
    }
  }

  asio::awaitable<void> WriteEnd(const absl::Status& status) {
    co_await Begin();
    if (writable_ && !status.ok()) {
      const std::string line = "{\"error\":" + ErrorJson(status) + "}\n";
      writable_ = co_await connection().WriteChunk(line);
    }
    if (writable_) {
      co_await connection().WriteStreamEnd();
    }
  }

  asio::awaitable<void> End(const absl::Status& status) {
    if (!begun_ && !status.ok()) {
      HttpAnswer answer = ErrorAnswer(status);
      co_await connection().Write(std::move(answer), false);
    } else {
      co_await WriteEnd(status);
    }
    if (!body_.is_done()) {
      co_await connection().Linger();
    } else {
      connection().Close();
    }
  }

  const Exchange exchange_;
  const api::StreamMethod& method_;
  BodyReader& body_;
  InboxReader<Command> reader_;
  const std::shared_ptr<api::StreamCall> call_;
  bool begun_ = false;
  bool writable_ = false;  // begun, and not broken
};

}  // namespace

asio::awaitable<void> CallStream(Exchange exchange, const api::StreamMethod& method,
                                 BodyReader& body) {
  Conversation conversation(std::move(exchange), method, body);
  co_await conversation.Run();
}

}  // namespace croft::control::gateway
