#include "control/domain/failures.h"
#include "control/domain/rules.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/contract/home_layout.h"

namespace croft::control::domain {
namespace {

using provisioning::StoreRoom;

absl::StatusOr<StoreRoom> ToRoom(const RuleContext& context, const store::StoredResource& row) {
  v1::FileStore file_store;
  if (!file_store.ParseFromString(row.body)) {
    log::Error("domain", "a store's body can't be read", {{"resource", row.name}});
    file_store.Clear();
  }
  const auto used = context.transaction.UsedHomeSlots(row.uid);
  if (!used.ok()) {
    return used.status();
  }
  return StoreRoom{row.uid, row.name, file_store.homes(), *used};
}

}  // namespace

absl::StatusOr<std::vector<StoreRoom>> ReadRooms(const RuleContext& context,
                                                 std::int64_t farm_uid) {
  const auto rows = context.transaction.FindStores(farm_uid);
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<StoreRoom> rooms;
  for (const store::StoredResource& row : *rows) {
    auto room = ToRoom(context, row);
    if (!room.ok()) {
      return room.status();
    }
    if (!room->layout.fan_out().empty()) {
      rooms.push_back(*std::move(room));
    }
  }
  return rooms;
}

absl::StatusOr<StoreRoom> ReadRoom(const RuleContext& context, const std::string& store_name,
                                   std::string_view field) {
  const auto row = context.transaction.Find(store_name);
  if (!row.ok()) {
    return row.status();
  }
  if (!row->has_value()) {
    return InvalidField(field, store_name, "does not exist; create it first, or name another");
  }
  auto room = ToRoom(context, **row);
  if (room.ok() && room->layout.fan_out().empty()) {
    return InvalidField(field, store_name,
                        "takes no accounts; give it a home layout (homes.fan_out=75,50), or name "
                        "another store");
  }
  return room;
}

absl::Status ApplyAccountRules(const RuleContext& context, v1::Account& account,
                               store::StoredResource& row) {
  if (row.store_uid != 0 && !account.home().path().empty()) {
    row.home_path = account.home().path();
    return absl::OkStatus();  // placed at creation, whatever became of the store's layout
  }
  std::string store_name = account.home().store();
  if (store_name.empty()) {
    const auto rooms = ReadRooms(context, row.farm_uid);
    if (!rooms.ok()) {
      return rooms.status();
    }
    const auto chosen = provisioning::ChooseStore(*rooms);
    if (!chosen.has_value()) {
      return Error(absl::StatusCode::kResourceExhausted,
                   "no store of the farm has room for another home; create one with a home layout "
                   "(homes.fan_out=75,50), or widen an existing one's");
    }
    store_name = (*rooms)[*chosen].name;
  }
  const auto room = ReadRoom(context, store_name, "account.home.store");
  if (!room.ok()) {
    return room.status();
  }
  row.store_uid = room->uid;
  if (!account.home().path().empty()) {  // the operator's own choice
    row.home_path = account.home().path();
    return absl::OkStatus();
  }
  const auto slot = context.transaction.TakeHomeSlots(room->uid, 1);
  if (!slot.ok()) {
    return slot.status();
  }
  auto path = contract::HomePath(room->layout, *slot, row.uid);
  if (!path.ok()) {
    return Error(path.status().code(), "{}: {}", store_name, std::string(path.status().message()));
  }
  account.mutable_home()->set_store(store_name);
  account.mutable_home()->set_path(*std::move(path));
  row.home_path = account.home().path();
  return absl::OkStatus();
}

}  // namespace croft::control::domain
