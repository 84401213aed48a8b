// Changes, histories and undoing through the use cases.
#include "control/domain/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "control/domain/resource_import.h"
#include "control/domain/steps.h"
#include "control/domain/undo.h"
#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char kShop[] = "farms/main/sites/shop";

class HistoryTest : public DomainTest {
 protected:
  // Sees sites of organizations/acme, and nothing else.
  Caller Viewer(v1::Role role = v1::VIEWER) {
    Caller caller;
    caller.who = "eve";
    caller.grants.push_back({.role = role});
    caller.grants.back().organization_uid = store_.Find("organizations/acme").value()->uid;
    return caller;
  }
  v1::Site OfAcme(const std::string& host) {
    v1::Site site;
    site.set_organization("organizations/acme");
    site.add_bindings()->set_host(host);
    return site;
  }
  absl::StatusOr<v1::UndoChangeResponse> Undo(std::int64_t revision,
                                              const v1::UndoChangeRequest& more = {},
                                              const WriteOptions& options = {}) {
    v1::UndoChangeRequest request = more;
    request.set_revision(revision);
    return UndoChange(store_, resources_.access(), caller_, request, options);
  }
  // "update farms/main/sites/shop state STOPPED>STARTED", one line for each result.
  static std::vector<std::string> Lines(const v1::UndoChangeResponse& response) {
    std::vector<std::string> lines;
    for (const v1::AppliedResource& result : response.results()) {
      std::string line = result.action() + " " + result.name();
      for (const v1::FieldChange& change : result.changes()) {
        line += fmt::format(" {} {}>{}", change.path(), change.before(), change.after());
      }
      lines.push_back(line);
    }
    return lines;
  }
  std::vector<std::string> History(const std::string& name, const Caller& caller, int page_size) {
    std::vector<std::string> lines;
    v1::ListHistoryRequest request;
    request.set_name(name);
    request.set_page_size(page_size);
    do {
      const auto page = ListHistory(store_, resources_.access(), caller, request);
      EXPECT_TRUE(page.ok()) << page.status();
      for (const v1::HistoryEntry& entry : page->entries()) {
        lines.push_back(fmt::format("{} {} {}", entry.change().revision(), entry.action(),
                                    entry.resource().site().state()));
        for (const v1::FieldChange& change : entry.changes()) {
          lines.back() += " " + change.path();
        }
      }
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return lines;
  }
  v1::Site WithState(v1::DesiredState state) {
    v1::Site site;
    site.set_name(kShop);
    site.set_state(state);
    return site;
  }
};

TEST_F(HistoryTest, ShowsWhatBecameOfAResource) {
  Create("farms/main", "shop", ASite("shop.example"));
  const std::int64_t created = Revision();
  ASSERT_TRUE(TryUpdate(WithState(v1::STOPPED)).ok());
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  for (const int page_size : {1, 2, 100}) {
    EXPECT_THAT(History(kShop, caller_, page_size),
                ElementsAre(fmt::format("{} delete 0 organization state bindings "
                                        "applications[0].path applications[0].pool "
                                        "applications[0].root",
                                        created + 2),
                            fmt::format("{} update 2 state", created + 1),
                            fmt::format("{} create 1 organization state bindings "
                                        "applications[0].path applications[0].pool "
                                        "applications[0].root",
                                        created)));
  }
  v1::ListHistoryRequest none;
  none.set_name("farms/main/sites/none");
  EXPECT_TRUE(absl::IsNotFound(ListHistory(store_, resources_.access(), caller_, none).status()));
  none.set_name("sites/none");
  EXPECT_EQ(ListHistory(store_, resources_.access(), caller_, none).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(HistoryTest, GivesAChangeInPages) {
  std::vector<v1::Account> accounts;
  ImportRows batch;
  for (int i = 0; i < 25; ++i) {
    batch.Add()->mutable_resource()->mutable_account()->set_name(
        fmt::format("farms/main/accounts/user{}", i));
  }
  const auto imported = Import(store_, resources_.access(), caller_, batch, {});
  ASSERT_TRUE(imported.ok()) << imported.status();
  v1::GetChangeRequest request;
  request.set_revision(Revision());
  request.set_page_size(10);
  std::set<std::string> names;
  int pages = 0;
  do {
    const auto page = GetChange(store_, resources_.access(), caller_, request);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(page->change().total(), 25);
    EXPECT_EQ(page->change().who(), "tester");
    for (const v1::ChangedResource& resource : page->change().resources()) {
      EXPECT_EQ(resource.action(), "create");
      names.insert(resource.name());
    }
    request.set_page_token(page->next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(names.size(), 25U);
  request.set_revision(Revision() + 1);
  EXPECT_TRUE(absl::IsNotFound(GetChange(store_, resources_.access(), caller_, request).status()));
}

TEST_F(HistoryTest, HidesWhatTheCallerMayNotSee) {
  Create("", "acme", v1::Organization());
  Create("farms/main", "shop", ASite("shop.example"));
  const std::int64_t hidden = Revision();
  const v1::Site theirs = Create("farms/main", "theirs", OfAcme("theirs.example"));
  const Caller viewer = Viewer();
  v1::ListHistoryRequest history;
  history.set_name(kShop);
  EXPECT_TRUE(absl::IsNotFound(ListHistory(store_, resources_.access(), viewer, history).status()));
  EXPECT_EQ(History("farms/main/sites/theirs", viewer, 10).size(), 1U);
  v1::GetChangeRequest change;
  change.set_revision(hidden);
  EXPECT_TRUE(absl::IsNotFound(GetChange(store_, resources_.access(), viewer, change).status()));
  change.set_revision(theirs.revision());
  EXPECT_TRUE(GetChange(store_, resources_.access(), viewer, change).ok());
  v1::UndoChangeRequest undo;
  undo.set_revision(hidden);
  EXPECT_TRUE(absl::IsNotFound(UndoChange(store_, resources_.access(), viewer, undo, {}).status()));
  undo.set_revision(theirs.revision());
  EXPECT_TRUE(
      absl::IsPermissionDenied(UndoChange(store_, resources_.access(), viewer, undo, {}).status()));
  EXPECT_TRUE(
      UndoChange(store_, resources_.access(), Viewer(v1::OPERATOR), undo, {}).status().ok());
}

TEST_F(HistoryTest, UndoesEachKindOfChange) {
  const std::int64_t created = Create("farms/main", "shop", ASite("shop.example")).revision();
  const std::int64_t updated = TryUpdate(WithState(v1::STOPPED))->revision();
  auto undone = Undo(updated);
  ASSERT_TRUE(undone.ok()) << undone.status();
  EXPECT_THAT(Lines(*undone), ElementsAre("update farms/main/sites/shop state STOPPED>STARTED"));
  EXPECT_EQ(undone->counts().updated(), 1);
  EXPECT_EQ(undone->revision(), Revision());
  EXPECT_EQ(Get<v1::Site>(kShop)->state(), v1::STARTED);

  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  undone = Undo(Revision());
  ASSERT_TRUE(undone.ok()) << undone.status();
  EXPECT_EQ(undone->results(0).action(), "undelete");
  EXPECT_EQ(Get<v1::Site>(kShop)->bindings(0).host(), "shop.example");
  // And that again.
  undone = Undo(Revision());
  ASSERT_TRUE(undone.ok()) << undone.status();
  EXPECT_EQ(undone->results(0).action(), "delete");
  EXPECT_TRUE(absl::IsNotFound(Get<v1::Site>(kShop).status()));

  const std::int64_t before = Revision();
  EXPECT_EQ(ReasonOf(Undo(created).status()), "CHANGED_SINCE");
  EXPECT_EQ(Revision(), before);
}

TEST_F(HistoryTest, RefusesWhereALaterChangeTouchedTheSameUnlessForced) {
  Create("farms/main", "shop", ASite("shop.example"));
  const std::int64_t stopped = TryUpdate(WithState(v1::STOPPED))->revision();
  v1::Site labeled;
  labeled.set_name(kShop);
  (*labeled.mutable_labels())["tier"] = "web";
  const std::int64_t later = TryUpdate(labeled, {"labels.tier"})->revision();
  const absl::Status refused = Undo(stopped).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(refused), "CHANGED_SINCE");
  EXPECT_EQ(contract::FindDetail(refused)->resource(), kShop);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr(fmt::format("{} (change {})", kShop, later)));
  const auto forced = Undo(stopped, {}, {.force = true});
  ASSERT_TRUE(forced.ok()) << forced.status();
  EXPECT_THAT(Lines(*forced), ElementsAre("update farms/main/sites/shop labels.tier web> "
                                          "state STOPPED>STARTED"));
  EXPECT_THAT(Get<v1::Site>(kShop)->labels(), IsEmpty());

  // Deleted since: it comes back as it was before the change.
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  const auto back = Undo(later, {}, {.force = true});
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->results(0).action(), "undelete");
  EXPECT_EQ(Get<v1::Site>(kShop)->state(), v1::STOPPED);
}

TEST_F(HistoryTest, ValidatesAndRepeatsAsEveryWrite) {
  Create("farms/main", "shop", ASite("shop.example"));
  const std::int64_t created = Revision();
  const auto tried = Undo(created, {}, {.validate_only = true});
  ASSERT_TRUE(tried.ok()) << tried.status();
  EXPECT_EQ(tried->results(0).action(), "delete");
  EXPECT_EQ(tried->revision(), 0);
  EXPECT_EQ(Revision(), created);
  const WriteOptions options{.request_id = "once", .request_fingerprint = "x", .reason = "oops"};
  const auto first = Undo(created, {}, options);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = Undo(created, {}, options);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->revision(), first->revision());
  EXPECT_EQ(second->ShortDebugString(), first->ShortDebugString());
  EXPECT_EQ(store_.ListChanges({.limit = 1})->front().reason(), "oops");
}

TEST_F(HistoryTest, UndoesManyOnlyWithTheirCount) {
  ImportRows batch;
  for (int i = 0; i < 30; ++i) {
    batch.Add()->mutable_resource()->mutable_account()->set_name(
        fmt::format("farms/main/accounts/user{}", i));
  }
  ASSERT_TRUE(Import(store_, resources_.access(), caller_, batch, {}).ok());
  const std::int64_t imported = Revision();
  v1::UndoChangeRequest request;
  request.set_expect_count(29);
  EXPECT_EQ(ReasonOf(Undo(imported, request).status()), "COUNT_MISMATCH");
  request.set_expect_count(30);
  const auto undone = Undo(imported, request);
  ASSERT_TRUE(undone.ok()) << undone.status();
  EXPECT_EQ(undone->counts().deleted(), 30);
  EXPECT_EQ(undone->results_size(), 30);
  EXPECT_TRUE(absl::IsNotFound(Get<v1::Account>("farms/main/accounts/user7").status()));
  // Back again, but for one of them.
  request.Clear();
  request.set_resource("farms/main/accounts/user7");
  const auto one = Undo(undone->revision(), request);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(one->results_size(), 1);
  EXPECT_TRUE(Get<v1::Account>("farms/main/accounts/user7").ok());
  request.set_resource(kShop);
  EXPECT_TRUE(absl::IsNotFound(Undo(undone->revision(), request).status()));
}

// What one change did to several that need each other is undone in the order that they allow.
TEST_F(HistoryTest, UndoesWhatBelongsTogether) {
  Create("farms/main", "a", ASite("one.example"));
  Create("farms/main", "b", ASite("two.example"));
  const auto in_one_change = [&](const auto& work) {
    auto transaction = store_.Begin().value();
    const WriteOptions options;
    work(RuleContext{store_, *transaction, caller_, resources_.access(), options});
    return transaction->Commit({.who = "tester"})->revision;
  };
  const auto set_host = [&](const RuleContext& context, const char* id, const char* host) {
    v1::Site site;
    site.set_name(std::string("farms/main/sites/") + id);
    site.add_bindings()->set_host(host);
    const auto written = UpdateIn(context, site, {});
    EXPECT_TRUE(written.ok()) << written.status();
  };
  const std::int64_t swapped = in_one_change([&](const RuleContext& context) {
    set_host(context, "a", "other.example");
    set_host(context, "b", "one.example");
    v1::ApplicationPool pool;
    const auto prepared = PrepareCreation(caller_, "farms/main/pools/new", pool);
    EXPECT_TRUE(CreateIn(context, **prepared).ok());
    v1::Site site = ASite("new.example");
    site.mutable_applications(0)->set_pool("farms/main/pools/new");
    EXPECT_TRUE(CreateIn(context, **PrepareCreation(caller_, "farms/main/sites/new", site)).ok());
  });
  const auto undone = Undo(swapped);
  ASSERT_TRUE(undone.ok()) << undone.status();
  EXPECT_EQ(undone->counts().updated(), 2);
  EXPECT_EQ(undone->counts().deleted(), 2);
  EXPECT_EQ(Get<v1::Site>("farms/main/sites/a")->bindings(0).host(), "one.example");
  EXPECT_EQ(Get<v1::Site>("farms/main/sites/b")->bindings(0).host(), "two.example");
  EXPECT_TRUE(absl::IsNotFound(Get<v1::ApplicationPool>("farms/main/pools/new").status()));
  // The other way round.
  const auto redone = Undo(undone->revision());
  ASSERT_TRUE(redone.ok()) << redone.status();
  EXPECT_EQ(Get<v1::Site>("farms/main/sites/new")->applications(0).pool(), "farms/main/pools/new");
  EXPECT_EQ(Get<v1::Site>("farms/main/sites/b")->bindings(0).host(), "one.example");
}

}  // namespace
}  // namespace croft::control::domain
