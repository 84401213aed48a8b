#include "control/domain/resource_import.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include "control/domain/field_ownership.h"
#include "proto/contract/any_resource.h"
#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ResourceImportTest : public DomainTest {
 protected:
  void Add(const std::string& text) {
    v1::ImportRow& row = *batch_.add_rows();
    row.set_line(batch_.rows_size());
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, row.mutable_resource()))
        << text;
  }
  void AddAccount(const std::string& id, const std::string& more = "") {
    Add("account { name: 'farms/main/accounts/" + id + "' " + more + " }");
  }
  v1::ImportResourcesResponse Import() {
    auto response = domain::Import(
        store_, resources_.access(), caller_, batch_.rows(),
        {.validate_only = batch_.validate_only(), .field_manager = batch_.field_manager()});
    EXPECT_TRUE(response.ok()) << response.status();
    return response.value_or(v1::ImportResourcesResponse());
  }
  static std::vector<std::string> Errors(const v1::ImportResourcesResponse& response) {
    std::vector<std::string> errors;
    for (const v1::ImportRowError& error : response.errors()) {
      errors.push_back(std::to_string(error.line()) + " " + error.field());
    }
    return errors;
  }

  v1::ImportResourcesRequest batch_;
};

TEST_F(ResourceImportTest, GoodAccountsAreCreatedAndBadOnesReported) {
  AddAccount("alice");
  AddAccount("not good");
  AddAccount("bob", "organization: 'organizations/none'");
  AddAccount("carol", "home { store: 'farms/main/stores/none' }");
  AddAccount("Alice");
  AddAccount("dave", "state: SUSPENDED labels { key: 'tier' value: 'web' }");
  AddAccount("www");
  Add("account { name: 'farms/none/accounts/erin' }");
  AddAccount("fred", "labels { key: 'NO' value: 'x' }");
  Add("");
  const auto response = Import();
  EXPECT_EQ(response.counts().ShortDebugString(), "created: 2 failed: 8");
  EXPECT_EQ(response.revision(), Revision());
  EXPECT_THAT(Errors(response),
              ElementsAre("2 account.name", "3 account.organization", "4 account.home.store",
                          "5 account.name", "7 account.name", "8 account.name",
                          "9 account.labels.NO", "10 resource"));
  EXPECT_THAT(response.errors(3).reason(), HasSubstr("already on line 1"));
  const auto dave = Get<v1::Account>("farms/main/accounts/dave");
  ASSERT_TRUE(dave.ok()) << dave.status();
  EXPECT_EQ(dave->state(), v1::SUSPENDED);
  EXPECT_EQ(dave->labels().at("tier"), "web");
  EXPECT_EQ(dave->home().store(), "farms/main/stores/files");
  EXPECT_THAT(dave->home().path(), HasSubstr(std::to_string(dave->uid())));
}

TEST_F(ResourceImportTest, ASecondRunChangesNothing) {
  AddAccount("alice", "state: ACTIVE");
  AddAccount("bad name");
  Add("site { name: 'farms/main/sites/shop' bindings { host: 'a.example' } }");
  batch_.set_field_manager("billing");
  const auto first = Import();
  EXPECT_EQ(first.counts().created(), 2);
  const auto revision = Revision();
  const auto second = Import();
  EXPECT_EQ(second.counts().ShortDebugString(), "unchanged: 2 failed: 1");
  EXPECT_EQ(second.revision(), 0);
  EXPECT_EQ(Errors(second), Errors(first));
  EXPECT_EQ(Revision(), revision);
  EXPECT_THAT(OwnedPaths(Get<v1::Account>("farms/main/accounts/alice")->field_owners(), "billing"),
              ElementsAre("state"));
}

