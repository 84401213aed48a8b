#include "node/listener/http1_response.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <boost/beast/http/status.hpp>
#include <iterator>

namespace croft::node::listener {

std::string_view ReasonPhrase(int status) {
  const auto phrase = boost::beast::http::obsolete_reason(
      boost::beast::http::int_to_status(static_cast<unsigned>(status)));
  return phrase.empty() ? std::string_view("Unknown")
                        : std::string_view(phrase.data(), phrase.size());
}

void AppendResponseHead(int status, std::string_view http_date, ConnectionField connection,
                        std::string& out) {
  if (status == 200) {
    out.append("HTTP/1.1 200 OK\r\nServer: Croft\r\nDate: ");
  } else {
    out.append("HTTP/1.1 ");
    const fmt::format_int number(status);
    out.append(number.data(), number.size());
    out.append(" ").append(ReasonPhrase(status)).append("\r\nServer: Croft\r\nDate: ");
  }
  out.append(http_date);
  switch (connection) {
    case ConnectionField::kNone:
      out.append("\r\n");
      break;
    case ConnectionField::kClose:
      out.append("\r\nConnection: close\r\n");
      break;
    case ConnectionField::kKeepAlive:
      out.append("\r\nConnection: keep-alive\r\n");
      break;
  }
}

void AppendContentLength(std::int64_t length, std::string& out) {
  const fmt::format_int number(length);
  out.append("Content-Length: ").append(number.data(), number.size()).append("\r\n");
}

void AppendChunk(std::string_view bytes, std::string& out) {
  if (!bytes.empty()) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{:x}\r\n"), bytes.size());
    out.append(bytes).append("\r\n");
  }
}

std::string ErrorPage(int status) {
  const std::string_view phrase = ReasonPhrase(status);
  return fmt::format(
      "<!DOCTYPE html>\n<html><head><title>{0} {1}</title></head>\n"
      "<body><h1>{0} {1}</h1></body></html>\n",
      status, phrase);
}

}  // namespace croft::node::listener
