// One minimal valid resource of each type, and a change to it: what the contract test makes of
// every type. tests/tidy fails for a type that is missing here.
#pragma once

#include <string>
#include <vector>

namespace croft::tests {

struct ContractExample {
  std::string noun;
  std::string service;   // of "croft.v1.", without "Service"
  std::string resource;  // text of the resource; $FARM and $ID are replaced
  std::string path;      // of an update mask
  std::string change;    // text of the changed field
  bool in_farm = true;
  bool is_single = false;  // there is one, always: it is read and updated only
};

inline std::vector<ContractExample> ContractExamples() {
  return {
      {.noun = "platform",
       .service = "Platform",
       .resource = "",
       .path = "settings.log.enabled",
       .change = "settings { log { enabled: false } }",
       .in_farm = false,
       .is_single = true},
      {.noun = "organization",
       .service = "Organization",
       .resource = "display_name: 'One'",
       .path = "display_name",
       .change = "display_name: 'Two'",
       .in_farm = false},
      {.noun = "farm",
       .service = "Farm",
       .resource = "",
       .path = "settings.log.enabled",
       .change = "settings { log { enabled: false } }",
       .in_farm = false},
      {.noun = "node",
       .service = "Node",
       .resource = "",
       .path = "draining",
       .change = "draining: true"},
      {.noun = "store",
       .service = "Store",
       .resource = "path: '/srv/$ID'",
       .path = "homes",
       .change = "homes { fan_out: 10 }"},
      {.noun = "pool",
       .service = "Pool",
       .resource = "",
       .path = "state",
       .change = "state: STOPPED"},
      {.noun = "site",
       .service = "Site",
       .resource = "bindings { host: '$ID.example' }",
       .path = "state",
       .change = "state: STOPPED"},
      {.noun = "account",
       .service = "Account",
       .resource = "home { store: '$FARM/stores/files' path: '$ID' }",
       .path = "state",
       .change = "state: SUSPENDED"},
      {.noun = "operator",
       .service = "Operator",
       .resource = "display_name: 'One'",
       .path = "display_name",
       .change = "display_name: 'Two'",
       .in_farm = false},
      {.noun = "token",
       .service = "Token",
       .resource = "lifetime: 3600000",
       .path = "labels.changed",
       .change = "labels { key: 'changed' value: 'yes' }",
       .in_farm = false},
  };
}

}  // namespace croft::tests
