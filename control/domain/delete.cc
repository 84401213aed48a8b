// Resources::Delete.
#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "control/domain/resources.h"
#include "control/domain/write.h"

namespace croft::control::domain {
namespace {

// Named in the error of a refused deletion.
constexpr int kReferencesShown = 5;

absl::StatusOr<Written> DeleteIn(store::Transaction& transaction, const std::string& name,
                                 std::string_view etag) {
  auto found = transaction.FindForUpdate(name);
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    return NotFound(name);
  }
  store::StoredResource& row = **found;
  if (!etag.empty() && etag != FormatEtag(row.change_id)) {
    return EtagMismatch(name, FormatEtag(row.change_id), etag);
  }
  const auto references = transaction.FindReferences(row, kReferencesShown);
  if (!references.ok()) {
    return references.status();
  }
  if (!references->empty()) {
    return Referenced(name, *references);
  }
  if (absl::Status status = transaction.Delete(row); !status.ok()) {
    return status;
  }
  row.change_id = transaction.change_id();
  row.updated = transaction.time();
  Written written{.answer = NewMessage(row.type), .counts = CountDeleted()};
  ParseRow(row, *written.answer);
  return written;
}

}  // namespace

absl::StatusOr<Written> Resources::Delete(const Caller& caller, contract::ResourceType type,
                                          std::string_view name, std::string_view etag,
                                          const WriteOptions& options) {
  const auto parsed = contract::ParseResourceName(name, type);
  if (!parsed.ok()) {
    return InvalidField("name", name, std::string(parsed.status().message()));
  }
  const std::string canonical = contract::FormatResourceName(*parsed);
  if (type == contract::ResourceType::kPlatform || canonical == "organizations/root") {
    return Protected(canonical);
  }
  return Write(store_, {caller, options, *NewMessage(type)}, [&](store::Transaction& transaction) {
    return DeleteIn(transaction, canonical, etag);
  });
}

}  // namespace croft::control::domain
