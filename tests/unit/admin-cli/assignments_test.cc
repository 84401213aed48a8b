#include "admin-cli/assignments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "croft/v1/account.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/contract/field_path.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::FieldMask;

std::vector<std::string> Paths(const FieldMask& mask) {
  return {mask.paths().begin(), mask.paths().end()};
}

TEST(Assignments, TellsNamesFromAssignments) {
  EXPECT_TRUE(IsAssignment("path=/srv"));
  EXPECT_TRUE(IsAssignment("bindings+=a.example"));
  EXPECT_TRUE(IsAssignment("settings.limits.max_body-"));
  EXPECT_FALSE(IsAssignment("shop"));
  EXPECT_FALSE(IsAssignment("my-shop"));
  EXPECT_FALSE(IsAssignment("-"));
}

TEST(Assignments, SetAFieldAndNameItInTheMask) {
  v1::Site site;
  FieldMask mask;
  ASSERT_TRUE(
      ApplyAssignments({"settings.limits.max_body=50MB", "state=stopped"}, "main", site, mask)
          .ok());
  EXPECT_EQ(site.settings().limits().max_body(), 50'000'000);
  EXPECT_EQ(site.state(), v1::STOPPED);
  EXPECT_EQ(Paths(mask), (std::vector<std::string>{"settings.limits.max_body", "state"}));
}

TEST(Assignments, UnsetAField) {
  v1::Site site;
  site.mutable_settings()->mutable_limits()->set_max_body(1);
  FieldMask mask;
  ASSERT_TRUE(ApplyAssignments({"settings.limits.max_body-"}, "main", site, mask).ok());
  EXPECT_FALSE(site.settings().limits().has_max_body());
}

TEST(Assignments, AddToAListOnceAndRemoveByCanonicalForm) {
  v1::Site site;
  FieldMask mask;
  ASSERT_TRUE(ApplyAssignments({"bindings+=*:80:Shop.example", "bindings+=*:80:shop.example",
                                "bindings+=*:80:b.example", "bindings-=*:80:shop.example"},
                               "main", site, mask)
                  .ok());
  EXPECT_EQ(contract::GetField(site, "bindings").value_or(""), "*:80:b.example");
  EXPECT_EQ(Paths(mask), std::vector<std::string>{"bindings"});
}

TEST(Assignments, RemovingWhatIsNotInTheListIsAnError) {
  v1::Site site;
  FieldMask mask;
  const auto status = ApplyAssignments({"bindings-=*:80:a.example"}, "main", site, mask);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(Assignments, SiteShorthandMakesTheRootApplicationWithFullNames) {
  v1::Site site;
  FieldMask mask;
  ASSERT_TRUE(ApplyAssignments({"root=content:shop", "pool=php"}, "main", site, mask).ok());
  ASSERT_EQ(site.applications_size(), 1);
  EXPECT_EQ(site.applications(0).path(), "/");
  EXPECT_EQ(site.applications(0).pool(), "farms/main/pools/php");
  EXPECT_EQ(site.applications(0).root().store(), "farms/main/stores/content");
  EXPECT_EQ(site.applications(0).root().path(), "shop");
  EXPECT_EQ(Paths(mask), std::vector<std::string>{"applications"});
}

TEST(Assignments, OrganizationsAndFullNamesAreKept) {
  v1::Account account;
  FieldMask mask;
  ASSERT_TRUE(ApplyAssignments({"organization=acme", "home.store=farms/other/stores/s"}, "main",
                               account, mask)
                  .ok());
  EXPECT_EQ(account.organization(), "organizations/acme");
  EXPECT_EQ(account.home().store(), "farms/other/stores/s");
}

TEST(Assignments, UnknownFieldNamesTheNearest) {
  v1::ApplicationPool pool;
  FieldMask mask;
  const auto status = ApplyAssignments({"queue_lenght=20"}, "main", pool, mask);
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("queue_length"), std::string_view::npos) << status;
}

}  // namespace
}  // namespace croft::admin_cli
