// From reports of nodes to points of history: what is counted in which step, and what is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/domain/resources.h"
#include "control/reports/history_writer.h"
#include "control/reports/reports.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/site.pb.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::reports {
namespace {

using contract::counters::SiteCounter;
using std::chrono::milliseconds;
using testing::ElementsAre;

const MayRead kSeesAll = [](store::ResourceType, std::int64_t) { return true; };
const VisibleOrganizations kEveryones = [](store::ResourceType) { return std::nullopt; };

class CounterHistory : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(resources_.CreateFirstResources().ok());
    Create<v1::Farm>("", "main", {});
    web1_ = {.node_uid = Create<v1::Node>("farms/main", "web1", {}),
             .node = "farms/main/nodes/web1",
             .farm_uid = (*store_.Find("farms/main"))->uid};
    shop_ = CreateSite("shop");
    blog_ = CreateSite("blog");
    clock_.Advance(milliseconds(40'000));  // to a full minute
    start_ = UnixMillis(clock_.Now()) / 1000;
  }

  template <typename Resource>
  std::int64_t Create(const std::string& parent, const std::string& id, const Resource& resource) {
    const auto made = resources_.Create(domain::SystemCaller("test"), parent, id, resource, {});
    EXPECT_TRUE(made.ok()) << made.status();
    return static_cast<const Resource&>(*made->answer).uid();
  }
  std::int64_t CreateSite(const std::string& id) {
    v1::Site site;
    site.add_bindings()->set_host(id + ".example");
    return Create("farms/main", id, site);
  }

  void Hello(Reports& reports) {
    node::v1::NodeMessage message;
    message.mutable_hello();
    reports.OnReport(web1_, message);
  }
  void AllTold(Reports& reports) {
    node::v1::NodeMessage message;
    message.mutable_counters();
    reports.OnReport(web1_, message);
  }
  void Beat(Reports& reports) {
    node::v1::NodeMessage message;
    message.mutable_heartbeat();
    reports.OnReport(web1_, message);
  }
  void Count(Reports& reports, std::int64_t site, std::int64_t requests, std::int64_t active = 0,
             const std::string& source = "listener") {
    node::v1::NodeMessage message;
    message.mutable_counters()->set_boot_id(5);
    message.mutable_counters()->set_source(source);
    node::v1::CounterInstance& instance = *message.mutable_counters()->add_instances();
    instance.set_type(static_cast<std::uint32_t>(InstanceType::kSite));
    instance.set_uid(site);
    for (std::size_t i = 0; i < static_cast<std::size_t>(SiteCounter::kCount); ++i) {
      instance.add_values(i == static_cast<std::size_t>(SiteCounter::kRequestsTotal)    ? requests
                          : i == static_cast<std::size_t>(SiteCounter::kRequestsActive) ? active
                                                                                        : 0);
    }
    reports.OnReport(web1_, message);
  }
  void NextStep() { clock_.Advance(milliseconds(10'000)); }

  // Points of ten seconds from the start on; -1: missing.
  std::vector<std::int64_t> Read(const std::string& instance, const std::string& counter = {},
                                 const VisibleOrganizations& visible = kEveryones) {
    v1::ListCounterHistoryRequest request;
    request.set_type("site");
    request.set_instance(instance);
    request.set_farm("farms/main");
    request.set_step_ms(10'000);
    request.mutable_since()->set_seconds(start_);
    if (!counter.empty()) {
      request.add_counters(counter);
    }
    clock_.Advance(milliseconds(5000));
    const auto history = reports_.ListCounterHistory(request, kSeesAll, visible);
    clock_.Advance(milliseconds(-5000));
    EXPECT_TRUE(history.ok()) << history.status();
    std::vector<std::int64_t> values;
    for (const v1::CounterPoint& point : history->series(0).points()) {
      values.push_back(point.missing() ? -1 : point.value());
    }
    return values;
  }
  std::vector<std::int64_t> ReadShop(const std::string& counter = {}) {
    return Read("farms/main/sites/shop", counter);
  }

  FakeClock clock_;
  store::FakeStore store_{1, &clock_};
  domain::Resources resources_{store_};
  Reports reports_{store_, clock_};
  HistoryWriter writer_{store_, reports_, clock_, {}};
  Reporter web1_;
  std::int64_t shop_ = 0, blog_ = 0, start_ = 0;
};

TEST_F(CounterHistory, CountsInTheStepInWhichTheReportCame) {
  Count(reports_, shop_, 3);
  Count(reports_, shop_, 5);
  NextStep();
  Count(reports_, shop_, 12);
  Count(reports_, blog_, 100);
  NextStep();
  Beat(reports_);  // nothing counted, but there
  NextStep();
  NextStep();  // not a word
  Count(reports_, shop_, 13);
  NextStep();
  writer_.Step();
  EXPECT_THAT(ReadShop(), ElementsAre(5, 7, 0, -1, 1));
  EXPECT_THAT(Read(""), ElementsAre(5, 107, 0, -1, 1));
}

TEST_F(CounterHistory, WhatANodeCountedBeforeItsStreamIsInNoStepTwice) {
  Hello(reports_);
  Count(reports_, shop_, 1000);  // before this control knew it
  AllTold(reports_);
  Count(reports_, shop_, 1005);
  Count(reports_, blog_, 7);                 // its first requests
  Count(reports_, blog_, 2, 0, "worker/3");  // a process that began since
  NextStep();
  Hello(reports_);  // again, after a while with another control
  Count(reports_, shop_, 2000);
  Count(reports_, blog_, 7);
  AllTold(reports_);
  Count(reports_, shop_, 2001);
  NextStep();
  writer_.Step();
  EXPECT_THAT(ReadShop(), ElementsAre(5, 1));
  EXPECT_THAT(Read("farms/main/sites/blog"), ElementsAre(9, 0));
}

TEST_F(CounterHistory, GaugesHaveTheirHighestAndGoOnWithoutAReport) {
  Count(reports_, shop_, 0, 4);
  Count(reports_, shop_, 0, 9);
  Count(reports_, blog_, 0, 2);
  Count(reports_, shop_, 0, 3);
  NextStep();
  Beat(reports_);
  NextStep();
  Count(reports_, shop_, 0, 0);
  NextStep();
  Beat(reports_);
  NextStep();
  writer_.Step();
  EXPECT_THAT(ReadShop("requests_active"), ElementsAre(9, 3, 3, 0));
  // Of the sum its own highest, not the sum of both.
  EXPECT_THAT(Read("", "requests_active"), ElementsAre(11, 5, 5, 2));
}

TEST_F(CounterHistory, GaugesOfASourceThatEndedUnheardAreOver) {
  Hello(reports_);
  Count(reports_, shop_, 0, 4, "worker/3");
  AllTold(reports_);
  NextStep();
  Hello(reports_);
  Count(reports_, shop_, 0, 1);
  AllTold(reports_);
  NextStep();
  Beat(reports_);
  NextStep();
  writer_.Step();
  EXPECT_THAT(ReadShop("requests_active"), ElementsAre(4, 5, 1));
}

TEST_F(CounterHistory, WhatTheStoreDoesNotTakeIsWrittenLater) {
  Count(reports_, shop_, 3);
  NextStep();
  store_.SetAvailable(false);
  EXPECT_LE(writer_.Step(), std::chrono::seconds(5));
  Count(reports_, shop_, 4);
  NextStep();
  writer_.Step();
  store_.SetAvailable(true);
  writer_.Step();
  writer_.Step();
  writer_.Step();
  EXPECT_THAT(ReadShop(), ElementsAre(3, 1));
}

TEST_F(CounterHistory, AnEndInTheMiddleOfAStepWritesItAndTheNextControlGoesOn) {
  Count(reports_, shop_, 3);
  writer_.WriteAll();
  Reports other(store_, clock_);
  HistoryWriter others(store_, other, clock_, {});
  Hello(other);
  Count(other, shop_, 3);
  AllTold(other);
  Count(other, shop_, 10);
  NextStep();
  others.Step();
  EXPECT_THAT(ReadShop(), ElementsAre(10));
}

TEST_F(CounterHistory, WhoSeesFewInstancesSeesTheirSum) {
  Count(reports_, shop_, 3);
  Count(reports_, blog_, 4);
  NextStep();
  writer_.Step();
  const std::int64_t root = (*store_.Find("organizations/root"))->uid;
  EXPECT_THAT(Read("", "", [&](auto) { return std::vector<std::int64_t>{root}; }), ElementsAre(7));
  EXPECT_THAT(Read("", "", [](auto) { return std::vector<std::int64_t>(); }), ElementsAre(0));
  v1::ListCounterHistoryRequest request;
  request.set_type("site");
  request.set_instance("farms/main/sites/shop");
  const MayRead sees_none = [](store::ResourceType, std::int64_t) { return false; };
  EXPECT_EQ(reports_.ListCounterHistory(request, sees_none, kEveryones).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(CounterHistory, RefusesWhatDoesNotExistNamingIt) {
  struct Case {
    std::string type, instance, counter, said;
  };
  const Case cases[] = {{"planet", "", "", "\"planet\""},
                        {"site", "", "moons", "\"moons\""},
                        {"site", "farms/main/sites/none", "", "farms/main/sites/none"},
                        {"worker", "farms/main/nodes/web1", "", "farms/main/nodes/web1"}};
  for (const Case& one : cases) {
    v1::ListCounterHistoryRequest request;
    request.set_type(one.type);
    request.set_instance(one.instance);
    if (!one.counter.empty()) {
      request.add_counters(one.counter);
    }
    const auto refused = reports_.ListCounterHistory(request, kSeesAll, kEveryones);
    EXPECT_NE(refused.status().message().find(one.said), std::string::npos) << refused.status();
  }
}

TEST_F(CounterHistory, BusiestSitesAreThoseOfLate) {
  Count(reports_, shop_, 1000);
  Count(reports_, blog_, 10);
  NextStep();
  reports_.TakeSteps(false);
  ASSERT_EQ(reports_.book().ReadBusiest(InstanceType::kSite, 1).size(), 1U);
  EXPECT_EQ(reports_.book().ReadBusiest(InstanceType::kSite, 1).front().first, shop_);
  for (int i = 1; i <= 60; ++i) {
    Count(reports_, blog_, 10 + i * 100);
    NextStep();
    reports_.TakeSteps(false);
  }
  const auto busiest = reports_.book().ReadBusiest(InstanceType::kSite, 5);
  ASSERT_GE(busiest.size(), 1U);
  EXPECT_EQ(busiest.front().first, blog_);
  EXPECT_EQ(busiest.front().second.front(), 6010);
}

}  // namespace
}  // namespace croft::control::reports
