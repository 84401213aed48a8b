#include "control/api/operation_methods.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

#include "control/api/standard_methods.h"
#include "control/api/visibility.h"

namespace croft::control::api {
namespace {

using domain::Caller;

constexpr std::int64_t kWaitDefaultMs = 30'000;
constexpr std::int64_t kWaitMostMs = 3'600'000;

template <typename Request>
domain::WriteOptions OptionsOf(const Request& request) {
  domain::WriteOptions options{.validate_only = request.validate_only(),
                               .request_id = request.request_id(),
                               .reason = request.reason()};
  if (!options.request_id.empty()) {
    options.request_fingerprint = Fingerprint(request);
  }
  return options;
}

// Whoever may see an operation need not see everything that its operator saw.
absl::StatusOr<v1::Operation> Show(Visibility visibility, v1::Operation operation) {
  google::protobuf::RepeatedPtrField<v1::OperationError> errors;
  errors.Swap(operation.mutable_errors());
  for (v1::OperationError& error : errors) {
    const auto may = visibility.MayRead(error.name());
    if (!may.ok()) {
      return may.status();
    }
    if (*may) {
      operation.add_errors()->Swap(&error);
    }
  }
  return operation;
}

// A deletion is kept as an update of nothing.
v1::UpdateResourcesRequest AsUpdate(const v1::DeleteResourcesRequest& request) {
  v1::UpdateResourcesRequest update;
  update.set_type(request.type());
  update.set_parent(request.parent());
  update.set_filter(request.filter());
  update.set_expect_count(request.expect_count());
  return update;
}

using ShowTo =
    std::function<absl::StatusOr<v1::Operation>(const Caller&, absl::StatusOr<v1::Operation>)>;

absl::StatusOr<v1::Operation> ShownOf(const absl::StatusOr<store::StoredOperation>& operation) {
  return operation.ok() ? absl::StatusOr<v1::Operation>(operation->shown) : operation.status();
}

// Holds no thread while it waits.
void Wait(const OperationParts& parts, const ShowTo& show, const Caller& caller,
          const v1::WaitOperationRequest& request, const Answer& answer) {
  const auto found = parts.operations.Find(caller, request.name());
  if (!found.ok()) {
    answer(found.status());
    return;
  }
  const std::int64_t asked = request.timeout_ms() <= 0 ? kWaitDefaultMs : request.timeout_ms();
  const absl::Status status = parts.waits.Add(
      found->uid, std::chrono::milliseconds(std::min(asked, kWaitMostMs)),
      [show, caller, answer](const absl::StatusOr<store::StoredOperation>& operation) {
        auto shown = show(caller, ShownOf(operation));
        if (!shown.ok()) {
          answer(shown.status());
          return;
        }
        answer(CallResult{.message = std::make_unique<v1::Operation>(*std::move(shown))});
      });
  if (!status.ok()) {
    answer(status);
  }
}

}  // namespace

void AddOperationMethods(store::Store& store, domain::Access& access, const OperationParts& parts,
                         Methods& methods) {
  const ShowTo show = [&store, &access](const Caller& caller,
                                        absl::StatusOr<v1::Operation> operation) {
    return operation.ok() ? Show(Visibility(store, access, caller), *std::move(operation))
                          : operation;
  };
  const auto start = [parts, show](const Caller& caller, const v1::UpdateResourcesRequest& request,
                                   bool deletes, const domain::WriteOptions& options) {
    auto started = parts.operations.Start(caller, request, deletes, options);
    parts.runner.Wake();
    return show(caller, std::move(started));
  };
  methods.AddCustom<v1::UpdateResourcesRequest>(
      "croft.v1.ResourceService.UpdateResources", Access::kOperator,
      [start](const Caller& caller, const v1::UpdateResourcesRequest& request) {
        return start(caller, request, false, OptionsOf(request));
      });
  methods.AddCustom<v1::DeleteResourcesRequest>(
      "croft.v1.ResourceService.DeleteResources", Access::kOperator,
      [start](const Caller& caller, const v1::DeleteResourcesRequest& request) {
        return start(caller, AsUpdate(request), true, OptionsOf(request));
      });
  methods.AddCustom<v1::GetOperationRequest>(
      "croft.v1.OperationService.GetOperation", Access::kOperator,
      [parts, show](const Caller& caller, const v1::GetOperationRequest& request) {
        const auto found = parts.operations.Find(caller, request.name());
        return show(caller,
                    found.ok() ? absl::StatusOr<v1::Operation>(found->shown) : found.status());
      });
  methods.AddCustom<v1::ListOperationsRequest>(
      "croft.v1.OperationService.ListOperations", Access::kOperator,
      [parts](const Caller& caller, const v1::ListOperationsRequest& request) {
        return parts.operations.List(caller, request);
      });
  methods.AddCustom<v1::CancelOperationRequest>(
      "croft.v1.OperationService.CancelOperation", Access::kOperator,
      [parts, show](const Caller& caller, const v1::CancelOperationRequest& request) {
        auto cancelled = parts.operations.Cancel(caller, request.name(), OptionsOf(request));
        parts.runner.Wake();
        return show(caller, std::move(cancelled));
      });
  methods.Add(
      {.descriptor = GetMethod("croft.v1.OperationService.WaitOperation"),
       .access = api::Access::kOperator,
       .handler = [parts, show](const Caller& caller, const google::protobuf::Message& request,
                                const Answer& answer) {
         Wait(parts, show, caller, static_cast<const v1::WaitOperationRequest&>(request), answer);
       }});
}

}  // namespace croft::control::api
