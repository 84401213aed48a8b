// Sites ready to route by, and where bindings lead: what one loop has looked up in the replica,
// bounded by bytes, least recently used first to go. One loop only.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/contract/routing.h"

namespace croft::node::listener {

class SiteCache {
 public:
  SiteCache(std::size_t bytes_max, std::size_t bindings_max)
      : bytes_max_(bytes_max), bindings_max_(bindings_max) {}

  // Null when it is not here.
  std::shared_ptr<const contract::ResolvedSite> FindSite(std::int64_t uid);
  void PutSite(std::shared_ptr<const contract::ResolvedSite> site, std::size_t bytes);

  // nullopt: not here; 0: known to lead nowhere.
  std::optional<std::int64_t> FindBinding(std::string_view encoded_key) const;
  void PutBinding(std::string_view encoded_key, std::int64_t site_uid);

  void DropBinding(std::string_view encoded_key);
  void ClearBindings();

  // The site goes, and the bindings known to lead to it.
  void DropSite(std::int64_t uid);
  void Clear();

  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::shared_ptr<const contract::ResolvedSite> site;
    std::size_t bytes = 0;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Order = std::list<Entry>;

  void Erase(Order::iterator entry);

  const std::size_t bytes_max_;
  const std::size_t bindings_max_;
  std::size_t bytes_ = 0;
  Order order_;  // most recently used first
  boost::unordered_flat_map<std::int64_t, Order::iterator> sites_;
  boost::unordered_flat_map<std::string, std::int64_t, Hash, std::equal_to<>> bindings_;
  boost::unordered_flat_map<std::int64_t, std::vector<std::string>> keys_of_sites_;
};

}  // namespace croft::node::listener
