// One batch of an import: every row succeeds or fails by itself, all that succeed are one change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/domain/resources.h"
#include "control/domain/rules.h"
#include "croft/v1/account.pb.h"

namespace croft::control::domain {

// For one transaction. Not thread-safe.
class AccountImport {
 public:
  AccountImport(const RuleContext& context, const v1::ImportAccountsRequest& batch)
      : context_(context), batch_(batch) {}

  // Writes the good rows into the transaction; fails only when the batch as a whole can't go on.
  // `look_first`: asks which accounts exist before it draws homes for the others.
  absl::Status Run(bool look_first);
  // Without having looked: some accounts existed. The transaction is to be abandoned, with the
  // homes it drew for them, and the batch run again.
  bool met_existing() const { return met_existing_; }

  const v1::ImportAccountsResponse& response() const { return response_; }

 private:
  // An organization that rows name.
  struct Owner {
    std::int64_t uid = 0;
    std::string refused = {};        // why rows may not name it; empty: they may
    std::string refused_store = {};  // why they may not name their store too
  };
  // A row that may be written.
  struct Candidate {
    const v1::ImportAccountRow* row = nullptr;
    std::string name = {};
    std::string organization = {};
    std::string store = {};  // as asked for, canonical; "" for any
    std::int64_t organization_uid = 0;
  };

  absl::Status FindFarm();
  // Names in canonical form, no name twice, owners that exist.
  absl::Status CheckRows();
  absl::StatusOr<bool> CheckRow(const v1::ImportAccountRow& row, Candidate& candidate);
  // Takes out the rows whose account exists, as unchanged or as errors.
  absl::Status TakeOutExisting();
  absl::Status CompareExisting(const Candidate& candidate, const store::StoredResource& existing);
  // Gives each candidate a home in its store, or in the emptiest.
  absl::Status PlaceHomes();
  absl::Status PlaceIn(const provisioning::StoreRoom& room,
                       const std::vector<const Candidate*>& candidates);
  absl::Status PlaceAnywhere(std::vector<const Candidate*> candidates);
  absl::Status InsertRows();

  // Remembered from row to row.
  absl::StatusOr<Owner> FindOwner(const std::string& name);
  absl::StatusOr<Owner> JudgeOwner(const std::string& name);
  void Fail(const v1::ImportAccountRow& row, std::string_view field, std::string reason);

  const RuleContext context_;
  const v1::ImportAccountsRequest& batch_;
  v1::ImportAccountsResponse response_;
  bool met_existing_ = false;
  std::int64_t farm_uid_ = 0;
  std::string farm_;
  std::vector<Candidate> candidates_;
  std::map<std::string, Owner> owners_;
  std::vector<store::StoredResource> new_rows_;
  std::vector<const Candidate*> new_candidates_;  // of new_rows_, same order
};

}  // namespace croft::control::domain
