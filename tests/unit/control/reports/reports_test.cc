#include "control/reports/reports.h"

#include <gtest/gtest.h>

#include "control/domain/resources.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/site.pb.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::reports {
namespace {

const MayRead kSeesAll = [](store::ResourceType, std::int64_t) { return true; };

class ReportsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(resources_.CreateFirstResources().ok());
    ASSERT_TRUE(resources_.Create(domain::SystemCaller("test"), "", "main", v1::Farm(), {}).ok());
    const auto node =
        resources_.Create(domain::SystemCaller("test"), "farms/main", "web1", v1::Node(), {});
    ASSERT_TRUE(node.ok()) << node.status();
    reporter_ = {.node_uid = static_cast<const v1::Node&>(*node->answer).uid(),
                 .node = "farms/main/nodes/web1",
                 .farm_uid = (*store_.Find("farms/main"))->uid};
  }

  std::int64_t CreateSite(const std::string& id) {
    v1::Site site;
    site.add_bindings()->set_host(id + ".example");
    const auto made = resources_.Create(domain::SystemCaller("test"), "farms/main", id, site, {});
    EXPECT_TRUE(made.ok()) << made.status();
    return static_cast<const v1::Site&>(*made->answer).uid();
  }

  void Count(InstanceType type, std::int64_t uid, std::int64_t requests) {
    node::v1::NodeMessage message;
    message.mutable_counters()->set_boot_id(5);
    message.mutable_counters()->set_source("listener");
    node::v1::CounterInstance& instance = *message.mutable_counters()->add_instances();
    instance.set_type(static_cast<std::uint32_t>(type));
    instance.set_uid(uid);
    instance.add_values(requests);
    reports_.OnReport(reporter_, message);
  }

  std::vector<std::string> Top(const std::string& type, int limit) {
    v1::TopRequest request;
    request.set_type(type);
    request.set_farm("farms/main");
    request.set_limit(limit);
    const auto top = reports_.Top(request, kSeesAll);
    EXPECT_TRUE(top.ok()) << top.status();
    std::vector<std::string> names;
    for (const v1::InstanceCounters& one : top->instances()) {
      names.push_back(one.instance());
    }
    return names;
  }

  FakeClock clock_;
  store::FakeStore store_;
  domain::Resources resources_{store_};
  Reporter reporter_;
  Reports reports_{store_, clock_};
};

TEST_F(ReportsTest, TopListsTheBusiestByNameAndLeavesOutWhatWasDeleted) {
  Count(InstanceType::kSite, CreateSite("calm"), 1);
  Count(InstanceType::kSite, CreateSite("busy"), 100);
  Count(InstanceType::kSite, CreateSite("between"), 10);
  Count(InstanceType::kSite, 999'999, 1000);  // a site that is gone
  const std::vector<std::string> expected = {"farms/main/sites/busy", "farms/main/sites/between"};
  EXPECT_EQ(Top("site", 2), expected);
}

TEST_F(ReportsTest, NodesAndWorkersAreNamedByTheReportingNode) {
  Count(InstanceType::kNode, 0, 1);
  Count(InstanceType::kWorker, 3, 1);
  EXPECT_EQ(Top("node", 5), std::vector<std::string>{"farms/main/nodes/web1"});
  EXPECT_EQ(Top("worker", 5), std::vector<std::string>{"farms/main/nodes/web1/workers/3"});
}

TEST_F(ReportsTest, QueriesForWhatIsNotThereSayWhat) {
  v1::ListCountersRequest request;
  request.set_type("site");
  request.set_instance("farms/main/sites/none");
  EXPECT_EQ(reports_.ListCounters(request, kSeesAll).status().code(), absl::StatusCode::kNotFound);
  v1::TopRequest top;
  top.set_type("site");
  top.set_order_by("files_total");
  EXPECT_EQ(reports_.Top(top, kSeesAll).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ReportsTest, EventsAreWrittenWithNamesAndPagedNewestFirst) {
  const std::int64_t site = CreateSite("shop");
  for (int i = 0; i < 5; ++i) {
    node::v1::NodeMessage message;
    message.mutable_event()->set_kind("url_refused");
    message.mutable_event()->set_site_uid(site);
    message.mutable_event()->set_time_unix_ms(1'800'000'000'000 + i);
    message.mutable_event()->set_message(std::string("number ") + std::to_string(i));
    reports_.OnReport(reporter_, message);
  }
  v1::ListEventsRequest request;
  request.set_page_size(3);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto all = [&] { return store_.ListEvents({.limit = 100})->size(); };
  while (all() < 5 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  const auto first = reports_.ListEvents(request);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->events_size(), 3);
  EXPECT_EQ(first->events(0).message(), "number 4");
  EXPECT_EQ(first->events(0).site(), "farms/main/sites/shop");
  request.set_page_token(first->next_page_token());
  const auto second = reports_.ListEvents(request);
  ASSERT_EQ(second->events_size(), 2);
  EXPECT_EQ(second->events(1).message(), "number 0");
  request.set_page_token("nonsense");
  EXPECT_EQ(reports_.ListEvents(request).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace croft::control::reports
