// The whole methods table: the standard methods of every resource, and the others; and the streams.
#pragma once

#include "control/api/methods.h"
#include "control/api/operation_methods.h"
#include "control/api/stream_methods.h"
#include "control/domain/resources.h"
#include "control/feed/feed.h"
#include "control/identity/authority.h"
#include "control/reports/reports.h"
#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::api {

// All outlive the table.
struct ApiParts {
  store::Store& store;
  domain::Resources& resources;
  feed::Feed& feed;
  reports::Reports& reports;
  OperationParts operations;
  const identity::Authority& authority;
  const Clock& clock;
};

Methods BuildMethods(const ApiParts& parts);
StreamMethods BuildStreamMethods(const ApiParts& parts);

}  // namespace croft::control::api
