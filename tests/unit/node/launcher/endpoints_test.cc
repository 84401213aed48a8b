#include "node/launcher/endpoints.h"

#include <gmock/gmock.h>

namespace croft::node::launcher {
namespace {

TEST(ParseEndpoint, HasOneFormForOneAddress) {
  const std::vector<std::pair<std::string, std::string>> rows = {{"127.0.0.2", "127.0.0.2"},
                                                                 {"0.0.0.0", "0.0.0.0"},
                                                                 {"::", "::"},
                                                                 {"0:0:0:0:0:0:0:1", "::1"},
                                                                 {"2001:DB8::0001", "2001:db8::1"}};
  for (const auto& [text, canonical] : rows) {
    const auto address = ParseEndpoint(text, 80);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->ip, canonical);
  }
}

TEST(ParseEndpoint, RefusesWhatIsNoAddress) {
  for (const std::string& ip :
       {std::string(), std::string("*"), std::string("localhost"), std::string("1.2.3"),
        std::string("[::1]"), std::string("fe80::1%eth0"), std::string("127.0.0.1\0x", 11),
        std::string(100'000, '1')}) {
    EXPECT_EQ(ParseEndpoint(ip, 80).status().code(), absl::StatusCode::kInvalidArgument)
        << ip.substr(0, 50);
  }
  for (const std::uint32_t port : {0u, 65536u, 0xffffffffu}) {
    EXPECT_FALSE(ParseEndpoint("127.0.0.1", port).ok()) << port;
  }
}

}  // namespace
}  // namespace croft::node::launcher
