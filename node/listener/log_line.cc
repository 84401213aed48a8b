#include "node/listener/log_line.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "proto/contract/text_rules.h"

namespace croft::node::listener {
namespace {

void AppendNumber(std::int64_t number, std::string& out) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
  out.push_back(' ');
}

void AppendVersion(int minor_version, std::string& out) {
  switch (minor_version) {
    case 0:
      out.append("HTTP/1.0 ");
      break;
    case 1:
      out.append("HTTP/1.1 ");
      break;
    default:
      out.append("- ");
  }
}

void AppendField(std::string_view value, std::string& out) {
  AppendLogValue(value, out);
  out.push_back(' ');
}

void EndLine(std::string& out) { out.back() = '\n'; }

}  // namespace

void AppendLogValue(std::string_view value, std::string& out) {
  if (value.empty()) {
    out.push_back('-');
    return;
  }
  if (value.size() > kLogValueBytesMax) {
    out.append("...");
    return;
  }
  const std::size_t start = out.size();
  out.append(value);
  const bool ascii = std::all_of(value.begin(), value.end(), [](char c) { return c >= 0; });
  const bool utf8 = ascii || contract::IsUtf8(value);
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
      [utf8](char c) { return c < 0 ? !utf8 : c <= ' ' || c == 0x7f; }, '+');
}

void AppendRequestLine(const LoggedRequest& request, const RequestLogEntry& entry,
                       std::string& out) {
  out.append(request.time);
  out.push_back(' ');
  AppendField(entry.site, out);
  AppendField(entry.computer, out);
  AppendField(request.server_ip, out);
  AppendField(request.method, out);
  AppendField(request.uri_stem, out);
  AppendField(request.uri_query, out);
  AppendNumber(request.server_port, out);
  AppendField(request.client_ip, out);
  AppendVersion(request.minor_version, out);
  AppendField(request.user_agent, out);
  AppendField(request.referer, out);
  AppendField(request.host, out);
  AppendNumber(entry.status, out);
  AppendField(entry.substatus.empty() ? "0" : entry.substatus, out);
  AppendNumber(entry.sent_bytes, out);
  AppendNumber(entry.received_bytes, out);
  AppendNumber(entry.time_taken_ms, out);
  EndLine(out);
}

void AppendErrorLine(const LoggedRequest& request, const ErrorLogEntry& entry, std::string& out) {
  out.append(request.time);
  out.push_back(' ');
  AppendField(request.client_ip, out);
  AppendNumber(request.client_port, out);
  AppendField(request.server_ip, out);
  AppendNumber(request.server_port, out);
  AppendVersion(request.minor_version, out);
  AppendField(request.method.substr(0, 255), out);
  AppendField(request.uri.substr(0, kLogValueBytesMax), out);
  if (entry.status == 0) {
    out.append("- ");
  } else {
    AppendNumber(entry.status, out);
  }
  if (entry.site_uid == 0) {
    out.append("- ");
  } else {
    AppendNumber(entry.site_uid, out);
  }
  AppendField(entry.reason, out);
  if (entry.pool_uid == 0) {
    out.append("- ");
  } else {
    AppendNumber(entry.pool_uid, out);
  }
  EndLine(out);
}

std::string LogFileHeader(std::string_view fields, std::string_view time) {
  return fmt::format("#Software: Croft\n#Version: 1.0\n#Date: {}\n#Fields: {}\n", time, fields);
}

}  // namespace croft::node::listener
