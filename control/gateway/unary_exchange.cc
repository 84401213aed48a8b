#include "control/gateway/unary_exchange.h"

#include <functional>
#include <string>
#include <utility>

#include "control/api/server.h"
#include "proto/base/error.h"

namespace croft::control::gateway {
namespace {

namespace asio = boost::asio;

// A body that takes more than this to hold is read from a known caller only.
constexpr std::uint64_t kStrangersBodyMax = 64 * 1024;

using AnswerInbox = Inbox<HttpAnswer>;

struct Call {
  const api::Method& method;
  api::Authorizer& authorizer;
  api::Credentials credentials;
  Codec codec;
  std::string content_type;
  std::string body;
};

HttpAnswer MakeAnswer(const absl::StatusOr<api::CallResult>& result, Codec codec,
                      const std::string& content_type) {
  if (!result.ok()) {
    return ErrorAnswer(result.status());
  }
  HttpAnswer answer{.status = 200,
                    .content_type = content_type,
                    .body = Encode(*result->message, codec),
                    .headers = {}};
  if (result->counts.has_value()) {
    answer.headers.emplace_back(api::kCountsHeader, api::FormatCounts(*result->counts));
  }
  return answer;
}

// On the executor.
void Run(const Call& call, const std::shared_ptr<AnswerInbox>& inbox) {
  domain::Caller caller;
  if (call.method.access == api::Access::kOperator) {
    auto found = call.authorizer.GetOperator(call.credentials);
    if (!found.ok()) {
      inbox->Push(ErrorAnswer(found.status()));
      return;
    }
    caller = *std::move(found);
  }
  const api::MessagePtr request = call.method.MakeRequest();
  if (absl::Status status = Decode(call.body, call.codec, *request); !status.ok()) {
    inbox->Push(ErrorAnswer(status));
    return;
  }
  call.method.handler(caller, *request,
                      [inbox, codec = call.codec,
                       type = call.content_type](const absl::StatusOr<api::CallResult>& result) {
                        inbox->Push(MakeAnswer(result, codec, type));
                      });
}

HttpAnswer AnswerWith(const Page& page) {
  auto text = page.make();
  return text.ok() ? HttpAnswer{.status = 200,
                                .content_type = page.content_type,
                                .body = *std::move(text),
                                .headers = {}}
                   : ErrorAnswer(text.status());
}

absl::Status CheckReader(const Page& page, api::Authorizer& authorizer,
                         const api::Credentials& credentials) {
  if (page.may_read == nullptr) {
    return absl::OkStatus();
  }
  const auto caller = authorizer.GetOperator(credentials);
  return caller.ok() ? page.may_read(*caller) : caller.status();
}

using Work = std::function<void(const std::shared_ptr<AnswerInbox>& inbox)>;

// Runs the work on the executor and awaits the answer.
asio::awaitable<HttpAnswer> Await(const Environment& environment, Connection& connection,
                                  Deadline deadline, Work work) {
  InboxReader<HttpAnswer> reader(connection.strand(), environment.door);
  const bool pushed = environment.services.executor.TryPush(
      [inbox = reader.inbox(), work = std::move(work)] { work(inbox); });
  if (!pushed) {
    co_return ErrorAnswer(api::BusyError());
  }
  auto answer = co_await reader.Take(deadline);
  if (answer.has_value()) {
    co_return *std::move(answer);
  }
  co_return ErrorAnswer(Error(absl::StatusCode::kDeadlineExceeded,
                              "there was no answer within connect-timeout-ms; what was begun may "
                              "still be done"));
}

// Answers 200 for one who may go on.
Work CheckStranger(const Exchange& exchange) {
  return [&authorizer = exchange.environment.services.authorizer,
          credentials = exchange.credentials](const std::shared_ptr<AnswerInbox>& inbox) {
    const auto caller = authorizer.GetOperator(credentials);
    inbox->Push(caller.ok() ? HttpAnswer() : ErrorAnswer(caller.status()));
  };
}

}  // namespace

asio::awaitable<HttpAnswer> CallUnary(const Exchange& exchange, const api::Method& method,
                                      BodyReader& body) {
  const Deadline deadline = exchange.terms.DeadlineFromNow();
  if (body.bytes_announced() > kStrangersBodyMax && method.access == api::Access::kOperator) {
    Work check = CheckStranger(exchange);
    HttpAnswer known =
        co_await Await(exchange.environment, *exchange.connection, deadline, std::move(check));
    if (known.status != 200) {
      co_return known;
    }
  }
  auto text = co_await body.ReadAll(api::kMessageBytesMax);
  if (!text.ok()) {
    co_return ErrorAnswer(text.status(), absl::IsResourceExhausted(text.status()) ? 413 : 0);
  }
  auto call =
      std::make_shared<const Call>(Call{.method = method,
                                        .authorizer = exchange.environment.services.authorizer,
                                        .credentials = exchange.credentials,
                                        .codec = exchange.terms.codec,
                                        .content_type = exchange.terms.content_type,
                                        .body = *std::move(text)});
  Work work = [call](const std::shared_ptr<AnswerInbox>& inbox) { Run(*call, inbox); };
  HttpAnswer answer =
      co_await Await(exchange.environment, *exchange.connection, deadline, std::move(work));
  co_return answer;
}

asio::awaitable<HttpAnswer> MakePage(const Environment& environment, Connection& connection,
                                     const Page& page, api::Credentials credentials) {
  if (!page.blocks && page.may_read == nullptr) {
    co_return AnswerWith(page);
  }
  Work work = [&page, &authorizer = environment.services.authorizer,
               credentials = std::move(credentials)](const std::shared_ptr<AnswerInbox>& inbox) {
    const absl::Status may = CheckReader(page, authorizer, credentials);
    inbox->Push(may.ok() ? AnswerWith(page) : ErrorAnswer(may));
  };
  HttpAnswer answer = co_await Await(environment, connection, Deadline::max(), std::move(work));
  co_return answer;
}

}  // namespace croft::control::gateway
