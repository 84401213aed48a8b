#include "control/domain/account_import.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "control/domain/write.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/contract/filter.h"
#include "proto/contract/home_layout.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using provisioning::StoreRoom;
using store::StoredResource;

constexpr std::string_view kNoRoom =
    "no store of the farm has room for another home; create one with a home layout, or widen an "
    "existing one's";

v1::AccountState StateOf(v1::AccountState state) {
  return state == v1::ACCOUNT_STATE_UNSPECIFIED ? v1::ACTIVE : state;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

}  // namespace

absl::Status AccountImport::Run(bool look_first) {
  absl::Status status = FindFarm();
  if (status.ok()) {
    status = CheckRows();
  }
  if (status.ok() && look_first) {
    status = TakeOutExisting();
  }
  if (status.ok()) {
    status = PlaceHomes();
  }
  if (status.ok()) {
    status = InsertRows();
  }
  std::sort(response_.mutable_errors()->begin(), response_.mutable_errors()->end(),
            [](const auto& a, const auto& b) { return a.line() < b.line(); });
  return status;
}

absl::Status AccountImport::FindFarm() {
  const auto name = contract::ParseResourceName(batch_.parent(), ResourceType::kFarm);
  if (!name.ok()) {
    return InvalidField("parent", batch_.parent(), Message(name.status()));
  }
  farm_ = contract::FormatResourceName(*name);
  const auto farm = context_.transaction.Find(farm_);
  if (!farm.ok()) {
    return farm.status();
  }
  if (!farm->has_value()) {
    return NotFound(farm_);
  }
  farm_uid_ = (*farm)->uid;
  return absl::OkStatus();
}

void AccountImport::Fail(const v1::ImportAccountRow& row, std::string_view field,
                         std::string reason) {
  v1::ImportRowError& error = *response_.add_errors();
  error.set_line(row.line());
  error.set_field(std::string(field));
  error.set_reason(std::move(reason));
}

