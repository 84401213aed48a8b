// Resources::Delete.
#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "control/domain/resources.h"
#include "control/domain/steps.h"
#include "control/domain/write.h"

namespace croft::control::domain {
namespace {

// Named in the error of a refused deletion.
constexpr int kReferencesShown = 5;

// A deleted operator's tokens are of no use to anyone.
absl::Status DeleteTokens(store::Transaction& transaction, const store::StoredResource& row) {
  constexpr int kAtOnce = 1000;
  for (;;) {
    const auto names = transaction.FindReferences(row, kAtOnce);
    if (!names.ok() || names->empty()) {
      return names.status();
    }
    for (const std::string& name : *names) {
      const auto token = transaction.FindForUpdate(name);
      if (!token.ok()) {
        return token.status();
      }
      if (!token->has_value()) {
        continue;  // revoked just now
      }
      if (absl::Status status = transaction.Delete(**token); !status.ok()) {
        return status;
      }
    }
  }
}

// OK if nothing needs the resource any longer. What the caller may not see is counted, not named.
absl::Status CheckReferences(const RuleContext& context, const store::StoredResource& row) {
  const auto names = context.transaction.FindReferences(row, kReferencesShown);
  if (!names.ok() || names->empty()) {
    return names.status();
  }
  std::vector<std::string> shown;
  for (const std::string& name : *names) {
    const auto found = context.transaction.Find(name);
    if (!found.ok()) {
      return found.status();
    }
    const auto may = found->has_value()
                         ? context.access.MayRead(context.caller, **found, &context.transaction)
                         : absl::StatusOr<bool>(false);
    if (!may.ok()) {
      return may.status();
    }
    shown.push_back(*may ? name : "something of another organization");
  }
  return Referenced(row.name, shown);
}

}  // namespace

absl::StatusOr<Written> DeleteIn(const RuleContext& context, const std::string& name,
                                 std::string_view etag) {
  store::Transaction& transaction = context.transaction;
  auto found = transaction.FindForUpdate(name);
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    return NotFound(name);
  }
  store::StoredResource& row = **found;
  absl::Status status =
      context.access.CheckWrite(context.caller, row, Action::kDelete, &transaction);
  if (!status.ok()) {
    return status;
  }
  if (row.type == contract::ResourceType::kPlatform || name == "organizations/root") {
    return Protected(name);
  }
  if (!etag.empty() && etag != FormatEtag(row.change_id)) {
    return EtagMismatch(name, FormatEtag(row.change_id), etag);
  }
  status = row.type == contract::ResourceType::kOperator ? DeleteTokens(transaction, row)
                                                         : CheckReferences(context, row);
  if (status.ok()) {
    status = transaction.Delete(row);
  }
  if (!status.ok()) {
    return status;
  }
  row.change_id = transaction.change_id();
  row.updated = transaction.time();
  row.deleted = true;
  Written written{.answer = NewMessage(row.type), .counts = CountDeleted()};
  ParseRow(row, *written.answer);
  return written;
}

absl::StatusOr<Written> Resources::Delete(const Caller& caller, contract::ResourceType type,
                                          std::string_view name, std::string_view etag,
                                          const WriteOptions& options) {
  const auto parsed = contract::ParseResourceName(name, type);
  if (!parsed.ok()) {
    return InvalidField("name", name, std::string(parsed.status().message()));
  }
  const std::string canonical = contract::FormatResourceName(*parsed);
  const auto work = [&](store::Transaction& transaction) -> absl::StatusOr<Written> {
    auto written = DeleteIn({store_, transaction, caller, access_, options}, canonical, etag);
    if (options.allow_missing && absl::IsNotFound(written.status())) {
      return Written{.answer = NewMessage(type), .counts = CountUnchanged()};
    }
    return written;
  };
  return Write(store_, {caller, options, *NewMessage(type)}, work);
}

}  // namespace croft::control::domain
