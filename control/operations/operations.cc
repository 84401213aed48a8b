#include "control/operations/operations.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "control/domain/failures.h"
#include "control/domain/page_token.h"
#include "control/domain/write.h"
#include "control/operations/bulk_edit.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::control::operations {
namespace {

using domain::Caller;
using domain::InvalidField;
using store::StoredOperation;
using store::StoredResource;

constexpr std::string_view kCollection = "operations/";
// Rows that a call looks at to count what its filter selects; a Worker counts what is beyond them.
constexpr int kCountedAtOnce = 100'000;

absl::Status NoOperation(const std::string& name) {
  v1::ErrorDetail detail;
  detail.set_reason("NOT_FOUND");
  detail.set_resource(name);
  return contract::WithDetail(
      Error(absl::StatusCode::kNotFound,
            "{} does not exist; \"croft list operations\" shows what does (they are kept for 30 "
            "days)",
            name),
      detail);
}

std::optional<std::int64_t> ParseName(std::string_view name) {
  if (!name.starts_with(kCollection)) {
    return std::nullopt;
  }
  name.remove_prefix(kCollection.size());
  std::int64_t uid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  const bool is_whole = error == std::errc() && end == name.data() + name.size();
  return is_whole && uid > 0 ? std::optional(uid) : std::nullopt;
}

domain::MessagePtr ToMessage(const v1::Operation& operation) {
  return std::make_unique<v1::Operation>(operation);
}

StoredOperation Describe(const Caller& caller, const v1::UpdateResourcesRequest& request,
                         bool deletes, const domain::WriteOptions& options) {
  StoredOperation operation;
  operation.deletes = deletes;
  operation.request = request.SerializeAsString();
  operation.token_uid = caller.token_uid;
  for (const contract::ResourceTypeFacts& facts : contract::AllResourceTypes()) {
    if (facts.noun == request.type()) {
      operation.shown.set_kind(
          fmt::format("{} {}", deletes ? "delete" : "update", facts.collection));
    }
  }
  operation.shown.set_state(v1::Operation::QUEUED);
  operation.shown.set_who(caller.who);
  operation.shown.set_reason(options.reason);
  return operation;
}

// What the first items would say; to be dropped with the transaction.
absl::StatusOr<v1::Operation> Preview(BulkEdit& edit, store::Transaction& transaction,
                                      StoredOperation operation) {
  if (!operation.counting) {
    const auto batch = edit.Read(operation);
    if (!batch.ok()) {
      return batch.status();
    }
    if (auto tried = edit.Apply(transaction, *batch, operation); !tried.ok()) {
      return tried.status();
    }
  }
  operation.shown.clear_done();
  return operation.shown;
}

absl::StatusOr<v1::Operation> Insert(store::Transaction& transaction, StoredOperation operation) {
  const auto uid = transaction.NextUid(contract::ResourceType::kPlatform);
  if (!uid.ok()) {
    return uid.status();
  }
  operation.uid = *uid;
  if (absl::Status status = transaction.InsertOperation(operation); !status.ok()) {
    return status;
  }
  operation.shown.set_uid(*uid);
  operation.shown.set_name(fmt::format("{}{}", kCollection, *uid));
  return operation.shown;
}

}  // namespace

absl::StatusOr<std::optional<StoredResource>> Operations::FindOperator(const Caller& caller) {
  return caller.operator_name.empty() ? absl::StatusOr<std::optional<StoredResource>>(std::nullopt)
                                      : store_.Find(caller.operator_name);
}

absl::StatusOr<v1::Operation> Operations::Start(const Caller& caller,
                                                v1::UpdateResourcesRequest request, bool deletes,
                                                const domain::WriteOptions& options) {
  if (absl::Status status = CheckRequest(deletes, request); !status.ok()) {
    return status;
  }
  const auto owner = FindOperator(caller);
  if (!owner.ok()) {
    return owner.status();
  }
  if (!owner->has_value()) {
    return Error(absl::StatusCode::kUnauthenticated,
                 "an operation has the rights of an operator and its token; call with one");
  }
  StoredOperation operation = Describe(caller, request, deletes, options);
  operation.operator_uid = (*owner)->uid;
  operation.organization_uid = (*owner)->organization_uid;
  auto edit = BulkEdit::Open(store_, access_, caller, operation);
  if (!edit.ok()) {
    return edit.status();
  }
  const v1::Operation prototype;
  bool counted = false;
  const auto written = domain::Write(
      store_, {caller, options, prototype},
      [&](store::Transaction& transaction) -> absl::StatusOr<domain::Written> {
        if (!counted) {
          if (absl::Status status = edit->Count(kCountedAtOnce, operation); !status.ok()) {
            return status;
          }
          counted = true;
        }
        const auto answer = options.validate_only ? Preview(*edit, transaction, operation)
                                                  : Insert(transaction, operation);
        if (!answer.ok()) {
          return answer.status();
        }
        return domain::Written{.answer = ToMessage(*answer), .counts = {}, .keeps = true};
      });
  if (!written.ok()) {
    return written.status();
  }
  const auto& answer = static_cast<const v1::Operation&>(*written->answer);
  if (options.validate_only) {
    return answer;
  }
  auto found = store_.FindOperation(answer.uid());
  if (!found.ok()) {
    return found.status();
  }
  return found->has_value() ? (*found)->shown : answer;
}

