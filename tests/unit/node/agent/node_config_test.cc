#include "node/agent/node_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace croft::node::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(NodeConfig, FillsInWhatIsLeftOut) {
  const auto config = ParseNodeConfig("control: c.example:7443\nca_file: /etc/croft/ca.crt\n", 4);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->addresses(), ElementsAre("*"));
  EXPECT_EQ(config->loops(), 4u);
  EXPECT_EQ(config->health().port(), 0u);
}

TEST(NodeConfig, ReadsEveryField) {
  const auto config = ParseNodeConfig(
      "control: c.example:7443\nca_file: ca.crt\njoin_token_file: join\n"
      "addresses: [\"127.0.0.2\", \"::1\"]\nhealth: {ip: 127.0.0.2, port: 9090}\nloops: 2\n",
      4);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->join_token_file(), "join");
  EXPECT_THAT(config->addresses(), ElementsAre("127.0.0.2", "::1"));
  EXPECT_EQ(config->health().ip(), "127.0.0.2");
  EXPECT_EQ(config->health().port(), 9090u);
  EXPECT_EQ(config->loops(), 2u);
}

TEST(NodeConfig, NamesWhatIsWrong) {
  struct Case {
    const char* text;
    const char* names;
  };
  for (const Case& c :
       {Case{"controll: c.example:7443", "control"}, Case{"control: c.example", "host:port"},
        Case{"control: c.example:7443", "ca_file"},
        Case{"addresses: [\"300.1.1.1\"]", "addresses[0]"},
        Case{"health: {ip: nowhere, port: 1}", "health.ip"}, Case{"loops: 65", "loops"},
        Case{"loops: 1\nloops: 2", "loops"}}) {
    const auto config = ParseNodeConfig(c.text, 4);
    ASSERT_FALSE(config.ok()) << c.text;
    EXPECT_THAT(std::string(config.status().message()), HasSubstr(c.names)) << c.text;
  }
}

TEST(NodeConfig, NamesAMissingFile) {
  EXPECT_THAT(std::string(ReadNodeConfig("/nonexistent/node.yaml").status().message()),
              HasSubstr("/nonexistent/node.yaml"));
}

}  // namespace
}  // namespace croft::node::agent
