#include "admin-cli/field_meaning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace croft::admin_cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

FieldLine LineOf(const char* noun, const char* path) {
  const auto list = ListFields(*NewResource(**FindNoun(noun))->GetDescriptor(), path);
  EXPECT_TRUE(list.ok() && list->settable.size() == 1) << path;
  return list->settable.at(0);
}

TEST(FieldMeaning, DefaultsComeFromTheCommentsWithTheirUnit) {
  const comments::ApiComments comments;
  const struct {
    const char *noun, *path, *text;
  } cases[] = {
      {"site", "settings.limits.max_body", "30MB"},
      {"site", "settings.timeouts.idle", "2min"},
      {"site", "state", "STARTED"},
      {"pool", "queue_length", "1000"},
      {"pool", "start_mode", "ON_DEMAND"},
      {"account", "home", ""},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(DefaultOf(*LineOf(one.noun, one.path).field, comments), one.text) << one.path;
  }
}

TEST(FieldMeaning, SaysWhoSetsAndWhatInherits) {
  const FieldLine body = LineOf("site", "settings.limits.max_body");
  EXPECT_THAT(SetBy(**FindNoun("site"), *body.field), HasSubstr("OPERATOR or ADMINISTRATOR"));
  EXPECT_THAT(SetBy(**FindNoun("farm"), *body.field), HasSubstr("organizations/root"));
  EXPECT_THAT(LevelsOf(body), HasSubstr("platform, farm, site"));
  EXPECT_EQ(LevelsOf(LineOf("site", "state")), "");
  EXPECT_THAT(SetBy(**FindNoun("account"), *LineOf("account", "home").field),
              HasSubstr("at creation"));
}

TEST(FieldMeaning, ExamplesAreCommands) {
  const Noun& site = **FindNoun("site");
  EXPECT_THAT(ExamplesOf(site, LineOf("site", "settings.limits.max_body"), "30MB"),
              ElementsAre("croft set site NAME settings.limits.max_body=30MB",
                          "croft set site NAME settings.limits.max_body-"));
  EXPECT_THAT(
      ExamplesOf(site, LineOf("site", "labels"), ""),
      ElementsAre("croft set site NAME labels.tier=gold", "croft set site NAME labels.tier-"));
}

TEST(FieldMeaning, AMistypedPathNamesTheNearest) {
  const auto list =
      ListFields(*NewResource(**FindNoun("site"))->GetDescriptor(), "settings.logging");
  ASSERT_FALSE(list.ok());
  EXPECT_THAT(std::string(list.status().message()), HasSubstr("but \"log\""));
}

}  // namespace
}  // namespace croft::admin_cli
