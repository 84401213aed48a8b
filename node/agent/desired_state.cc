#include "node/agent/desired_state.h"

#include <arpa/inet.h>
#include <ifaddrs.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "croft/v1/node.pb.h"
#include "proto/base/error.h"

namespace croft::node::agent {
namespace {

constexpr std::size_t kEndpointPrefixBytes = 2 + 16;

bool IsAny(const contract::IpBytes& ip) { return ip == contract::IpBytes{}; }

std::optional<contract::IpBytes> ToIp(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address == nullptr) {
    return std::nullopt;
  }
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::copy_n(reinterpret_cast<const char*>(address), sizeof v4, reinterpret_cast<char*>(&v4));
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::copy_n(reinterpret_cast<const char*>(address), sizeof v6, reinterpret_cast<char*>(&v6));
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  }
  const auto ip = contract::ParseIp(text);
  return ip.ok() ? std::optional(*ip) : std::nullopt;
}

bool HasIpv6(const std::set<contract::IpBytes>& addresses) {
  return std::ranges::any_of(addresses, [](const contract::IpBytes& ip) {
    return contract::FormatIp(ip).find(':') != std::string::npos;
  });
}

void AddAny(std::uint16_t port, const std::vector<std::string>& addresses,
            std::set<EndpointKey>& endpoints) {
  for (const std::string& address : addresses) {
    const auto ip = contract::ParseIp(address);
    if (!ip.ok()) {
      continue;
    }
    if (IsAny(*ip)) {
      endpoints.insert({"0.0.0.0", port});
      endpoints.insert({"::", port});
    } else {
      endpoints.insert({contract::FormatIp(*ip), port});
    }
  }
}

}  // namespace

std::set<EndpointKey> PlanEndpoints(std::span<const std::string> prefixes,
                                    const std::vector<std::string>& addresses,
                                    const std::function<bool(const contract::IpBytes&)>& is_local) {
  const auto is_listed = [&](const contract::IpBytes& ip) {
    return std::ranges::any_of(addresses, [&](const std::string& address) {
      const auto listed = contract::ParseIp(address);
      return listed.ok() && *listed == ip;
    });
  };
  std::set<EndpointKey> endpoints;
  for (const std::string& prefix : prefixes) {
    if (prefix.size() != kEndpointPrefixBytes) {
      continue;
    }
    const auto key = contract::DecodeBindingKey(prefix);
    if (!key.ok()) {
      continue;
    }
    if (IsAny(key->ip)) {
      AddAny(key->port, addresses, endpoints);
    } else if (is_listed(key->ip) || is_local(key->ip)) {
      endpoints.insert({contract::FormatIp(key->ip), key->port});
    }
  }
  return endpoints;
}

std::vector<std::string> BindingIpsOf(const EndpointKey& key,
                                      const std::vector<std::string>& addresses) {
  std::vector<std::string> ips;
  std::set<EndpointKey> of_any;
  AddAny(key.port, addresses, of_any);
  if (of_any.contains(key)) {
    ips.emplace_back("*");
  }
  if (const auto ip = contract::ParseIp(key.ip); ip.ok() && !IsAny(*ip) && key.ip != "0.0.0.0") {
    ips.push_back(contract::FormatIp(*ip));
  }
  return ips;
}

std::set<contract::IpBytes> ReadLocalAddresses() {
  std::set<contract::IpBytes> local;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    return local;
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (const auto ip = ToIp(entry->ifa_addr); ip.has_value()) {
      local.insert(*ip);
    }
  }
  return local;
}

absl::Status DesiredState::Load(const replica::Reader& reader) {
  std::map<std::int64_t, PoolSpec> pools;
  absl::Status status =
      reader.ForEach(v1::POOL, [&](std::int64_t uid, const replica::Reader::Found& record) {
        croft::v1::ApplicationPool pool;
        if (pool.ParseFromString(record.body)) {
          pools.emplace(uid, MakePoolSpec(uid, pool));
        }
        return true;
      });
  if (status.ok()) {
    pools_ = std::move(pools);
  } else {
    pools_.merge(pools);  // what could be read, and what was known
  }
  status.Update(LoadNode(reader));
  status.Update(LoadEndpoints(reader));
  return status;
}

absl::Status DesiredState::Update(const replica::Reader& reader,
                                  std::span<const v1::RecordKey> keys,
                                  std::set<std::int64_t>& changed_pools) {
  absl::Status status;
  bool sites = false;
  bool nodes = false;
  for (const v1::RecordKey& key : keys) {
    if (key.type() == v1::POOL) {
      status.Update(LoadPool(reader, key.uid(), changed_pools));
    }
    sites = sites || key.type() == v1::SITE;
    nodes = nodes || key.type() == v1::NODE;
  }
  if (nodes) {
    status.Update(LoadNode(reader));
  }
  if (sites) {
    status.Update(LoadEndpoints(reader));
  }
  return status;
}

absl::Status DesiredState::LoadPool(const replica::Reader& reader, std::int64_t uid,
                                    std::set<std::int64_t>& changed_pools) {
  const auto found = reader.FindRecord({v1::POOL, uid});
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    if (pools_.erase(uid) > 0) {
      changed_pools.insert(uid);
    }
    return absl::OkStatus();
  }
  croft::v1::ApplicationPool pool;
  if (!pool.ParseFromString((*found)->body)) {
    return Error(absl::StatusCode::kDataLoss, "pool {} in the replica is no ApplicationPool", uid);
  }
  const PoolSpec spec = MakePoolSpec(uid, pool);
  const auto [entry, inserted] = pools_.try_emplace(uid, spec);
  if (inserted || entry->second != spec) {
    entry->second = spec;
    changed_pools.insert(uid);
  }
  return absl::OkStatus();
}

absl::Status DesiredState::LoadNode(const replica::Reader& reader) {
  if (node_name_.empty()) {
    return absl::OkStatus();
  }
  const auto found = reader.FindRecordByName(v1::NODE, node_name_);
  if (!found.ok()) {
    return found.status();
  }
  croft::v1::Node node;
  if (found->has_value() && !node.ParseFromString((*found)->body)) {
    return Error(absl::StatusCode::kDataLoss, "{} in the replica is no Node", node_name_);
  }
  draining_ = node.draining();
  return absl::OkStatus();
}

absl::Status DesiredState::LoadEndpoints(const replica::Reader& reader) {
  const auto prefixes = reader.ListEndpoints();
  if (!prefixes.ok()) {
    return prefixes.status();
  }
  const std::set<contract::IpBytes> local = ReadLocalAddresses();
  endpoints_ = PlanEndpoints(*prefixes, addresses_,
                             [&](const contract::IpBytes& ip) { return local.contains(ip); });
  if (!HasIpv6(local)) {  // nobody can come by it
    std::erase_if(endpoints_, [](const EndpointKey& key) { return key.ip == "::"; });
  }
  return absl::OkStatus();
}

}  // namespace croft::node::agent
