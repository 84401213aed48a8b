// Which settings a worker already knows by number on one connection: at most
// link::kSettingsNumbers, the least recently used is defined anew.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "croft/v1/settings.pb.h"

namespace croft::node::listener {

class SettingsTable {
 public:
  struct Key {
    std::int64_t store_uid = 0;
    std::shared_ptr<const croft::v1::Settings>
        settings;  // one object per version of a path layer, or of what many sites share
    bool operator==(const Key&) const = default;
  };
  struct Use {
    std::uint32_t number = 0;
    bool define = false;  // the worker has to be told what the number means
  };

  explicit SettingsTable(std::uint32_t numbers) : numbers_(numbers) {}

  Use Find(const Key& key);

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Entry {
    Key key;
    std::uint32_t newer = kNone;
    std::uint32_t older = kNone;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };

  void Unlink(std::uint32_t number);
  void PutNewest(std::uint32_t number);

  const std::uint32_t numbers_;
  std::vector<Entry> entries_;
  boost::unordered_flat_map<Key, std::uint32_t, Hash> by_key_;
  std::uint32_t newest_ = kNone;
  std::uint32_t oldest_ = kNone;
};

}  // namespace croft::node::listener
