#include "control/domain/field_ownership.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include "control/domain/resource_message.h"
#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::Site SiteOf(const std::string& text) {
  v1::Site site;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &site)) << text;
  return site;
}

// "billing: state; ops: labels.a,labels.b"
std::string OwnersText(const google::protobuf::Message& resource) {
  std::string text;
  for (const v1::FieldOwner& owner : OwnersOf(resource)) {
    text += text.empty() ? "" : "; ";
    text += owner.manager() + ":";
    for (const std::string& path : owner.paths()) {
      text += " " + path;
    }
  }
  return text;
}

struct Case {
  const char* what;
  const char* manager;
  bool force;
  std::vector<const char*> mask;
  const char* current;
  const char* next;
  const char* owners;  // afterwards; "!path path" for what is refused
};

const char kOwned[] =
    "state: STARTED labels { key: 'a.b' value: '1' } "
    "field_owners { manager: 'billing' paths: 'labels.a.b' paths: 'state' } ";

const std::vector<Case> kFreeFields = {
    {"nobody comes to own nothing", "", false, {"state"}, "", "state: STOPPED", ""},
    {"a manager owns what it names and sets",
     "billing",
     false,
     {"state", "labels"},
     "",
     "state: STOPPED labels { key: 'a' value: '1' } bindings { host: 'a' }",
     "billing: labels.a state"},
    {"what it names and leaves unset is nobody's", "billing", false, {"state"}, "", "", ""},
    {"a message is owned field by field",
     "ops",
     false,
     {"settings"},
     "",
     "settings { limits { max_body: 5 max_query: 6 } }",
     "ops: settings.limits.max_body settings.limits.max_query"},
    {"a list is owned as a whole",
     "ops",
     false,
     {"bindings"},
     "",
     "bindings { host: 'a' port: 80 }",
     "ops: bindings"},
    {"what is fixed belongs to nobody",
     "ops",
     false,
     {"organization", "state"},
     "",
     "organization: 'organizations/root' state: STARTED",
     "ops: state"},
    {"all fields", "ops", false, {"*"}, "", "name: 'n' etag: 'e' state: STARTED", "ops: state"},
};

const std::vector<Case> kOwnedFields = {
    {"another's value is refused",
     "ops",
     false,
     {"state"},
     kOwned,
     "state: STOPPED labels { key: 'a.b' value: '1' }",
     "!state"},
    {"by nobody too", "", false, {"*"}, kOwned, "", "!labels.a.b state"},
    {"the value that is there leaves it its owner",
     "ops",
     false,
     {"state"},
     kOwned,
     "state: STARTED labels { key: 'a.b' value: '1' }",
     "billing: labels.a.b state"},
    {"other fields are free",
     "ops",
     false,
     {"labels"},
     kOwned,
     "state: STARTED labels { key: 'a.b' value: '1' } labels { key: 'a' value: '2' }",
     "billing: labels.a.b state; ops: labels.a"},
    {"force takes over",
     "ops",
     true,
     {"state"},
     kOwned,
     "state: STOPPED labels { key: 'a.b' value: '1' }",
     "billing: labels.a.b; ops: state"},
    {"force takes over the value that is there",
     "ops",
     true,
     {"state"},
     kOwned,
     "state: STARTED labels { key: 'a.b' value: '1' }",
     "billing: labels.a.b; ops: state"},
    {"nobody's force frees",
     "",
     true,
     {"state"},
     kOwned,
     "state: STOPPED labels { key: 'a.b' value: '1' }",
     "billing: labels.a.b"},
    {"the owner changes its own",
     "billing",
     false,
     {"state"},
     kOwned,
     "state: STOPPED labels { key: 'a.b' value: '1' }",
     "billing: labels.a.b state"},
    {"and gives up what it unsets",
     "billing",
     false,
     {"labels.a.b"},
     kOwned,
     "state: STARTED",
     "billing: state"},
    {"a label's key is no path",
     "billing",
     false,
     {"labels.a"},
     kOwned,
     "state: STARTED labels { key: 'a.b' value: '1' } labels { key: 'a' value: '1' }",
     "billing: labels.a labels.a.b state"},
};

