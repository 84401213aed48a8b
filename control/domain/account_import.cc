// Resources::ImportAccounts: an import of accounts, in the words of its own.
#include <array>
#include <utility>

#include "control/domain/failures.h"
#include "control/domain/resource_import.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::control::domain {
namespace {

// The column that a field came from.
constexpr auto kColumns = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"account.name", "account_id"},
     {"account.organization", "organization"},
     {"account.home", "store"},
     {"account.home.store", "store"},
     {"account.state", "state"}});

}  // namespace

absl::StatusOr<v1::ImportAccountsResponse> Resources::ImportAccounts(
    const Caller& caller, const v1::ImportAccountsRequest& batch) {
  const auto farm = contract::ParseResourceName(batch.parent(), contract::ResourceType::kFarm);
  if (!farm.ok()) {
    return InvalidField("parent", batch.parent(), contract::MessageOf(farm.status()));
  }
  const auto found = store_.Find(batch.parent());
  if (!found.ok() || !found->has_value()) {
    return found.ok() ? NotFound(batch.parent()) : found.status();
  }
  ImportRows rows;
  for (const v1::ImportAccountRow& from : batch.rows()) {
    v1::ImportRow& row = *rows.Add();
    row.set_line(from.line());
    v1::Account& account = *row.mutable_resource()->mutable_account();
    account.set_name(fmt::format("{}/accounts/{}", batch.parent(), from.account_id()));
    account.set_organization(from.organization());
    account.set_state(from.state());
    if (!from.store().empty()) {
      account.mutable_home()->set_store(from.store());
    }
  }
  auto imported = Import(store_, access_, caller, rows, {.validate_only = batch.validate_only()});
  if (!imported.ok()) {
    return imported.status();
  }
  v1::ImportAccountsResponse response;
  response.set_created(imported->counts().created());
  response.set_unchanged(imported->counts().unchanged() + imported->counts().updated());
  response.mutable_errors()->Swap(imported->mutable_errors());
  response.set_revision(imported->revision());
  for (v1::ImportRowError& error : *response.mutable_errors()) {
    for (const auto& [field, column] : kColumns) {
      if (error.field() == field) {
        error.set_field(std::string(column));
      }
    }
  }
  return response;
}

}  // namespace croft::control::domain
