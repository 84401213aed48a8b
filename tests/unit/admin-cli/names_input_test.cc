#include "admin-cli/names_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace croft::admin_cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<std::vector<std::string>> Read(const std::string& text) {
  std::istringstream input(text);
  return ReadNames(input, "stdin");
}

TEST(NamesInput, TakesWhatAListPrints) {
  EXPECT_THAT(*Read(""), ElementsAre());
  EXPECT_THAT(*Read("farms/main/sites/a\r\n\n  b \n"), ElementsAre("farms/main/sites/a", "b"));
  EXPECT_THAT(*Read("{\"name\":\"a\",\"uid\":1}\n{\"labels\":{\"name\":\"x\"},\"name\":\"b\"}\n"),
              ElementsAre("a", "b"));
  EXPECT_THAT(*Read("[\n  {\"name\": \"a\"},\n  {\"name\": \"b\"}\n]\n"), ElementsAre("a", "b"));
  EXPECT_THAT(*Read("STATE,NAME\nSTARTED,a\n\"STOP,PED\",\"b\"\n"), ElementsAre("a", "b"));
  EXPECT_THAT(*Read("NAME\na\n"), ElementsAre("a"));
}

TEST(NamesInput, SaysTheLineOfWhatIsNoName) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"a\nb c\n", "line 2"},        {"{\"name\":\"a\"}\n{\"uid\":1}\n", "line 2"},
      {"{\"name\":\n", "line 1"},    {"{\"name\":7}\n", "line 1"},
      {"[1, 2]\n", "line 1"},        {"[\n", "line 1"},
      {"a\nSTATE,NAME\n", "line 2"}, {"STATE,NAME\nx,a\ny\n", "line 3"},
  };
  for (const auto& one : cases) {
    const auto names = Read(one.text);
    ASSERT_FALSE(names.ok()) << one.text;
    EXPECT_THAT(std::string(names.status().message()), HasSubstr(one.message)) << one.text;
  }
}

TEST(NamesInput, RefusesAFileThatIsNotThere) { EXPECT_FALSE(ReadNamesOf({"/nowhere/names"}).ok()); }

}  // namespace
}  // namespace croft::admin_cli
