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

}  // namespace

absl::Status ApplySiteRules(const RuleContext& context, const v1::Site& site, Links& links) {
  std::vector<v1::FieldViolation> violations;
  std::set<std::string> existing, missing;
  for (const Mention& mention : FindMentions(site)) {
    if (mention.name.empty() || existing.contains(mention.name)) {
      continue;
    }
    if (!missing.contains(mention.name)) {
      const auto found = context.transaction.Find(mention.name);
      if (!found.ok()) {
        return found.status();
      }
      (found->has_value() ? existing : missing).insert(mention.name);
    }
    if (missing.contains(mention.name)) {
      violations.push_back(MakeViolation(mention.field, mention.name,
                                         "does not exist; create it first, or name another"));
    }
  }
  links.references.assign(existing.begin(), existing.end());
  for (const v1::Binding& binding : site.bindings()) {
    links.bindings.push_back(contract::EncodeBindingKey(contract::MakeBindingKey(binding)));
  }
  return contract::InvalidFields(violations);
}

}  // namespace croft::control::domain
