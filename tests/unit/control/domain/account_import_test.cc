#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AccountImportTest : public DomainTest {
 protected:
  AccountImportTest() { batch_.set_parent("farms/main"); }

  v1::ImportAccountRow& Add(const std::string& id) {
    v1::ImportAccountRow& row = *batch_.add_rows();
    row.set_line(batch_.rows_size());
    row.set_account_id(id);
    return row;
  }
  v1::ImportAccountsResponse Import() {
    auto response = resources_.ImportAccounts(caller_, batch_);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.value_or(v1::ImportAccountsResponse());
  }
  static std::vector<std::string> Errors(const v1::ImportAccountsResponse& response) {
    std::vector<std::string> errors;
    for (const v1::ImportRowError& error : response.errors()) {
      errors.push_back(std::to_string(error.line()) + " " + error.field());
    }
    return errors;
  }

  v1::ImportAccountsRequest batch_;
};

TEST_F(AccountImportTest, GoodRowsAreCreatedAndBadOnesReported) {
  Add("alice");
  Add("not good");
  Add("bob").set_organization("organizations/none");
  Add("carol").set_store("farms/main/stores/none");
  Add("Alice");
  Add("dave").set_state(v1::SUSPENDED);
  Add("www");
  const auto response = Import();
  EXPECT_EQ(response.created(), 2);
  EXPECT_EQ(response.revision(), Revision());
  EXPECT_THAT(Errors(response), ElementsAre("2 account_id", "3 organization", "4 store",
                                            "5 account_id", "7 account_id"));
  EXPECT_THAT(response.errors(3).reason(), HasSubstr("already on line 1"));
  const auto dave = Get<v1::Account>("farms/main/accounts/dave");
  ASSERT_TRUE(dave.ok()) << dave.status();
  EXPECT_EQ(dave->state(), v1::SUSPENDED);
  EXPECT_EQ(dave->home().store(), "farms/main/stores/files");
  EXPECT_THAT(dave->home().path(), HasSubstr(std::to_string(dave->uid())));
}

TEST_F(AccountImportTest, ASecondRunChangesNothing) {
  Add("alice");
  Add("bad name");
  Add("bob");
  const auto first = Import();
  const auto revision = Revision();
  const auto second = Import();
  EXPECT_EQ(second.created(), 0);
  EXPECT_EQ(second.unchanged(), 2);
  EXPECT_EQ(second.revision(), 0);
  EXPECT_EQ(Errors(second), Errors(first));
  EXPECT_EQ(Revision(), revision);
}

TEST_F(AccountImportTest, AnExistingAccountGetsOtherValuesButForWhatIsFixed) {
  Create("", "acme", v1::Organization());
  Add("alice");
  Add("bob");
  Import();
  batch_.mutable_rows(0)->set_state(v1::SUSPENDED);
  batch_.mutable_rows(1)->set_organization("organizations/acme");
  const auto response = Import();
  EXPECT_THAT(Errors(response), ElementsAre("2 organization"));
  EXPECT_THAT(response.errors(0).reason(), HasSubstr("fixed at creation"));
  EXPECT_EQ(Get<v1::Account>("farms/main/accounts/alice")->state(), v1::SUSPENDED);
}

TEST_F(AccountImportTest, FillsStoresAndThenSaysThatNoneHasRoom) {
  for (int i = 0; i < 43; ++i) {
    Add("user" + std::to_string(i));
  }
  const auto response = Import();
  EXPECT_EQ(response.created(), 40);
  ASSERT_EQ(response.errors_size(), 3);
  EXPECT_THAT(response.errors(0).reason(), HasSubstr("no store of the farm has room"));
}

TEST_F(AccountImportTest, ValidateOnlyCountsAndWritesNothing) {
  batch_.set_validate_only(true);
  Add("alice");
  Add("bad name");
  const auto response = Import();
  EXPECT_EQ(response.created(), 1);
  EXPECT_EQ(response.errors_size(), 1);
  EXPECT_FALSE(Get<v1::Account>("farms/main/accounts/alice").ok());
}

TEST_F(AccountImportTest, AnUnknownFarmFailsTheBatch) {
  batch_.set_parent("farms/none");
  Add("alice");
  EXPECT_EQ(resources_.ImportAccounts(caller_, batch_).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace croft::control::domain
