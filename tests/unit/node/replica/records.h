// Builders of records for tests of the replica and of what writes it.
#pragma once

#include <string>
#include <vector>

#include "croft/node/v1/feed.pb.h"
#include "croft/v1/account.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/contract/binding_rules.h"

namespace croft::node::replica {

inline std::string SiteBody(const std::string& id, const std::vector<std::string>& hosts) {
  croft::v1::Site site;
  site.set_name("farms/main/sites/" + id);
  site.set_organization("organizations/root");
  for (const std::string& host : hosts) {
    croft::v1::Binding binding;
    binding.set_host(host);
    *site.add_bindings() = *contract::NormalizeBinding(binding);
  }
  return site.SerializeAsString();
}

inline v1::Record ARecord(v1::RecordType type, std::int64_t uid, std::int64_t revision,
                          std::string body) {
  v1::Record record;
  record.set_type(type);
  record.set_uid(uid);
  record.set_revision(revision);
  record.set_body(std::move(body));
  return record;
}

inline v1::Record ASite(std::int64_t uid, std::int64_t revision, const std::string& id,
                        const std::vector<std::string>& hosts = {}) {
  return ARecord(v1::SITE, uid, revision, SiteBody(id, hosts));
}

inline v1::Record ADeletion(v1::RecordType type, std::int64_t uid, std::int64_t revision) {
  v1::Record record = ARecord(type, uid, revision, {});
  record.set_deleted(true);
  return record;
}

inline std::string BindingKeyOf(const std::string& host) {
  croft::v1::Binding binding;
  binding.set_host(host);
  return contract::EncodeBindingKey(contract::MakeBindingKey(*contract::NormalizeBinding(binding)));
}

}  // namespace croft::node::replica
