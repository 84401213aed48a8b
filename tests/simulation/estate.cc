#include "tests/simulation/estate.h"

#include <fmt/format.h>

#include <set>

#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "proto/base/check.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/validation.h"

namespace croft::simulation {
namespace {

using control::store::ResourceType;
using control::store::Transaction;

// Small enough that names and hosts are taken, freed and taken again.
constexpr std::uint64_t kNames = 24;
constexpr std::uint64_t kHosts = 40;

v1::Site ReadSite(const std::string& body) {
  v1::Site site;
  site.ParseFromString(body);
  return site;
}

bool IsGood(const std::string& body) {
  v1::Site site;
  return site.ParseFromString(body) && contract::Validate(site).empty();
}

}  // namespace

std::vector<Estate::Row> Estate::ListLive(ResourceType type) {
  std::vector<Row> rows;
  for (const auto& [key, row] : store_.Save()->rows) {
    if (row.type == type && !row.deleted) {
      rows.push_back(row);
    }
  }
  return rows;
}

Estate::Row Estate::NewRow(Transaction& transaction, ResourceType type) {
  Row row;
  row.type = type;
  row.uid = *transaction.NextUid(type);
  // The store's own name only has to be unique; nodes know the body's.
  row.name = fmt::format("row-{}", next_row_++);
  row.farm_uid = kFarmUid;
  return row;
}

void Estate::Commit(Transaction& transaction) {
  Check(transaction.Commit({}).ok(), "the fake store commits");
}

std::vector<std::int64_t> Estate::CreateFarm(int nodes) {
  const auto transaction = *store_.Begin();
  v1::Platform platform;
  platform.set_name("platform");
  Row row = NewRow(*transaction, ResourceType::kPlatform);
  row.farm_uid = 0;
  row.body = platform.SerializeAsString();
  Check(transaction->Insert(row).ok(), "insert the platform");
  v1::Farm farm;
  farm.set_name("farms/main");
  farm.set_organization("organizations/root");
  row = NewRow(*transaction, ResourceType::kFarm);
  row.uid = kFarmUid;
  row.farm_uid = 0;
  row.body = farm.SerializeAsString();
  Check(transaction->Insert(row).ok(), "insert the farm");
  std::vector<std::int64_t> uids;
  for (int i = 0; i < nodes; ++i) {
    v1::Node node;
    node.set_name(fmt::format("farms/main/nodes/n{}", i));
    node.set_organization("organizations/root");
    row = NewRow(*transaction, ResourceType::kNode);
    row.body = node.SerializeAsString();
    Check(transaction->Insert(row).ok(), "insert a node");
    uids.push_back(row.uid);
  }
  Commit(*transaction);
  return uids;
}

std::string Estate::DrawName() {
  std::set<std::string> taken;
  for (const Row& row : ListLive(ResourceType::kSite)) {
    taken.insert(ReadSite(row.body).name());
  }
  for (;;) {
    std::string name = fmt::format("farms/main/sites/s{}", Draw(kNames + taken.size() * 2));
    if (!taken.contains(name)) {
      return name;
    }
  }
}

void Estate::DrawBindings(v1::Site& site) {
  std::set<std::string> taken;
  for (const Row& row : ListLive(ResourceType::kSite)) {
    const v1::Site other = ReadSite(row.body);
    for (const v1::Binding& binding : other.bindings()) {
      taken.insert(contract::FormatBinding(binding));
    }
  }
  for (const v1::Binding& binding : site.bindings()) {
    taken.erase(contract::FormatBinding(binding));
  }
  site.clear_bindings();
  for (std::uint64_t wanted = 1 + Draw(3); wanted > 0; --wanted) {
    v1::Binding binding;
    binding.set_host(fmt::format("h{}.example", Draw(kHosts + taken.size())));
    const v1::Binding normal = *contract::NormalizeBinding(binding);
    if (taken.insert(contract::FormatBinding(normal)).second) {
      *site.add_bindings() = normal;
    }
  }
}

void Estate::InsertSite(Transaction& transaction, v1::Site site) {
  site.set_organization("organizations/root");
  Row row = NewRow(transaction, ResourceType::kSite);
  row.body = site.SerializeAsString();
  Check(transaction.Insert(row).ok(), "insert a site");
}

void Estate::CreateSite() {
  const auto transaction = *store_.Begin();
  v1::Site site;
  site.set_name(DrawName());
  DrawBindings(site);
  InsertSite(*transaction, site);
  Commit(*transaction);
}

void Estate::CreateAccount() {
  const auto transaction = *store_.Begin();
  Row row = NewRow(*transaction, ResourceType::kAccount);
  v1::Account account;
  account.set_name(fmt::format("farms/main/accounts/user{}", row.uid));
  account.set_organization("organizations/root");
  account.mutable_home()->set_store("farms/main/stores/one");
  account.mutable_home()->set_path(fmt::format("homes/{}", row.uid));
  row.body = account.SerializeAsString();
  Check(transaction->Insert(row).ok(), "insert an account");
  Commit(*transaction);
}

void Estate::CreateMany() {
  for (std::uint64_t i = 4 + Draw(8); i > 0; --i) {
    CreateAccount();
    CreateSite();
  }
}

void Estate::UpdateSite() {
  auto rows = ListLive(ResourceType::kSite);
  if (rows.empty()) {
    return;
  }
  Row row = rows[Draw(rows.size())];
  if (!IsGood(row.body)) {
    return;
  }
  v1::Site site = ReadSite(row.body);
  if (Draw(2) == 0) {
    DrawBindings(site);
  } else {
    site.set_state(Draw(2) == 0 ? v1::STOPPED : v1::STARTED);
  }
  row.body = site.SerializeAsString();
  const auto transaction = *store_.Begin();
  Check(transaction->Update(row).ok(), "update a site");
  Commit(*transaction);
}

void Estate::UpdateAccount() {
  auto rows = ListLive(ResourceType::kAccount);
  if (rows.empty()) {
    return;
  }
  Row row = rows[Draw(rows.size())];
  v1::Account account;
  account.ParseFromString(row.body);
  account.set_state(Draw(2) == 0 ? v1::SUSPENDED : v1::ACTIVE);
  row.body = account.SerializeAsString();
  const auto transaction = *store_.Begin();
  Check(transaction->Update(row).ok(), "update an account");
  Commit(*transaction);
}

void Estate::DeleteOne() {
  auto rows = ListLive(Draw(2) == 0 ? ResourceType::kSite : ResourceType::kAccount);
  if (rows.empty()) {
    return;
  }
  const auto transaction = *store_.Begin();
  Check(transaction->Delete(rows[Draw(rows.size())]).ok(), "delete a row");
  Commit(*transaction);
}

void Estate::RecreateName() {
  auto rows = ListLive(ResourceType::kSite);
  if (rows.empty()) {
    return;
  }
  const Row& row = rows[Draw(rows.size())];
  if (!IsGood(row.body)) {
    return;
  }
  auto transaction = *store_.Begin();
  Check(transaction->Delete(row).ok(), "delete a site");
  if (Draw(2) == 0) {
    Commit(*transaction);
    transaction = *store_.Begin();
  }
  InsertSite(*transaction, ReadSite(row.body));
  Commit(*transaction);
}

void Estate::SwapNames() {
  std::vector<Row> rows;
  for (Row& row : ListLive(ResourceType::kSite)) {
    if (IsGood(row.body)) {
      rows.push_back(std::move(row));
    }
  }
  const std::size_t parties = 2 + Draw(2);
  if (rows.size() < parties) {
    return;
  }
  std::shuffle(rows.begin(), rows.end(), random_);
  const auto transaction = *store_.Begin();
  const bool bindings_too = Draw(2) == 0;
  for (std::size_t i = 0; i < parties; ++i) {
    v1::Site site = ReadSite(rows[i].body);
    const v1::Site next = ReadSite(rows[(i + 1) % parties].body);
    site.set_name(next.name());
    if (bindings_too) {
      *site.mutable_bindings() = next.bindings();
    }
    Row row = rows[i];
    row.body = site.SerializeAsString();
    Check(transaction->Update(row).ok(), "rename a site");
  }
  Commit(*transaction);
}

void Estate::Change() {
  switch (Draw(8)) {
    case 0:
      return CreateAccount();
    case 1:
      return UpdateAccount();
    case 2:
      return DeleteOne();
    case 3:
      return RecreateName();
    case 4:
    case 5:
      return SwapNames();
    case 6:
      return UpdateSite();
    default:
      return CreateSite();
  }
}

void Estate::Damage() {
  auto rows = ListLive(ResourceType::kSite);
  if (rows.empty()) {
    return;
  }
  Row row = rows[Draw(rows.size())];
  v1::Site site = ReadSite(row.body);
  // What it had is free for others, as far as control can tell.
  site.set_name("farms/main/sites/Not A Name");
  site.clear_bindings();
  if (Draw(2) == 0) {
    site.set_state(v1::STOPPED);
  }
  row.body = Draw(2) == 0 ? std::string("\x07\xff damaged") : site.SerializeAsString();
  const auto transaction = *store_.Begin();
  Check(transaction->Update(row).ok(), "damage a site");
  Commit(*transaction);
}

void Estate::RepairAll() {
  for (Row& row : ListLive(ResourceType::kSite)) {
    if (IsGood(row.body)) {
      continue;
    }
    v1::Site site;
    site.set_name(DrawName());
    site.set_organization("organizations/root");
    DrawBindings(site);
    row.body = site.SerializeAsString();
    const auto transaction = *store_.Begin();
    Check(transaction->Update(row).ok(), "repair a site");
    Commit(*transaction);
  }
}

}  // namespace croft::simulation
