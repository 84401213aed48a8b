// What every Store promises of lists and of what was deleted: run on the fake and on PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "croft/v1/site.pb.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/errors.h"
#include "tests/unit/control/store/store_contract.h"
#include "tests/unit/control/store/store_fixture.h"

namespace croft::control::store {
namespace {

using testing::ElementsAre;

class StoreLists : public testing::TestWithParam<bool> {
 protected:
  StoreLists() : store_(MakeStore(GetParam())), estate_(MakeEstate(*store_)) {}

  StoredResource InsertSite(const std::string& id) {
    return Insert(*store_, estate_, ResourceType::kSite, id);
  }
  void Delete(const std::string& name) {
    InTransaction(*store_, [&](Transaction& t) {
      EXPECT_TRUE(t.Delete(t.FindForUpdate(name).value().value()).ok());
    });
  }
  // All of a list, by pages of two; each as id.
  std::vector<std::string> Ids(ListQuery query) {
    std::vector<std::string> ids;
    query.type = ResourceType::kSite;
    query.limit = 2;
    for (;;) {
      const auto rows = store_->List(query);
      EXPECT_TRUE(rows.ok()) << rows.status();
      if (!rows.ok()) {
        return ids;
      }
      for (const StoredResource& row : *rows) {
        ids.push_back(row.name.substr(row.name.rfind('/') + 1) + (row.deleted ? "!" : ""));
        query.after_name = row.name;
        query.after_uid = row.uid;
      }
      if (std::ssize(*rows) < query.limit) {
        return ids;
      }
    }
  }

  std::unique_ptr<Store> store_;
  Estate estate_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreLists, testing::Bool(), NameOfStore);

TEST_P(StoreLists, GoInBothOrdersAndDirectionsWithTombstonesAndWithout) {
  for (const char* id : {"c", "a", "b"}) {
    InsertSite(id);
  }
  Delete("farms/main/sites/a");
  InsertSite("a");
  for (const std::int64_t farm : {std::int64_t{0}, estate_.main}) {
    EXPECT_THAT(Ids({.farm_uid = farm}), ElementsAre("a", "b", "c"));
    EXPECT_THAT(Ids({.farm_uid = farm, .descending = true}), ElementsAre("c", "b", "a"));
    EXPECT_THAT(Ids({.farm_uid = farm, .order = ListOrder::kCreation}), ElementsAre("c", "b", "a"));
    EXPECT_THAT(Ids({.farm_uid = farm, .order = ListOrder::kCreation, .descending = true}),
                ElementsAre("a", "b", "c"));
    EXPECT_THAT(Ids({.farm_uid = farm, .show_deleted = true}), ElementsAre("a!", "a", "b", "c"));
    EXPECT_THAT(Ids({.farm_uid = farm, .descending = true, .show_deleted = true}),
                ElementsAre("c", "b", "a", "a!"));
    EXPECT_THAT(Ids({.farm_uid = farm, .order = ListOrder::kCreation, .show_deleted = true}),
                ElementsAre("c", "a!", "b", "a"));
  }
  EXPECT_TRUE(Ids({.farm_uid = estate_.other, .order = ListOrder::kCreation}).empty());
}

TEST_P(StoreLists, AnUndeletedRowIsTheSameOneAgain) {
  const StoredResource site = InsertSite("a");
  Delete(site.name);
  const auto deleted = store_->FindDeleted(site.name).value();
  ASSERT_TRUE(deleted.has_value());
  EXPECT_TRUE(deleted->deleted);
  EXPECT_EQ(deleted->body, site.body);
  EXPECT_GE(deleted->updated, deleted->created);
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_FALSE(t.FindDeletedForUpdate(site.name, site.uid + 100).value().has_value());
    const auto row = t.FindDeletedForUpdate(site.name, 0).value();
    ASSERT_TRUE(row.has_value());
    EXPECT_EQ(row->uid, site.uid);
    EXPECT_TRUE(t.Undelete(*row).ok());
  });
  const auto back = store_->Find(site.name).value();
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->uid, site.uid);
  EXPECT_EQ(back->body, site.body);
  EXPECT_FALSE(store_->FindDeleted(site.name).value().has_value());
  const auto delta = DeltaSince(*store_, estate_.main, back->revision - 1);
  ASSERT_EQ(delta.size(), 1U);
  EXPECT_FALSE(delta[0].deleted());
  EXPECT_EQ(delta[0].body(), site.body);
  const auto changes = store_->ListChanges({.limit = 2, .resource = site.name}).value();
  EXPECT_EQ(changes[0].resources(0).action(), "undelete");
  EXPECT_EQ(changes[1].resources(0).action(), "delete");
}