absl::Status AccountImport::CheckRows() {
  std::unordered_map<std::string, std::int64_t> lines;  // of names already seen
  candidates_.reserve(static_cast<std::size_t>(batch_.rows_size()));
  for (const v1::ImportAccountRow& row : batch_.rows()) {
    Candidate candidate{.row = &row};
    const auto good = CheckRow(row, candidate);
    if (!good.ok()) {
      return good.status();
    }
    if (!*good) {
      continue;
    }
    const auto [at, is_first] = lines.emplace(candidate.name, row.line());
    if (!is_first) {
      Fail(row, "account_id",
           fmt::format("\"{}\" is already on line {}; remove one of them", row.account_id(),
                       at->second));
      continue;
    }
    candidates_.push_back(std::move(candidate));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> AccountImport::CheckRow(const v1::ImportAccountRow& row,
                                             Candidate& candidate) {
  const auto id = contract::ParseResourceId(ResourceType::kAccount, row.account_id());
  if (!id.ok()) {
    Fail(row, "account_id", Message(id.status()));
    return false;
  }
  candidate.name = fmt::format("{}/accounts/{}", farm_, *id);
  candidate.organization = row.organization().empty() ? "organizations/root" : row.organization();
  if (!v1::AccountState_IsValid(row.state())) {
    Fail(row, "state",
         fmt::format("{} is no state; use ACTIVE or SUSPENDED", static_cast<int>(row.state())));
    return false;
  }
  const auto owner = FindOwner(candidate.organization);
  if (!owner.ok()) {
    return owner.status();
  }
  if (!owner->refused.empty()) {
    Fail(row, "organization", owner->refused);
    return false;
  }
  candidate.organization_uid = owner->uid;
  if (row.store().empty()) {
    return true;
  }
  if (!owner->refused_store.empty()) {
    Fail(row, "store", owner->refused_store);
    return false;
  }
  const auto store = contract::ParseResourceName(row.store(), ResourceType::kStore);
  if (!store.ok() || "farms/" + store->farm != farm_) {
    Fail(row, "store",
         store.ok() ? fmt::format("\"{}\" is not a store of {}", row.store(), farm_)
                    : Message(store.status()));
    return false;
  }
  candidate.store = contract::FormatResourceName(*store);
  return true;
}

absl::StatusOr<AccountImport::Owner> AccountImport::FindOwner(const std::string& name) {
  const auto known = owners_.find(name);
  if (known != owners_.end()) {
    return known->second;
  }
  auto owner = JudgeOwner(name);
  if (owner.ok()) {
    owners_.emplace(name, *owner);
  }
  return owner;
}

absl::StatusOr<AccountImport::Owner> AccountImport::JudgeOwner(const std::string& name) {
  const Owner missing = {
      .refused = fmt::format("\"{}\" does not exist; create it first, or name another", name)};
  if (!contract::ParseResourceName(name, ResourceType::kOrganization).ok()) {
    return missing;
  }
  const auto organization = context_.transaction.Find(name);
  if (!organization.ok()) {
    return organization.status();
  }
  if (!organization->has_value()) {
    return missing;
  }
  StoredResource account;
  account.type = ResourceType::kAccount;
  account.name = "accounts";
  account.organization_uid = (*organization)->uid;
  account.organization = name;
  Owner owner{.uid = (*organization)->uid};
  absl::Status status =
      context_.access.CheckWrite(context_.caller, account, Action::kCreate, &context_.transaction);
  if (absl::IsInvalidArgument(status)) {
    return missing;
  }
  if (absl::IsPermissionDenied(status)) {
    owner.refused = Message(status);
    return owner;
  }
  if (status.ok()) {
    status = context_.access.CheckPermission(context_.caller, account, v1::USE_FILE_STORE, "store",
                                             &context_.transaction);
  }
  if (absl::IsPermissionDenied(status)) {
    owner.refused_store = Message(status);
    return owner;
  }
  return status.ok() ? absl::StatusOr<Owner>(owner) : status;
}

absl::Status AccountImport::TakeOutExisting() {
  std::vector<std::string> names;
  names.reserve(candidates_.size());
  for (const Candidate& candidate : candidates_) {
    names.push_back(candidate.name);
  }
  const auto rows = context_.transaction.FindMany(ResourceType::kAccount, names);
  if (!rows.ok()) {
    return rows.status();
  }
  std::unordered_map<std::string_view, const StoredResource*> existing;
  for (const StoredResource& row : *rows) {
    existing.emplace(row.name, &row);
  }
  absl::Status status;
  std::erase_if(candidates_, [&](const Candidate& candidate) {
    const auto found = existing.find(candidate.name);
    if (found == existing.end()) {
      return false;
    }
    status.Update(CompareExisting(candidate, *found->second));
    return true;
  });
  return status;
}

absl::Status AccountImport::CompareExisting(const Candidate& candidate,
                                            const StoredResource& existing) {
  const auto seen = context_.access.MayRead(context_.caller, existing, &context_.transaction);
  if (!seen.ok()) {
    return seen.status();
  }
  if (!*seen) {
    Fail(*candidate.row, "account_id",
         fmt::format("{} is taken; choose another name", candidate.name));
    return absl::OkStatus();
  }
  v1::Account account;
  if (!account.ParseFromString(existing.body)) {
    Fail(*candidate.row, "account_id",
         fmt::format("{} exists, and its stored body can't be read", candidate.name));
    return absl::OkStatus();
  }
  const auto differs = [&](std::string_view field, std::string_view is, std::string_view wanted) {
    Fail(*candidate.row, field,
         fmt::format("{} exists with {} {}, not {}; an import creates accounts and changes none",
                     candidate.name, field, is, wanted));
  };
  if (existing.organization_uid != candidate.organization_uid) {
    differs("organization", existing.organization, candidate.organization);
  } else if (StateOf(account.state()) != StateOf(candidate.row->state())) {
    differs("state", v1::AccountState_Name(StateOf(account.state())),
            v1::AccountState_Name(StateOf(candidate.row->state())));
  } else if (!candidate.store.empty() && candidate.store != account.home().store()) {
    differs("store", account.home().store(), candidate.store);
  } else {
    response_.set_unchanged(response_.unchanged() + 1);
  }
  return absl::OkStatus();
}

absl::Status AccountImport::PlaceHomes() {
  std::map<std::string, std::vector<const Candidate*>> by_store;
  for (const Candidate& candidate : candidates_) {
    by_store[candidate.store].push_back(&candidate);
  }
  new_rows_.reserve(candidates_.size());
  for (const auto& [store_name, candidates] : by_store) {
    absl::Status status;
    if (store_name.empty()) {
      status = PlaceAnywhere(candidates);
    } else {
      const auto room = ReadRoom(context_, store_name, "store");
      if (room.ok()) {
        status = PlaceIn(*room, candidates);
      } else if (absl::IsInvalidArgument(room.status())) {
        for (const Candidate* candidate : candidates) {
          Fail(*candidate->row, "store", Message(room.status()));
        }
      } else {
        status = room.status();
      }
    }
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status AccountImport::PlaceAnywhere(std::vector<const Candidate*> candidates) {
  auto rooms = ReadRooms(context_, farm_uid_);
  if (!rooms.ok()) {
    return rooms.status();
  }
  while (!candidates.empty()) {
    const auto chosen = provisioning::ChooseStore(*rooms);
    if (!chosen.has_value()) {
      for (const Candidate* candidate : candidates) {
        Fail(*candidate->row, "store", std::string(kNoRoom));
      }
      return absl::OkStatus();
    }
    StoreRoom& room = (*rooms)[*chosen];
    const auto count =
        std::min<std::int64_t>(provisioning::FreeHomes(room), std::ssize(candidates));
    const auto held = ReadRoom(context_, room.name, "store");  // kept from deletion from here on
    if (!held.ok()) {
      return held.status();
    }
    const std::vector<const Candidate*> placed(candidates.end() - count, candidates.end());
    candidates.resize(candidates.size() - static_cast<std::size_t>(count));
    if (absl::Status status = PlaceIn(*held, placed); !status.ok()) {
      return status;
    }
    room.used += count;
  }
  return absl::OkStatus();
}

absl::Status AccountImport::PlaceIn(const StoreRoom& room,
                                    const std::vector<const Candidate*>& candidates) {
  const int count = static_cast<int>(candidates.size());
  const auto uids = context_.transaction.NextUids(ResourceType::kAccount, count);
  if (!uids.ok()) {
    return uids.status();
  }
  const auto first_slot = context_.transaction.TakeHomeSlots(room.uid, count);
  if (!first_slot.ok()) {
    return first_slot.status();
  }
  v1::Account account;
  for (int i = 0; i < count; ++i) {
    const Candidate& candidate = *candidates[static_cast<std::size_t>(i)];
    const std::int64_t uid = (*uids)[static_cast<std::size_t>(i)];
    auto path = contract::HomePath(room.layout, *first_slot + i, uid);
    if (!path.ok()) {
      Fail(*candidate.row, "store", fmt::format("{}: {}", room.name, Message(path.status())));
      continue;
    }
    account.set_name(candidate.name);
    account.set_organization(candidate.organization);
    account.set_state(StateOf(candidate.row->state()));
    account.mutable_home()->set_store(room.name);
    account.mutable_home()->set_path(*std::move(path));
    StoredResource& row = new_rows_.emplace_back();
    row.type = ResourceType::kAccount;
    row.uid = uid;
    row.name = candidate.name;
    row.farm_uid = farm_uid_;
    row.organization_uid = candidate.organization_uid;
    row.store_uid = room.uid;
    row.home_path = account.home().path();
    row.body = account.SerializeAsString();
    row.terms = contract::IndexTerms(account);
    new_candidates_.push_back(&candidate);
  }
  return absl::OkStatus();
}

absl::Status AccountImport::InsertRows() {
  const auto taken = context_.transaction.InsertMany(new_rows_);
  if (!taken.ok()) {
    return taken.status();
  }
  met_existing_ = !taken->empty();
  // Having looked: created by someone else since then.
  const std::unordered_set<std::string> names(taken->begin(), taken->end());
  for (const Candidate* candidate : new_candidates_) {
    if (names.contains(candidate->name)) {
      Fail(*candidate->row, "account_id",
           fmt::format("{} was created by someone else just now; import the line again to compare",
                       candidate->name));
    }
  }
  response_.set_created(std::ssize(new_rows_) - std::ssize(*taken));
  return absl::OkStatus();
}

absl::StatusOr<v1::ImportAccountsResponse> Resources::ImportAccounts(
    const Caller& caller, const v1::ImportAccountsRequest& batch) {
  constexpr int kAttemptsMax = 5;
  const WriteOptions options{.validate_only = batch.validate_only(), .reason = "import"};
  absl::Status status;
  // Most batches are all new: looking first would cost them a fifth of their time.
  bool look_first = false;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const auto transaction = store_.Begin();
    if (!transaction.ok()) {
      return transaction.status();
    }
    AccountImport import({store_, **transaction, caller, access_, options}, batch);
    status = import.Run(look_first);
    if (status.ok() && import.met_existing() && !look_first) {
      look_first = true;
      continue;
    }
    v1::ImportAccountsResponse response = import.response();
    if (status.ok() && (response.created() == 0 || batch.validate_only())) {
      return response;
    }
    if (status.ok()) {
      const auto committed = (*transaction)->Commit({.who = caller.who, .reason = options.reason});
      if (committed.ok()) {
        response.set_revision(committed->revision);
        return response;
      }
      status = committed.status();
    }
    if (!IsConflict(status)) {
      return status;
    }
  }
  return status;
}

}  // namespace croft::control::domain
