// What operators do, against a store: seeded changes of sites and accounts that keep names and
// bindings unique, as control's domain does.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "croft/v1/site.pb.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::simulation {

inline constexpr std::int64_t kFarmUid = 1'000'001;

class Estate {
 public:
  using Random = std::mt19937_64;

  Estate(control::store::FakeStore& store, Random& random) : store_(store), random_(random) {}

  // Platform, farm and nodes; the nodes' uids.
  std::vector<std::int64_t> CreateFarm(int nodes);
  // One transaction of one of the kinds below.
  void Change();
  // Sites and accounts enough for a delta of many batches.
  void CreateMany();
  // A site's row as if damaged by hand, with a revision of its own.
  void Damage();
  // A good body for every damaged one.
  void RepairAll();

 private:
  using Row = control::store::StoredResource;

  std::vector<Row> ListLive(control::store::ResourceType type);
  // Names and hosts that no live site has.
  std::string DrawName();
  void DrawBindings(v1::Site& site);
  std::uint64_t Draw(std::uint64_t bound) { return random_() % bound; }

  void CreateSite();
  void CreateAccount();
  void UpdateSite();
  void UpdateAccount();
  void DeleteOne();
  void RecreateName();
  void SwapNames();

  Row NewRow(control::store::Transaction& transaction, control::store::ResourceType type);
  void InsertSite(control::store::Transaction& transaction, v1::Site site);
  void Commit(control::store::Transaction& transaction);

  control::store::FakeStore& store_;
  Random& random_;
  std::int64_t next_row_ = 1;
};

}  // namespace croft::simulation
