// The feed: takes what happened, lets each farm find what its nodes lack, sends, keeps marks and
// answers waits. Entry points on any thread, everything else on the feed's.
#pragma once

#include <atomic>
#include <map>
#include <memory>

#include "control/feed/compaction.h"
#include "control/feed/farm_feed.h"
#include "control/feed/inbox.h"
#include "control/feed/node_marks.h"
#include "control/feed/session.h"
#include "control/feed/waits.h"

namespace croft::control::feed {

class FeedLoop final : public Feed {
 public:
  FeedLoop(store::Store& store, const Clock& clock, const FeedOptions& options,
           ReportSink on_report);

  SessionId OnOpened(const NodeIdentity& node, std::shared_ptr<Transport> transport) override;
  void OnMessage(SessionId session, node::v1::NodeMessage message) override;
  void OnSent(SessionId session) override;
  void OnClosed(SessionId session) override;
  void OnNotify() override;
  void RetryRecord(std::int64_t node_uid, node::v1::RecordKey key) override;
  void Wait(const v1::WaitForRevisionRequest& request, std::int64_t farm_uid,
            std::function<void(v1::WaitForRevisionResponse)> done) override;
  std::chrono::milliseconds Step() override;
  void WaitForWork(std::chrono::milliseconds at_most) override;

 private:
  using Time = std::chrono::steady_clock::time_point;

  void Take(StreamOpened& event);
  void Take(MessageReceived& event);
  void Take(MessageSent& event);
  void Take(StreamClosed& event);
  void Take(StoreChanged& event);
  void Take(RetryAsked& event);
  void Take(PendingWait& event);

  void OnHello(Session& session, const node::v1::Hello& hello);
  void OnAck(Session& session, const node::v1::Ack& ack);
  void OnMarks(Session& session, const node::v1::Marks& marks);
  void ReportQuarantined(const Session& session, const node::v1::RecordResult& refused);

  absl::Status RunFarms();
  void SendAll();
  void CloseSilent();
  std::chrono::milliseconds NextStep(bool store_failed);

  // Constant after construction.
  store::Store& store_;
  const Clock& clock_;
  const FeedOptions options_;
  const ReportSink on_report_;

  // Any thread.
  Inbox inbox_;
  std::atomic<SessionId> last_session_{0};

  // Feed thread only.
  NodeMarksBook marks_;
  FeedContext context_;
  Waits waits_;
  Compaction compaction_;
  std::map<SessionId, std::unique_ptr<Session>> sessions_;
  std::map<std::int64_t, FarmFeed> farms_;
  store::FeedHead head_;
  bool head_known_ = false;
  bool look_ = true;  // the store may have something new
  Time looked_;
  bool store_failing_ = false;
};

}  // namespace croft::control::feed
