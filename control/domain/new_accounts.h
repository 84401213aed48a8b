// The accounts of a batch that are new: judged with as little work as can be, given homes store by
// store, and written in bulk.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/domain/import_report.h"
#include "control/domain/rules.h"
#include "croft/v1/account.pb.h"

namespace croft::control::domain {

struct AccountRow {
  std::int64_t line = 0;
  const v1::Account* account = nullptr;
  std::string farm = {};  // "farms/main"
  std::string name = {};  // canonical
};

// For one transaction. Not thread-safe.
class NewAccounts {
 public:
  NewAccounts(const RuleContext& context, ImportReport& report)
      : context_(context), report_(report) {}

  // Reports the row if it can't be written, otherwise takes it up. Fails only when the batch as a
  // whole can't go on. REQUIRES: the account names no place for its home but the store.
  absl::Status Add(AccountRow row);
  // Writes what was taken up. `are_new`: it is known that they don't exist.
  absl::Status Write(bool are_new);
  // Not known before: some exist. The transaction is to be abandoned, with the homes it drew for
  // them.
  bool met_existing() const { return met_existing_; }

 private:
  // An organization that rows name.
  struct Owner {
    std::int64_t uid = 0;
    std::string refused = {};        // why rows may not name it; empty: they may
    std::string refused_store = {};  // why they may not name their store too
  };
  struct Candidate {
    AccountRow row;
    std::string organization = {};
    std::int64_t organization_uid = 0;
    std::int64_t farm_uid = 0;
    std::string store = {};  // as asked for, canonical; "" for any
  };
  struct NewRow {
    const Candidate* candidate = nullptr;
    store::StoredResource row = {};
  };

  absl::StatusOr<std::int64_t> FindFarm(const std::string& name);  // 0: there is none
  absl::StatusOr<Owner> FindOwner(const std::string& name);
  absl::StatusOr<Owner> JudgeOwner(const std::string& name);
  // Where the home shall be; false when that is not possible.
  bool ReadStore(const AccountRow& row, const Owner& owner, Candidate& candidate);
  absl::Status Place(std::int64_t farm_uid, const std::string& store,
                     std::vector<const Candidate*> candidates);
  absl::Status PlaceAnywhere(std::int64_t farm_uid, std::vector<const Candidate*> candidates);
  absl::Status PlaceIn(const provisioning::StoreRoom& room,
                       const std::vector<const Candidate*>& candidates);
  store::StoredResource ToRow(const Candidate& candidate, const provisioning::StoreRoom& room,
                              std::int64_t uid, std::string path) const;
  absl::Status Insert(bool are_new);
  void Fail(const Candidate& candidate, std::string_view field, std::string_view reason);

  const RuleContext context_;
  ImportReport& report_;
  bool met_existing_ = false;
  std::vector<Candidate> candidates_;
  std::map<std::string, std::int64_t> farms_;
  std::map<std::string, Owner> owners_;
  std::map<std::int64_t, std::vector<NewRow>> new_rows_;  // by farm
};

}  // namespace croft::control::domain
