// Apply on a real control with PostgreSQL: managers, pruning, all or nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "croft/v1/resource.grpc.pb.h"
#include "croft/v1/site.grpc.pb.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

class ControlApply : public testing::Test {
 protected:
  void SetUp() override {
    farm_ = "farms/" + NewFarmId();
    v1::ApplyResourcesResponse response;
    const grpc::Status status =
        Apply("resources { pool { name: '" + farm_ + "/pools/web' } } resources { store { name: '" +
                  farm_ +
                  "/stores/files' path: '/srv' homes { fan_out: 9 } } } resources { farm { "
                  "name: '" +
                  farm_ + "' } }",
              response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.counts().created(), 3);
  }

  grpc::Status Apply(const std::string& text, v1::ApplyResourcesResponse& response) {
    return client_.Call<v1::ApplyResourcesRequest>("croft.v1.ResourceService/ApplyResources", text,
                                                   response);
  }
  std::string Site(const std::string& id, const std::string& more) {
    return "resources { site { name: '" + Name(id) + "' applications { path: '/' pool: '" + farm_ +
           "/pools/web' root { store: '" + farm_ + "/stores/files' path: 'www' } } " + more +
           " } } ";
  }
  std::string Host(const std::string& id) { return "bindings { host: '" + id + ".example' } "; }
  std::string Name(const std::string& id) { return farm_ + "/sites/" + id; }
  grpc::Status Get(const std::string& id, v1::Site& site) {
    return client_.Call<v1::GetSiteRequest>("croft.v1.SiteService/GetSite",
                                            "name: '" + Name(id) + "'", site);
  }
  grpc::Status Update(const std::string& id, const std::string& more, v1::Site& site) {
    return client_.Call<v1::UpdateSiteRequest>("croft.v1.SiteService/UpdateSite",
                                               "site { name: '" + Name(id) + "' " + more, site);
  }

  RunningControl& control_ = RunningControl::Shared();
  Client client_{control_.Connect(), control_.token()};
  std::string farm_;
};

