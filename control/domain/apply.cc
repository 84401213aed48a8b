#include "control/domain/apply.h"

#include "control/domain/apply_order.h"
#include "control/domain/batch_errors.h"
#include "control/domain/failures.h"
#include "control/domain/field_ownership.h"
#include "control/domain/prune.h"
#include "control/domain/steps.h"
#include "control/domain/write.h"
#include "control/store/conflicts.h"
#include "proto/base/error.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_changes.h"
#include "proto/contract/validation.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using google::protobuf::FieldMask;
using store::StoredResource;

std::set<std::string> KeysOf(const v1::Site& site) {
  std::set<std::string> keys;
  for (const v1::Binding& binding : site.bindings()) {
    keys.insert(contract::EncodeBindingKey(contract::MakeBindingKey(binding)));
  }
  return keys;
}

// One attempt, in one transaction.
class Attempt {
 public:
  Attempt(const RuleContext& context, const v1::ApplyResourcesRequest& request,
          const std::vector<ApplyItem>& items)
      : context_(context), request_(request), items_(items) {}

  absl::StatusOr<Written> Run() {
    for (int i = 0; i < request_.resources_size(); ++i) {
      response_.add_results();
    }
    auto pruned = FindPruned(context_, request_, items_);
    absl::Status status = pruned.status();
    // A site that goes gives its bindings to those that come.
    if (status.ok()) {
      status = Prune(*pruned, false);
    }
    if (status.ok()) {
      status = FreeBindings();
    }
    for (const ApplyItem& item : items_) {
      if (status.ok()) {
        status = Locate(item, ApplyItemIn(item));
      }
    }
    if (status.ok()) {
      status = Prune(*pruned, true);
    }
    if (!status.ok()) {
      return status;
    }
    Written written{.answer = nullptr, .counts = counts_, .keeps = takes_fields_};
    *response_.mutable_counts() = counts_;
    written.answer = std::make_unique<v1::ApplyResourcesResponse>(std::move(response_));
    return written;
  }

 private:
  // The error as the request's.
  static absl::Status Locate(const ApplyItem& item, const absl::Status& status) {
    if (!ConcernsResource(status)) {
      return status;
    }
    v1::ErrorDetail detail = contract::CompleteDetail(status);
    for (v1::FieldViolation& violation : *detail.mutable_violations()) {
      violation.set_field(fmt::format("{}.{}", PlaceOf(item), violation.field()));
    }
    if (detail.resource().empty()) {
      detail.set_resource(item.name);
    }
    return contract::WithDetail(
        Error(status.code(), "{}, {}: {}", PlaceOf(item), item.name, contract::MessageOf(status)),
        detail);
  }

