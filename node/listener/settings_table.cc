#include "node/listener/settings_table.h"

namespace croft::node::listener {

std::size_t SettingsTable::Hash::operator()(const Key& key) const {
  const auto address = reinterpret_cast<std::uintptr_t>(key.settings.get());
  return (address >> 4) ^ (static_cast<std::size_t>(key.store_uid) * 0x9e3779b97f4a7c15ULL);
}

SettingsTable::Use SettingsTable::Find(const Key& key) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    const std::uint32_t number = found->second;
    if (number != newest_) {
      Unlink(number);
      PutNewest(number);
    }
    return {number, false};
  }
  std::uint32_t number = 0;
  if (entries_.size() < numbers_) {
    number = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    number = oldest_;
    Unlink(number);
    by_key_.erase(entries_[number].key);
  }
  entries_[number].key = key;
  by_key_.emplace(key, number);
  PutNewest(number);
  return {number, true};
}

void SettingsTable::Unlink(std::uint32_t number) {
  Entry& entry = entries_[number];
  (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
  (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
  entry.newer = entry.older = kNone;
}

void SettingsTable::PutNewest(std::uint32_t number) {
  entries_[number].older = newest_;
  if (newest_ != kNone) {
    entries_[newest_].newer = number;
  }
  newest_ = number;
  if (oldest_ == kNone) {
    oldest_ = number;
  }
}

}  // namespace croft::node::listener