TEST_P(StoreLists, NothingIsUndeletedOntoSomethingElse) {
  const StoredResource site = InsertSite("a");
  Delete(site.name);
  InsertSite("a");
  {
    const auto t = store_->Begin().value();
    const auto row = t->FindDeletedForUpdate(site.name, 0).value();
    const absl::Status status = t->Undelete(*row);
    EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
    EXPECT_EQ(contract::FindDetail(status)->reason(), "NAME_TAKEN");
  }
  const StoredResource pool = Insert(*store_, estate_, ResourceType::kPool, "p");
  Delete(pool.name);
  const StoredResource heir = Insert(*store_, estate_, ResourceType::kPool, "q");
  ASSERT_EQ(heir.identity, pool.identity);
  const auto t = store_->Begin().value();
  const auto row = t->FindDeletedForUpdate(pool.name, 0).value();
  const absl::Status status = t->Undelete(*row);
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_EQ(contract::FindDetail(status)->reason(), "IDENTITY_TAKEN");
  EXPECT_EQ(contract::FindDetail(status)->resource(), heir.name);
}

TEST_P(StoreLists, RemembersTheAnswerToARequestThatChangedNothing) {
  const auto head = store_->GetHead()->position.revision();
  v1::Counts counts;
  counts.set_unchanged(3);
  const ChangeInfo info{.who = "ann",
                        .request_id = "r",
                        .request_fingerprint = "f",
                        .answer = std::string("\0a", 2),
                        .counts = counts};
  ASSERT_TRUE(store_->Begin().value()->CommitAnswer(info).ok());
  const auto known = store_->FindRequest("ann", "r").value();
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->fingerprint, "f");
  EXPECT_EQ(known->answer, info.answer);
  EXPECT_EQ(known->counts.unchanged(), 3);
  EXPECT_EQ(known->revision, 0);
  EXPECT_EQ(store_->GetHead()->position.revision(), head);
  EXPECT_TRUE(absl::IsAborted(store_->Begin().value()->CommitAnswer(info)));
}

// A random site, and the row that it is.
StoredResource MakeSiteRow(Transaction& t, const Estate& estate, std::mt19937& random, int number) {
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  StoredResource row =
      MakeRow(t, ResourceType::kSite, "farms/main/sites/s" + std::to_string(number), estate.main,
              estate.root);
  v1::Site site;
  site.set_name(row.name);
  site.set_uid(row.uid);
  site.set_organization("organizations/root");
  site.set_state(draw(4) == 0 ? v1::STOPPED : v1::STARTED);
  for (const char* key : {"a", "b.c"}) {
    if (draw(3) != 0) {
      (*site.mutable_labels())[key] = std::string("v") + std::to_string(draw(3));
    }
  }
  v1::Binding& binding = *site.add_bindings();
  binding.set_host("h" + std::to_string(draw(3)) + ".example");
  binding.set_port(1000 + static_cast<std::uint32_t>(number));
  v1::Application& application = *site.add_applications();
  application.set_path("/");
  application.set_pool("farms/main/pools/p" + std::to_string(draw(3)));
  row.body = site.SerializeAsString();
  row.terms = contract::IndexTerms(site);
  return row;
}

v1::Site ToSite(const StoredResource& row) {
  v1::Site site;
  EXPECT_TRUE(site.ParseFromString(row.body));
  return site;
}

