#include "node/listener/http1_request.h"

#include <boost/asio/buffer.hpp>
#include <cstring>

#include "node/listener/ascii.h"

namespace croft::node::listener {
namespace {

namespace http = boost::beast::http;
using http::field;

std::string_view ToStd(boost::beast::string_view view) { return {view.data(), view.size()}; }

// What the listener consumes or makes anew for each hop.
bool IsHopByHop(field id) {
  switch (id) {
    case field::connection:
    case field::proxy_connection:
    case field::keep_alive:
    case field::te:
    case field::trailer:
    case field::transfer_encoding:
    case field::upgrade:
    case field::expect:
    case field::host:
    case field::http2_settings:
      return true;
    default:
      return false;
  }
}

// HTTP.sys's word for what Beast refused.
Refusal FromParserError(const boost::beast::error_code& error) {
  if (error == http::error::bad_version) {
    return {400, "Version"};
  }
  if (error == http::error::bad_method) {
    return {400, "Verb"};
  }
  if (error == http::error::bad_target) {
    return {400, "URL"};
  }
  if (error == http::error::bad_content_length || error == http::error::multiple_content_length) {
    return {400, "Number"};
  }
  if (error == http::error::bad_line_ending) {
    return {400, "Invalid_CR/LF"};
  }
  if (error == http::error::body_limit) {
    return {413, "EntityTooLarge"};
  }
  if (error == http::error::bad_chunk || error == http::error::bad_chunk_extension) {
    return {400, "BadChunk"};
  }
  return {400, "Header"};
}

}  // namespace

void RequestHead::Clear() {
  method = path = query = path_and_query = host = user_agent = referer = {};
  has_query = expects_continue = false;
  keep_alive = true;
  minor_version = 1;
  body = BodyKind::kNone;
  content_length = 0;
  field_count = 0;
}

HeadScanner::Result HeadScanner::Scan(std::string_view bytes) {
  while (scanned_ < bytes.size()) {
    const char* from = bytes.data() + scanned_;
    const auto* end_of_line =
        static_cast<const char*>(std::memchr(from, '\n', bytes.size() - scanned_));
    if (end_of_line == nullptr) {
      return Result::kNeedMore;
    }
    if (end_of_line == from || end_of_line[-1] != '\r' || *from == ' ' || *from == '\t') {
      return Result::kBadLine;
    }
    scanned_ = static_cast<std::size_t>(end_of_line - bytes.data()) + 1;
    if (end_of_line == from + 1) {
      return Result::kComplete;
    }
  }
  return Result::kNeedMore;
}

RequestParser::RequestParser() {
  header_limit(static_cast<std::uint32_t>(kHeadBytesMax));
  body_limit(boost::none);
  eager(false);
}

std::optional<Refusal> RequestParser::ParseHead(std::span<char> bytes, RequestHead& head) {
  head_ = &head;
  Error error;
  put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  if (refusal_) {
    return refusal_;
  }
  if (error) {
    return FromParserError(error);
  }
  // Names are views into `bytes`, which are the caller's to change.
  for (std::size_t i = 0; i < head.field_count; ++i) {
    char* name = bytes.data() + (head.fields[i].name.data() - bytes.data());
    for (std::size_t j = 0; j < head.fields[i].name.size(); ++j) {
      name[j] = ToLower(name[j]);
    }
  }
  auto refusal = Conclude();
  head_ = nullptr;
  return refusal;
}

void RequestParser::on_request_impl(http::verb, View method, View target, int version, Error&) {
  head_->method = ToStd(method);
  head_->minor_version = version - 10;
  target_ = ToStd(target);
}

void RequestParser::on_field_impl(field id, View name, View value, Error& error) {
  if (head_ == nullptr) {
    return;  // trailers are read and dropped
  }
  if (head_->field_count == kHeaderFieldsMax) {
    refusal_ = Refusal{431, "FieldCount"};
    error = http::error::header_limit;
    return;
  }
  HeaderField& added = head_->fields[head_->field_count++];
  added.name = ToStd(name);
  added.value = ToStd(value);
  added.forwarded = !IsHopByHop(id) && !StartsWithIgnoreCase(added.name, "croft-");
  switch (id) {
    case field::host:
      ++host_fields_;
      head_->host = added.value;
      break;
    case field::content_length:
      ++length_fields_;
      if (!IsDigits(added.value)) {
        error = http::error::bad_content_length;
      }
      break;
    case field::transfer_encoding:
      ++coding_fields_;
      if (!EqualsIgnoreCase(added.value, "chunked")) {
        refusal_ = Refusal{501, "N/I"};
        error = http::error::bad_transfer_encoding;
      }
      break;
    case field::connection:
      // A second field is refused by Conclude: two lists are never needed.
      if (!connection_.empty()) {
        refusal_ = Refusal{400, "Header"};
        error = http::error::bad_field;
      }
      connection_ = added.value;
      break;
    case field::expect:
      if (!EqualsIgnoreCase(added.value, "100-continue")) {
        refusal_ = Refusal{417, "Precondition"};
        error = http::error::bad_value;
      }
      head_->expects_continue = true;
      break;
    case field::user_agent:
      head_->user_agent = added.value;
      break;
    case field::referer:
      head_->referer = added.value;
      break;
    default:
      break;
  }
}

std::optional<Refusal> RequestParser::SplitTarget() {
  constexpr Refusal kBadTarget{400, "URL"};
  std::string_view target = target_;
  if (target.find('#') != std::string_view::npos) {
    return kBadTarget;
  }
  if (target == "*") {
    if (head_->method != "OPTIONS") {
      return kBadTarget;
    }
    head_->path = head_->path_and_query = target;
    return std::nullopt;
  }
  if (StartsWithIgnoreCase(target, "http://")) {
    target.remove_prefix(7);
    const std::size_t end = target.find_first_of("/?");
    head_->host = target.substr(0, end);
    target = end == std::string_view::npos ? "/" : target.substr(end);
    if (head_->host.empty() || target[0] == '?') {
      return kBadTarget;
    }
  }
  if (target.empty() || target[0] != '/') {
    return kBadTarget;
  }
  head_->path_and_query = target;
  const std::size_t question = target.find('?');
  head_->path = target.substr(0, question);
  head_->has_query = question != std::string_view::npos;
  head_->query = head_->has_query ? target.substr(question + 1) : std::string_view();
  return std::nullopt;
}

std::optional<Refusal> RequestParser::Conclude() {
  RequestHead& head = *head_;
  if (head.method.size() > kMethodBytesMax) {
    return Refusal{400, "Verb"};
  }
  if (host_fields_ > 1 || (host_fields_ == 0 && head.minor_version == 1)) {
    return Refusal{400, "Hostname"};
  }
  if (length_fields_ > 1 || (length_fields_ > 0 && coding_fields_ > 0)) {
    return Refusal{400, "Number"};
  }
  if (coding_fields_ > 1 || (coding_fields_ > 0 && head.minor_version == 0)) {
    return Refusal{400, "Header"};
  }
  if (head.method == "CONNECT" || head.method == "TRACE") {
    return Refusal{405, "Verb"};
  }
  if (auto refusal = SplitTarget()) {
    return refusal;
  }
  MarkHopByHop();
  head.keep_alive = keep_alive();
  if (chunked()) {
    head.body = BodyKind::kChunked;
  } else if (const auto length = content_length(); length && *length > 0) {
    head.body = BodyKind::kLength;
    head.content_length = *length;
  }
  head.expects_continue = head.expects_continue && head.minor_version == 1;
  return std::nullopt;
}

// A field that Connection names belongs to this hop alone.
void RequestParser::MarkHopByHop() {
  if (connection_.empty() || EqualsIgnoreCase(connection_, "keep-alive") ||
      EqualsIgnoreCase(connection_, "close")) {
    return;
  }
  std::string_view rest = connection_;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view token = TrimSpace(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    for (std::size_t i = 0; i < head_->field_count; ++i) {
      HeaderField& header = head_->fields[i];
      header.forwarded = header.forwarded && !EqualsIgnoreCase(header.name, token);
    }
  }
}

std::size_t RequestParser::FeedBody(std::string_view bytes, std::string& sink,
                                    std::optional<Refusal>& refusal) {
  sink_ = &sink;
  std::size_t consumed = 0;
  while (!is_done()) {
    Error error;
    const std::size_t taken =
        put(boost::asio::const_buffer(bytes.data() + consumed, bytes.size() - consumed), error);
    consumed += taken;
    if (error && error != http::error::need_more) {
      refusal = FromParserError(error);
      break;
    }
    if (error || (taken == 0 && consumed == bytes.size())) {
      break;
    }
  }
  sink_ = nullptr;
  return consumed;
}

std::size_t RequestParser::on_body_impl(View body, Error&) {
  sink_->append(body.data(), body.size());
  return body.size();
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, View body, Error&) {
  sink_->append(body.data(), body.size());
  return body.size();
}

}  // namespace croft::node::listener
