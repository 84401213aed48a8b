#include "proto/contract/site_validation.h"

#include <map>
#include <set>
#include <string>

#include "proto/base/error.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/host_name.h"
#include "proto/contract/reference_rules.h"
#include "proto/contract/settings_validation.h"
#include "proto/contract/url_path.h"

namespace croft::contract {
namespace {

// Where a path or key was seen first; tells the second one about it.
class FirstSeen {
 public:
  void Check(const std::string& key, std::string_view field, std::string_view value,
             ViolationList& violations) {
    const auto [first, is_new] = fields_.emplace(key, field);
    if (!is_new) {
      violations.Add(field, value, fmt::format("is the same as {}; remove one", first->second));
    }
  }

 private:
  std::map<std::string, std::string> fields_;
};

absl::StatusOr<std::string> ParseBindingIp(std::string_view text) {
  const auto ip = ParseIp(text);
  if (!ip.ok()) {
    return ip.status();
  }
  return FormatIp(*ip);
}

void ValidateBindings(const v1::Site& site, ViolationList& violations) {
  if (site.bindings_size() > kSiteBindingsMax) {
    return;  // said by the field rules: no list is longer
  }
  FirstSeen seen;
  for (int i = 0; i < site.bindings_size(); ++i) {
    const v1::Binding& binding = site.bindings(i);
    const std::string field = fmt::format("site.bindings[{}]", i);
    const bool ip =
        CheckCanonical(field + ".ip", binding.ip(), ParseBindingIp(binding.ip()), violations);
    const bool host = CheckCanonical(field + ".host", binding.host(),
                                     ParseBindingHost(binding.host()), violations);
    const bool port = binding.port() >= 1 && binding.port() <= 65535;
    if (!port) {
      violations.Add(field + ".port", std::to_string(binding.port()), "has to be 1 to 65535");
    }
    if (ip && host && port) {
      seen.Check(EncodeBindingKey(MakeBindingKey(binding)), field, FormatBinding(binding),
                 violations);
    }
  }
}

// Prefix of a mount: "/" counts as "".
std::string Prefix(const std::string& path) { return path == "/" ? "" : path; }

void ValidateApplication(const v1::Application& application, const std::string& field,
                         const ReferenceRules& references, FirstSeen& mounts,
                         ViolationList& violations) {
  const std::string path_field = field + ".path";
  const bool has_path = CheckCanonical(path_field, application.path(),
                                       ParseConfiguredPath(application.path()), violations);
  if (has_path) {
    mounts.Check(Prefix(application.path()), path_field, application.path(), violations);
  }
  references.CheckReference(field + ".pool", application.pool(), ResourceType::kPool);
  references.CheckRoot(field + ".root", application.root());
  for (int i = 0; i < application.virtual_directories_size(); ++i) {
    const v1::VirtualDirectory& directory = application.virtual_directories(i);
    const std::string at = fmt::format("{}.virtual_directories[{}]", field, i);
    references.CheckRoot(at + ".root", directory.root());
    if (!CheckCanonical(at + ".path", directory.path(), ParseConfiguredPath(directory.path()),
                        violations)) {
      continue;
    }
    if (directory.path() == "/") {
      violations.Add(at + ".path", "/", "is the application's own root; set that instead");
    } else if (has_path) {
      mounts.Check(Prefix(application.path()) + directory.path(), at + ".path", directory.path(),
                   violations);
    }
  }
}

void ValidateHostForm(const v1::Site& site, ViolationList& violations) {
  constexpr std::string_view kField = "site.personal_pages.host_suffix";
  const std::string& suffix = site.personal_pages().host_suffix();
  if (suffix.empty()) {
    violations.Add(kField, "", "is required for the form HOST, such as \"pages.example\"");
    return;
  }
  const std::string wanted = "*." + suffix;
  for (const v1::Binding& binding : site.bindings()) {
    if (binding.host() == wanted) {
      return;
    }
  }
  violations.Add(
      kField, suffix,
      fmt::format("needs a binding of this site for \"{}\"; add *:80:{}", wanted, wanted));
}

void ValidatePersonalPages(const v1::Site& site, const ReferenceRules& references,
                           ViolationList& violations) {
  const v1::PersonalPages& pages = site.personal_pages();
  std::set<int> forms;
  for (int i = 0; i < pages.forms_size(); ++i) {
    const std::string field = fmt::format("site.personal_pages.forms[{}]", i);
    if (pages.forms(i) == v1::PERSONAL_URL_FORM_UNSPECIFIED) {
      violations.Add(field, "", "has to be PATH, TILDE or HOST");
    } else if (!forms.insert(pages.forms(i)).second) {
      violations.Add(field, v1::PersonalUrlForm_Name(pages.forms(i)), "stands twice; remove one");
    }
  }
  if (pages.forms().empty()) {
    violations.Add("site.personal_pages.forms", "", "needs at least one of PATH, TILDE and HOST");
  }
  const bool is_suffix_valid =
      pages.host_suffix().empty() ||
      CheckCanonical("site.personal_pages.host_suffix", pages.host_suffix(),
                     ParseHostName(pages.host_suffix()), violations);
  if (is_suffix_valid && forms.count(v1::HOST) != 0) {
    ValidateHostForm(site, violations);
  }
  if (!pages.pool().empty()) {
    references.CheckReference("site.personal_pages.pool", pages.pool(), ResourceType::kPool);
    return;
  }
  for (const v1::Application& application : site.applications()) {
    if (application.path() == "/") {
      return;
    }
  }
  violations.Add("site.personal_pages.pool", "",
                 "is required in a site without an application \"/\"");
}

}  // namespace

void NormalizeSite(v1::Site& site) {
  for (v1::Binding& binding : *site.mutable_bindings()) {
    if (binding.protocol() == v1::PROTOCOL_UNSPECIFIED) {
      binding.set_protocol(v1::HTTP);
    }
    if (binding.port() == 0) {
      binding.set_port(80);
    }
    Canonicalize(ParseBindingIp(binding.ip()), *binding.mutable_ip());
    Canonicalize(ParseBindingHost(binding.host()), *binding.mutable_host());
  }
  for (v1::Application& application : *site.mutable_applications()) {
    Canonicalize(ParseConfiguredPath(application.path()), *application.mutable_path());
    Canonicalize(ParseReference(application.pool(), ResourceType::kPool),
                 *application.mutable_pool());
    if (application.has_root()) {
      NormalizeRoot(*application.mutable_root());
    }
    for (v1::VirtualDirectory& directory : *application.mutable_virtual_directories()) {
      Canonicalize(ParseConfiguredPath(directory.path()), *directory.mutable_path());
      if (directory.has_root()) {
        NormalizeRoot(*directory.mutable_root());
      }
    }
  }
  if (site.has_personal_pages()) {
    v1::PersonalPages& pages = *site.mutable_personal_pages();
    Canonicalize(ParseHostName(pages.host_suffix()), *pages.mutable_host_suffix());
    Canonicalize(ParseReference(pages.pool(), ResourceType::kPool), *pages.mutable_pool());
  }
  for (v1::PathSettings& path : *site.mutable_paths()) {
    Canonicalize(ParseConfiguredPath(path.path()), *path.mutable_path());
    NormalizeSettings(*path.mutable_settings());
  }
}

void ValidateSite(const v1::Site& site, ViolationList& violations) {
  const auto name = ParseResourceName(site.name(), ResourceType::kSite);
  const ReferenceRules references(name.ok() ? name->farm : "", violations);
  ValidateBindings(site, violations);
  FirstSeen mounts;
  for (int i = 0; i < site.applications_size(); ++i) {
    ValidateApplication(site.applications(i), fmt::format("site.applications[{}]", i), references,
                        mounts, violations);
  }
  if (site.has_personal_pages()) {
    ValidatePersonalPages(site, references, violations);
  }
  FirstSeen paths;
  for (int i = 0; i < site.paths_size(); ++i) {
    const v1::PathSettings& path = site.paths(i);
    const std::string field = fmt::format("site.paths[{}]", i);
    if (CheckCanonical(field + ".path", path.path(), ParseConfiguredPath(path.path()),
                       violations)) {
      paths.Check(path.path(), field + ".path", path.path(), violations);
    }
    ValidateSettings(path.settings(), field + ".settings", violations);
  }
}

}  // namespace croft::contract