TEST_F(ControlApply, TwoManagersOwnFieldsOfOneSite) {
  v1::ApplyResourcesResponse response;
  const std::string billing = " field_manager: 'billing'";
  ASSERT_TRUE(Apply(Site("shop", Host("a") + "labels { key: 'plan' value: 'gold' } labels { key: "
                                             "'debt' value: 'none' }") +
                        billing,
                    response)
                  .ok());
  v1::Site site;
  ASSERT_TRUE(
      Update("shop", "state: STOPPED } update_mask { paths: 'state' } field_manager: 'ops'", site)
          .ok());
  ASSERT_EQ(site.field_owners_size(), 2);
  EXPECT_THAT(site.field_owners(0).paths(),
              ElementsAre("applications", "bindings", "labels.debt", "labels.plan"));
  EXPECT_EQ(site.field_owners(1).manager(), "ops");
  const grpc::Status refused =
      Apply(Site("shop", Host("a") + "state: STARTED") + billing, response);
  EXPECT_EQ(refused.error_code(), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(DetailOf(refused).reason(), "FIELD_OWNED");
  ASSERT_EQ(DetailOf(refused).violations_size(), 1);
  EXPECT_EQ(DetailOf(refused).violations(0).field(), "resources[0].site.state");
  // Dropped by its manager: unset; another one's field stays.
  ASSERT_TRUE(
      Apply(Site("shop", Host("a") + "labels { key: 'plan' value: 'gold' }") + billing, response)
          .ok());
  ASSERT_EQ(response.results(0).changes_size(), 1) << response.DebugString();
  EXPECT_EQ(response.results(0).changes(0).path(), "labels.debt");
  ASSERT_TRUE(Get("shop", site).ok());
  EXPECT_EQ(site.state(), v1::STOPPED);
  EXPECT_FALSE(site.labels().contains("debt"));
  // What is there is no change, and taking it over neither.
  ASSERT_TRUE(
      Apply(Site("shop", Host("a") + "labels { key: 'plan' value: 'gold' } state: STOPPED") +
                billing + " force: true",
            response)
          .ok());
  EXPECT_EQ(response.counts().ShortDebugString(), "unchanged: 1");
  EXPECT_EQ(response.revision(), 0);
  ASSERT_TRUE(Get("shop", site).ok());
  EXPECT_EQ(site.field_owners_size(), 1) << site.DebugString();
}

TEST_F(ControlApply, PrunesWhatIsExpectedOnly) {
  v1::ApplyResourcesResponse response;
  const std::string label = "labels { key: 'app' value: 'shop' }";
  ASSERT_TRUE(Apply(Site("a", Host("a") + label) + Site("b", Host("b") + label) +
                        Site("c", Host("c") + label) + Site("d", Host("d")),
                    response)
                  .ok());
  const std::string kept = Site("a", Host("b") + label) + "prune_selector: 'app=shop' ";
  const grpc::Status wrong = Apply(kept + "expect_pruned: 1", response);
  EXPECT_EQ(wrong.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailOf(wrong).reason(), "COUNT_MISMATCH");
  EXPECT_THAT(wrong.error_message(), HasSubstr("deletes 2 resources, not 1"));
  EXPECT_THAT(wrong.error_message(), HasSubstr(Name("b")));
  const grpc::Status pruned = Apply(kept + "expect_pruned: 2", response);
  ASSERT_TRUE(pruned.ok()) << pruned.error_message();
  EXPECT_EQ(response.counts().ShortDebugString(), "updated: 1 deleted: 2");
  v1::Site site;
  EXPECT_EQ(Get("c", site).error_code(), StatusCode::NOT_FOUND);
  EXPECT_TRUE(Get("d", site).ok());
}

TEST_F(ControlApply, NothingIsHalfApplied) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    const std::string number = std::to_string(i);
    text += Site("s" + number, i == 49 ? "bindings { host: 'h1.example' }" : Host("h" + number));
  }
  v1::ApplyResourcesResponse response;
  const grpc::Status status = Apply(text, response);
  EXPECT_EQ(status.error_code(), StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(status.error_message(), HasSubstr("resources[49], " + Name("s49")));
  v1::ListSitesResponse sites;
  ASSERT_TRUE(client_
                  .Call<v1::ListSitesRequest>("croft.v1.SiteService/ListSites",
                                              "parent: '" + farm_ + "'", sites)
                  .ok());
  EXPECT_EQ(sites.sites_size(), 0);
}

TEST_F(ControlApply, ARepeatedRequestIsAnsweredAndAnotherOneRefused) {
  v1::ApplyResourcesResponse first, second;
  const std::string id = " request_id: '" + farm_ + "'";
  ASSERT_TRUE(Apply(Site("a", Host("a")) + id, first).ok());
  ASSERT_TRUE(Apply(Site("a", Host("a")) + id, second).ok());
  EXPECT_EQ(first.DebugString(), second.DebugString());
  EXPECT_GT(second.revision(), 0);
  EXPECT_EQ(DetailOf(Apply(Site("a", Host("b")) + id, second)).reason(), "REQUEST_ID_REUSED");
}

TEST_F(ControlApply, ManyWritersOfTheSameResourcesAllCome) {
  std::vector<std::thread> writers;
  std::vector<grpc::Status> statuses(6);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    writers.emplace_back([this, i, &statuses] {
      std::string text;
      for (int j = 0; j < 10; ++j) {
        const std::string id = "s" + std::to_string(i % 2 == 0 ? j : 9 - j);
        text += Site(id, Host(id) + "labels { key: 'w" + std::to_string(i) + "' value: 'x' }");
      }
      v1::ApplyResourcesResponse response;
      statuses[i] = Apply(text, response);
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  for (const grpc::Status& status : statuses) {
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  v1::Site site;
  ASSERT_TRUE(Get("s5", site).ok());
  EXPECT_EQ(site.labels_size(), 6);
}

}  // namespace
}  // namespace croft::tests
