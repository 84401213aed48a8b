// Response heads of HTTP/1.1, and the small page of an answer the listener makes by itself. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace croft::node::listener {

// "Not Found"; "Unknown" for a status without a registered phrase.
std::string_view ReasonPhrase(int status);

enum class ConnectionField : std::uint8_t { kNone, kClose, kKeepAlive };

// "HTTP/1.1 200 OK", Server, Date and Connection, without the empty line.
void AppendResponseHead(int status, std::string_view http_date, ConnectionField connection,
                        std::string& out);
void AppendContentLength(std::int64_t length, std::string& out);
// One chunk of chunked coding; nothing for no bytes.
void AppendChunk(std::string_view bytes, std::string& out);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// Status and phrase as HTML, as small as IIS's.
std::string ErrorPage(int status);

}  // namespace croft::node::listener
