// What nodes need beyond the standard methods: join tokens, enrolment, and a node's status, which
// is not stored with it.
#pragma once

#include "control/api/methods.h"
#include "control/api/standard_methods.h"
#include "control/domain/resources.h"
#include "control/identity/authority.h"
#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::api {

struct NodeParts {
  store::Store& store;
  domain::Resources& resources;
  const identity::Authority& authority;
  const Clock& clock;
};

void AddNodeMethods(const NodeParts& parts, Methods& methods);

// Puts the marks of the store into nodes' status.
Decorate MakeNodeStatusDecorator(store::Store& store, const Clock& clock);

}  // namespace croft::control::api
