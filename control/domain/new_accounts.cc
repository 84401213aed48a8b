#include "control/domain/new_accounts.h"

#include <algorithm>
#include <unordered_set>

#include "control/domain/failures.h"
#include "control/domain/field_ownership.h"
#include "control/domain/resource_message.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/filter.h"
#include "proto/contract/home_layout.h"
#include "proto/contract/label_rules.h"

namespace croft::control::domain {
namespace {

using contract::MessageOf;
using contract::ResourceType;
using provisioning::StoreRoom;
using store::StoredResource;

constexpr std::string_view kNameField = "account.name";
constexpr std::string_view kStoreField = "account.home.store";
constexpr std::string_view kNoRoom =
    "no store of the farm has room for another home; create one with a home layout, or widen an "
    "existing one's";

// What is wrong with the account by itself, beside its name.
absl::Status Judge(const v1::Account& account) {
  contract::ViolationList violations;
  if (!v1::AccountState_IsValid(account.state())) {
    violations.Add("account.state", std::to_string(account.state()),
                   "is no state; use ACTIVE or SUSPENDED");
  }
  if (!account.labels().empty()) {
    contract::CheckLabels({account.labels().begin(), account.labels().end()}, "account.labels",
                          violations);
  }
  return contract::InvalidFields(violations.Take());
}

}  // namespace

void NewAccounts::Fail(const Candidate& candidate, std::string_view field,
                       std::string_view reason) {
  report_.Fail(candidate.row.line, field, reason);
}

absl::Status NewAccounts::Add(AccountRow row) {
  const v1::Account& account = *row.account;
  const auto farm = FindFarm(row.farm);
  if (!farm.ok()) {
    return farm.status();
  }
  if (*farm == 0) {
    report_.Fail(row.line, kNameField,
                 fmt::format("{} does not exist; create it first, or name another", row.farm));
    return absl::OkStatus();
  }
  if (const absl::Status status = Judge(account); !status.ok()) {
    report_.Fail(row.line, status);
    return absl::OkStatus();
  }
  Candidate candidate;
  candidate.farm_uid = *farm;
  candidate.organization =
      account.organization().empty() ? "organizations/root" : account.organization();
  const auto owner = FindOwner(candidate.organization);
  if (!owner.ok()) {
    return owner.status();
  }
  if (!owner->refused.empty()) {
    report_.Fail(row.line, "account.organization", owner->refused);
    return absl::OkStatus();
  }
  candidate.organization_uid = owner->uid;
  if (account.home().store().empty() || ReadStore(row, *owner, candidate)) {
    candidate.row = std::move(row);
    candidates_.push_back(std::move(candidate));
  }
  return absl::OkStatus();
}

bool NewAccounts::ReadStore(const AccountRow& row, const Owner& owner, Candidate& candidate) {
  if (!owner.refused_store.empty()) {
    report_.Fail(row.line, kStoreField, owner.refused_store);
    return false;
  }
  const std::string& given = row.account->home().store();
  const auto store = contract::ParseResourceName(given, ResourceType::kStore);
  if (!store.ok() || "farms/" + store->farm != row.farm) {
    report_.Fail(row.line, kStoreField,
                 store.ok() ? fmt::format("\"{}\" is not a store of {}", given, row.farm)
                            : std::string(MessageOf(store.status())));
    return false;
  }
  candidate.store = contract::FormatResourceName(*store);
  return true;
}

absl::StatusOr<std::int64_t> NewAccounts::FindFarm(const std::string& name) {
  if (const auto known = farms_.find(name); known != farms_.end()) {
    return known->second;
  }
  const auto farm = context_.transaction.Find(name);
  if (!farm.ok()) {
    return farm.status();
  }
  return farms_[name] = farm->has_value() ? (*farm)->uid : 0;
}

absl::StatusOr<NewAccounts::Owner> NewAccounts::FindOwner(const std::string& name) {
  if (const auto known = owners_.find(name); known != owners_.end()) {
    return known->second;
  }
  auto owner = JudgeOwner(name);
  if (owner.ok()) {
    owners_.emplace(name, *owner);
  }
  return owner;
}

absl::StatusOr<NewAccounts::Owner> NewAccounts::JudgeOwner(const std::string& name) {
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
    owner.refused = std::string(MessageOf(status));
    return owner;
  }
  if (status.ok()) {
    status = context_.access.CheckPermission(context_.caller, account, v1::USE_FILE_STORE, "store",
                                             &context_.transaction);
  }
  if (absl::IsPermissionDenied(status)) {
    owner.refused_store = std::string(MessageOf(status));
    return owner;
  }
  return status.ok() ? absl::StatusOr<Owner>(owner) : status;
}

