#include "admin-cli/field_list.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "admin-cli/nouns.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/settings.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/comments/api_comments.h"

namespace croft::admin_cli {
namespace {

const FieldLine* Find(const std::vector<FieldLine>& lines, std::string_view path) {
  const auto at = std::find_if(lines.begin(), lines.end(),
                               [&](const FieldLine& line) { return line.path == path; });
  return at == lines.end() ? nullptr : &*at;
}

TEST(FieldList, SaysWhatAFieldAccepts) {
  const auto site = ListFields(*v1::Site::descriptor(), "");
  ASSERT_TRUE(site.ok());
  EXPECT_EQ(Find(site->settable, "state")->accepts, "STARTED, STOPPED");
  EXPECT_EQ(Find(site->settable, "settings.limits.max_body")->accepts,
            "SIZE such as 30MB, 0 to 1TiB");
  EXPECT_EQ(Find(site->settable, "organization")->notes, "fixed at creation");
  EXPECT_NE(Find(site->settable, "applications[N].root"), nullptr);
  EXPECT_EQ(Find(site->settable, "uid"), nullptr);
  EXPECT_NE(Find(site->output_only, "uid"), nullptr);
}

TEST(FieldList, GoesBelowAPathOnWholeNames) {
  const auto limits = ListFields(*v1::Site::descriptor(), "settings.limits");
  ASSERT_TRUE(limits.ok());
  EXPECT_EQ(limits->settable.size(), 4u);
  const auto application = ListFields(*v1::Site::descriptor(), "applications[0].pool");
  ASSERT_TRUE(application.ok());
  EXPECT_EQ(application->settable.size(), 1u);
  EXPECT_FALSE(ListFields(*v1::Site::descriptor(), "settings.lim").ok());
}

TEST(FieldList, EverySettingAndEveryLimitHasAComment) {
  const comments::ApiComments comments;
  for (const auto* type : {v1::Settings::descriptor(), v1::ApplicationPool::descriptor()}) {
    const auto list = ListFields(*type, "");
    ASSERT_TRUE(list.ok());
    for (const FieldLine& line : list->settable) {
      const bool standard = line.path == "organization" || line.path == "etag";
      EXPECT_TRUE(standard || !comments.Of(*line.field).empty()) << line.path;
    }
  }
}

TEST(Nouns, AFullNameTellsItsFarm) {
  EXPECT_EQ(FarmOf("farms/other/sites/x"), "other");
  EXPECT_EQ(FarmOf("farms/other"), "other");
  EXPECT_EQ(FarmOf("platform"), "");
  EXPECT_EQ(FarmOf("organizations/acme"), "");
}

}  // namespace
}  // namespace croft::admin_cli