void Write(Transaction& t, const StoredResource& row, bool is_new) {
  const v1::Site site = ToSite(row);
  EXPECT_TRUE((is_new ? t.Insert(row) : t.Update(row)).ok());
  EXPECT_TRUE(t.SetReferences(row, {site.applications(0).pool()}).ok());
  contract::BindingKey key{.port = static_cast<std::uint16_t>(site.bindings(0).port()),
                           .ip = {},
                           .host = site.bindings(0).host()};
  EXPECT_TRUE(t.SetBindings(row.farm_uid, row.uid, {contract::EncodeBindingKey(key)}).ok());
}

std::string RandomComparison(std::mt19937& random) {
  const auto draw = [&](unsigned below) { return std::to_string(random() % below); };
  switch (random() % 12) {
    case 0:
      return "labels.a = v" + draw(4);
    case 1:
      return "labels.b.c != v" + draw(3);
    case 2:
      return "labels:a";
    case 3:
      return "state = STOPPED";
    case 4:
      return "state != STOPPED";
    case 5:
      return "bindings.host = h" + draw(4) + ".example";
    case 6:
      return "applications.pool = farms/main/pools/p" + draw(4);
    case 7:
      return "name = s" + draw(40);
    case 8:
      return "name = s" + draw(4) + "*";
    case 9:
      return "name = farms/main/sites/s" + draw(4) + "*";
    case 10:
      return "organization : root";
    default:
      return "name = farms/main/sites/s" + draw(40);
  }
}

std::string RandomFilter(std::mt19937& random) {
  std::string text;
  const auto count = 1 + random() % 3;
  for (std::uint_fast32_t i = 0; i < count; ++i) {
    text += i == 0 ? "" : random() % 3 == 0 ? " OR " : " AND ";
    text += random() % 5 == 0 ? "NOT " : "";
    text += RandomComparison(random);
  }
  return text;
}

// What an index leaves out is only what doesn't match: lists by a filter's hints and whole lists
// select the same, in the same order, on random rows.
TEST_P(StoreLists, AnIndexLeavesOutNothingThatMatches) {
  std::mt19937 random(5);
  std::vector<std::string> names;
  InTransaction(*store_, [&](Transaction& t) {
    for (int i = 0; i < 40; ++i) {
      const StoredResource row = MakeSiteRow(t, estate_, random, i);
      names.push_back(row.name);
      Write(t, row, true);
    }
  });
  InTransaction(*store_, [&](Transaction& t) {
    for (int i = 0; i < 40; i += 3) {
      StoredResource row = t.FindForUpdate(names[static_cast<std::size_t>(i)]).value().value();
      const StoredResource drawn = MakeSiteRow(t, estate_, random, i);
      row.body = drawn.body;
      row.terms = drawn.terms;
      Write(t, row, false);
    }
  });
  for (int i = 0; i < 40; i += 5) {
    Delete(names[static_cast<std::size_t>(i)]);
  }
  const auto is_within = [](std::string_view, std::string_view) { return true; };
  for (int round = 0; round < 300; ++round) {
    const std::string text = RandomFilter(random);
    const auto filter = contract::Filter::Parse(text, ResourceType::kSite);
    ASSERT_TRUE(filter.ok()) << text << ": " << filter.status();
    ListQuery query{.type = ResourceType::kSite,
                    .farm_uid = random() % 2 == 0 ? 0 : estate_.main,
                    .order = random() % 2 == 0 ? ListOrder::kName : ListOrder::kCreation,
                    .descending = random() % 2 == 0,
                    .limit = 100,
                    .show_deleted = random() % 2 == 0};
    const auto select = [&](const ListQuery& how) {
      std::vector<std::int64_t> uids;
      const auto rows = store_->List(how);
      EXPECT_TRUE(rows.ok()) << rows.status();
      for (const StoredResource& row : rows.value_or(std::vector<StoredResource>())) {
        v1::Site site = ToSite(row);
        if (filter->Matches(site, is_within)) {
          uids.push_back(row.uid);
        }
      }
      return uids;
    };
    const auto all = select(query);
    query.filter = &*filter;
    EXPECT_EQ(select(query), all) << text;
  }
}

}  // namespace
}  // namespace croft::control::store
