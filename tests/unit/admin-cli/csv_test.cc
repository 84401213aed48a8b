#include "admin-cli/csv.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace croft::admin_cli {
namespace {

std::vector<CsvRecord> ReadAll(const std::string& text) {
  std::istringstream input(text);
  CsvReader reader(input);
  std::vector<CsvRecord> records;
  while (auto record = reader.Next()) {
    records.push_back(*std::move(record));
  }
  return records;
}

TEST(Csv, SplitsFieldsAndKeepsLineNumbers) {
  const auto records = ReadAll("a,b\n\nc,\r\n");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].fields, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(records[1].line, 3);
  EXPECT_EQ(records[1].fields, (std::vector<std::string>{"c", ""}));
}

TEST(Csv, QuotedFieldsHoldCommasQuotesAndLineBreaks) {
  const auto records = ReadAll("\"a,\"\"b\"\"\",\"x\ny\"\nz\n");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].fields, (std::vector<std::string>{"a,\"b\"", "x\ny"}));
  EXPECT_EQ(records[1].line, 3);
}

TEST(Csv, IgnoresAByteOrderMark) { EXPECT_EQ(ReadAll("\xEF\xBB\xBFname\n")[0].fields[0], "name"); }

TEST(Csv, ReportsAMalformedRecordAndGoesOn) {
  const auto records = ReadAll("a\"b,c\n\"x\"y\nok\n");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_FALSE(records[0].problem.empty());
  EXPECT_FALSE(records[1].problem.empty());
  EXPECT_TRUE(records[2].problem.empty());
}

TEST(Csv, ReportsAQuoteThatIsNeverClosed) {
  const auto records = ReadAll("\"abc\nd\n");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].line, 1);
  EXPECT_FALSE(records[0].problem.empty());
}

TEST(Csv, ARecordThatIsNotUtf8SpoilsNoOther) {
  const auto records = ReadAll("b\xC3\xBC\n\xFF\n\xC0\xAF\n\xED\xA0\x80\n\xF4\x90\x80\x80\nok\n");
  ASSERT_EQ(records.size(), 6u);
  EXPECT_TRUE(records[0].problem.empty());
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_NE(records[i].problem.find("UTF-8"), std::string::npos) << i;
  }
  EXPECT_TRUE(records[5].problem.empty());
}

TEST(Csv, ANulIsNoText) { EXPECT_FALSE(ReadAll(std::string("a\0b\n", 4))[0].problem.empty()); }

}  // namespace
}  // namespace croft::admin_cli
