// gateway_bench CONTROL_DIR SITE [SECONDS]: GetSite over gRPC and over the JSON gateway of the same
// control, by 1 and by 16 clients that each keep a connection. A line per run: protocol, clients,
// requests/s, p50 and p99 in microseconds.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "croft/v1/site.grpc.pb.h"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;

// One request; false when it failed.
using Request = std::function<bool()>;

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string FirstLine(const std::string& path) {
  const std::string text = Read(path);
  return text.substr(0, text.find('\n'));
}

struct Target {
  std::string grpc_address;
  std::string json_address;
  std::string ca;
  std::string token;
  std::string site;
};

Target ReadTarget(const std::string& directory, const std::string& site) {
  const std::string contexts = Read(directory + "/operator.yaml");
  std::size_t begin = contexts.find("token: ") + 7;
  begin += contexts[begin] == '"' ? 1 : 0;
  return {.grpc_address = FirstLine(directory + "/listen"),
          .json_address = FirstLine(directory + "/json-listen"),
          .ca = Read(directory + "/ca.crt"),
          .token = contexts.substr(begin, contexts.find_first_of("\"\n", begin) - begin),
          .site = site};
}

Request ConnectGrpc(const Target& target) {
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = target.ca;
  grpc::ChannelArguments apart;  // a connection of its own
  apart.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  auto stub = std::shared_ptr(croft::v1::SiteService::NewStub(
      grpc::CreateCustomChannel(target.grpc_address, grpc::SslCredentials(tls), apart)));
  return [stub, &target] {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + target.token);
    croft::v1::GetSiteRequest request;
    request.set_name(target.site);
    croft::v1::Site site;
    return stub->GetSite(&context, request, &site).ok();
  };
}

struct JsonConnection {
  asio::io_context loop;
  asio::ssl::context tls{asio::ssl::context::tls_client};
  beast::ssl_stream<beast::tcp_stream> stream{loop, tls};
  beast::flat_buffer buffer;
};

Request ConnectJson(const Target& target) {
  auto connection = std::make_shared<JsonConnection>();
  const std::size_t colon = target.json_address.rfind(':');
  asio::ip::tcp::resolver resolver(connection->loop);
  beast::get_lowest_layer(connection->stream)
      .connect(resolver.resolve(target.json_address.substr(0, colon),
                                target.json_address.substr(colon + 1)));
  beast::get_lowest_layer(connection->stream).socket().set_option(asio::ip::tcp::no_delay(true));
  connection->stream.handshake(asio::ssl::stream_base::client);
  http::request<http::string_body> request{http::verb::post, "/croft.v1.SiteService/GetSite", 11};
  request.set(http::field::host, target.json_address);
  request.set(http::field::content_type, "application/json");
  request.set(http::field::authorization, "Bearer " + target.token);
  request.body() = "{\"name\":\"" + target.site + "\"}";
  request.prepare_payload();
  return [connection, request] {
    http::write(connection->stream, request);
    http::response<http::string_body> response;
    http::read(connection->stream, connection->buffer, response);
    return response.result() == http::status::ok;
  };
}

void Measure(const char* protocol, int clients, double seconds,
             const std::function<Request()>& connect) {
  std::vector<std::vector<double>> micros(static_cast<std::size_t>(clients));
  std::vector<std::jthread> threads;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (auto& mine : micros) {
    threads.emplace_back([&mine, &connect, end] {
      const Request request = connect();
      request();
      for (auto begin = Clock::now(); begin < end;) {
        if (!request()) {
          std::fputs("a request failed\n", stderr);
          std::exit(1);
        }
        const auto now = Clock::now();
        mine.push_back(std::chrono::duration<double, std::micro>(now - begin).count());
        begin = now;
      }
    });
  }
  threads.clear();
  std::vector<double> all;
  for (const auto& mine : micros) {
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::ranges::sort(all);
  const auto at = [&all](std::size_t percent) { return all[all.size() * percent / 100]; };
  fmt::print("{} {} {:.0f} {:.0f} {:.0f}\n", protocol, clients,
             static_cast<double>(all.size()) / seconds, at(50), at(99));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("gateway_bench CONTROL_DIR SITE [SECONDS]\n", stderr);
    return 2;
  }
  try {
    const Target target = ReadTarget(argv[1], argv[2]);
    const double seconds = argc > 3 ? std::stod(argv[3]) : 2;
    for (const int clients : {1, 16}) {
      Measure("grpc", clients, seconds, [&target] { return ConnectGrpc(target); });
      Measure("json", clients, seconds, [&target] { return ConnectJson(target); });
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gateway_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
