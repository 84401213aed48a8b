// Lines of the request log (W3C extended, one central file per node) and of the error log
// (HTTP.sys's HTTPERR). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace croft::node::listener {

inline constexpr std::size_t kLogValueBytesMax = 4096;

inline constexpr std::string_view kRequestLogFields =
    "date time s-sitename s-computername s-ip cs-method cs-uri-stem cs-uri-query s-port c-ip "
    "cs-version cs(User-Agent) "
    "cs(Referer) cs-host sc-status sc-substatus sc-bytes cs-bytes time-taken";
inline constexpr std::string_view kErrorLogFields =
    "date time c-ip c-port s-ip s-port cs-version cs-method cs-uri sc-status s-siteid s-reason "
    "s-queuename";

// The addresses and the request as both logs show them; views may be empty, "-" is written then.
struct LoggedRequest {
  std::string_view time;  // "2026-11-30 20:07:09", UTC
  std::string_view server_ip;
  std::uint16_t server_port = 0;
  std::string_view client_ip;
  std::uint16_t client_port = 0;
  int minor_version = -1;  // -1: the request line was not understood
  std::string_view method;
  std::string_view uri_stem;
  std::string_view uri_query;
  std::string_view uri;  // with its query
  std::string_view host;
  std::string_view user_agent;
  std::string_view referer;
};

struct RequestLogEntry {
  std::string_view site;
  std::string_view computer;
  int status = 0;
  std::string_view substatus;  // "" is 0
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
  std::int64_t time_taken_ms = 0;
};

struct ErrorLogEntry {
  int status = 0;  // 0: no answer was sent
  std::int64_t site_uid = 0;
  std::string_view reason;  // never empty
  std::int64_t pool_uid = 0;
};

void AppendRequestLine(const LoggedRequest& request, const RequestLogEntry& entry,
                       std::string& out);
void AppendErrorLine(const LoggedRequest& request, const ErrorLogEntry& entry, std::string& out);

// One field, UTF-8: space, what is not printable and the bytes above 0x7f of a value in another
// encoding become "+", empty becomes "-", too long becomes "...".
void AppendLogValue(std::string_view value, std::string& out);

// "#Software: Croft" and what follows it at each opening of a file.
std::string LogFileHeader(std::string_view fields, std::string_view time);

}  // namespace croft::node::listener
