#include "control/api/all_methods.h"

#include "control/api/apply_method.h"
#include "control/api/change_methods.h"
#include "control/api/custom_methods.h"
#include "control/api/event_stream.h"
#include "control/api/import_stream.h"
#include "control/api/node_methods.h"
#include "control/api/standard_methods.h"
#include "control/api/watch_stream.h"

namespace croft::control::api {

Methods BuildMethods(const ApiParts& parts) {
  Methods methods;
  const Decorators decorators = {
      {contract::ResourceType::kNode, MakeNodeStatusDecorator(parts.store, parts.clock)}};
  for (const google::protobuf::ServiceDescriptor* service : AllServices()) {
    AddStandardMethods(*service, parts.resources, decorators, methods);
  }
  AddNodeMethods({.store = parts.store,
                  .resources = parts.resources,
                  .authority = parts.authority,
                  .clock = parts.clock},
                 methods);
  AddApplyResources(parts.store, parts.resources.access(), methods);
  AddSiteMethods(parts.store, parts.resources.access(), methods);
  AddChangeMethods(parts.store, parts.resources.access(), parts.feed, methods);
  AddReportMethods(parts.store, parts.resources.access(), parts.reports, methods);
  AddOperationMethods(parts.store, parts.resources.access(), parts.operations, methods);
  return methods;
}

StreamMethods BuildStreamMethods(const ApiParts& parts) {
  StreamMethods streams;
  AddImports(parts.store, parts.resources, streams);
  AddWatchResources(parts.store, parts.resources.access(), parts.clock, streams);
  AddWatchEvents(parts.store, parts.resources.access(), streams);
  return streams;
}

}  // namespace croft::control::api
