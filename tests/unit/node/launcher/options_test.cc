#include "node/launcher/options.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace croft::node::launcher {
namespace {

using testing::HasSubstr;

TEST(LauncherOptions, TakesValuesBesideOrAfterTheirName) {
  const auto options = ParseOptions(
      {"--data-dir=/srv/croft/", "--identity-range", "70000-70100", "--log-level=debug"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->data_dir, "/srv/croft");
  EXPECT_EQ(options->identities.first, 70000u);
  EXPECT_EQ(options->log_level, "debug");
}

TEST(LauncherOptions, MakesTheDirectoryAbsolute) {
  const auto options = ParseOptions({"--data-dir", "some/../node"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->data_dir, (std::filesystem::current_path() / "node").string());
}

TEST(LauncherOptions, SaysWhatIsWrongAndWhatIsExpected) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {{}, "--data-dir DIR is missing"},
      {{"--data-dir"}, "needs a value"},
      {{"--data-dir="}, "expected a directory"},
      {{"--data-dir=/x", "--log-level=loud"}, "debug, info, warn or error"},
      {{"--data-dir=/x", "--identity-range=5"}, "FIRST-LAST"},
      {{"--data-dir=/x", "--verbose=1"}, "unknown option '--verbose'"},
      {{"--data-dir=/x", "rubbish"}, "rubbish"}};
  for (const auto& [arguments, expected] : rows) {
    const auto options = ParseOptions(arguments);
    ASSERT_FALSE(options.ok()) << expected;
    EXPECT_THAT(std::string(options.status().message()), HasSubstr(expected));
  }
}

TEST(LauncherOptions, HelpShowsEveryOptionAndExamples) {
  EXPECT_TRUE(ParseOptions({"--help"})->help);
  for (const char* part : {"--data-dir", "--identity-range", "--log-level", "Examples:"}) {
    EXPECT_THAT(kHelp, HasSubstr(part));
  }
}

}  // namespace
}  // namespace croft::node::launcher
