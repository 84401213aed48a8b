#include "proto/contract/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/store.pb.h"
#include "tests/unit/proto/contract/sample_site.h"

namespace croft::contract {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Fields(const google::protobuf::Message& resource) {
  std::vector<std::string> fields;
  for (const auto& violation : Validate(resource)) {
    fields.push_back(violation.field());
  }
  return fields;
}

template <typename Resource>
struct Case {
  std::string what;
  std::function<void(Resource&)> change;
  std::string field;
  std::string reason;
};

// Each change of a valid resource is refused at one field, with a reason.
template <typename Resource>
void ExpectRefused(const Resource& valid, const std::vector<Case<Resource>>& cases) {
  EXPECT_THAT(Fields(valid), IsEmpty());
  for (const auto& c : cases) {
    Resource changed = valid;
    c.change(changed);
    const auto violations = Validate(changed);
    ASSERT_EQ(violations.size(), 1U) << c.what;
    EXPECT_EQ(violations[0].field(), c.field) << c.what;
    EXPECT_THAT(violations[0].description(), HasSubstr(c.reason)) << c.what;
  }
}

TEST(ValidateSite, RefusesBadBindings) {
  using Site = v1::Site;
  ExpectRefused<Site>(
      SampleSite(),
      {
          {"host", [](Site& s) { AddBinding(s, "a b"); }, "site.bindings[1].host", "has a space"},
          {"empty label", [](Site& s) { AddBinding(s, "a..b"); }, "site.bindings[1].host", "empty"},
          {"long host", [](Site& s) { AddBinding(s, std::string(300, 'a')); },
           "site.bindings[1].host", "253"},
          {"mixed scripts", [](Site& s) { AddBinding(s, "pаypal.example"); },
           "site.bindings[1].host", "mixes Latin and Cyrillic"},
          {"not canonical", [](Site& s) { AddBinding(s, "Shop2.example"); },
           "site.bindings[1].host", "write \"shop2.example\""},
          {"port", [](Site& s) { AddBinding(s, "a.example", 70'000); }, "site.bindings[1].port",
           "1 to 65535"},
          {"ip", [](Site& s) { s.mutable_bindings(0)->set_ip("1.2.3"); }, "site.bindings[0].ip",
           "no IP address"},
          {"twice", [](Site& s) { AddBinding(s, "shop.example"); }, "site.bindings[1]",
           "same as site.bindings[0]"},
          {"protocol",
           [](Site& s) { s.mutable_bindings(0)->set_protocol(static_cast<v1::Protocol>(9)); },
           "site.bindings[0].protocol", "HTTP"},
          {"too many",
           [](Site& s) {
             for (int i = 0; i < 1000; ++i) {
               AddBinding(s, "h" + std::to_string(i) + ".example");
             }
           },
           "site.bindings", "at most 1000"},
      });
}

TEST(ValidateSite, RefusesBadApplications) {
  using Site = v1::Site;
  ExpectRefused<Site>(
      SampleSite(),
      {
          {"name", [](Site& s) { s.set_name("farms/main/sites/A"); }, "site.name", "site id"},
          {"no pool", [](Site& s) { s.mutable_applications(0)->clear_pool(); },
           "site.applications[0].pool", "is required"},
          {"pool of another farm",
           [](Site& s) { s.mutable_applications(0)->set_pool("farms/two/pools/p"); },
           "site.applications[0].pool", "is of farm \"two\""},
          {"no root", [](Site& s) { s.mutable_applications(0)->clear_root(); },
           "site.applications[0].root.store", "is required"},
          {"bare path",
           [](Site& s) { s.mutable_applications(0)->mutable_root()->set_path("/etc"); },
           "site.applications[0].root.path", "leave out the leading slash"},
          {"escape",
           [](Site& s) { s.mutable_applications(0)->mutable_root()->set_path("a/../../b"); },
           "site.applications[0].root.path", ".."},
          {"twice", [](Site& s) { AddApplication(s, "/", "x"); }, "site.applications[1].path",
           "same as site.applications[0].path"},
          {"not absolute", [](Site& s) { AddApplication(s, "docs", "x"); },
           "site.applications[1].path", "begin with \"/\""},
          {"not canonical", [](Site& s) { AddApplication(s, "/docs/", "x"); },
           "site.applications[1].path", "write \"/docs\""},
          {"virtual directory over an application",
           [](Site& s) {
             AddApplication(s, "/docs", "x");
             auto& directory = *s.mutable_applications(0)->add_virtual_directories();
             directory.set_path("/docs");
             *directory.mutable_root() = s.applications(0).root();
           },
           "site.applications[1].path", "same as site.applications[0].virtual_directories[0].path"},
          {"virtual directory as root",
           [](Site& s) {
             auto& directory = *s.mutable_applications(0)->add_virtual_directories();
             directory.set_path("/");
             *directory.mutable_root() = s.applications(0).root();
           },
           "site.applications[0].virtual_directories[0].path", "own root"},
      });
}

TEST(ValidateSite, RefusesBadPersonalPages) {
  using Site = v1::Site;
  Site valid = SampleSite();
  AddBinding(valid, "*.pages.example");
  valid.mutable_personal_pages()->add_forms(v1::PATH);
  valid.mutable_personal_pages()->add_forms(v1::HOST);
  valid.mutable_personal_pages()->set_host_suffix("pages.example");
  ExpectRefused<Site>(
      valid, {
                 {"no forms", [](Site& s) { s.mutable_personal_pages()->clear_forms(); },
                  "site.personal_pages.forms", "at least one"},
                 {"a form twice", [](Site& s) { s.mutable_personal_pages()->add_forms(v1::PATH); },
                  "site.personal_pages.forms[2]", "twice"},
                 {"no suffix", [](Site& s) { s.mutable_personal_pages()->clear_host_suffix(); },
                  "site.personal_pages.host_suffix", "is required"},
                 {"no binding", [](Site& s) { s.mutable_bindings()->RemoveLast(); },
                  "site.personal_pages.host_suffix", "*:80:*.pages.example"},
                 {"pool", [](Site& s) { s.mutable_personal_pages()->set_pool("p"); },
                  "site.personal_pages.pool", "farms/{farm}/pools/{pool}"},
                 {"neither pool nor root", [](Site& s) { s.clear_applications(); },
                  "site.personal_pages.pool", "is required"},
             });
}

TEST(ValidateSite, RefusesBadSettings) {
  using Site = v1::Site;
  ExpectRefused<Site>(
      SampleSite(),
      {
          {"range", [](Site& s) { s.mutable_settings()->mutable_limits()->set_max_url(1); },
           "site.settings.limits.max_url", "has to be 16 to 16KiB"},
          {"document",
           [](Site& s) {
             s.mutable_settings()->mutable_default_documents()->mutable_names()->add_values("a/b");
           },
           "site.settings.default_documents.names.values[0]", "slash"},
          {"mime type",
           [](Site& s) {
             (*s.mutable_settings()
                   ->mutable_static_files()
                   ->mutable_mime_types()
                   ->mutable_entries())["html"] = "html";
           },
           "site.settings.static_files.mime_types.entries[html]", "TYPE/SUBTYPE"},
          {"header injection",
           [](Site& s) {
             s.mutable_settings()->mutable_static_files()->mutable_hidden_segments()->add_values(
                 "a\r\nb");
           },
           "site.settings.static_files.hidden_segments.values[0]", "control characters"},
          {"size",
           [](Site& s) {
             for (int i = 0; i < 100; ++i) {
               s.mutable_settings()->mutable_static_files()->mutable_hidden_segments()->add_values(
                   std::string(100, 'a'));
             }
           },
           "site.settings", "at most 6144"},
          {"path twice",
           [](Site& s) {
             s.add_paths()->set_path("/a");
             s.add_paths()->set_path("/a");
           },
           "site.paths[1].path", "same as site.paths[0].path"},
          {"path setting",
           [](Site& s) {
             s.add_paths()->set_path("/a");
             s.mutable_paths(0)->mutable_settings()->mutable_timeouts()->set_idle(1);
           },
           "site.paths[0].settings.timeouts.idle", "1s"},
      });
}

TEST(Validate, ReportsEverythingAtOnce) {
  v1::Site site = SampleSite();
  AddBinding(site, "a b");
  AddBinding(site, "-c.example", 0);
  AddApplication(site, "x", "/abs");
  site.mutable_settings()->mutable_limits()->set_max_query(-1);
  EXPECT_THAT(Fields(site), ::testing::UnorderedElementsAre(
                                "site.settings.limits.max_query", "site.bindings[1].host",
                                "site.bindings[2].host", "site.bindings[2].port",
                                "site.applications[1].path", "site.applications[1].root.path"));
}

TEST(ValidateStore, KeepsAwayFromTheSystem) {
  using Store = v1::FileStore;
  Store valid;
  valid.set_name("farms/main/stores/s1");
  valid.set_organization("organizations/root");
  valid.set_path("/srv/croft");
  valid.mutable_homes()->add_fan_out(75);
  valid.mutable_homes()->add_fan_out(50);
  std::vector<Case<Store>> cases = {
      {"none", [](Store& s) { s.clear_path(); }, "store.path", "is required"},
      {"relative", [](Store& s) { s.set_path("srv"); }, "store.path", "begin with \"/\""},
      {"not normalised", [](Store& s) { s.set_path("/srv/../srv/x"); }, "store.path",
       "write \"/srv/x\""},
      {"no levels", [](Store& s) { s.mutable_homes()->clear_fan_out(); }, "store.homes.fan_out",
       "1 to 4 levels"},
      {"five levels",
       [](Store& s) {
         for (int i = 0; i < 3; ++i) {
           s.mutable_homes()->add_fan_out(1);
         }
       },
       "store.homes.fan_out", "1 to 4 levels"},
      {"wide", [](Store& s) { s.mutable_homes()->add_fan_out(1001); }, "store.homes.fan_out[2]",
       "1 to 1000"},
      {"leaf", [](Store& s) { s.mutable_homes()->set_homes_per_leaf(0); },
       "store.homes.homes_per_leaf", "1 to 100000"},
      {"homes path", [](Store& s) { s.mutable_homes()->set_path("../x"); }, "store.homes.path",
       ".."},
  };
  for (const std::string path : {"/", "/etc", "/etc/nginx", "/proc/1", "/sys", "/dev/shm", "/run/x",
                                 "/boot", "/srv/../etc", "/var/lib/croft/control"}) {
    cases.push_back({path, [path](Store& s) { s.set_path(path); }, "store.path", "a store can be"});
  }
  ExpectRefused<Store>(valid, cases);
  valid.set_path("/etcetera");
  EXPECT_THAT(Fields(valid), IsEmpty());
}

TEST(ValidatePool, ObeysItsFieldRules) {
  using Pool = v1::ApplicationPool;
  Pool valid;
  valid.set_name("farms/main/pools/php");
  valid.set_organization("organizations/acme");
  ExpectRefused<Pool>(
      valid, {{"queue", [](Pool& p) { p.set_queue_length(9); }, "pool.queue_length", "10 to 65535"},
              {"state", [](Pool& p) { p.set_state(static_cast<v1::DesiredState>(7)); },
               "pool.state", "STARTED, STOPPED"},
              {"ping", [](Pool& p) { p.mutable_processes()->set_ping_interval(5); },
               "pool.processes.ping_interval", "1s to 1d"},
              {"owner", [](Pool& p) { p.set_organization("acme"); }, "pool.organization",
               "organizations/{organization}"},
              {"no owner", [](Pool& p) { p.clear_organization(); }, "pool.organization", ""}});
}

TEST(ValidateAccount, KnowsNamesAndHomes) {
  using Account = v1::Account;
  Account valid;
  valid.set_name("farms/main/accounts/bob");
  valid.set_organization("organizations/root");
  ExpectRefused<Account>(
      valid, {{"reserved", [](Account& a) { a.set_name("farms/main/accounts/www"); },
               "account.name", "reserved"},
              {"case", [](Account& a) { a.set_name("farms/main/accounts/Bob"); }, "account.name",
               "write \"farms/main/accounts/bob\""},
              {"no store", [](Account& a) { a.mutable_home()->set_path("a"); },
               "account.home.store", "required"},
              {"farm", [](Account& a) { a.mutable_home()->set_store("farms/two/stores/s"); },
               "account.home.store", "farm"}});
}

TEST(ValidateOrganization, IsATreeWithOneRoot) {
  using Organization = v1::Organization;
  Organization valid;
  valid.set_name("organizations/acme");
  valid.set_organization("organizations/root");
  ExpectRefused<Organization>(
      valid, {{"itself", [](Organization& o) { o.set_organization("organizations/acme"); },
               "organization.organization", "itself"},
              {"root", [](Organization& o) { o.set_name("organizations/root"); },
               "organization.organization", "empty"},
              {"control", [](Organization& o) { o.set_display_name("a\x01"); },
               "organization.display_name", "control"}});
}

TEST(Normalize, BringsASiteToCanonicalFormOnce) {
  v1::Site site;
  site.set_name("farms/main/sites/shop");
  site.add_bindings()->set_host("BÜCHER.example.");
  site.mutable_bindings(0)->set_ip("0.0.0.0");
  site.add_bindings()->set_host("not valid");
  v1::Application& application = AddApplication(site, "/docs/", "a/");
  application.add_virtual_directories()->set_path("/img/");
  site.mutable_personal_pages()->set_host_suffix("Pages.Example");
  site.add_paths()->set_path("/a/./b");
  (*site.mutable_settings()
        ->mutable_static_files()
        ->mutable_mime_types()
        ->mutable_entries())[".HTML"] = "text/html";
  Normalize(site);
  EXPECT_EQ(site.organization(), "organizations/root");
  EXPECT_EQ(site.bindings(0).host(), "xn--bcher-kva.example");
  EXPECT_EQ(site.bindings(0).ip(), "*");
  EXPECT_EQ(site.bindings(0).port(), 80U);
  EXPECT_EQ(site.bindings(0).protocol(), v1::HTTP);
  EXPECT_EQ(site.bindings(1).host(), "not valid");
  EXPECT_EQ(site.applications(0).path(), "/docs");
  EXPECT_EQ(site.applications(0).root().path(), "a");
  EXPECT_EQ(site.applications(0).virtual_directories(0).path(), "/img");
  EXPECT_EQ(site.personal_pages().host_suffix(), "pages.example");
  EXPECT_EQ(site.paths(0).path(), "/a/b");
  EXPECT_EQ(site.settings().static_files().mime_types().entries().count("html"), 1U);
  const v1::Site once = site;
  Normalize(site);
  EXPECT_EQ(site.SerializeAsString(), once.SerializeAsString());
}

TEST(Normalize, LeavesNothingToRefuseInValidResources) {
  v1::FileStore store;
  store.set_name("farms/main/stores/s1");
  store.set_path("/srv/data/");
  Normalize(store);
  EXPECT_THAT(Fields(store), IsEmpty());
  v1::Account account;
  account.set_name("farms/main/accounts/BOB");
  Normalize(account);
  EXPECT_THAT(Fields(account), IsEmpty());
  v1::Platform platform;
  platform.set_name("platform");
  Normalize(platform);
  EXPECT_THAT(Fields(platform), IsEmpty());
  v1::Organization root;
  root.set_name("organizations/root");
  Normalize(root);
  EXPECT_THAT(Fields(root), IsEmpty());
  v1::Node node;
  node.set_name("farms/main/nodes/web-1");
  Normalize(node);
  EXPECT_THAT(Fields(node), IsEmpty());
}

TEST(Validate, JudgesLabels) {
  v1::Account account;
  account.set_name("farms/main/accounts/bob");
  account.set_organization("organizations/root");
  const std::vector<std::pair<std::string, std::string>> good = {
      {"a", ""},
      {"customer", "Acme, \xc3\xb6 = \"x\""},
      {"app.example/tier_1-x", "web"},
      {std::string(63, 'k'), std::string(63, 'v')}};
  for (const auto& [key, value] : good) {
    account.mutable_labels()->clear();
    (*account.mutable_labels())[key] = value;
    EXPECT_THAT(Fields(account), IsEmpty()) << key;
  }
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "x"},   {"A", "x"},    {"-a", "x"},
      {"a b", ""}, {"a=b", ""},   {std::string(64, 'k'), ""},
      {"a", "\n"}, {"a", "\x7f"}, {"a", std::string(64, 'v')}};
  for (const auto& [key, value] : bad) {
    account.mutable_labels()->clear();
    (*account.mutable_labels())[key] = value;
    EXPECT_THAT(Fields(account), testing::SizeIs(1)) << key;
  }
  account.mutable_labels()->clear();
  for (int i = 0; i < 33; ++i) {
    (*account.mutable_labels())["k" + std::to_string(i)] = "v";
  }
  EXPECT_THAT(Fields(account), testing::ElementsAre("account.labels"));
}

}  // namespace
}  // namespace croft::contract
