#include "node/worker/http2/stream.h"

#include <charconv>

#include "node/link/target_codec.h"
#include "node/worker/handlers/error_pages.h"
#include "node/worker/http/substatus.h"
#include "proto/base/check.h"
#include "proto/base/log.h"
#include "proto/contract/url_path.h"

namespace croft::node::worker::http2 {
namespace {

nghttp2_nv MakeField(std::string_view name, std::string_view value, std::uint8_t flags) {
  return {.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = static_cast<std::uint8_t>(NGHTTP2_NV_FLAG_NO_COPY_NAME |
                                             NGHTTP2_NV_FLAG_NO_COPY_VALUE | flags)};
}

// Values that differ from file to file would only push useful ones out of the compression table.
std::uint8_t FieldFlags(std::string_view name) {
  const bool differs = name == "last-modified" || name == "content-range";
  return differs ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
}

void AppendField(std::string& to, std::string_view value) {
  if (!to.empty()) {
    to += ", ";
  }
  to += value;
}

http::Method ParseMethod(std::string_view method) {
  if (method == "GET") {
    return http::Method::kGet;
  }
  return method == "HEAD" ? http::Method::kHead : http::Method::kOther;
}

std::string_view AsText(std::span<char> buffer, std::int64_t number) {
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

}  // namespace

void Stream::TakeHeader(std::string_view name, std::string_view value, TargetTable& targets) {
  header_bytes_ += name.size() + value.size() + 32;
  if (header_bytes_ > kHeaderBytesMax) {
    return;
  }
  if (name == ":method") {
    request_.method = ParseMethod(value);
  } else if (name == ":path") {
    raw_path_ = value;
  } else if (name == link::kTargetHeader) {
    target_ = value;
    ++targets_;
  } else if (name == link::kSettingsHeader) {
    if (const absl::Status defined = targets.Define(value); !defined.ok()) {
      log::Warn("worker", "refused a target's settings", {{"err", std::string(defined.message())}});
    }
  } else if (name == "range") {
    AppendField(request_.range, value);
  } else if (name == "if-none-match") {
    AppendField(request_.conditions.if_none_match, value);
  } else if (name == "if-modified-since") {
    AppendField(request_.conditions.if_modified_since, value);
  } else if (name == "if-match") {
    AppendField(request_.conditions.if_match, value);
  } else if (name == "if-unmodified-since") {
    AppendField(request_.conditions.if_unmodified_since, value);
  } else if (name == "if-range") {
    AppendField(request_.conditions.if_range, value);
  }
}

std::optional<http::Response> Stream::FinishRequest(TargetTable& targets) {
  if (header_bytes_ > kHeaderBytesMax) {
    return handlers::MakeErrorPage(431, http::kNoSubstatus, request_.method);
  }
  const std::size_t question = raw_path_.find('?');
  contract::UrlPath path =
      contract::NormalizeUrlPath(std::string_view(raw_path_).substr(0, question));
  // Twice a target means that one of them is the visitor's.
  if (path.error != contract::UrlPathError::kNone || targets_ > 1) {
    return handlers::MakeErrorPage(400, http::kNoSubstatus, request_.method);
  }
  request_.path = std::move(path.path);
  if (question != std::string::npos) {
    request_.query = raw_path_.substr(question);
  }
  if (const absl::Status resolved = targets.Resolve(target_, request_); !resolved.ok()) {
    log::Warn("worker", "refused a target", {{"err", std::string(resolved.message())}});
    return handlers::MakeErrorPage(500, http::kNoSubstatus, request_.method);
  }
  return std::nullopt;
}

std::span<const nghttp2_nv> Stream::MakeFields() {
  std::size_t count = 0;
  fields_[count++] = MakeField(":status", AsText(status_, response_.status), 0);
  for (const http::Header& header : response_.headers) {
    Check(count < fields_.size() - 2, "a response has few headers");
    fields_[count++] = MakeField(header.name, header.value, FieldFlags(header.name));
  }
  if (response_.content_length >= 0) {
    fields_[count++] =
        MakeField("content-length", AsText(content_length_, response_.content_length), 0);
  }
  if (response_.substatus != http::kNoSubstatus) {
    fields_[count++] =
        MakeField(link::kSubstatusHeader, AsText(substatus_, response_.substatus), 0);
  }
  return std::span(fields_).first(count);
}

}  // namespace croft::node::worker::http2
