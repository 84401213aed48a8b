#include "control/domain/resource_import.h"

#include <algorithm>
#include <unordered_map>

#include "control/domain/apply_order.h"
#include "control/domain/batch_errors.h"
#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "control/domain/steps.h"
#include "control/domain/write.h"
#include "proto/base/error.h"
#include "proto/contract/any_resource.h"
#include "proto/contract/errors.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using google::protobuf::Message;
using store::StoredResource;

std::string NameField(ResourceType type) {
  return fmt::format("{}.name", contract::Facts(type).noun);
}

// A home that the account chose for itself is no matter of bulk.
bool GoesTheShortWay(ResourceType type, const Message& resource) {
  return type == ResourceType::kAccount &&
         static_cast<const v1::Account&>(resource).home().path().empty();
}

// Whether an account has what a row asks for, without reflection: most rows of a repeated import.
bool IsSoAlready(const v1::Account& wanted, const StoredResource& row) {
  v1::Account account;
  if (!wanted.home().path().empty() || !wanted.etag().empty() ||
      !account.ParseFromString(row.body)) {
    return false;
  }
  const bool same_labels = std::ranges::all_of(wanted.labels(), [&account](const auto& label) {
    const auto found = account.labels().find(label.first);
    return found != account.labels().end() && found->second == label.second;
  });
  return same_labels &&
         (wanted.organization().empty() || wanted.organization() == row.organization) &&
         (wanted.state() == v1::ACCOUNT_STATE_UNSPECIFIED || wanted.state() == account.state()) &&
         (wanted.home().store().empty() || wanted.home().store() == account.home().store());
}

}  // namespace

absl::Status ResourceImport::Run(bool look_first) {
  ReadRows();
  const bool are_all_short = std::ranges::all_of(
      rows_, [](const Row& row) { return GoesTheShortWay(row.type, *row.resource); });
  const bool looks = look_first || !are_all_short;
  Existing existing;
  if (looks) {
    auto found = FindExisting();
    if (!found.ok()) {
      return found.status();
    }
    existing = *std::move(found);
  }
  for (Row& row : rows_) {
    const auto found = existing.find(row.name);
    const bool is_new = found == existing.end();
    const absl::Status status =
        is_new && GoesTheShortWay(row.type, *row.resource)
            ? new_accounts_.Add({.line = row.line,
                                 .account = static_cast<const v1::Account*>(row.resource),
                                 .farm = std::move(row.farm),
                                 .name = std::move(row.name)})
            : WriteRow(row, is_new ? nullptr : &found->second);
    if (!status.ok()) {
      return status;
    }
  }
  return new_accounts_.Write(looks);
}

void ResourceImport::ReadRows() {
  std::unordered_map<std::string, std::int64_t> lines;  // of names already seen
  rows_.reserve(static_cast<std::size_t>(given_.size()));
  lines.reserve(rows_.capacity());
  bool is_sorted = true;
  for (const v1::ImportRow& given : given_) {
    Row row{.line = given.line()};
    if (!ReadRow(given, row)) {
      continue;
    }
    const auto [first, is_first] = lines.emplace(row.name, row.line);
    if (!is_first) {
      report_.Fail(
          row.line, NameField(row.type),
          fmt::format("\"{}\" is already on line {}; remove one of them", row.name, first->second));
      continue;
    }
    is_sorted =
        is_sorted && (rows_.empty() || CreationRank(rows_.back().type) <= CreationRank(row.type));
    rows_.push_back(std::move(row));
  }
  if (!is_sorted) {
    std::ranges::stable_sort(rows_, {}, [](const Row& row) { return CreationRank(row.type); });
  }
}

bool ResourceImport::ReadRow(const v1::ImportRow& row, Row& read) {
  read.resource = contract::Unwrap(row.resource());
  if (read.resource == nullptr) {
    report_.Fail(row.line(), "resource", "is not set; set the one of its fields that the row is");
    return false;
  }
  read.type = contract::TypeOf(*read.resource);
  const auto name = contract::ParseResourceName(GetText(*read.resource, "name"), read.type);
  if (!name.ok()) {
    report_.Fail(row.line(), NameField(read.type), contract::MessageOf(name.status()));
    return false;
  }
  read.name = contract::FormatResourceName(*name);
  read.farm = name->farm.empty() ? "" : "farms/" + name->farm;
  return true;
}

absl::StatusOr<ResourceImport::Existing> ResourceImport::FindExisting() {
  std::map<ResourceType, std::vector<std::string>> names;
  for (const Row& row : rows_) {
    names[row.type].push_back(row.name);
  }
  Existing existing;
  for (const auto& [type, of_type] : names) {
    auto rows = context_.transaction.FindMany(type, of_type);
    if (!rows.ok()) {
      return rows.status();
    }
    for (StoredResource& row : *rows) {
      std::string name = row.name;
      existing.emplace(std::move(name), std::move(row));
    }
  }
  return existing;
}