TEST_F(ResourceImportTest, ExistingResourcesGetTheFieldsThatAreSet) {
  Create("", "acme", v1::Organization());
  AddAccount("alice", "labels { key: 'a' value: '1' }");
  AddAccount("bob");
  Import();
  batch_.clear_rows();
  AddAccount("alice", "state: SUSPENDED labels { key: 'b' value: '2' }");
  AddAccount("bob", "organization: 'organizations/acme'");
  AddAccount("carol");
  const auto response = Import();
  EXPECT_EQ(response.counts().ShortDebugString(), "created: 1 updated: 1 failed: 1");
  EXPECT_THAT(Errors(response), ElementsAre("2 account.organization"));
  EXPECT_THAT(response.errors(0).reason(), HasSubstr("fixed at creation"));
  const auto alice = Get<v1::Account>("farms/main/accounts/alice");
  EXPECT_EQ(alice->state(), v1::SUSPENDED);
  EXPECT_EQ(alice->labels_size(), 2);
}

TEST_F(ResourceImportTest, TypesAreMixedAndEachRowFailsByItself) {
  Add("site { name: 'farms/two/sites/a' bindings { host: 'a.example' } applications { path: '/' "
      "pool: 'farms/two/pools/web' root { store: 'farms/two/stores/files' } } }");
  Add("site { name: 'farms/two/sites/b' bindings { host: 'a.example' } }");
  Add("site { name: 'farms/two/sites/c' bindings { host: 'c.example' port: 70000 } }");
  Add("farm { name: 'farms/two' }");
  Add("pool { name: 'farms/two/pools/web' }");
  Add("store { name: 'farms/two/stores/files' path: '/srv' homes { fan_out: 3 } }");
  Add("account { name: 'farms/two/accounts/alice' home { store: 'farms/two/stores/files' } }");
  Add("token { name: 'tokens/t' operator: 'operators/x' }");
  Add("site { name: 'farms/two/sites/d' bindings { host: 'd.example' } }");
  const auto revision = Revision();
  const auto response = Import();
  EXPECT_EQ(response.counts().ShortDebugString(), "created: 6 failed: 3");
  EXPECT_THAT(Errors(response), ElementsAre("2 ", "3 site.bindings[0].port", "8 "));
  EXPECT_EQ(Revision(), revision + 1);
  EXPECT_TRUE(Get<v1::Site>("farms/two/sites/d").ok());
  EXPECT_FALSE(Get<v1::Site>("farms/two/sites/b").ok());
}

TEST_F(ResourceImportTest, AnotherManagersFieldIsAnErrorOfItsRow) {
  AddAccount("alice", "state: SUSPENDED");
  batch_.set_field_manager("billing");
  Import();
  batch_.Clear();
  AddAccount("alice", "state: ACTIVE");
  AddAccount("bob");
  const auto response = Import();
  EXPECT_THAT(Errors(response), ElementsAre("1 account.state"));
  EXPECT_EQ(response.counts().created(), 1);
}

TEST_F(ResourceImportTest, FillsStoresAndThenSaysThatNoneHasRoom) {
  for (int i = 0; i < 43; ++i) {
    AddAccount("user" + std::to_string(i));
  }
  const auto response = Import();
  EXPECT_EQ(response.counts().created(), 40);
  ASSERT_EQ(response.errors_size(), 3);
  EXPECT_THAT(response.errors(0).reason(), HasSubstr("no store of the farm has room"));
}

TEST_F(ResourceImportTest, ValidateOnlyCountsAndWritesNothing) {
  batch_.set_validate_only(true);
  AddAccount("alice");
  AddAccount("bad name");
  Add("farm { name: 'farms/two' }");
  const auto response = Import();
  EXPECT_EQ(response.counts().created(), 2);
  EXPECT_EQ(response.errors_size(), 1);
  EXPECT_FALSE(Get<v1::Account>("farms/main/accounts/alice").ok());
}

TEST_F(ResourceImportTest, ALargerBatchIsRefused) {
  for (int i = 0; i <= kImportRowsMax; ++i) {
    batch_.add_rows();
  }
  EXPECT_EQ(domain::Import(store_, resources_.access(), caller_, batch_.rows(), {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace croft::control::domain
