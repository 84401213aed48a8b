#include "admin-cli/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "admin-cli/assignments.h"
#include "admin-cli/manifest_text.h"
#include "admin-cli/request.h"
#include "proto/contract/document.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/strict_reader.h"

namespace croft::admin_cli {
namespace {

using contract::DocumentNode;
using contract::ResourceType;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// "line 12: what" -> 12, and leaves "what"; 0 if there is no line.
int TakeLine(std::string_view& description) {
  constexpr std::string_view kLine = "line ";
  int line = 0;
  if (description.starts_with(kLine)) {
    const char* const end = description.data() + description.size();
    const auto [rest, error] = std::from_chars(description.data() + kLine.size(), end, line);
    if (error == std::errc() && end - rest > 2) {
      description.remove_prefix(static_cast<std::size_t>(rest - description.data()) + 2);
    }
  }
  return line;
}

bool HasEnding(std::string_view file, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return file.ends_with(ending); });
}

bool IsJson(std::string_view file, std::string_view text) {
  return HasEnding(file, {".json", ".jsonl"}) ||
         (!HasEnding(file, {".yaml", ".yml"}) && LooksLikeJson(text));
}

// Reads one document.
class DocumentReader {
 public:
  DocumentReader(const DocumentText& document, const std::string& file, std::string_view farm,
                 Manifest& manifest)
      : document_(document), file_(file), farm_(farm), manifest_(manifest) {}

  void Read() {
    contract::ViolationList violations;
    DocumentNode root = document_.json ? contract::ParseJson(document_.text, violations)
                                       : contract::ParseDocument(document_.text, violations);
    if (Refuse(violations.Take())) {
      return;
    }
    if (root.kind != DocumentNode::Kind::kMap) {
      return Refuse(1, "a document has to be a map of fields, with a type and a name");
    }
    const std::string place = At(LineOf(root));
    const Noun* noun = TakeNoun(root);
    if (noun == nullptr) {
      return;
    }
    MessagePtr resource = NewResource(*noun);
    const contract::ReadResult result =
        document_.json ? ReadStrictJson(root, *resource) : ReadStrict(root, *resource);
    if (Refuse(result.violations) || !Complete(*noun, root, *resource)) {
      return;
    }
    manifest_.items.push_back({place, noun, std::move(resource)});
  }

 private:
  // A line of the document's as a place in the file.
  std::string At(int line) const {
    return fmt::format("{}:{}", file_, std::max(line, 1) + document_.line - 1);
  }

  void Refuse(int line, std::string_view what) {
    manifest_.problems.push_back(fmt::format("{}: {}", At(line), what));
  }

  bool Refuse(const std::vector<v1::FieldViolation>& violations) {
    for (const v1::FieldViolation& violation : violations) {
      std::string_view what = violation.description();
      const int line = TakeLine(what);
      const bool says_value = violation.value().empty() ||
                              what.find('"' + violation.value() + '"') != std::string_view::npos;
      Refuse(line, fmt::format("{}{}{}{}", violation.field(), violation.field().empty() ? "" : ": ",
                               says_value ? "" : "\"" + violation.value() + "\" ", what));
    }
    return !violations.empty();
  }

  static int LineOf(const DocumentNode& root) {
    return root.members.empty() ? root.line : root.members.front().line;
  }

  static const contract::DocumentMember* Find(const DocumentNode& root, std::string_view key) {
    const auto found =
        std::find_if(root.members.begin(), root.members.end(),
                     [&](const contract::DocumentMember& member) { return member.key == key; });
    return found == root.members.end() ? nullptr : &*found;
  }

  // By the member "type", which goes, or else by the full name; null and a problem if neither
  // tells.
  const Noun* TakeNoun(DocumentNode& root) {
    const contract::DocumentMember* type = Find(root, "type");
    const contract::DocumentMember* name = Find(root, "name");
    if (type == nullptr) {
      const auto parsed = contract::ParseResourceName(name == nullptr ? "" : name->value.text);
      if (parsed.ok()) {
        return *FindNoun(contract::Facts(parsed->type).noun);
      }
      Refuse(name == nullptr ? LineOf(root) : name->line,
             "no type; say \"type: site\", or give the full name (farms/main/sites/shop)");
      return nullptr;
    }
    const int line = type->line;
    const auto noun = FindNoun(type->value.text);
    if (!noun.ok()) {
      Refuse(line, contract::MessageOf(noun.status()));
      return nullptr;
    }
    if (std::erase_if(root.members, [](const auto& member) { return member.key == "type"; }) > 1) {
      Refuse(line, "type: stands twice; remove one");
      return nullptr;
    }
    return *noun;
  }

