#include "admin-cli/import_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace croft::admin_cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Rows {
  absl::Status status;
  std::vector<v1::ImportRow> rows;
  std::vector<v1::ImportRowError> problems;
};

Rows ReadAll(const std::string& text, RowFormat format, std::string_view noun = "account") {
  std::istringstream input(text);
  RowReader reader(input, **FindNoun(noun), "main", format);
  Rows all;
  all.status = reader.Open();
  while (all.status.ok()) {
    v1::ImportRow row;
    v1::ImportRowError problem;
    const RowReader::Outcome outcome = reader.Next(row, problem);
    if (outcome == RowReader::Outcome::kEnd) {
      break;
    }
    if (outcome == RowReader::Outcome::kRow) {
      all.rows.push_back(row);
    } else {
      all.problems.push_back(problem);
    }
  }
  return all;
}

TEST(ImportRows, ReadsColumnsAsFieldPaths) {
  const Rows all = ReadAll(
      "Name,organization,store,state,labels.Tier\nbob,acme,content,suspended,gold\nann,,,,\n",
      RowFormat::kCsv);
  ASSERT_TRUE(all.status.ok()) << all.status;
  ASSERT_EQ(all.rows.size(), 2u);
  EXPECT_EQ(all.rows[0].line(), 2);
  const v1::Account& bob = all.rows[0].resource().account();
  EXPECT_EQ(bob.name(), "farms/main/accounts/bob");
  EXPECT_EQ(bob.organization(), "organizations/acme");
  EXPECT_EQ(bob.home().store(), "farms/main/stores/content");
  EXPECT_EQ(bob.state(), v1::SUSPENDED);
  EXPECT_EQ(bob.labels().at("Tier"), "gold");
  const v1::Account& ann = all.rows[1].resource().account();
  EXPECT_FALSE(ann.has_home());
  EXPECT_EQ(ann.state(), v1::ACCOUNT_STATE_UNSPECIFIED);
}

TEST(ImportRows, ReadsAnyType) {
  const Rows all = ReadAll(
      "name,bindings,applications[0].path,applications[0].pool\n"
      "farms/other/sites/a,\"*:80:a.example,*:81:b.example\",/,php\n",
      RowFormat::kCsv, "site");
  ASSERT_TRUE(all.status.ok()) << all.status;
  ASSERT_EQ(all.rows.size(), 1u) << all.problems[0].DebugString();
  const v1::Site& site = all.rows[0].resource().site();
  EXPECT_EQ(site.bindings_size(), 2);
  EXPECT_EQ(site.applications(0).pool(), "farms/other/pools/php");
}

TEST(ImportRows, ARowThatIsWrongSpoilsNoOther) {
  const Rows all =
      ReadAll("name,state\nbob,SLEEPING\nann\n,ACTIVE\n\xff,ACTIVE\nzoe,\n", RowFormat::kCsv);
  ASSERT_EQ(all.problems.size(), 4u);
  EXPECT_EQ(all.problems[0].line(), 2);
  EXPECT_EQ(all.problems[0].field(), "state");
  EXPECT_THAT(all.problems[0].reason(), HasSubstr("SLEEPING"));
  EXPECT_THAT(all.problems[1].reason(), HasSubstr("has 1 values, the header names 2"));
  EXPECT_EQ(all.problems[2].field(), "name");
  EXPECT_THAT(all.problems[3].reason(), HasSubstr("UTF-8"));
  ASSERT_EQ(all.rows.size(), 1u);
  EXPECT_EQ(all.rows[0].line(), 6);
}

TEST(ImportRows, RefusesAHeaderThatNamesNoFields) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "the file is empty"},
      {"state\n", "no column \"name\""},
      {"name,nmae\n", "column \"nmae\" is unknown"},
      {"name,Name\n", "column \"Name\" is repeated"},
      {"name,uid\n", "set by Croft"},
      {"name,store,home.store\n", "is repeated"},
      {"na\"me\n", "line 1: "},
  };
  for (const auto& [text, message] : cases) {
    const Rows all = ReadAll(text, RowFormat::kCsv);
    ASSERT_FALSE(all.status.ok()) << text;
    EXPECT_THAT(std::string(all.status.message()), HasSubstr(message)) << text;
  }
}

TEST(ImportRows, ReadsJsonLines) {
  const Rows all = ReadAll(
      "{\"name\":\"bob\",\"state\":\"SUSPENDED\"}\n\n"
      "{\"type\":\"account\",\"name\":\"farms/x/accounts/ann\",\"home\":{\"store\":\"c\"}}\n"
      "{\"type\":\"site\",\"name\":\"a\"}\n{\"name\":\"a\",\"stat\":\"ACTIVE\"}\n{]\n[]\n"
      "{\"name\":\"zoe\"}",
      RowFormat::kJsonLines);
  ASSERT_EQ(all.rows.size(), 3u);
  EXPECT_EQ(all.rows[0].resource().account().state(), v1::SUSPENDED);
  EXPECT_EQ(all.rows[1].line(), 3);
  EXPECT_EQ(all.rows[1].resource().account().home().store(), "farms/x/stores/c");
  EXPECT_EQ(all.rows[2].line(), 8);
  ASSERT_EQ(all.problems.size(), 4u);
  EXPECT_EQ(all.problems[0].field(), "type");
  EXPECT_EQ(all.problems[1].field(), "stat");
  EXPECT_THAT(all.problems[1].reason(), HasSubstr("the nearest is \"state\""));
  EXPECT_EQ(all.problems[2].line(), 6);
}

TEST(ImportRows, PassesOverALineThatIsTooLong) {
  const Rows csv = ReadAll("name\n" + std::string(200'000, 'a') + "\nbob\n", RowFormat::kCsv);
  ASSERT_EQ(csv.problems.size(), 1u);
  EXPECT_THAT(csv.problems[0].reason(), HasSubstr("64 KiB"));
  EXPECT_EQ(csv.rows.size(), 1u);
  const Rows json =
      ReadAll("{\"name\":\"" + std::string(kJsonRowBytesMax, 'a') + "\"}\n{\"name\":\"bob\"}\n",
              RowFormat::kJsonLines);
  ASSERT_EQ(json.problems.size(), 1u);
  EXPECT_THAT(json.problems[0].reason(), HasSubstr("1 MiB"));
  EXPECT_EQ(json.rows.size(), 1u);
}

}  // namespace
}  // namespace croft::admin_cli
