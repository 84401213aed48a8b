#include "proto/contract/binding_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "proto/contract/errors.h"
#include "tests/unit/proto/contract/random_input.h"

namespace croft::contract {
namespace {

using ::testing::HasSubstr;

IpBytes Ip(std::string_view text) { return *ParseIp(text); }

TEST(Ip, HasOneFormPerAddress) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"*", "*"},
                                                                  {"", "*"},
                                                                  {"0.0.0.0", "*"},
                                                                  {"::", "*"},
                                                                  {"192.0.2.1", "192.0.2.1"},
                                                                  {"::ffff:192.0.2.1", "192.0.2.1"},
                                                                  {"2001:DB8:0::1", "2001:db8::1"},
                                                                  {"::1", "::1"}};
  for (const auto& [text, shown] : cases) {
    const auto ip = ParseIp(text);
    ASSERT_TRUE(ip.ok()) << text;
    EXPECT_EQ(FormatIp(*ip), shown) << text;
  }
  for (const std::string text : {"1.2.3", "01.2.3.4", "1.2.3.256", "[::1]", "fe80::1%1", "x",
                                 "1.2.3.4 ", "1:2:3:4:5:6:7:8:9"}) {
    EXPECT_FALSE(ParseIp(text).ok()) << text;
  }
}

TEST(BindingText, ReadsEveryForm) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"*:80:shop.example", "*:80:shop.example"},
      {"*:80:", "*:80:"},
      {"*:8080", "*:8080:"},
      {":80:", "*:80:"},
      {"*", "*:80:"},
      {"shop.example", "*:80:shop.example"},
      {"SHOP.example:8080", "*:8080:shop.example"},
      {"*.shop.example", "*:80:*.shop.example"},
      {"*.shop.example:81", "*:81:*.shop.example"},
      {"192.0.2.1:80:", "192.0.2.1:80:"},
      {"192.0.2.1:80:*.a.example", "192.0.2.1:80:*.a.example"},
      {"[::1]:80:", "[::1]:80:"},
      {"[2001:DB8::0:1]:81:a.example", "[2001:db8::1]:81:a.example"},
      {"[::1]", "*:80:[::1]"},
      {"[::1]:81", "*:81:[::1]"},
      {"*:80:[::1]", "*:80:[::1]"},
      {"*:80:bücher.example", "*:80:xn--bcher-kva.example"},
  };
  for (const auto& [text, canonical] : cases) {
    const auto binding = ParseBinding(text);
    ASSERT_TRUE(binding.ok()) << text << ": " << binding.status();
    EXPECT_EQ(FormatBinding(*binding), canonical) << text;
    EXPECT_EQ(binding->protocol(), v1::HTTP);
  }
}

TEST(BindingText, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "empty"},
      {"*:0:a.example", "port"},
      {"*:65536:", "port"},
      {"*::a.example", "port"},
      {"*:x:", "port"},
      {"1.2.3:80:", "no IP address"},
      {"[::1:80:", "bracket"},
      {"::1:80:", "IPv6"},
      {"*:80:a b", "has a space"},
      {"*:80:a:b", "character"},
      {"shop.example:80:x", "no IP address"}};
  for (const auto& [text, reason] : cases) {
    const auto binding = ParseBinding(text);
    ASSERT_FALSE(binding.ok()) << text;
    EXPECT_THAT(std::string(MessageOf(binding.status())), HasSubstr(reason)) << text;
  }
}

TEST(BindingKey, KeepsNeighboursTogetherAndComesBack) {
  const BindingKey key{8080, Ip("192.0.2.1"), "*.shop.example"};
  const std::string encoded = EncodeBindingKey(key);
  ASSERT_EQ(encoded.size(), 18U + key.host.size());
  EXPECT_EQ(encoded.substr(0, 2), "\x1f\x90");
  const auto decoded = DecodeBindingKey(encoded);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->port, key.port);
  EXPECT_EQ(decoded->ip, key.ip);
  EXPECT_EQ(decoded->host, key.host);
  EXPECT_FALSE(DecodeBindingKey(encoded.substr(0, 17)).ok());
  EXPECT_FALSE(DecodeBindingKey(encoded + std::string(300, 'x')).ok());
}

std::vector<std::string> Candidates(std::string_view ip, std::string_view host) {
  std::vector<std::string> shown;
  for (const BindingKey& key : BindingCandidates(Ip(ip), 80, host)) {
    shown.push_back(FormatIp(key.ip) + " " + key.host);
  }
  return shown;
}

