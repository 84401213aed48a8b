#include "control/settings.h"

#include <gtest/gtest.h>

namespace croft::control {
namespace {

std::optional<Settings> Parse(std::vector<const char*> arguments, int& exit_code) {
  arguments.insert(arguments.begin(), "croft-control");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto settings = ParseSettings(static_cast<int>(arguments.size()), arguments.data(), exit_code);
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  return settings;
}

TEST(Settings, DefaultsFollowTheDataDirectory) {
  int exit_code = -1;
  const auto settings = Parse({"--data-dir", "/var/lib/croft/"}, exit_code);
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->data_dir, "/var/lib/croft");
  EXPECT_EQ(settings->key_file, "/var/lib/croft/key");
  EXPECT_EQ(settings->listen, "127.0.0.1:7443");
  EXPECT_EQ(settings->run_as, 57000U);
  EXPECT_EQ(settings->database_url, "");
}

TEST(Settings, JsonGatewayStandsBesideTheListeningPortUnlessSaid) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> cases = {
      {{}, "127.0.0.1:7480"},
      {{"--listen", "0.0.0.0:7443"}, "0.0.0.0:7480"},
      {{"--listen", "[::1]:0"}, "[::1]:0"},
      {{"--json-listen", "10.0.0.1:8443"}, "10.0.0.1:8443"},
      {{"--json-listen", ""}, ""},
  };
  for (const auto& [given, expected] : cases) {
    std::vector<const char*> arguments = {"--data-dir", "/d"};
    arguments.insert(arguments.end(), given.begin(), given.end());
    int exit_code = -1;
    const auto settings = Parse(arguments, exit_code);
    ASSERT_TRUE(settings.has_value());
    EXPECT_EQ(settings->json_listen, expected);
  }
}

TEST(Settings, EndsWithUsageErrorOrHelp) {
  int exit_code = -1;
  EXPECT_FALSE(Parse({"--help"}, exit_code).has_value());
  EXPECT_EQ(exit_code, 0);
  const std::vector<std::vector<const char*>> wrong = {
      {},
      {"--data-dir", "/d", "--lisen", "127.0.0.1:1"},
      {"--data-dir", "/d", "--listen", "127.0.0.1"},
      {"--data-dir", "/d", "--listen", "127.0.0.1:65536"},
      {"--data-dir", "/d", "--listen", "::1:7443"},
      {"--data-dir", "/d", "--json-listen", "127.0.0.1"},
      {"--data-dir", "/d", "--log-level", "loud"},
      {"--data-dir", "/d", "--run-as", "root"},
  };
  for (const auto& arguments : wrong) {
    EXPECT_FALSE(Parse(arguments, exit_code).has_value());
    EXPECT_EQ(exit_code, 2);
  }
}

TEST(Settings, CertificateNamesWhereControlIsReached) {
  Settings settings;
  settings.listen = "0.0.0.0:7443";
  settings.advertise = {"control.example:7443", "10.0.0.5", "[2001:db8::1]:7443"};
  const std::vector<std::string> expected = {"localhost",       "127.0.0.1", "::1",        "box",
                                             "control.example", "10.0.0.5",  "2001:db8::1"};
  EXPECT_EQ(CertificateHosts(settings, "box"), expected);
}

TEST(Settings, OperatorAddressIsOneThatCanBeDialled) {
  Settings settings;
  settings.listen = "127.0.0.1:0";
  EXPECT_EQ(OperatorAddress(settings, settings.listen, 4711), "127.0.0.1:4711");
  settings.listen = "[::1]:0";
  EXPECT_EQ(OperatorAddress(settings, settings.listen, 4711), "[::1]:4711");
  settings.listen = "0.0.0.0:7443";
  EXPECT_EQ(OperatorAddress(settings, settings.listen, 7443), "127.0.0.1:7443");
  settings.advertise = {"control.example"};
  EXPECT_EQ(OperatorAddress(settings, settings.listen, 7443), "control.example:7443");
}

}  // namespace
}  // namespace croft::control
