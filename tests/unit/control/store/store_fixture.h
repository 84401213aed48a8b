// Rows and transactions in few words, for tests of any Store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/store/store.h"

namespace croft::control::store {

// Commits what `work` does; the test fails when anything does.
template <typename Work>
CommittedChange InTransaction(Store& store, Work work, const ChangeInfo& info = {.who = "tester"}) {
  auto transaction = store.Begin();
  EXPECT_TRUE(transaction.ok()) << transaction.status();
  work(**transaction);
  const auto committed = (*transaction)->Commit(info);
  EXPECT_TRUE(committed.ok()) << committed.status();
  return committed.value_or(CommittedChange());
}

inline StoredResource MakeRow(Transaction& transaction, ResourceType type, std::string name,
                              std::int64_t farm_uid, std::int64_t organization_uid) {
  StoredResource row;
  row.type = type;
  row.uid = transaction.NextUid(type).value();
  row.body = "body of " + name;
  row.name = std::move(name);
  row.farm_uid = farm_uid;
  row.organization_uid = organization_uid;
  if (type == ResourceType::kPool) {
    row.identity = transaction.TakeIdentity(farm_uid).value();
  }
  return row;
}

// platform, organizations/root, farms/main and farms/other.
struct Estate {
  std::int64_t root = 0, main = 0, other = 0;
};

inline Estate MakeEstate(Store& store) {
  Estate estate;
  InTransaction(store, [&](Transaction& t) {
    EXPECT_TRUE(t.Insert(MakeRow(t, ResourceType::kPlatform, "platform", 0, 0)).ok());
    const auto root = MakeRow(t, ResourceType::kOrganization, "organizations/root", 0, 0);
    EXPECT_TRUE(t.Insert(root).ok());
    estate.root = root.uid;
    const auto main = MakeRow(t, ResourceType::kFarm, "farms/main", 0, root.uid);
    const auto other = MakeRow(t, ResourceType::kFarm, "farms/other", 0, root.uid);
    EXPECT_TRUE(t.Insert(main).ok());
    EXPECT_TRUE(t.Insert(other).ok());
    estate.main = main.uid;
    estate.other = other.uid;
  });
  return estate;
}

// A member of farms/main.
inline StoredResource Insert(Store& store, const Estate& estate, ResourceType type,
                             const std::string& id) {
  StoredResource row;
  InTransaction(store, [&](Transaction& t) {
    const std::string collection(contract::Facts(type).collection);
    row = MakeRow(t, type, "farms/main/" + collection + "/" + id, estate.main, estate.root);
    const absl::Status status = t.Insert(row);
    EXPECT_TRUE(status.ok()) << status;
  });
  return row;
}

inline std::vector<node::v1::Record> DeltaSince(Store& store, std::int64_t farm_uid,
                                                std::int64_t since) {
  std::vector<node::v1::Record> records;
  const auto position = store.ReadDelta(
      farm_uid, since, [&](node::v1::Record record) { records.push_back(std::move(record)); });
  EXPECT_TRUE(position.ok()) << position.status();
  return records;
}

}  // namespace croft::control::store