absl::Status NewAccounts::Write(bool are_new) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<const Candidate*>> by_store;
  for (const Candidate& candidate : candidates_) {
    by_store[{candidate.farm_uid, candidate.store}].push_back(&candidate);
  }
  for (const auto& [place, candidates] : by_store) {
    if (absl::Status status = Place(place.first, place.second, candidates); !status.ok()) {
      return status;
    }
  }
  return Insert(are_new);
}

absl::Status NewAccounts::Place(std::int64_t farm_uid, const std::string& store,
                                std::vector<const Candidate*> candidates) {
  if (store.empty()) {
    return PlaceAnywhere(farm_uid, std::move(candidates));
  }
  const auto room = ReadRoom(context_, store, kStoreField);
  if (room.ok()) {
    return PlaceIn(*room, candidates);
  }
  if (!absl::IsInvalidArgument(room.status())) {
    return room.status();
  }
  for (const Candidate* candidate : candidates) {
    Fail(*candidate, kStoreField, MessageOf(room.status()));
  }
  return absl::OkStatus();
}

absl::Status NewAccounts::PlaceAnywhere(std::int64_t farm_uid,
                                        std::vector<const Candidate*> candidates) {
  auto rooms = ReadRooms(context_, farm_uid);
  if (!rooms.ok()) {
    return rooms.status();
  }
  while (!candidates.empty()) {
    const auto chosen = provisioning::ChooseStore(*rooms);
    if (!chosen.has_value()) {
      for (const Candidate* candidate : candidates) {
        Fail(*candidate, kStoreField, kNoRoom);
      }
      return absl::OkStatus();
    }
    StoreRoom& room = (*rooms)[*chosen];
    const auto count =
        std::min<std::int64_t>(provisioning::FreeHomes(room), std::ssize(candidates));
    const auto held = ReadRoom(context_, room.name, kStoreField);  // kept from deletion from here
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

absl::Status NewAccounts::PlaceIn(const StoreRoom& room,
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
  std::vector<NewRow>& rows = new_rows_[candidates.front()->farm_uid];
  rows.reserve(rows.size() + candidates.size());
  for (int i = 0; i < count; ++i) {
    const Candidate& candidate = *candidates[static_cast<std::size_t>(i)];
    const std::int64_t uid = (*uids)[static_cast<std::size_t>(i)];
    auto path = contract::HomePath(room.layout, *first_slot + i, uid);
    if (!path.ok()) {
      Fail(candidate, kStoreField, fmt::format("{}: {}", room.name, MessageOf(path.status())));
      continue;
    }
    rows.push_back({&candidate, ToRow(candidate, room, uid, *std::move(path))});
  }
  return absl::OkStatus();
}

StoredResource NewAccounts::ToRow(const Candidate& candidate, const StoreRoom& room,
                                  std::int64_t uid, std::string path) const {
  const v1::Account& given = *candidate.row.account;
  v1::Account account;
  account.set_name(candidate.row.name);
  account.set_organization(candidate.organization);
  account.set_state(given.state() == v1::ACCOUNT_STATE_UNSPECIFIED ? v1::ACTIVE : given.state());
  account.mutable_home()->set_store(room.name);
  account.mutable_home()->set_path(std::move(path));
  StoredResource row;
  if (!given.labels().empty()) {
    *account.mutable_labels() = given.labels();
  }
  if (!context_.options.field_manager.empty()) {
    const absl::Status taken = TakeFields({.manager = context_.options.field_manager},
                                          MaskOfSetFields(given), v1::Account(), account);
    row.owners = taken.ok() ? FormatOwners(OwnersOf(account)) : "";
    account.clear_field_owners();
  }
  row.type = ResourceType::kAccount;
  row.uid = uid;
  row.name = candidate.row.name;
  row.farm_uid = candidate.farm_uid;
  row.organization_uid = candidate.organization_uid;
  row.organization = candidate.organization;
  row.store_uid = room.uid;
  row.home_path = account.home().path();
  row.body = account.SerializeAsString();
  row.terms = contract::IndexTerms(account);
  return row;
}

absl::Status NewAccounts::Insert(bool are_new) {
  std::int64_t created = 0;
  for (auto& [farm, rows] : new_rows_) {
    std::vector<StoredResource> stored;
    stored.reserve(rows.size());
    for (NewRow& row : rows) {
      stored.push_back(std::move(row.row));
    }
    const auto taken = context_.transaction.InsertMany(stored);
    if (!taken.ok()) {
      return taken.status();
    }
    created += std::ssize(stored) - std::ssize(*taken);
    met_existing_ = met_existing_ || (!are_new && !taken->empty());
    const std::unordered_set<std::string> names(taken->begin(), taken->end());
    for (const NewRow& row : rows) {
      if (!names.empty() && names.contains(row.candidate->row.name)) {
        Fail(*row.candidate, kNameField,
             fmt::format("{} was created by someone else just now; import the line again",
                         row.candidate->row.name));
      }
    }
  }
  report_.counts().set_created(report_.counts().created() + created);
  return absl::OkStatus();
}

}  // namespace croft::control::domain
