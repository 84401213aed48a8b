#include <algorithm>
#include <map>
#include <set>

#include "control/domain/failures.h"
#include "control/domain/rules.h"
#include "proto/base/error.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/errors.h"

namespace croft::control::domain {
namespace {

// A name in the site and where it stands.
struct Mention {
  std::string field;
  std::string name;
};

std::vector<Mention> FindMentions(const v1::Site& site) {
  std::vector<Mention> mentions;
  for (int i = 0; i < site.applications_size(); ++i) {
    const v1::Application& application = site.applications(i);
    const std::string field = fmt::format("site.applications[{}]", i);
    mentions.push_back({field + ".pool", application.pool()});
    mentions.push_back({field + ".root.store", application.root().store()});
    for (int j = 0; j < application.virtual_directories_size(); ++j) {
      mentions.push_back({fmt::format("{}.virtual_directories[{}].root.store", field, j),
                          application.virtual_directories(j).root().store()});
    }
  }
  mentions.push_back({"site.personal_pages.pool", site.personal_pages().pool()});
  return mentions;
}

// Why a site of row's owner can't use the pool or store of this name; empty if it can. A pool
// serves its organization and those below it; a store is named by permission.
absl::StatusOr<std::string> WhyUnusable(const RuleContext& context,
                                        const store::StoredResource& row, const std::string& name) {
  const std::string missing = "does not exist; create it first, or name another";
  const auto found = context.transaction.Find(name);
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    return missing;
  }
  const store::StoredResource& used = **found;
  if (used.type != contract::ResourceType::kPool || used.organization_uid == row.organization_uid) {
    return std::string();
  }
  const auto path =
      context.access.FindPath(row.organization_uid, row.organization, &context.transaction);
  if (!path.ok()) {
    return path.status();
  }
  if (std::ranges::find(*path, used.organization_uid) != path->end()) {
    return std::string();
  }
  const auto seen = context.access.MayRead(context.caller, used, &context.transaction);
  if (!seen.ok()) {
    return seen.status();
  }
  return *seen ? fmt::format(
                     "is a pool of {}, which serves the sites of that organization and of "
                     "those below it; name another",
                     used.organization)
               : missing;
}

}  // namespace

absl::Status ApplySiteRules(const RuleContext& context, const v1::Site& site,
                            const store::StoredResource& row, Links& links) {
  std::vector<v1::FieldViolation> violations;
  std::set<std::string> existing;
  std::map<std::string, std::string> unusable;  // and why
  for (const Mention& mention : FindMentions(site)) {
    if (mention.name.empty() || existing.contains(mention.name)) {
      continue;
    }
    if (!unusable.contains(mention.name)) {
      const auto why = WhyUnusable(context, row, mention.name);
      if (!why.ok()) {
        return why.status();
      }
      if (why->empty()) {
        existing.insert(mention.name);
        continue;
      }
      unusable[mention.name] = *why;
    }
    violations.push_back(MakeViolation(mention.field, mention.name, unusable[mention.name]));
  }
  links.references.assign(existing.begin(), existing.end());
  for (const v1::Binding& binding : site.bindings()) {
    links.bindings.push_back(contract::EncodeBindingKey(contract::MakeBindingKey(binding)));
  }
  return contract::InvalidFields(violations);
}

}  // namespace croft::control::domain
