// How listings look: columns, tables, CSV, every format with names of any script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "admin-cli/csv.h"
#include "admin-cli/field_column.h"
#include "admin-cli/output.h"
#include "admin-cli/resource_printer.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/site.pb.h"

namespace croft::admin_cli {
namespace {

using testing::HasSubstr;

v1::Site Shop() {
  v1::Site site;
  site.set_name("farms/main/sites/shop");
  site.add_bindings()->set_host("shop.example");
  site.add_bindings()->set_host("www.shop.example");
  site.add_applications()->mutable_root()->set_path("a");
  (*site.mutable_labels())["tier"] = "gold, \"24\"";
  return site;
}

std::string Printed(const View& view, const google::protobuf::Message& message) {
  const Noun& noun =
      **FindNoun(message.GetDescriptor()->name() == "Site" ? "site" : "organization");
  testing::internal::CaptureStdout();
  ResourcePrinter printer(noun, view, true);
  EXPECT_TRUE(printer.Check().ok());
  std::vector<MessagePtr> page;
  page.emplace_back(message.New());
  page.back()->CopyFrom(message);
  printer.Print(page);
  printer.Finish();
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

TEST(Columns, AreFieldPathsThroughLists) {
  const v1::Site site = Shop();
  EXPECT_EQ(ColumnText(site, "bindings.host"), "shop.example,www.shop.example");
  EXPECT_EQ(ColumnText(site, "bindings[1].host"), "www.shop.example");
  EXPECT_EQ(ColumnText(site, "applications.root.path"), "a");
  EXPECT_EQ(ColumnText(site, "labels.tier"), "gold, \"24\"");
  EXPECT_EQ(ColumnText(site, "settings.limits.max_body"), "");
}

TEST(Columns, ThatAreNoneNameTheNearest) {
  for (const char* path : {"stat", "bindings.hots", "settings.limits.max_bdy"}) {
    const auto status = CheckColumn(v1::Site(), path);
    EXPECT_FALSE(status.ok()) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr("--columns")) << path;
  }
  EXPECT_THAT(std::string(CheckColumn(v1::Site(), "bindings.hots").message()), HasSubstr("host"));
  EXPECT_TRUE(CheckColumn(v1::Site(), "bindings.host").ok());
  EXPECT_TRUE(CheckColumn(v1::Site(), "labels.tier").ok());
}

TEST(Listing, HasTheColumnsAskedForAndNoTitlesIfSo) {
  View view(Format::kTable);
  view.columns = "name,labels.tier";
  EXPECT_EQ(Printed(view, Shop()),
            "NAME                   LABELS.TIER\nfarms/main/sites/shop  gold, \"24\"\n");
  view.headers = false;
  EXPECT_EQ(Printed(view, Shop()), "farms/main/sites/shop  gold, \"24\"\n");
  view.format = Format::kCsv;
  EXPECT_EQ(Printed(view, Shop()), "farms/main/sites/shop,\"gold, \"\"24\"\"\"\n");
}

TEST(Listing, KeepsNamesOfAnyScriptInEveryFormat) {
  v1::Organization organization;
  organization.set_name("organizations/acme");
  const std::string names[] = {"日本語ホスティング", "Bücher & Söhne", "नमस्ते", "a\\", "x \"y\""};
  for (const std::string& name : names) {
    organization.set_display_name(name);
    for (const Format format : {Format::kTable, Format::kWide, Format::kYaml}) {
      const bool quoted = name.find_first_of("\\\"") != std::string::npos;
      if (!quoted || format != Format::kYaml) {
        EXPECT_THAT(Printed(format, organization), HasSubstr(name));
      }
    }
    std::istringstream csv(Printed(Format::kCsv, organization));
    CsvReader rows(csv);
    rows.Next();
    EXPECT_EQ(rows.Next()->fields[2], name);
    const std::string line = Printed(Format::kJsonLines, organization);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    EXPECT_EQ(Printed(Format::kName, organization), "organizations/acme\n");
  }
}

TEST(Listing, AlignsWideCharactersAndShowsControlCharacters) {
  testing::internal::CaptureStdout();
  TablePrinter table({"A", "B"}, Format::kTable);
  table.Print({{"日本", "x"}, {"abc", "y"}, {"\x1b[2J", "z"}});
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "A          B\n日本       x\nabc        y\n\\u001b[2J  z\n");
}

TEST(Listing, OfTitlesChoosesAmongThem) {
  View view(Format::kCsv);
  view.columns = "per_second,COUNTER";
  TablePrinter table({"COUNTER", "VALUE", "PER SECOND"}, view);
  ASSERT_TRUE(table.Check().ok());
  testing::internal::CaptureStdout();
  table.Print({{"requests", "7", "0.5"}});
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "PER SECOND,COUNTER\n0.5,requests\n");
  view.columns = "valeu";
  EXPECT_THAT(std::string(TablePrinter({"VALUE"}, view).Check().message()), HasSubstr("\"value\""));
  view.columns = "value,,";
  EXPECT_FALSE(TablePrinter({"VALUE"}, view).Check().ok());
}

TEST(Listing, AnEmptyCellAloneIsARowOfCsv) {
  testing::internal::CaptureStdout();
  TablePrinter({"A"}, Format::kCsv).Print({{""}, {"two\nlines"}});
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "A\n\"\"\n\"two\nlines\"\n");
}

}  // namespace
}  // namespace croft::admin_cli
