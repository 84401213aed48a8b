// One batch of an import of resources of any type: every row succeeds or fails by itself, all that
// succeed are one change. New accounts go the short way (new_accounts.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/domain/import_report.h"
#include "control/domain/new_accounts.h"
#include "control/domain/rules.h"

namespace croft::control::domain {

inline constexpr int kImportRowsMax = 10'000;

using ImportRows = google::protobuf::RepeatedPtrField<v1::ImportRow>;

// One batch, one change; of the options it takes validate_only, reason and field_manager.
absl::StatusOr<v1::ImportResourcesResponse> Import(store::Store& store, Access& access,
                                                   const Caller& caller, const ImportRows& rows,
                                                   const WriteOptions& options);

// For one transaction. Not thread-safe.
class ResourceImport {
 public:
  ResourceImport(const RuleContext& context, const ImportRows& given)
      : context_(context), given_(given), new_accounts_(context, report_) {}

  // Writes the good rows into the transaction; fails only when the batch as a whole can't go on.
  // `look_first`: asks which accounts exist before it draws homes for the others.
  absl::Status Run(bool look_first);
  // Without having looked: some accounts existed. The transaction is to be abandoned, and the batch
  // run again.
  bool met_existing() const { return new_accounts_.met_existing(); }
  // Nothing is changed, but fields have another manager now.
  bool takes_fields() const { return takes_fields_; }
  ImportReport& report() { return report_; }

 private:
  struct Row {
    std::int64_t line = 0;
    contract::ResourceType type = contract::ResourceType::kSite;
    std::string name = {};  // canonical
    std::string farm = {};  // "farms/main" of an account
    const google::protobuf::Message* resource = nullptr;
  };
  using Existing = std::map<std::string, store::StoredResource, std::less<>>;

  // Names in canonical form, no name twice.
  void ReadRows();
  // False when it was reported.
  bool ReadRow(const v1::ImportRow& row, Row& read);
  absl::StatusOr<Existing> FindExisting();
  absl::Status WriteRow(const Row& row, const store::StoredResource* existing);
  // False when there is nothing to do: it is so already, or it was reported.
  absl::StatusOr<bool> Compare(const Row& row, const store::StoredResource& existing);
  absl::StatusOr<Written> WriteInto(const Row& row, bool exists);

  const RuleContext context_;
  const ImportRows& given_;
  ImportReport report_;
  NewAccounts new_accounts_;
  bool takes_fields_ = false;
  std::vector<Row> rows_;
};

}  // namespace croft::control::domain
