#include "control/api/watch_stream.h"

#include <chrono>
#include <memory>
#include <utility>

#include "control/domain/watch.h"

namespace croft::control::api {
namespace {

// Idle streams have a turn every 400 ms, so that a bookmark is there within 10 s.
constexpr std::chrono::seconds kBookmarkInterval{9};

class WatchHandler final : public StreamHandler {
 public:
  WatchHandler(store::Store& store, domain::Access& access, const Clock& clock, Wake wake)
      : store_(store),
        access_(access),
        clock_(clock),
        wake_(std::move(wake)),
        sent_(clock.Monotonic()) {}

  absl::StatusOr<Turn> OnRequest(const domain::Caller& caller,
                                 const google::protobuf::Message& request) override {
    auto watch = domain::ResourceWatch::Open(
        store_, access_, caller, static_cast<const v1::WatchResourcesRequest&>(request));
    if (!watch.ok()) {
      return watch.status();
    }
    watch_ = *std::move(watch);
    return OnTurn(caller);
  }

  absl::StatusOr<Turn> OnTurn(const domain::Caller& caller) override {
    auto page = watch_->Next(caller);
    if (!page.ok()) {
      return page.status();
    }
    if (page->events.empty() && clock_.Monotonic() - sent_ >= kBookmarkInterval) {
      page->events.push_back(watch_->MakeBookmark());
    }
    Turn turn;
    for (v1::WatchResourcesResponse& event : page->events) {
      turn.messages.push_back(std::make_unique<v1::WatchResourcesResponse>(std::move(event)));
    }
    if (!turn.messages.empty()) {
      sent_ = clock_.Monotonic();
    } else if (page->more) {
      wake_();
    }
    return turn;
  }

 private:
  store::Store& store_;
  domain::Access& access_;
  const Clock& clock_;
  const Wake wake_;
  std::chrono::steady_clock::time_point sent_;  // the last message
  std::unique_ptr<domain::ResourceWatch> watch_;
};

}  // namespace

void AddWatchResources(store::Store& store, domain::Access& access, const Clock& clock,
                       StreamMethods& streams) {
  streams.Add("croft.v1.ResourceService.WatchResources", [&store, &access, &clock](Wake wake) {
    return std::make_unique<WatchHandler>(store, access, clock, std::move(wake));
  });
}

}  // namespace croft::control::api
