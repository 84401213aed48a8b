#include "control/api/event_stream.h"

#include <memory>
#include <utility>

#include "control/domain/failures.h"

namespace croft::control::api {
namespace {

// An event's texts are bounded: together they stay below a turn's size.
constexpr int kEventsPerTurn = 200;

class EventWatch final : public StreamHandler {
 public:
  EventWatch(store::Store& store, domain::Access& access, Wake wake)
      : store_(store), access_(access), wake_(std::move(wake)) {}

  absl::StatusOr<Turn> OnRequest(const domain::Caller& caller,
                                 const google::protobuf::Message& message) override {
    const auto& request = static_cast<const v1::WatchEventsRequest&>(message);
    Visibility visibility(store_, access_, caller);
    absl::Status status = CheckEventsOf(visibility, request.resource());
    if (status.ok() && request.after_id() < 0) {
      status = domain::InvalidField("after_id", std::to_string(request.after_id()),
                                    "is the id of an event, or 0 for this moment");
    }
    if (!status.ok()) {
      return status;
    }
    query_.resource = request.resource();
    query_.limit = kEventsPerTurn;
    query_.after_id = request.after_id();
    if (request.after_id() == 0) {
      const auto newest = store_.ListEvents({.limit = 1});
      if (!newest.ok()) {
        return newest.status();
      }
      query_.after_id = newest->empty() ? 0 : newest->front().id();
    }
    return OnTurn(caller);
  }

  absl::StatusOr<Turn> OnTurn(const domain::Caller& caller) override {
    const auto events = store_.ListEvents(query_);
    if (!events.ok()) {
      return events.status();
    }
    if (events->empty()) {
      return Turn();
    }
    query_.after_id = events->back().id();
    auto response = std::make_unique<v1::WatchEventsResponse>();
    response->mutable_events()->Assign(events->begin(), events->end());
    Visibility visibility(store_, access_, caller);
    absl::Status status = LeaveVisible(visibility, *response->mutable_events());
    if (!status.ok()) {
      return status;
    }
    Turn turn;
    if (!response->events().empty()) {
      turn.messages.push_back(std::move(response));
    } else if (std::ssize(*events) == kEventsPerTurn) {
      wake_();
    }
    return turn;
  }

 private:
  store::Store& store_;
  domain::Access& access_;
  const Wake wake_;
  store::EventQuery query_;
};

}  // namespace

absl::Status CheckEventsOf(Visibility& visibility, const std::string& resource) {
  const auto named = contract::ParseResourceName(resource);
  return named.ok() && named->type != contract::ResourceType::kFarm ? visibility.Check(resource)
                                                                    : absl::OkStatus();
}

absl::Status LeaveVisible(Visibility& visibility,
                          google::protobuf::RepeatedPtrField<v1::Event>& events) {
  if (visibility.all()) {
    return absl::OkStatus();
  }
  google::protobuf::RepeatedPtrField<v1::Event> all;
  all.Swap(&events);
  for (v1::Event& event : all) {
    const bool of_node = event.site().empty() && event.pool().empty();
    const auto may = visibility.MayRead(of_node                ? event.node()
                                        : event.site().empty() ? event.pool()
                                                               : event.site());
    if (!may.ok()) {
      return may.status();
    }
    if (*may) {
      events.Add()->Swap(&event);
    }
  }
  return absl::OkStatus();
}

void AddWatchEvents(store::Store& store, domain::Access& access, StreamMethods& streams) {
  streams.Add("croft.v1.ReportService.WatchEvents", [&store, &access](Wake wake) {
    return std::make_unique<EventWatch>(store, access, std::move(wake));
  });
}

}  // namespace croft::control::api