  // Sites exchange bindings: what one no longer has is free before another one takes it.
  absl::Status FreeBindings() {
    for (const ApplyItem& item : items_) {
      if (item.type != ResourceType::kSite) {
        continue;
      }
      const auto row = context_.transaction.FindForUpdate(item.name);
      if (!row.ok()) {
        return row.status();
      }
      v1::Site current;
      v1::Site next = static_cast<const v1::Site&>(*item.input);
      if (!row->has_value() || next.bindings().empty() || !current.ParseFromString((*row)->body)) {
        continue;
      }
      contract::Normalize(next);
      const std::set<std::string> before = KeysOf(current);
      const std::set<std::string> after = KeysOf(next);
      std::vector<std::string> kept;
      std::ranges::set_intersection(before, after, std::back_inserter(kept));
      if (kept.size() == before.size()) {
        continue;
      }
      absl::Status status = context_.transaction.SetBindings((*row)->farm_uid, (*row)->uid, kept);
      if (!status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status ApplyItemIn(const ApplyItem& item) {
    const auto row = context_.transaction.FindForUpdate(item.name);
    if (!row.ok()) {
      return row.status();
    }
    v1::AppliedResource& result = *response_.mutable_results(item.index);
    result.set_name(item.name);
    return row->has_value() ? UpdateItem(item, **row, result) : CreateItem(item, result);
  }

  absl::Status CreateItem(const ApplyItem& item, v1::AppliedResource& result) {
    if (item.type == ResourceType::kToken) {
      return NeedsSecret(item.name);
    }
    const auto prepared =
        PrepareCreation(context_.caller, item.name, *item.input, context_.options.field_manager);
    if (!prepared.ok()) {
      return prepared.status();
    }
    const auto written = CreateIn(context_, **prepared);
    if (!written.ok()) {
      return HideHolder(ConflictIfTaken(written.status(), item.name));
    }
    result.set_action("create");
    Note(contract::DiffFields(nullptr, written->answer.get()), result);
    counts_.set_created(counts_.created() + 1);
    return absl::OkStatus();
  }

  absl::Status UpdateItem(const ApplyItem& item, const StoredResource& row,
                          v1::AppliedResource& result) {
    const auto seen = context_.access.MayRead(context_.caller, row, &context_.transaction);
    if (!seen.ok() || !*seen) {
      return seen.ok() ? store::NameTaken(item.name) : seen.status();
    }
    const MessagePtr before = NewMessage(row.type);
    ParseRow(row, *before);
    const auto written = UpdateIn(context_, *item.input, MaskOf(item, *before));
    if (!written.ok()) {
      return HideHolder(written.status());
    }
    takes_fields_ = takes_fields_ || written->keeps;
    if (written->counts.updated() == 0) {
      counts_.set_unchanged(counts_.unchanged() + 1);
      return absl::OkStatus();
    }
    result.set_action("update");
    Note(contract::DiffFields(before.get(), written->answer.get()), result);
    counts_.set_updated(counts_.updated() + 1);
    return absl::OkStatus();
  }

  absl::Status HideHolder(const absl::Status& status) {
    return context_.access.HideHolder(context_.caller, status, &context_.transaction);
  }

  // What is set, and what its manager set before and has left out now.
  FieldMask MaskOf(const ApplyItem& item, const google::protobuf::Message& before) const {
    FieldMask mask = MaskOfSetFields(*item.input);
    const std::set<std::string> set(mask.paths().begin(), mask.paths().end());
    for (const std::string& path : OwnedPaths(OwnersOf(before), context_.options.field_manager)) {
      if (!set.contains(path)) {
        mask.add_paths(path);
      }
    }
    return mask;
  }

  // Of the pruned ones those that others may need, or those that none does.
  absl::Status Prune(const std::vector<StoredResource>& pruned, bool needed) {
    for (const StoredResource& row : pruned) {
      if (IsNeededByOthers(row.type) != needed) {
        continue;
      }
      // With the version that was looked at: its labels are no longer known to be these otherwise.
      const auto written = DeleteIn(context_, row.name, FormatEtag(row.change_id));
      if (absl::IsNotFound(written.status()) || absl::IsAborted(written.status())) {
        return store::Conflict(row.name);
      }
      if (!written.ok()) {
        return written.status();
      }
      v1::AppliedResource& result = *response_.add_results();
      result.set_name(row.name);
      result.set_action("delete");
      counts_.set_deleted(counts_.deleted() + 1);
    }
    return absl::OkStatus();
  }

  static void Note(const std::vector<v1::FieldChange>& changes, v1::AppliedResource& result) {
    result.mutable_changes()->Assign(changes.begin(), changes.end());
  }

  const RuleContext context_;
  const v1::ApplyResourcesRequest& request_;
  const std::vector<ApplyItem>& items_;
  v1::ApplyResourcesResponse response_;
  v1::Counts counts_;
  bool takes_fields_ = false;
};

}  // namespace

absl::StatusOr<Written> Apply(store::Store& store, Access& access, const Caller& caller,
                              const v1::ApplyResourcesRequest& request,
                              const std::string& fingerprint) {
  if (request.resources_size() > kApplyResourcesMax) {
    return InvalidField("resources", std::to_string(request.resources_size()),
                        fmt::format("are at most {} in one request; apply the others in another "
                                    "one, or import them",
                                    kApplyResourcesMax));
  }
  const auto items = OrderItems(request.resources());
  if (!items.ok()) {
    return items.status();
  }
  const WriteOptions options{.validate_only = request.validate_only(),
                             .request_id = request.request_id(),
                             .request_fingerprint = fingerprint,
                             .reason = request.reason(),
                             .field_manager = request.field_manager(),
                             .force = request.force()};
  return Write(
      store, {caller, options, v1::ApplyResourcesResponse::default_instance()},
      [&](store::Transaction& transaction) {
        return Attempt({store, transaction, caller, access, options}, request, *items).Run();
      });
}

}  // namespace croft::control::domain
