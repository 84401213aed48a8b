// A valid site to start a test from.
#pragma once

#include <string>

#include "croft/v1/site.pb.h"

namespace croft::contract {

inline void AddBinding(v1::Site& site, const std::string& host, std::uint32_t port = 80) {
  v1::Binding& binding = *site.add_bindings();
  binding.set_protocol(v1::HTTP);
  binding.set_ip("*");
  binding.set_port(port);
  binding.set_host(host);
}

inline v1::Application& AddApplication(v1::Site& site, const std::string& path,
                                       const std::string& directory) {
  v1::Application& application = *site.add_applications();
  application.set_path(path);
  application.set_pool("farms/main/pools/default");
  application.mutable_root()->set_store("farms/main/stores/s1");
  application.mutable_root()->set_path(directory);
  return application;
}

// Binding shop.example, application "/".
inline v1::Site SampleSite() {
  v1::Site site;
  site.set_name("farms/main/sites/shop");
  site.set_uid(7);
  site.set_organization("organizations/root");
  AddBinding(site, "shop.example");
  AddApplication(site, "/", "sites/shop");
  return site;
}

}  // namespace croft::contract
