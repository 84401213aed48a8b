#include "proto/contract/routing.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/proto/contract/sample_site.h"

namespace croft::contract {
namespace {

// An estate in maps: what a replica or a database answers.
class Estate final : public RoutingSource, public NameSource {
 public:
  void Add(const v1::Site& site) {
    for (const v1::Binding& binding : site.bindings()) {
      bindings_[EncodeBindingKey(MakeBindingKey(binding))] = site.uid();
    }
    sites_[site.uid()] = std::make_shared<const ResolvedSite>(ResolveSite(site, {}, *this));
  }
  void AddAccount(const std::string& name, std::int64_t uid, v1::AccountState state = v1::ACTIVE) {
    v1::Account account;
    account.set_uid(uid);
    account.set_state(state);
    account.mutable_home()->set_store("farms/main/stores/s1");
    account.mutable_home()->set_path("homes/" + name);
    accounts_[name] = ResolveAccount(account, *this);
  }

  std::int64_t FindPoolUid(std::string_view name) override {
    return name == "farms/main/pools/default" ? 11 : name == "farms/main/pools/pages" ? 12 : 0;
  }
  std::pair<std::int64_t, std::string> FindStore(std::string_view name) override {
    return name == "farms/main/stores/s1" ? std::pair{std::int64_t{21}, std::string("/srv/s1")}
                                          : std::pair{std::int64_t{0}, std::string()};
  }
  std::optional<std::int64_t> FindBinding(std::string_view key) override {
    const auto at = bindings_.find(std::string(key));
    return at == bindings_.end() ? std::nullopt : std::optional(at->second);
  }
  std::shared_ptr<const ResolvedSite> FindSite(std::int64_t uid) override { return sites_[uid]; }
  std::optional<ResolvedAccount> FindAccount(std::string_view name) override {
    const auto at = accounts_.find(std::string(name));
    return at == accounts_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  std::map<std::string, std::int64_t> bindings_;
  std::map<std::int64_t, std::shared_ptr<const ResolvedSite>> sites_;
  std::map<std::string, ResolvedAccount> accounts_;
};

Route Get(Estate& estate, std::string_view host, std::string_view path, std::size_t query = 0) {
  return FindRoute({*ParseIp("192.0.2.1"), 80, host, path, query}, estate);
}

// store path + "/" + root + path below it.
std::string FileOf(const Route& route) {
  return route.root.store_path + "/" + route.root.path + route.path.substr(route.strip);
}

v1::Site SiteWithEverything() {
  v1::Site site = SampleSite();
  AddBinding(site, "*.pages.example");
  v1::Application& docs = AddApplication(site, "/docs", "docs");
  v1::VirtualDirectory& img = *docs.add_virtual_directories();
  img.set_path("/img");
  img.mutable_root()->set_store("farms/main/stores/s1");
  img.mutable_root()->set_path("images");
  v1::PersonalPages& pages = *site.mutable_personal_pages();
  pages.add_forms(v1::PATH);
  pages.add_forms(v1::TILDE);
  pages.add_forms(v1::HOST);
  pages.set_host_suffix("pages.example");
  pages.set_pool("farms/main/pools/pages");
  return site;
}

TEST(Routing, FindsTheFileOfEachUrl) {
  Estate estate;
  estate.Add(SiteWithEverything());
  estate.AddAccount("bob", 31);
  estate.AddAccount("docs", 32);
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"shop.example", "/", "/srv/s1/sites/shop/"},
      {"shop.example", "/a/b.html", "/srv/s1/sites/shop/a/b.html"},
      {"shop.example", "/docs/x", "/srv/s1/docs/x"},
      {"shop.example", "/docs", "/srv/s1/docs"},
      {"shop.example", "/docsx", "/srv/s1/sites/shop/docsx"},
      {"shop.example", "/docs/img/a.png", "/srv/s1/images/a.png"},
      {"shop.example", "/docs/../a", "/srv/s1/sites/shop/a"},
      {"shop.example", "/bob/", "/srv/s1/homes/bob/"},
      {"shop.example", "/BOB/x.jpg", "/srv/s1/homes/bob/x.jpg"},
      {"shop.example", "/~bob/x.jpg", "/srv/s1/homes/bob/x.jpg"},
      {"shop.example", "/%7Ebob/x.jpg", "/srv/s1/homes/bob/x.jpg"},
      {"shop.example", "/~docs/", "/srv/s1/homes/docs/"},
      {"shop.example", "/alice/", "/srv/s1/sites/shop/alice/"},
      {"bob.pages.example", "/", "/srv/s1/homes/bob/"},
      {"bob.pages.example", "/docs/x", "/srv/s1/homes/bob/docs/x"},
      {"bob.pages.example", "/bob", "/srv/s1/homes/bob/bob"},
      {"www.pages.example", "/x", "/srv/s1/sites/shop/x"},
  };
  for (const auto& [host, path, file] : cases) {
    const Route route = Get(estate, host, path);
    EXPECT_EQ(route.outcome, RouteOutcome::kServe) << host << path;
    EXPECT_EQ(FileOf(route), file) << host << path;
    EXPECT_EQ(route.pool_uid, route.account.empty() ? 11 : 12) << host << path;
    EXPECT_EQ(route.mount == nullptr, !route.account.empty()) << host << path;
  }
}

TEST(Routing, AnswersWhatItCannotServe) {
  Estate estate;
  v1::Site site = SiteWithEverything();
  AddApplication(site, "/nopool", "x").set_pool("farms/main/pools/gone");
  AddApplication(site, "/nostore", "x").mutable_root()->set_store("farms/main/stores/gone");
  site.mutable_settings()->mutable_limits()->set_max_url(20);
  site.mutable_settings()->mutable_limits()->set_max_query(5);
  site.mutable_settings()->mutable_limits()->set_max_url_segments(3);
  estate.Add(site);
  estate.AddAccount("bob", 31);
  estate.AddAccount("eve", 33, v1::SUSPENDED);
  const std::vector<std::tuple<std::string, std::string, RouteOutcome>> cases = {
      {"other.example", "/", RouteOutcome::kNoSite},
      {"", "/", RouteOutcome::kNoSite},
      {"shop.example", "/..", RouteOutcome::kBadPath},
      {"shop.example", "/%zz", RouteOutcome::kBadPath},
      {"shop.example", "/bob", RouteOutcome::kRedirectToSlash},
      {"shop.example", "/~bob", RouteOutcome::kRedirectToSlash},
      {"shop.example", "/~nobody1/", RouteOutcome::kUnknownAccount},
      {"shop.example", "/~", RouteOutcome::kUnknownAccount},
      {"nobody1.pages.example", "/", RouteOutcome::kUnknownAccount},
      {"a_b.pages.example", "/", RouteOutcome::kUnknownAccount},
      {"shop.example", "/eve/", RouteOutcome::kAccountSuspended},
      {"shop.example", "/eve", RouteOutcome::kAccountSuspended},
      {"eve.pages.example", "/x", RouteOutcome::kAccountSuspended},
      {"shop.example", "/nopool/x", RouteOutcome::kNoPool},
      {"shop.example", "/nostore/x", RouteOutcome::kNoStore},
      {"shop.example", "/aaaaaaaaaaaaaaaaaaaa", RouteOutcome::kUrlTooLong},
      {"shop.example", "/%61%61%61%61%61%61%61", RouteOutcome::kUrlTooLong},
      {"shop.example", "/a/b/c/d", RouteOutcome::kTooManySegments},
      {"shop.example", "/a/b/c/", RouteOutcome::kServe},
  };
  for (const auto& [host, path, outcome] : cases) {
    const Route route = Get(estate, host, path);
    EXPECT_EQ(ReasonOf(route.outcome), ReasonOf(outcome)) << host << path;
  }
  EXPECT_EQ(Get(estate, "shop.example", "/", 6).outcome, RouteOutcome::kQueryTooLong);
  EXPECT_EQ(Get(estate, "shop.example", "/", 5).outcome, RouteOutcome::kServe);
  EXPECT_FALSE(Get(estate, "shop.example", "/..").bad_path_reason.empty());
}

TEST(Routing, WithoutARootApplicationUnknownNamesAre404) {
  Estate estate;
  v1::Site site = SiteWithEverything();
  site.mutable_applications()->DeleteSubrange(0, 1);
  estate.Add(site);
  EXPECT_EQ(Get(estate, "shop.example", "/alice/").outcome, RouteOutcome::kUnknownAccount);
  EXPECT_EQ(Get(estate, "shop.example", "/").outcome, RouteOutcome::kNoApplication);
  EXPECT_EQ(Get(estate, "shop.example", "/docs/").outcome, RouteOutcome::kServe);
}

TEST(Routing, AStoppedSiteAnswersFirst) {
  Estate estate;
  v1::Site site = SampleSite();
  site.set_state(v1::STOPPED);
  estate.Add(site);
  EXPECT_EQ(Get(estate, "shop.example", "/..").outcome, RouteOutcome::kSiteStopped);
  EXPECT_NE(Get(estate, "shop.example", "/").settings, nullptr);
}

TEST(Routing, PersonalPagesUseThePoolOfTheRootByDefault) {
  Estate estate;
  v1::Site site = SiteWithEverything();
  site.mutable_personal_pages()->clear_pool();
  estate.Add(site);
  estate.AddAccount("bob", 31);
  EXPECT_EQ(Get(estate, "shop.example", "/bob/").pool_uid, 11);
}

TEST(Routing, TheLongestPathsSettingsHoldAndInherit) {
  Estate estate;
  v1::Site site = SampleSite();
  const auto add = [&](const std::string& path, std::int64_t idle, std::int64_t send) {
    v1::PathSettings& settings = *site.add_paths();
    settings.set_path(path);
    if (idle != 0) {
      settings.mutable_settings()->mutable_timeouts()->set_idle(idle);
    }
    if (send != 0) {
      settings.mutable_settings()->mutable_timeouts()->set_send(send);
    }
  };
  add("/a/b", 0, 3000);
  add("/", 1000, 0);
  add("/a", 2000, 0);
  estate.Add(site);
  const auto timeouts = [&](std::string_view path) {
    const auto& settings = Get(estate, "shop.example", path).settings->timeouts();
    return std::pair{settings.idle(), settings.send()};
  };
  EXPECT_EQ(timeouts("/x"), (std::pair<std::int64_t, std::int64_t>{1000, 120'000}));
  EXPECT_EQ(timeouts("/a"), (std::pair<std::int64_t, std::int64_t>{2000, 120'000}));
  EXPECT_EQ(timeouts("/ab"), (std::pair<std::int64_t, std::int64_t>{1000, 120'000}));
  EXPECT_EQ(timeouts("/a/b/c"), (std::pair<std::int64_t, std::int64_t>{2000, 3000}));
}

TEST(Routing, EveryOutcomeHasItsStatusAndWord) {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(RouteOutcome::kRedirectToSlash); ++i) {
    const auto outcome = static_cast<RouteOutcome>(i);
    words.insert(ReasonOf(outcome));
    const int status = StatusOf(outcome);
    EXPECT_TRUE(status == 0 || (status >= 301 && status <= 503)) << ReasonOf(outcome);
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(RouteOutcome::kRedirectToSlash) + 1);
}

}  // namespace

TEST(Routing, SharesTheOuterSettingsWithSitesAndPathsThatSetNothing) {
  Estate estate;
  const auto outer = std::make_shared<const v1::Settings>(EffectiveSettings({}));
  v1::Site site = SampleSite();
  site.clear_settings();
  site.clear_paths();
  site.add_paths()->set_path("/docs");
  const ResolvedSite plain = ResolveSite(site, {}, estate, outer);
  ASSERT_EQ(plain.settings.size(), 1u);
  EXPECT_EQ(plain.settings.front().settings, outer);
  site.mutable_settings()->mutable_limits()->set_max_url(100);
  const ResolvedSite own = ResolveSite(site, {}, estate, outer);
  ASSERT_EQ(own.settings.size(), 1u);
  EXPECT_EQ(own.settings.front().settings->limits().max_url(), 100);
  EXPECT_EQ(own.settings.front().settings->limits().max_query(), outer->limits().max_query());
}

}  // namespace croft::contract