TEST(BindingPrecedence, IsThatOfIis) {
  EXPECT_THAT(
      Candidates("192.0.2.1", "a.shop.example"),
      ::testing::ElementsAre("192.0.2.1 a.shop.example", "* a.shop.example",
                             "192.0.2.1 *.shop.example", "* *.shop.example", "192.0.2.1 ", "* "));
  EXPECT_THAT(Candidates("*", "a.shop.example"),
              ::testing::ElementsAre("* a.shop.example", "* *.shop.example", "* "));
  EXPECT_THAT(Candidates("192.0.2.1", "localhost"),
              ::testing::ElementsAre("192.0.2.1 localhost", "* localhost", "192.0.2.1 ", "* "));
  EXPECT_THAT(Candidates("192.0.2.1", ""), ::testing::ElementsAre("192.0.2.1 ", "* "));
  EXPECT_THAT(Candidates("192.0.2.1", "192.0.2.1"),
              ::testing::ElementsAre("192.0.2.1 192.0.2.1", "* 192.0.2.1", "192.0.2.1 ", "* "));
  EXPECT_THAT(Candidates("*", "[::1]"), ::testing::ElementsAre("* [::1]", "* "));
}

// What the rules say, without keys: judge every binding, take the best.
struct Rank {
  int host = 0;  // 3 exact, 2 star, 1 any
  int ip = 0;    // 2 bound, 1 any
  auto operator<=>(const Rank&) const = default;
};

std::optional<Rank> Judge(const BindingKey& binding, const IpBytes& ip, std::uint16_t port,
                          const std::string& host) {
  const bool any_ip = binding.ip == IpBytes{};
  if (binding.port != port || (!any_ip && binding.ip != ip)) {
    return std::nullopt;
  }
  Rank rank{0, any_ip ? 1 : 2};
  const bool is_star = binding.host.substr(0, 2) == "*.";
  if (binding.host.empty()) {
    rank.host = 1;
  } else if (!is_star && binding.host == host) {
    rank.host = 3;
  } else if (is_star && host.find('.') != std::string::npos &&
             host.substr(host.find('.') + 1) == binding.host.substr(2)) {
    rank.host = 2;
  } else {
    return std::nullopt;
  }
  return rank;
}

TEST(BindingPrecedenceProperty, AgreesWithJudgingEveryBinding) {
  RandomInput random(2);
  const std::vector<std::string> ips = {"*", "192.0.2.1", "192.0.2.2", "2001:db8::1"};
  const std::vector<std::string> arrivals = {"192.0.2.1", "192.0.2.2", "2001:db8::1",
                                             "203.0.113.9"};
  const std::vector<std::string> bound = {"",  "a.x",   "b.x",   "*.x",
                                          "x", "*.a.x", "c.a.x", "*.b.a.x"};
  const std::vector<std::string> asked = {"", "a.x", "b.x", "x", "c.a.x", "d.a.x", "e.b.a.x", "z"};
  for (int round = 0; round < 3000; ++round) {
    std::map<std::string, std::int64_t> sites;
    for (std::size_t n = random.Below(8); n > 0; --n) {
      const BindingKey key{static_cast<std::uint16_t>(80 + random.Below(2)), Ip(random.Pick(ips)),
                           random.Pick(bound)};
      sites.emplace(EncodeBindingKey(key), static_cast<std::int64_t>(sites.size()) + 1);
    }
    const IpBytes ip = Ip(random.Pick(arrivals));
    const std::string host = random.Pick(asked);
    std::optional<std::int64_t> expected;
    Rank best;
    for (const auto& [encoded, site] : sites) {
      const auto rank = Judge(*DecodeBindingKey(encoded), ip, 80, host);
      if (rank && *rank > best) {
        best = *rank;
        expected = site;
      }
    }
    const auto found =
        FindSite(ip, 80, host, [&](std::string_view key) -> std::optional<std::int64_t> {
          const auto at = sites.find(std::string(key));
          return at == sites.end() ? std::nullopt : std::optional(at->second);
        });
    ASSERT_EQ(found, expected) << "host " << host << " round " << round;
  }
}

TEST(BindingTextProperty, ParsingWhatIsFormattedChangesNothing) {
  RandomInput random(3);
  const std::vector<std::string> pieces = {"*", ":",          "80",        "[",      "::1",
                                           "]", "192.0.2.1",  "a.example", "*.",     "x",
                                           "",  "2001:db8::", "8080",      "bücher", "."};
  int valid = 0;
  for (int i = 0; i < 50'000; ++i) {
    const auto once = ParseBinding(random.Text(pieces, 7));
    if (!once.ok()) {
      continue;
    }
    ++valid;
    const auto twice = ParseBinding(FormatBinding(*once));
    ASSERT_TRUE(twice.ok()) << FormatBinding(*once);
    ASSERT_EQ(once->SerializeAsString(), twice->SerializeAsString());
    ASSERT_EQ(NormalizeBinding(*once)->SerializeAsString(), once->SerializeAsString());
    ASSERT_EQ(FormatIp(MakeBindingKey(*once).ip), once->ip());
  }
  EXPECT_GT(valid, 500);
}

}  // namespace
}  // namespace croft::contract