  // Full names; what only control sets goes.
  bool Complete(const Noun& noun, const DocumentNode& root, Message& resource) {
    const std::string given = TextOf(resource, "name");
    const contract::DocumentMember* name = Find(root, "name");
    const int line = name == nullptr ? LineOf(root) : name->line;
    if (given.empty() && noun.type != ResourceType::kPlatform) {
      Refuse(line, fmt::format("a {} needs a name", noun.noun));
      return false;
    }
    const std::string full = FullName(noun, given, farm_);
    const auto parsed = contract::ParseResourceName(full, noun.type);
    if (!parsed.ok()) {
      Refuse(line, fmt::format("name: {}", contract::MessageOf(parsed.status())));
      return false;
    }
    SetString(resource, "name", contract::FormatResourceName(*parsed));
    std::vector<const FieldDescriptor*> fields;
    resource.GetReflection()->ListFields(resource, &fields);
    for (const FieldDescriptor* field : fields) {
      if (contract::RuleOf(*field).output_only()) {
        resource.GetReflection()->ClearField(&resource, field);
      }
    }
    QualifyNames(parsed->farm.empty() ? farm_ : parsed->farm, resource);
    return true;
  }

  const DocumentText& document_;
  const std::string& file_;
  const std::string_view farm_;
  Manifest& manifest_;
};

// How far an organization is below those that are not in the manifest.
int DepthOf(const std::string& name, const std::map<std::string, const Message*>& by_name) {
  constexpr int kDepthMax = 100;  // a circle ends somewhere
  int depth = 0;
  auto at = by_name.find(name);
  while (at != by_name.end() && depth < kDepthMax) {
    ++depth;
    at = by_name.find(TextOf(*at->second, "organization"));
  }
  return depth;
}

}  // namespace

void ReadManifest(std::string_view text, const std::string& file, std::string_view farm,
                  Manifest& manifest) {
  if (text.size() > kManifestBytesMax) {
    manifest.problems.push_back(
        fmt::format("{}:1: the file has {} bytes; at most 16 MiB are taken; split it, or import "
                    "it as JSON lines (croft import --help)",
                    file, text.size()));
    return;
  }
  ManifestText split = SplitManifest(text, IsJson(file, text));
  for (const std::string& problem : split.problems) {
    manifest.problems.push_back(file + ":" + problem);
  }
  for (const DocumentText& document : split.documents) {
    if (manifest.problems.size() >= kManifestProblemsMax) {
      return;
    }
    DocumentReader(document, file, farm, manifest).Read();
  }
}

int ApplyRank(ResourceType type) {
  constexpr std::array kOrder = {ResourceType::kOrganization, ResourceType::kOperator,
                                 ResourceType::kToken,        ResourceType::kPlatform,
                                 ResourceType::kFarm,         ResourceType::kStore,
                                 ResourceType::kPool,         ResourceType::kNode,
                                 ResourceType::kSite,         ResourceType::kAccount};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), type) - kOrder.begin());
}

void OrderManifest(Manifest& manifest) {
  std::map<std::string, const ManifestItem*> seen;
  std::map<std::string, const Message*> organizations;
  for (const ManifestItem& item : manifest.items) {
    const std::string name = TextOf(*item.resource, "name");
    const auto [at, is_new] = seen.emplace(name, &item);
    if (!is_new) {
      manifest.problems.push_back(
          fmt::format("{}: {} stands at {} too; remove one", item.place, name, at->second->place));
    }
    if (item.noun->type == ResourceType::kOrganization) {
      organizations.emplace(name, item.resource.get());
    }
  }
  const auto rank = [&](const ManifestItem& item) {
    const bool nested = item.noun->type == ResourceType::kOrganization;
    return std::pair(ApplyRank(item.noun->type),
                     nested ? DepthOf(TextOf(*item.resource, "name"), organizations) : 0);
  };
  std::stable_sort(manifest.items.begin(), manifest.items.end(),
                   [&](const ManifestItem& a, const ManifestItem& b) { return rank(a) < rank(b); });
}

}  // namespace croft::admin_cli
