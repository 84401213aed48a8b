#include "control/domain/rules.h"

namespace croft::control::domain {

absl::Status ApplyPoolRules(const RuleContext& context, v1::ApplicationPool& pool,
                            store::StoredResource& row) {
  if (row.identity == 0) {
    const auto identity = context.transaction.TakeIdentity(row.farm_uid);
    if (!identity.ok()) {
      return identity.status();
    }
    row.identity = *identity;
  }
  pool.set_identity(row.identity);
  return absl::OkStatus();
}

}  // namespace croft::control::domain
