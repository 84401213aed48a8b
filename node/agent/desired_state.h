// What the replica says this node should be running: pools, endpoints, whether it drains. Kept up
// to date key by key, so that the cost of a change depends on the change. Supervision thread only.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "node/agent/endpoint_key.h"
#include "node/agent/pool_plan.h"
#include "node/replica/reader.h"
#include "proto/contract/binding_rules.h"

namespace croft::node::agent {

// Where bindings listen on this node. `prefixes`: (port, ip) as Reader::ListEndpoints gives them;
// `addresses`: what "*" means here; `is_local`: whether an address is one of the machine's. A
// binding to an address that is neither local nor listed is another node's.
std::set<EndpointKey> PlanEndpoints(std::span<const std::string> prefixes,
                                    const std::vector<std::string>& addresses,
                                    const std::function<bool(const contract::IpBytes&)>& is_local);

// The ip's of bindings, as bindings name them, that are not served when `key` cannot be listened
// on.
std::vector<std::string> BindingIpsOf(const EndpointKey& key,
                                      const std::vector<std::string>& addresses);

// The machine's addresses now.
std::set<contract::IpBytes> ReadLocalAddresses();

class DesiredState {
 public:
  DesiredState(std::vector<std::string> addresses, std::string node_name)
      : addresses_(std::move(addresses)), node_name_(std::move(node_name)) {}

  // Reads everything. A record that cannot be read keeps what was known of it; data_loss is
  // returned after all else was read.
  absl::Status Load(const replica::Reader& reader);
  // Reads again what the keys can have changed; returns the uids of pools that are not as before.
  absl::Status Update(const replica::Reader& reader, std::span<const v1::RecordKey> keys,
                      std::set<std::int64_t>& changed_pools);
  absl::Status LoadEndpoints(const replica::Reader& reader);
  void set_node_name(std::string name) { node_name_ = std::move(name); }

  const std::map<std::int64_t, PoolSpec>& pools() const { return pools_; }
  const std::set<EndpointKey>& endpoints() const { return endpoints_; }
  bool draining() const { return draining_; }
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  absl::Status LoadPool(const replica::Reader& reader, std::int64_t uid,
                        std::set<std::int64_t>& changed_pools);
  absl::Status LoadNode(const replica::Reader& reader);

  const std::vector<std::string> addresses_;
  std::string node_name_;
  std::map<std::int64_t, PoolSpec> pools_;
  std::set<EndpointKey> endpoints_;
  bool draining_ = false;
};

}  // namespace croft::node::agent