absl::StatusOr<bool> Operations::IsOwn(const Caller& caller, const StoredOperation& operation) {
  const auto self = FindOperator(caller);
  if (!self.ok()) {
    return self.status();
  }
  return self->has_value() && (*self)->uid == operation.operator_uid;
}

absl::StatusOr<StoredOperation> Operations::Find(const Caller& caller, const std::string& name) {
  const auto uid = ParseName(name);
  if (!uid.has_value()) {
    return NoOperation(name);
  }
  auto found = store_.FindOperation(*uid);
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    return NoOperation(name);
  }
  auto may = IsOwn(caller, **found);
  if (may.ok() && !*may) {
    const auto place =
        store_.FindByUid(contract::ResourceType::kOrganization, (*found)->organization_uid);
    may = !place.ok()           ? absl::StatusOr<bool>(place.status())
          : !place->has_value() ? absl::StatusOr<bool>(false)
                                : access_.MayRead(caller, **place);
  }
  if (!may.ok()) {
    return may.status();
  }
  return *may ? absl::StatusOr<StoredOperation>(**std::move(found)) : NoOperation(name);
}

absl::StatusOr<v1::ListOperationsResponse> Operations::List(
    const Caller& caller, const v1::ListOperationsRequest& request) {
  constexpr int kPageDefault = 100;
  constexpr int kPageMax = 1000;
  if (request.page_size() < 0) {
    return InvalidField("page_size", std::to_string(request.page_size()), "has to be 0 to 1000");
  }
  const std::string list = fmt::format("operations {}", request.running());
  const auto cursor = domain::ParsePageToken(list, request.page_token());
  if (!cursor.ok()) {
    return cursor.status();
  }
  const auto self = FindOperator(caller);
  if (!self.ok()) {
    return self.status();
  }
  store::OperationQuery query;
  std::from_chars(cursor->data(), cursor->data() + cursor->size(), query.before_uid);
  query.limit = request.page_size() == 0 ? kPageDefault : std::min(request.page_size(), kPageMax);
  query.running = request.running();
  query.within =
      domain::Access::VisibleOrganizations(caller, contract::ResourceType::kOrganization);
  query.operator_uid = self->has_value() ? (*self)->uid : 0;
  auto operations = store_.ListOperations(query);
  if (!operations.ok()) {
    return operations.status();
  }
  v1::ListOperationsResponse response;
  for (StoredOperation& operation : *operations) {
    operation.shown.clear_errors();
    response.add_operations()->Swap(&operation.shown);
  }
  if (std::ssize(*operations) == query.limit) {
    response.set_next_page_token(
        domain::MakePageToken(list, std::to_string(operations->back().uid)));
  }
  return response;
}

absl::Status Operations::CheckCancel(const Caller& caller, const StoredOperation& operation) {
  const auto own = IsOwn(caller, operation);
  if (!own.ok() || *own) {
    return own.status();
  }
  const auto place =
      store_.FindByUid(contract::ResourceType::kOrganization, operation.organization_uid);
  if (!place.ok()) {
    return place.status();
  }
  return place->has_value() ? access_.CheckWrite(caller, **place, domain::Action::kUpdate)
                            : NoOperation(operation.shown.name());
}

absl::StatusOr<v1::Operation> Operations::Cancel(const Caller& caller, const std::string& name,
                                                 const domain::WriteOptions& options) {
  auto found = Find(caller, name);
  if (!found.ok()) {
    return found.status();
  }
  if (absl::Status status = CheckCancel(caller, *found); !status.ok()) {
    return status;
  }
  const std::string by =
      options.reason.empty() ? caller.who : fmt::format("{}: {}", caller.who, options.reason);
  const bool is_under_way = found->shown.state() < v1::Operation::SUCCEEDED;
  const v1::Operation prototype;
  const auto written = domain::Write(
      store_, {caller, options, prototype},
      [&](store::Transaction& transaction) -> absl::StatusOr<domain::Written> {
        if (absl::Status status = transaction.AskToCancel(found->uid, by); !status.ok()) {
          return status;
        }
        v1::Operation answer = found->shown;
        answer.set_cancel_asked(answer.cancel_asked() || is_under_way);
        return domain::Written{.answer = ToMessage(answer), .counts = {}, .keeps = true};
      });
  if (!written.ok()) {
    return written.status();
  }
  if (options.validate_only) {
    return static_cast<const v1::Operation&>(*written->answer);
  }
  found = Find(caller, name);
  return found.ok() ? absl::StatusOr<v1::Operation>(found->shown) : found.status();
}

}  // namespace croft::control::operations
