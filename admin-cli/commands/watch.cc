// croft watch: events and changes of resources as they come, across broken connections.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "admin-cli/interrupt.h"
#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "admin-cli/request.h"
#include "admin-cli/subject.h"
#include "croft/v1/report.pb.h"
#include "croft/v1/resource.pb.h"
#include "proto/base/error.h"
#include "proto/contract/any_resource.h"
#include "proto/contract/field_path.h"

namespace croft::admin_cli {
namespace {

constexpr int kFirstPauseMs = 200;
constexpr int kLongestPauseMs = 5000;
// A stream that ends by itself sooner than that has never been one.
constexpr auto kComesAbout = std::chrono::seconds(10);

// Whether the same call may succeed later: control is away, or went away in the middle.
bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status) || absl::IsUnknown(status) ||
         absl::IsInternal(status) || absl::IsDeadlineExceeded(status);
}

void PrintItem(const google::protobuf::Message& item, const std::string& name,
               const std::string& line, Format format) {
  if (format == Format::kTable || format == Format::kWide || format == Format::kCsv) {
    Put(line + "\n");
  } else {
    // A stream has no end: one array of it would never be closed.
    ItemPrinter(format == Format::kJson ? Format::kJsonLines : format).Print(item, name);
  }
  std::fflush(stdout);
}

// One kind of stream: how it is asked for, and gone on with.
class Followed {
 public:
  virtual ~Followed() = default;
  virtual std::string Method() const = 0;
  // The next call's request, which goes on after what was printed.
  virtual const google::protobuf::Message& Request() = 0;
  virtual google::protobuf::Message& Response() = 0;
  // Prints the response; returns how many items it had.
  virtual int Take() = 0;
  // "" before anything was seen.
  virtual std::string ResumeToken() const = 0;
};

class EventStream final : public Followed {
 public:
  EventStream(std::string object, std::int64_t after, Format format) : format_(format) {
    request_.set_resource(std::move(object));
    request_.set_after_id(after);
  }

  std::string Method() const override { return "ReportService/WatchEvents"; }
  const google::protobuf::Message& Request() override { return request_; }
  google::protobuf::Message& Response() override { return response_; }

  int Take() override {
    for (const v1::Event& event : response_.events()) {
      request_.set_after_id(std::max(request_.after_id(), event.id()));
      PrintItem(
          event, std::to_string(event.id()),
          fmt::format("{}  {}  {}  {}", google::protobuf::util::TimeUtil::ToString(event.time()),
                      ShortName(event.node()), event.kind(), event.message()),
          format_);
    }
    return response_.events_size();
  }

  std::string ResumeToken() const override {
    return request_.after_id() == 0 ? "" : std::to_string(request_.after_id());
  }

 private:
  const Format format_;
  v1::WatchEventsRequest request_;
  v1::WatchEventsResponse response_;
};

class ResourceStream final : public Followed {
 public:
  ResourceStream(v1::WatchResourcesRequest request, Format format)
      : format_(format), request_(std::move(request)) {}

  std::string Method() const override { return "ResourceService/WatchResources"; }
  const google::protobuf::Message& Request() override { return request_; }
  google::protobuf::Message& Response() override { return response_; }

  int Take() override {
    if (!response_.resume_token().empty()) {
      request_.set_resume_token(response_.resume_token());
    }
    const google::protobuf::Message* resource = contract::Unwrap(response_.resource());
    if (response_.kind() == v1::WatchResourcesResponse::BOOKMARK || resource == nullptr) {
      if (format_ == Format::kJson || format_ == Format::kJsonLines) {
        PrintItem(response_, "", "", format_);
      }
      return 0;
    }
    const std::string name = TextOf(*resource, "name");
    PrintItem(response_, name,
              fmt::format("{:<8} {}  {}", v1::WatchResourcesResponse::Kind_Name(response_.kind()),
                          response_.revision(), name),
              format_);
    return 1;
  }

  std::string ResumeToken() const override { return request_.resume_token(); }

 private:
  const Format format_;
  v1::WatchResourcesRequest request_;
  v1::WatchResourcesResponse response_;
};

// Until the pause is over, or the operator interrupts.
void Pause(int ms) { ::poll(nullptr, 0, ms); }

ExitCode Follow(ApiClient& client, const Invocation& invocation, Followed& stream) {
  CatchInterrupts();
  int pause_ms = kFirstPauseMs;
  int count = 0;
  bool came_about = false;
  const auto take = [&] {
    came_about = true;
    pause_ms = kFirstPauseMs;
    count += stream.Take();
    return invocation.limit == 0 || count < invocation.limit;
  };
  ExitCode code = ExitCode::kDone;
  const auto began = std::chrono::steady_clock::now();
  while (!Interrupted() && (invocation.limit == 0 || count < invocation.limit)) {
    const absl::Status status =
        client.Watch(stream.Method(), stream.Request(), stream.Response(), take, Interrupted);
    came_about = came_about || std::chrono::steady_clock::now() - began > kComesAbout;
    if (!status.ok() && (!came_about || !IsPassing(status))) {
      code = Fail(status);
      break;
    }
    if (!Interrupted() && (invocation.limit == 0 || count < invocation.limit)) {
      std::fprintf(
          stderr, "croft: %s; trying again\n",
          status.ok() ? "control ended the stream" : std::string(status.message()).c_str());
      Pause(pause_ms);
      pause_ms = std::min(pause_ms * 2, kLongestPauseMs);
    }
  }
  if (const std::string token = stream.ResumeToken(); !token.empty()) {
    std::fprintf(stderr, "to go on from here: --resume %s\n", token.c_str());
  }
  return code;
}

absl::StatusOr<std::string> ObjectOf(const Invocation& invocation) {
  if (!invocation.object.empty()) {
    return ParseObject(invocation.object, invocation.farm);
  }
  return SubjectOf(invocation.names, invocation.farm,
                   "watch events wants nothing more, a type and a name (site shop), or --object");
}

ExitCode WatchEvents(ApiClient& client, const Invocation& invocation) {
  const auto object = ObjectOf(invocation);
  if (!object.ok()) {
    return Fail(object.status());
  }
  std::int64_t after = 0;
  if (!invocation.resume_token.empty()) {
    const auto id = ParseNumber(invocation.resume_token, "an event to resume after");
    if (!id.ok()) {
      return Fail(id.status());
    }
    after = *id;
  }
  EventStream stream(*object, after, invocation.format);
  return Follow(client, invocation, stream);
}

}  // namespace

ExitCode Watch(ApiClient& client, const Invocation& invocation) {
  if (invocation.type == "events" || invocation.type == "event") {
    return WatchEvents(client, invocation);
  }
  v1::WatchResourcesRequest request;
  if (invocation.type != "all") {
    const auto noun = FindNoun(invocation.type);
    if (!noun.ok()) {
      return Fail(noun.status());
    }
    request.set_type(std::string((*noun)->noun));
    if (contract::Facts((*noun)->type).in_farm) {
      request.set_parent("farms/" + invocation.farm);
    }
  }
  if (!invocation.names.empty()) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "watch {} takes no name; select with --filter or --selector",
                      invocation.type));
  }
  auto filter = FilterOf(invocation.filter, invocation.selector);
  if (!filter.ok()) {
    return Fail(filter.status());
  }
  request.set_filter(*std::move(filter));
  request.set_resume_token(invocation.resume_token);
  request.set_send_existing(invocation.all);
  ResourceStream stream(std::move(request), invocation.format);
  return Follow(client, invocation, stream);
}

}  // namespace croft::admin_cli
