#include "control/domain/prune.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "control/domain/batch_errors.h"
#include "control/domain/failures.h"
#include "control/domain/row_filter.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/label_rules.h"
#include "proto/contract/string_map.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using contract::StringEntries;
using store::StoredResource;

constexpr int kRowsAtOnce = 1000;
constexpr int kNamesShown = 5;

absl::StatusOr<StringEntries> ParseSelector(const std::string& text) {
  const auto labels = contract::ParseStringEntries(text);
  if (!labels.ok()) {
    return InvalidField("prune_selector", text, contract::MessageOf(labels.status()));
  }
  contract::ViolationList violations;
  contract::CheckLabels(*labels, "prune_selector", violations);
  const absl::Status status = contract::InvalidFields(violations.Take());
  return status.ok() ? labels : status;
}

// labels.app = "shop" AND labels.tier = "web"
std::string FilterOf(const StringEntries& labels) {
  std::string filter;
  for (const auto& [key, value] : labels) {
    filter += fmt::format("{}labels.{} = \"", filter.empty() ? "" : " AND ", key);
    for (const char c : value) {
      filter += c == '"' || c == '\\' ? "\\" : "";
      filter += c;
    }
    filter += '"';
  }
  return filter;
}

bool HasLabels(const StoredResource& row, const StringEntries& wanted) {
  const MessagePtr message = NewMessage(row.type);
  ParseRow(row, *message);
  const StringEntries labels = contract::LabelsOf(*message);
  return std::ranges::all_of(wanted, [&labels](const auto& entry) {
    const auto found = labels.find(entry.first);
    return found != labels.end() && found->second == entry.second;
  });
}

// Types and farms that the request applies to; no farm for types outside of farms.
struct Scope {
  std::set<ResourceType> types;
  std::set<std::string> farms;
};

Scope ScopeOf(const std::vector<ApplyItem>& items) {
  Scope scope;
  for (const ApplyItem& item : items) {
    scope.types.insert(item.type);
    const auto name = contract::ParseResourceName(item.name);
    if (name.ok() && !name->farm.empty()) {
      scope.farms.insert("farms/" + name->farm);
    }
  }
  scope.types.erase(ResourceType::kPlatform);
  return scope;
}

class Search {
 public:
  Search(const RuleContext& context, const std::vector<ApplyItem>& items, StringEntries labels)
      : context_(context), labels_(std::move(labels)), filter_(FilterOf(labels_)) {
    for (const ApplyItem& item : items) {
      applied_.insert(item.name);
    }
  }

  absl::Status Add(ResourceType type, std::int64_t farm_uid) {
    auto filter = RowFilter::Parse(filter_, type, context_.store, context_.access);
    if (!filter.ok()) {
      return filter.status();
    }
    store::ListQuery query{.type = type,
                           .farm_uid = farm_uid,
                           .limit = kRowsAtOnce,
                           .filter = filter->query(),
                           .within = Access::VisibleOrganizations(context_.caller, type)};
    for (int count = kRowsAtOnce; count == kRowsAtOnce;) {
      const auto rows = context_.store.List(query);
      if (!rows.ok()) {
        return rows.status();
      }
      count = static_cast<int>(rows->size());
      for (const StoredResource& row : *rows) {
        query.after_name = row.name;
        query.after_uid = row.uid;
        if (absl::Status status = Look(row); !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  std::vector<StoredResource> Take() { return std::move(found_); }

 private:
  absl::Status Look(const StoredResource& row) {
    if (applied_.contains(row.name) || row.name == "organizations/root" ||
        !HasLabels(row, labels_)) {
      return absl::OkStatus();
    }
    if (std::ssize(found_) == kApplyResourcesMax) {
      return InvalidField("prune_selector", filter_,
                          fmt::format("selects more than {} resources to prune; delete them "
                                      "otherwise, or select fewer",
                                      kApplyResourcesMax));
    }
    found_.push_back(row);
    return absl::OkStatus();
  }

  const RuleContext& context_;
  const StringEntries labels_;
  const std::string filter_;
  std::unordered_set<std::string> applied_;
  std::vector<StoredResource> found_;
};

absl::Status CheckCount(const v1::ApplyResourcesRequest& request,
                        const std::vector<StoredResource>& found) {
  const std::int64_t expected = request.expect_pruned();
  if (expected == std::ssize(found) || (expected == 0 && request.validate_only())) {
    return absl::OkStatus();
  }
  std::string names;
  for (int i = 0; i < std::min(kNamesShown, static_cast<int>(found.size())); ++i) {
    names += fmt::format("{}{}", i == 0 ? ": " : ", ", found[static_cast<std::size_t>(i)].name);
  }
  names += std::ssize(found) > kNamesShown ? ", ..." : "";
  return CountMismatch(
      fmt::format("pruning by \"{}\" deletes {} resources, not {}{}; see what it deletes with "
                  "--dry-run, and if that is right, expect {} (--expect-pruned)",
                  request.prune_selector(), found.size(), expected, names, found.size()));
}

}  // namespace

absl::StatusOr<std::vector<StoredResource>> FindPruned(const RuleContext& context,
                                                       const v1::ApplyResourcesRequest& request,
                                                       const std::vector<ApplyItem>& items) {
  std::vector<StoredResource> found;
  if (!request.prune_selector().empty()) {
    auto labels = ParseSelector(request.prune_selector());
    if (!labels.ok()) {
      return labels.status();
    }
    Search search(context, items, *std::move(labels));
    const Scope scope = ScopeOf(items);
    std::vector<std::int64_t> farms;
    for (const std::string& name : scope.farms) {
      const auto farm = context.transaction.Find(name);
      if (!farm.ok()) {
        return farm.status();
      }
      if (farm->has_value()) {
        farms.push_back((*farm)->uid);
      }
    }
    for (const ResourceType type : scope.types) {
      for (const std::int64_t farm :
           contract::Facts(type).in_farm ? farms : std::vector<std::int64_t>{0}) {
        if (absl::Status status = search.Add(type, farm); !status.ok()) {
          return status;
        }
      }
    }
    found = search.Take();
  }
  if (absl::Status status = CheckCount(request, found); !status.ok()) {
    return status;
  }
  // An organization below another one was made later.
  std::ranges::sort(found, std::greater(), [](const StoredResource& row) {
    return std::pair(CreationRank(row.type), row.uid);
  });
  return found;
}

}  // namespace croft::control::domain
