// What a connection decides and answers by itself, and what it writes down about a request.
#include <algorithm>
#include <utility>

#include "node/listener/connection.h"
#include "node/listener/http1_response.h"
#include "node/listener/loop.h"
#include "proto/contract/host_name.h"
#include "proto/contract/url_path.h"

namespace croft::node::listener {

using contract::RouteOutcome;
using counters::NodeCounter;
using counters::SiteCounter;

namespace {

SiteCounter MethodCounter(std::string_view method) {
  if (method == "GET") {
    return SiteCounter::kGetTotal;
  }
  if (method == "HEAD") {
    return SiteCounter::kHeadTotal;
  }
  return method == "POST" ? SiteCounter::kPostTotal : SiteCounter::kOtherMethodTotal;
}

void CountSite(const counters::Row& row, std::string_view method, int status) {
  row.Add(SiteCounter::kRequestsActive, -1);
  row.Add(SiteCounter::kRequestsTotal);
  row.Add(MethodCounter(method));
  if (status == 404) {
    row.Add(SiteCounter::kNotFoundTotal);
  }
  if (status >= 500) {
    row.Add(SiteCounter::kStatus5xxTotal);
  } else if (status >= 400) {
    row.Add(SiteCounter::kStatus4xxTotal);
  } else if (status >= 300) {
    row.Add(SiteCounter::kStatus3xxTotal);
  } else if (status >= 200) {
    row.Add(SiteCounter::kStatus2xxTotal);
  }
}

}  // namespace

std::optional<OwnAnswer> Connection::Decide() {
  RequestState& request = *request_;
  if (local_.health) {
    return HealthAnswer();
  }
  if (request.head.path == "*") {
    return OwnAnswer{.status = 200,
                     .reason = {},
                     .extra_header = "Allow: GET, HEAD, POST, OPTIONS\r\n",
                     .body = "\n"};
  }
  contract::HostHeader host;
  if (!request.head.host.empty()) {
    auto parsed = contract::ParseHostHeader(request.head.host);
    if (!parsed.ok()) {
      loop_.shared().node.Add(NodeCounter::kBadRequestsTotal);
      return OwnAnswer{.status = 400, .reason = "Hostname", .extra_header = {}, .body = {}};
    }
    host = *std::move(parsed);
  }
  request.route = loop_.router().Find({.ip = local_.ip_bytes,
                                       .port = local_.port,
                                       .host = host.host,
                                       .raw_path = request.head.path,
                                       .query_size = request.head.query.size()});
  if (request.route.site != nullptr) {
    BeginSite();
  }
  if (request.route.outcome != RouteOutcome::kServe) {
    return RouteAnswer();
  }
  const auto& limits = request.route.settings->limits();
  if (request.head.content_length > static_cast<std::uint64_t>(limits.max_body())) {
    return OwnAnswer{.status = 413,
                     .reason = "EntityTooLarge",
                     .extra_header = {},
                     .body = {},
                     .may_keep_alive = false};
  }
  if (loop_.shared().guard.Refuses(request.route.site->uid, request.route.path, began_)) {
    loop_.Pool(request.route.pool_uid).state().row.Add(counters::PoolCounter::kUrlRefusedTotal);
    return OwnAnswer{.status = 503, .reason = "UrlRefused", .extra_header = {}, .body = {}};
  }
  return std::nullopt;
}

OwnAnswer Connection::RefusalAnswer(const Refusal& refusal) {
  return {.status = refusal.status,
          .reason = refusal.reason,
          .extra_header = refusal.status == 405 ? "Allow: GET, HEAD, POST, OPTIONS\r\n" : "",
          .body = {}};
}

OwnAnswer Connection::HealthAnswer() const {
  if (request_->head.path != "/health") {
    return {.status = 404, .reason = {}, .extra_header = {}, .body = {}};
  }
  const bool draining = loop_.shared().draining || loop_.closing();
  return {.status = draining ? 503 : 200,
          .reason = {},
          .extra_header = "Cache-Control: no-store\r\n",
          .body = draining ? "draining\n" : "ok\n"};
}

// What the replica could not give is not the visitor's fault.
OwnAnswer Connection::RouteAnswer() const {
  const contract::Route& route = request_->route;
  if (!loop_.router().damage().empty()) {
    loop_.ReportDamage(loop_.router().damage());
    return {.status = 503, .reason = "ReplicaDamaged", .extra_header = {}, .body = {}};
  }
  if (route.outcome == RouteOutcome::kNoSite) {
    loop_.shared().node.Add(NodeCounter::kNoSiteTotal);
  }
  OwnAnswer answer{.status = contract::StatusOf(route.outcome),
                   .reason = contract::ReasonOf(route.outcome),
                   .extra_header = {},
                   .body = {}};
  if (route.outcome == RouteOutcome::kRedirectToSlash) {
    answer.reason = {};
    answer.extra_header = "Location: " + contract::EncodeUrlPath(route.path) + "/";
    if (request_->head.has_query) {
      answer.extra_header.append("?").append(request_->head.query);
    }
    answer.extra_header.append("\r\n");
  }
  return answer;
}

void Connection::BeginSite() {
  const contract::Route& route = request_->route;
  site_row_ = loop_.SiteRow(route.site->uid);
  site_row_.Add(SiteCounter::kRequestsActive);
  if (route.settings != nullptr) {
    idle_timeout_ms_ = route.settings->timeouts().idle();
    header_timeout_ms_ = route.settings->timeouts().header();
  }
}

void Connection::FillExchange() {
  RequestState& request = *request_;
  request.exchange.emplace(wakeup_);
  Exchange& exchange = *request.exchange;
  exchange.head = &request.head;
  exchange.route = &request.route;
  exchange.has_body = request.head.body != BodyKind::kNone;
  exchange.authority = request.head.host;
  if (request.head.body == BodyKind::kChunked) {
    request.parser->body_limit(
        static_cast<std::uint64_t>(request.route.settings->limits().max_body()));
  }
  if (exchange.authority.empty()) {
    // HTTP/1.0 may say no host; HTTP/2 must.
    const bool v6 = local_.ip.find(':') != std::string::npos;
    request.authority = v6 ? "[" + local_.ip + "]" : local_.ip;
    exchange.authority = request.authority;
  }
}

Task<bool> Connection::Answer(OwnAnswer answer) {
  const RequestHead& head = request_->head;
  const bool keep_alive =
      answer.may_keep_alive && head.keep_alive && !loop_.closing() && head.body == BodyKind::kNone;
  ConnectionField field = ConnectionField::kNone;
  if (!keep_alive) {
    field = ConnectionField::kClose;
  } else if (head.minor_version == 0) {
    field = ConnectionField::kKeepAlive;
  }
  std::string out;
  AppendResponseHead(answer.status, loop_.core().HttpDate(), field, out);
  out.append(answer.extra_header);
  const std::string page =
      answer.body.empty() ? ErrorPage(answer.status) : std::string(answer.body);
  out.append(answer.body.empty() ? "Content-Type: text/html; charset=utf-8\r\n"
                                 : "Content-Type: text/plain; charset=utf-8\r\n");
  AppendContentLength(static_cast<std::int64_t>(page.size()), out);
  out.append("\r\n");
  if (head.method != "HEAD") {
    out.append(page);
  }
  if (!answer.reason.empty()) {
    LogError(answer.status, answer.reason);
  }
  co_await WriteAll(out);
  FinishRequest(answer.status, {});
  linger_ = !keep_alive && !socket_.ended();
  co_return keep_alive;
}

LoggedRequest Connection::Logged() const {
  LoggedRequest logged;
  logged.server_ip = local_.ip;
  logged.server_port = local_.port;
  logged.client_ip = client_ip_;
  logged.client_port = client_port_;
  if (request_ == nullptr || request_->head.method.empty()) {
    return logged;
  }
  const RequestHead& head = request_->head;
  logged.minor_version = head.minor_version;
  logged.method = head.method;
  logged.uri_stem = head.path;
  logged.uri_query = head.query;
  logged.uri = head.path_and_query;
  logged.host = head.host;
  logged.user_agent = head.user_agent;
  logged.referer = head.referer;
  return logged;
}

void Connection::LogError(int status, std::string_view reason) {
  LoggedRequest logged = Logged();
  ErrorLogEntry entry{.status = status, .site_uid = 0, .reason = reason, .pool_uid = 0};
  if (request_ != nullptr && request_->route.site != nullptr) {
    entry.site_uid = request_->route.site->uid;
    entry.pool_uid = request_->route.pool_uid;
  }
  loop_.logs().Error(logged, entry);
}

void Connection::FinishRequest(int status, std::string_view substatus) {
  const std::int64_t sent = socket_.bytes_sent() - sent_before_;
  const std::int64_t received = static_cast<std::int64_t>(head_size_) +
                                (request_->exchange ? request_->exchange->upload_received : 0);
  loop_.shared().node.Add(NodeCounter::kBytesSentTotal, sent);
  loop_.shared().node.Add(NodeCounter::kBytesReceivedTotal, received);
  const contract::Route& route = request_->route;
  if (route.site == nullptr) {
    return;
  }
  const auto taken = LoopCore::Now() - began_;
  CountSite(site_row_, request_->head.method, status);
  site_row_.Add(SiteCounter::kBytesSentTotal, sent);
  site_row_.Add(SiteCounter::kBytesReceivedTotal, received);
  site_row_.Add(SiteCounter::kServiceTimeMicrosTotal,
                std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
  if (route.outcome == RouteOutcome::kServe) {
    loop_.Pool(route.pool_uid).state().row.Add(counters::PoolCounter::kRequestsTotal);
  }
  if (route.settings != nullptr && !route.settings->log().enabled()) {
    return;
  }
  LoggedRequest logged = Logged();
  const std::string_view name = route.site->name;
  loop_.logs().Request(
      logged,
      {.site = name.substr(name.rfind('/') + 1),
       .computer = loop_.shared().node_name,
       .status = status,
       .substatus = substatus,
       .sent_bytes = sent,
       .received_bytes = received,
       .time_taken_ms = std::chrono::duration_cast<std::chrono::milliseconds>(taken).count()});
}

}  // namespace croft::node::listener
