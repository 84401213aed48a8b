// Lists: filters, orders, pages, what is deleted.
#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ListTest : public DomainTest {
 protected:
  // All pages; how many they were is left in pages_.
  std::vector<std::string> Ids(ListRequest request) {
    std::vector<std::string> ids;
    pages_ = 0;
    do {
      const auto page = resources_.List(caller_, request);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) {
        return ids;
      }
      for (const MessagePtr& resource : page->resources) {
        const std::string name = NameOf(*resource);
        ids.push_back(name.substr(name.rfind('/') + 1));
      }
      request.page_token = page->next_page_token;
      ++pages_;
    } while (!request.page_token.empty());
    return ids;
  }
  static std::string NameOf(const google::protobuf::Message& resource) {
    return resource.GetReflection()->GetString(resource,
                                               resource.GetDescriptor()->FindFieldByName("name"));
  }
  void CreateAccount(const std::string& id, const std::map<std::string, std::string>& labels,
                     v1::AccountState state = v1::ACTIVE) {
    v1::Account account;
    account.mutable_labels()->insert(labels.begin(), labels.end());
    account.set_state(state);
    account.mutable_home()->set_store("farms/main/stores/files");
    account.mutable_home()->set_path(id);
    Create("farms/main", id, account);
  }
  static ListRequest Accounts(const std::string& filter = "", const std::string& order_by = "",
                              int page_size = 0) {
    return {.type = ResourceType::kAccount,
            .parent = "farms/main",
            .page_size = page_size,
            .page_token = {},
            .filter = filter,
            .order_by = order_by};
  }

  int pages_ = 0;
};

TEST_F(ListTest, FiltersAndOrders) {
  CreateAccount("carol", {{"customer", "acme"}});
  CreateAccount("alice", {{"customer", "acme"}, {"tier", "gold"}}, v1::SUSPENDED);
  CreateAccount("bob", {});
  EXPECT_THAT(Ids(Accounts()), ElementsAre("alice", "bob", "carol"));
  EXPECT_THAT(Ids(Accounts("", "name desc")), ElementsAre("carol", "bob", "alice"));
  EXPECT_THAT(Ids(Accounts("", "create_time")), ElementsAre("carol", "alice", "bob"));
  EXPECT_THAT(Ids(Accounts("", "create_time desc", 1)), ElementsAre("bob", "alice", "carol"));
  EXPECT_EQ(pages_, 3);
  EXPECT_THAT(Ids(Accounts("labels.customer = acme")), ElementsAre("alice", "carol"));
  EXPECT_THAT(Ids(Accounts("labels.customer = acme", "", 1)), ElementsAre("alice", "carol"));
  EXPECT_THAT(Ids(Accounts("state = SUSPENDED")), ElementsAre("alice"));
  EXPECT_THAT(Ids(Accounts("NOT labels:tier", "create_time desc")), ElementsAre("bob", "carol"));
  EXPECT_THAT(Ids(Accounts("home.store = farms/main/stores/files AND name = *o*")),
              ElementsAre("bob", "carol"));
  EXPECT_THAT(Ids(Accounts("name = nobody")), IsEmpty());
}

TEST_F(ListTest, FiltersByTheTreeOfOrganizations) {
  Create("", "acme", v1::Organization());
  v1::Organization east;
  east.set_organization("organizations/acme");
  Create("", "acme-east", east);
  for (const char* owner : {"root", "acme", "acme-east"}) {
    v1::Account account;
    account.set_organization(std::string("organizations/") + owner);
    Create("farms/main", std::string("of-") + owner, account);
  }
  EXPECT_THAT(Ids(Accounts("organization : acme")), ElementsAre("of-acme", "of-acme-east"));
  EXPECT_THAT(Ids(Accounts("organization = acme")), ElementsAre("of-acme"));
  EXPECT_THAT(Ids(Accounts("organization : root")).size(), 3U);
  EXPECT_THAT(Ids(Accounts("organization : none")), IsEmpty());
}