void Judge(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    SCOPED_TRACE(test.what);
    google::protobuf::FieldMask mask;
    for (const char* path : test.mask) {
      mask.add_paths(path);
    }
    const v1::Site current = SiteOf(test.current);
    v1::Site next = SiteOf(test.next);
    next.set_name("farms/main/sites/shop");
    const absl::Status status = TakeFields({test.manager, test.force}, mask, current, next);
    if (status.ok()) {
      EXPECT_EQ(OwnersText(next), test.owners);
      continue;
    }
    EXPECT_TRUE(absl::IsAlreadyExists(status));
    EXPECT_EQ(ReasonOf(status), "FIELD_OWNED");
    std::string refused = "!";
    const auto detail = contract::FindDetail(status);
    for (const v1::FieldViolation& violation : detail->violations()) {
      refused += (refused == "!" ? "" : " ") + violation.field().substr(5);
    }
    EXPECT_EQ(refused, test.owners);
    EXPECT_THAT(std::string(status.message()), HasSubstr("\"billing\""));
    EXPECT_THAT(std::string(status.message()), HasSubstr("--force"));
  }
}

TEST(FieldOwnership, AManagerTakesWhatItSets) { Judge(kFreeFields); }

TEST(FieldOwnership, AnotherManagersFieldTakesForce) { Judge(kOwnedFields); }

class FieldOwnershipOfResources : public DomainTest {};

TEST_F(FieldOwnershipOfResources, IsShownKeptAndNotInTheBody) {
  v1::Site site = ASite("shop.example");
  (*site.mutable_labels())["tier"] = "web";
  const auto created = TryCreate("farms/main", "shop", site, {.field_manager = "billing"});
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(OwnersText(*created), "billing: applications bindings labels.tier");
  EXPECT_EQ(OwnersText(*Get<v1::Site>("farms/main/sites/shop")), OwnersText(*created));
  const auto row = store_.Find("farms/main/sites/shop");
  v1::Site body;
  ASSERT_TRUE(body.ParseFromString((*row)->body));
  EXPECT_EQ(body.field_owners_size(), 0);
  const auto page = List(contract::ResourceType::kSite, "farms/main", 10, "");
  EXPECT_EQ(OwnersText(*page->resources.front()), OwnersText(*created));
}

TEST_F(FieldOwnershipOfResources, TwoManagersShareASite) {
  Create("farms/main", "shop", ASite("shop.example"));
  v1::Site change;
  change.set_name("farms/main/sites/shop");
  change.set_state(v1::STOPPED);
  ASSERT_TRUE(TryUpdate(change, {"state"}, {.field_manager = "billing"}).ok());
  change.set_state(v1::STARTED);
  const auto refused = TryUpdate(change, {"state"}, {.field_manager = "ops"});
  EXPECT_EQ(ReasonOf(refused.status()), "FIELD_OWNED");
  EXPECT_EQ(ReasonOf(TryUpdate(change, {"state"}).status()), "FIELD_OWNED");
  (*change.mutable_labels())["tier"] = "web";
  const auto labelled = TryUpdate(change, {"labels.tier"}, {.field_manager = "ops"});
  ASSERT_TRUE(labelled.ok()) << labelled.status();
  EXPECT_EQ(OwnersText(*labelled), "billing: state; ops: labels.tier");
  const auto forced = TryUpdate(change, {"state"}, {.field_manager = "ops", .force = true});
  ASSERT_TRUE(forced.ok()) << forced.status();
  EXPECT_EQ(OwnersText(*forced), "ops: labels.tier state");
}

// Who owns a field is no part of its history, and nodes don't care.
TEST_F(FieldOwnershipOfResources, TakingTheValueThatIsThereIsNoChange) {
  v1::Site site = ASite("shop.example");
  site = Create("farms/main", "shop", site);
  const auto revision = Revision();
  v1::Site change;
  change.set_name("farms/main/sites/shop");
  change.set_state(v1::STARTED);
  const auto taken = TryUpdate(change, {"state"}, {.field_manager = "billing"});
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(Revision(), revision);
  const auto now = Get<v1::Site>("farms/main/sites/shop");
  EXPECT_EQ(OwnersText(*now), "billing: state");
  EXPECT_EQ(now->etag(), site.etag());
}

TEST_F(FieldOwnershipOfResources, ManagersHaveReasonableNames) {
  const auto refused =
      TryCreate("farms/main", "shop", ASite("a"), {.field_manager = std::string(65, 'x')});
  EXPECT_EQ(contract::FindDetail(refused.status())->violations(0).field(), "field_manager");
}

}  // namespace
}  // namespace croft::control::domain
