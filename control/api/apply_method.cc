#include "control/api/apply_method.h"

#include <memory>
#include <utility>

#include "control/api/standard_methods.h"
#include "control/domain/apply.h"

namespace croft::control::api {

void AddApplyResources(store::Store& store, domain::Access& access, Methods& methods) {
  methods.Add({.descriptor = GetMethod("croft.v1.ResourceService.ApplyResources"),
               .access = Access::kOperator,
               .handler = [&store, &access](const domain::Caller& caller,
                                            const google::protobuf::Message& message,
                                            const Answer& answer) {
                 const auto& request = static_cast<const v1::ApplyResourcesRequest&>(message);
                 auto written =
                     domain::Apply(store, access, caller, request,
                                   request.request_id().empty() ? "" : Fingerprint(request));
                 if (!written.ok()) {
                   answer(written.status());
                   return;
                 }
                 answer(CallResult{.message = std::move(written->answer)});
               }});
}

}  // namespace croft::control::api