TEST_F(ListTest, RefusesWhatItCannotDo) {
  const std::vector<std::pair<ListRequest, std::string>> cases = {
      {Accounts("display_name = x"), "filter"},
      {Accounts("", "state"), "order_by"},
      {Accounts("", "name descending"), "order_by"},
      {Accounts("", "", -1), "page_size"},
  };
  for (const auto& [request, field] : cases) {
    const auto page = resources_.List(caller_, request);
    ASSERT_TRUE(absl::IsInvalidArgument(page.status())) << field;
    EXPECT_EQ(contract::FindDetail(page.status())->violations(0).field(), field);
  }
  CreateAccount("a", {});
  CreateAccount("b", {});
  ListRequest other = Accounts("name = *", "", 1);
  other.page_token = resources_.List(caller_, Accounts("", "", 1))->next_page_token;
  EXPECT_TRUE(absl::IsInvalidArgument(resources_.List(caller_, other).status()))
      << "a token is good for its own list only";
}

TEST_F(ListTest, ShowsWhatIsDeletedWhenAskedTo) {
  CreateAccount("a", {{"k", "v"}});
  CreateAccount("b", {{"k", "v"}});
  ASSERT_TRUE(Delete(ResourceType::kAccount, "farms/main/accounts/a").ok());
  CreateAccount("a", {});
  ListRequest request = Accounts();
  EXPECT_THAT(Ids(request), ElementsAre("a", "b"));
  request.show_deleted = true;
  EXPECT_THAT(Ids(request), ElementsAre("a", "a", "b"));
  request.page_size = 1;
  EXPECT_THAT(Ids(request), ElementsAre("a", "a", "b"));
  request.filter = "labels.k = v";
  EXPECT_THAT(Ids(request), ElementsAre("a", "b"));
  const auto page = resources_.List(caller_, request);
  const auto& deleted = static_cast<const v1::Account&>(*page->resources[0]);
  EXPECT_GT(deleted.delete_time().seconds(), 0);
  EXPECT_EQ(deleted.purge_time().seconds() - deleted.delete_time().seconds(), 30 * 24 * 3600);
}

// What exists throughout a paged list is in it exactly once, whatever happens meanwhile.
TEST_F(ListTest, PagesStayRightWhileRowsChange) {
  std::mt19937 engine(11);
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(engine() % below); };
  for (const char* order : {"name", "name desc", "create_time", "create_time desc"}) {
    const std::string tag = std::to_string(draw(1000));
    std::set<std::string> throughout;
    const auto id = [&](unsigned i) { return "u" + std::to_string(i) + "-" + tag; };
    for (unsigned i = 0; i < 12; ++i) {
      CreateAccount(id(i * 7 % 12), {{"round", tag}});
    }
    for (unsigned i = 0; i < 12; i += 2) {
      throughout.insert(id(i));
    }
    std::map<std::string, int> seen;
    ListRequest request = Accounts("labels.round = " + tag, order, 2);
    unsigned step = 0;
    do {
      const auto page = resources_.List(caller_, request);
      ASSERT_TRUE(page.ok()) << page.status();
      for (const MessagePtr& resource : page->resources) {
        ++seen[NameOf(*resource)];
      }
      request.page_token = page->next_page_token;
      // Odd ones come and go, and all change.
      const std::string other = "farms/main/accounts/" + id(draw(6) * 2 + 1);
      if (!Delete(ResourceType::kAccount, other).ok()) {
        EXPECT_TRUE(
            resources_.Undelete(caller_, ResourceType::kAccount, other, 0, {}).status().ok());
      }
      CreateAccount("new" + std::to_string(step++) + "-" + tag, {{"round", tag}});
      v1::Account changed;
      changed.set_name("farms/main/accounts/" + id(draw(6) * 2));
      changed.set_state(step % 2 == 0 ? v1::ACTIVE : v1::SUSPENDED);
      EXPECT_TRUE(TryUpdate(changed, {"state"}).ok());
    } while (!request.page_token.empty() && step < 100);
    for (const std::string& one : throughout) {
      EXPECT_EQ(seen["farms/main/accounts/" + one], 1) << order << " " << one;
    }
    for (const auto& [name, count] : seen) {
      EXPECT_EQ(count, 1) << order << " " << name;
    }
  }
}

}  // namespace
}  // namespace croft::control::domain