absl::StatusOr<bool> ResourceImport::Compare(const Row& row, const StoredResource& existing) {
  const auto seen = context_.access.MayRead(context_.caller, existing, &context_.transaction);
  if (!seen.ok()) {
    return seen.status();
  }
  if (!*seen) {
    report_.Fail(row.line, NameField(row.type),
                 fmt::format("{} is taken; choose another name", row.name));
    return false;
  }
  if (row.type == ResourceType::kAccount && context_.options.field_manager.empty() &&
      IsSoAlready(static_cast<const v1::Account&>(*row.resource), existing)) {
    report_.counts().set_unchanged(report_.counts().unchanged() + 1);
    return false;
  }
  const MessagePtr input = Copy(*row.resource);
  SetText(*input, "name", row.name);
  const auto plan = PlanUpdate(context_, existing, *input, {});
  if (!plan.ok() && !ConcernsResource(plan.status())) {
    return plan.status();
  }
  if (!plan.ok()) {
    report_.Fail(row.line, plan.status());
    return false;
  }
  if (!plan->changes && !plan->takes_fields) {
    report_.counts().set_unchanged(report_.counts().unchanged() + 1);
    return false;
  }
  return true;
}

absl::StatusOr<Written> ResourceImport::WriteInto(const Row& row, bool exists) {
  if (!exists && row.type == ResourceType::kToken) {
    return NeedsSecret(row.name);
  }
  if (!exists) {
    const auto prepared =
        PrepareCreation(context_.caller, row.name, *row.resource, context_.options.field_manager);
    auto created = prepared.ok() ? CreateIn(context_, **prepared) : prepared.status();
    return created.ok() ? std::move(created) : ConflictIfTaken(created.status(), row.name);
  }
  const MessagePtr input = Copy(*row.resource);
  SetText(*input, "name", row.name);
  return UpdateIn(context_, *input, {});
}

absl::Status ResourceImport::WriteRow(const Row& row, const StoredResource* existing) {
  if (existing != nullptr) {
    const auto is_to_be_written = Compare(row, *existing);
    if (!is_to_be_written.ok() || !*is_to_be_written) {
      return is_to_be_written.status();
    }
  }
  absl::StatusOr<Written> written = Written();
  const absl::Status tried = context_.transaction.Try([&] {
    written = WriteInto(row, existing != nullptr);
    return written.status();
  });
  if (!tried.ok()) {
    if (!ConcernsResource(tried) || written.ok()) {
      return tried;
    }
    report_.Fail(row.line,
                 context_.access.HideHolder(context_.caller, tried, &context_.transaction));
    return absl::OkStatus();
  }
  v1::Counts& counts = report_.counts();
  counts.set_created(counts.created() + written->counts.created());
  counts.set_updated(counts.updated() + written->counts.updated());
  counts.set_unchanged(counts.unchanged() + written->counts.unchanged());
  takes_fields_ = takes_fields_ || written->keeps;
  return absl::OkStatus();
}

namespace {

// One attempt, committed where it wrote anything; nullopt when it has to look first.
absl::StatusOr<std::optional<v1::ImportResourcesResponse>> Attempt(store::Transaction& transaction,
                                                                   const RuleContext& context,
                                                                   const ImportRows& rows,
                                                                   bool look_first) {
  ResourceImport import(context, rows);
  if (absl::Status status = import.Run(look_first); !status.ok()) {
    return status;
  }
  if (import.met_existing()) {
    return std::nullopt;
  }
  const bool changes = import.report().changes_anything();
  v1::ImportResourcesResponse response = import.report().Take();
  if (context.options.validate_only || (!changes && !import.takes_fields())) {
    return response;
  }
  const store::ChangeInfo info{.who = context.caller.who, .reason = context.options.reason};
  if (!changes) {
    const absl::Status kept = transaction.CommitAnswer(info);
    return kept.ok() ? absl::StatusOr<std::optional<v1::ImportResourcesResponse>>(response) : kept;
  }
  const auto committed = transaction.Commit(info);
  if (!committed.ok()) {
    return committed.status();
  }
  response.set_revision(committed->revision);
  return response;
}

}  // namespace

absl::StatusOr<v1::ImportResourcesResponse> Import(store::Store& store, Access& access,
                                                   const Caller& caller, const ImportRows& rows,
                                                   const WriteOptions& given) {
  constexpr int kAttemptsMax = 5;
  if (rows.size() > kImportRowsMax) {
    return InvalidField("rows", std::to_string(rows.size()),
                        fmt::format("are at most {} in one message; send the others in another "
                                    "one",
                                    kImportRowsMax));
  }
  WriteOptions options = given;
  options.reason = given.reason.empty() ? "import" : given.reason;
  absl::Status status = CheckOptions(options);
  if (!status.ok()) {
    return status;
  }
  // Most batches of accounts are all new: looking first would cost them a fifth of their time.
  bool look_first = false;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const auto transaction = store.Begin();
    if (!transaction.ok()) {
      return transaction.status();
    }
    auto response =
        Attempt(**transaction, {store, **transaction, caller, access, options}, rows, look_first);
    if (response.ok() && response->has_value()) {
      return **std::move(response);
    }
    look_first = true;
    status = response.status();
    if (!status.ok() && !IsConflict(status)) {
      return status;
    }
  }
  return status;
}

}  // namespace croft::control::domain
