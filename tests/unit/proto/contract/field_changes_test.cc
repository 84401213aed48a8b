#include "proto/contract/field_changes.h"

#include <fmt/format.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "croft/v1/account.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/contract/field_path.h"

namespace croft::contract {
namespace {

v1::Site ParseSite(const std::string& text) {
  v1::Site site;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &site)) << text;
  return site;
}

std::vector<std::string> Lines(const std::vector<v1::FieldChange>& changes) {
  std::vector<std::string> lines;
  for (const v1::FieldChange& change : changes) {
    lines.push_back(fmt::format("{}: {} -> {}", change.path(), change.before(), change.after()));
  }
  return lines;
}

struct Case {
  std::string before;
  std::string after;
  std::vector<std::string> changes;
};

TEST(FieldChanges, NameWhatDiffersAsKeyValueTakesIt) {
  const Case cases[] = {
      {"state: STARTED", "state: STARTED", {}},
      {"state: STARTED", "state: STOPPED", {"state: STARTED -> STOPPED"}},
      {"", "settings { limits { max_body: 1048576 } }", {"settings.limits.max_body:  -> 1MiB"}},
      {"settings { limits { max_body: 5 } }",
       "settings { limits {} }",
       {"settings.limits.max_body: 5 -> "}},
      {"labels { key: 'a.b' value: 'x' } labels { key: 'c' value: 'y' }",
       "labels { key: 'c' value: 'z' } labels { key: 'd' value: '' }",
       {"labels.a.b: x -> ", "labels.c: y -> z", "labels.d:  -> \"\""}},
      {"bindings { host: 'a.example' port: 80 }",
       "bindings { host: 'a.example' port: 80 } bindings { host: 'b.example' port: 80 }",
       {"bindings: *:80:a.example -> *:80:a.example,*:80:b.example"}},
      {"applications { path: '/' pool: 'p' root { store: 's' } }",
       "applications { path: '/' pool: 'q' root { store: 's' path: 'x' } } "
       "applications { path: '/a' pool: 'p' }",
       {"applications[0].pool: p -> q", "applications[0].root: s -> s:x",
        "applications[1].path:  -> /a", "applications[1].pool:  -> p"}},
      {"settings { default_documents { names { values: 'a.html' } } }",
       "settings { default_documents { names {} enabled: false } }",
       {"settings.default_documents.enabled:  -> false",
        "settings.default_documents.names: a.html -> \"\""}},
      {"settings { static_files { mime_types { entries { key: 'x' value: 'text/x' } } } }",
       "",
       {"settings.static_files.mime_types: x=text/x -> "}},
      {"", "personal_pages {}", {"personal_pages:  -> {}"}},
      {"personal_pages { forms: TILDE }",
       "personal_pages { forms: TILDE forms: PATH }",
       {"personal_pages.forms: TILDE -> TILDE,PATH"}},
  };
  for (const Case& one : cases) {
    const v1::Site before = ParseSite(one.before);
    const v1::Site after = ParseSite(one.after);
    EXPECT_EQ(Lines(DiffFields(&before, &after)), one.changes) << one.before << " / " << one.after;
  }
}

TEST(FieldChanges, LeaveOutWhatOnlyControlSets) {
  const v1::Site before = ParseSite(
      "name: 'farms/f/sites/a' uid: 1 etag: 'x' revision: 1 create_time { seconds: 1 } "
      "organization: 'organizations/root'");
  const v1::Site after = ParseSite(
      "name: 'farms/f/sites/b' uid: 2 etag: 'y' revision: 2 update_time { seconds: 5 } "
      "organization: 'organizations/root'");
  EXPECT_TRUE(DiffFields(&before, &after).empty());
}

TEST(FieldChanges, OfWhatIsCreatedOrGoneNameEverySetField) {
  const v1::Site site = ParseSite(
      "name: 'farms/f/sites/a' uid: 3 state: STOPPED "
      "bindings { host: 'a.example' port: 80 }");
  EXPECT_EQ(Lines(DiffFields(nullptr, &site)),
            (std::vector<std::string>{"state:  -> STOPPED", "bindings:  -> *:80:a.example"}));
  EXPECT_EQ(Lines(DiffFields(&site, nullptr)),
            (std::vector<std::string>{"state: STOPPED -> ", "bindings: *:80:a.example -> "}));
  EXPECT_TRUE(DiffFields(nullptr, nullptr).empty());
}

// What history shows can be typed.
TEST(FieldChanges, CanBeSetAgain) {
  const v1::Site before = ParseSite("applications { path: '/' pool: 'p' } labels { key: 'k' }");
  const v1::Site after = ParseSite(
      "state: STOPPED applications { path: '/' pool: 'q' root { store: 's' } } "
      "applications { path: '/x' pool: 'p' virtual_directories { path: '/v' root { store: 't' } } }"
      " labels { key: 'k' value: 'v' } settings { timeouts { idle: 90000 } }");
  v1::Site set = before;
  for (const v1::FieldChange& change : DiffFields(&before, &after)) {
    EXPECT_TRUE(SetField(set, change.path(), change.after()).ok()) << change.path();
  }
  EXPECT_EQ(set.ShortDebugString(), after.ShortDebugString());
}

}  // namespace
}  // namespace croft::contract
