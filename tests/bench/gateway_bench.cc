// gateway_bench CONTROL_DIR SITE [SECONDS]: GetSite over gRPC and over the JSON gateway of the same
// control, by 1 and by 16 clients that each keep a connection. A line per run: protocol, clients,
// requests/s, p50 and p99 in microseconds.
#include <grpcpp/grpcpp.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "croft/v1/site.grpc.pb.h"
#include "tests/bench/clients.h"

namespace croft::bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

Request AskOverGrpc(const Target& target, const std::string& site_name) {
  const auto stub = std::shared_ptr(v1::SiteService::NewStub(ConnectGrpc(target)));
  return [stub, &target, site_name] {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + target.token);
    v1::GetSiteRequest request;
    request.set_name(site_name);
    v1::Site site;
    return stub->GetSite(&context, request, &site).ok();
  };
}

struct JsonConnection {
  asio::io_context loop;
  asio::ssl::context tls{asio::ssl::context::tls_client};
  beast::ssl_stream<beast::tcp_stream> stream{loop, tls};
  beast::flat_buffer buffer;
};

Request AskOverJson(const Target& target, const std::string& site_name) {
  const auto connection = std::make_shared<JsonConnection>();
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
  request.body() = "{\"name\":\"" + site_name + "\"}";
  request.prepare_payload();
  return [connection, request] {
    http::write(connection->stream, request);
    http::response<http::string_body> response;
    http::read(connection->stream, connection->buffer, response);
    return response.result() == http::status::ok;
  };
}

int Run(const std::string& directory, const std::string& site, double seconds) {
  const Target target = ReadTarget(directory);
  for (const int clients : {1, 16}) {
    Measure("grpc", clients, seconds, [&](int) { return AskOverGrpc(target, site); });
    Measure("json", clients, seconds, [&](int) { return AskOverJson(target, site); });
  }
  return 0;
}

}  // namespace
}  // namespace croft::bench

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("gateway_bench CONTROL_DIR SITE [SECONDS]\n", stderr);
    return 2;
  }
  try {
    return croft::bench::Run(argv[1], argv[2], argc > 3 ? std::stod(argv[3]) : 2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gateway_bench: %s\n", error.what());
    return 1;
  }
}
