#include "control/gateway/gateway.h"

#include <pthread.h>

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "control/gateway/openapi.h"
#include "control/gateway/session.h"
#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::control::gateway {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr int kThreads = 2;
// Before the next try when the process is out of descriptors.
constexpr std::chrono::milliseconds kAcceptPause{100};

absl::Status UseCertificate(const identity::CertifiedKey& certificate, asio::ssl::context& tls) {
  boost::system::error_code error;
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1,
                  error);
  if (!error) {
    tls.use_certificate_chain(asio::buffer(certificate.certificate), error);
  }
  if (!error) {
    tls.use_private_key(asio::buffer(certificate.key), asio::ssl::context::pem, error);
  }
  return error
             ? Error(absl::StatusCode::kInternal, "the gateway's certificate: {}", error.message())
             : absl::OkStatus();
}

// A coroutine's end; what a library threw in it ends nothing else.
void OnEnd(const std::exception_ptr& thrown) {
  if (thrown == nullptr) {
    return;
  }
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    log::Warn("gateway", "a connection ended early", {{"err", error.what()}});
  }
}

class Counted {
 public:
  explicit Counted(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<int>& count_;
};

std::vector<Page> WithOwnPages(std::vector<Page> pages) {
  pages.push_back({.path = "/healthz", .content_type = "text/plain", .make = [] {
                     return std::string("ok\n");
                   }});
  pages.push_back({.path = "/openapi.json",
                   .content_type = "application/json",
                   .make = [document = BuildOpenApi()] { return document; }});
  return pages;
}

}  // namespace

struct Gateway::Parts {
  Parts(std::vector<Page> pages, const api::Services& services)
      : routes(services.methods, services.streams, WithOwnPages(std::move(pages))),
        environment{.routes = routes, .services = services, .door = std::make_shared<Door>()} {}

  absl::Status Listen(const GatewayOptions& options);
  asio::awaitable<void> Accept();
  asio::awaitable<void> ServeCounted(std::shared_ptr<Connection> connection);

  const Routes routes;
  const Environment environment;
  asio::ssl::context tls{asio::ssl::context::tls_server};
  std::atomic<int> connections{0};
  asio::io_context loop{kThreads};
  tcp::acceptor acceptor{asio::make_strand(loop)};
  std::vector<std::jthread> threads;
};

absl::Status Gateway::Parts::Listen(const GatewayOptions& options) {
  boost::system::error_code error;
  tcp::resolver resolver(loop);
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port), tcp::resolver::passive, error);
  if (!error && !found.empty()) {
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor.open(endpoint.protocol(), error);
    error || acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    error || acceptor.bind(endpoint, error);
    error || acceptor.listen(asio::socket_base::max_listen_connections, error);
  }
  return error ? Error(absl::StatusCode::kUnavailable,
                       "cannot listen on {}:{}: {}; choose another --json-listen, or \"\" for no "
                       "gateway",
                       options.host, options.port, error.message())
               : absl::OkStatus();
}

asio::awaitable<void> Gateway::Parts::Accept() {
  asio::steady_timer pause(acceptor.get_executor());
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(asio::make_strand(loop), kTuple);
    if (error) {
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kTuple);
      continue;
    }
    if (connections >= kConnectionsMax) {
      continue;  // closes it
    }
    socket.set_option(tcp::no_delay(true), error);
    const auto connection = std::make_shared<Connection>(std::move(socket), tls);
    asio::co_spawn(connection->strand(), ServeCounted(connection), OnEnd);
  }
}

asio::awaitable<void> Gateway::Parts::ServeCounted(std::shared_ptr<Connection> connection) {
  const Counted counted(connections);
  co_await Serve(std::move(connection), environment);
}

absl::StatusOr<std::unique_ptr<Gateway>> Gateway::Start(GatewayOptions options,
                                                        const api::Services& services) {
  auto parts = std::make_unique<Parts>(std::move(options.pages), services);
  if (absl::Status status = UseCertificate(options.certificate, parts->tls); !status.ok()) {
    return status;
  }
  if (absl::Status status = parts->Listen(options); !status.ok()) {
    return status;
  }
  asio::co_spawn(parts->acceptor.get_executor(), parts->Accept(), OnEnd);
  for (int i = 0; i < kThreads; ++i) {
    parts->threads.emplace_back([&loop = parts->loop] {
      ::pthread_setname_np(::pthread_self(), "gateway");
      loop.run();
    });
  }
  return std::make_unique<Gateway>(std::move(parts), Key());
}

Gateway::Gateway(std::unique_ptr<Parts> parts, Key) : parts_(std::move(parts)) {}

Gateway::~Gateway() {
  parts_->environment.door->Shut();
  parts_->loop.stop();
}

int Gateway::port() const { return parts_->acceptor.local_endpoint().port(); }

}  // namespace croft::control::gateway
