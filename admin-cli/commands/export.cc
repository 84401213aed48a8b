// croft export: resources as the documents that croft apply takes, what others name first.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "admin-cli/invocation.h"
#include "admin-cli/list_pages.h"
#include "admin-cli/manifest.h"
#include "admin-cli/request.h"
#include "admin-cli/subject.h"
#include "proto/base/error.h"
#include "proto/contract/strict_reader.h"

namespace croft::admin_cli {
namespace {

using contract::ResourceType;

// The types named, or all but tokens, in the order in which they can be applied.
absl::StatusOr<std::vector<const Noun*>> TypesOf(const Invocation& invocation) {
  std::vector<std::string> named = invocation.names;
  if (!invocation.type.empty()) {
    named.insert(named.begin(), invocation.type);
  }
  std::vector<const Noun*> nouns;
  for (const std::string& name : named) {
    const auto noun = FindNoun(name);
    if (!noun.ok()) {
      return noun.status();
    }
    if (std::find(nouns.begin(), nouns.end(), *noun) == nouns.end()) {
      nouns.push_back(*noun);
    }
  }
  if (nouns.empty()) {
    for (const Noun& noun : AllNouns()) {
      if (noun.type != ResourceType::kToken) {  // nobody would ever see the new one's secret
        nouns.push_back(&noun);
      }
    }
  }
  std::sort(nouns.begin(), nouns.end(),
            [](const Noun* a, const Noun* b) { return ApplyRank(a->type) < ApplyRank(b->type); });
  return nouns;
}

// Line breaks and indentation stand between members only.
std::string OneLine(const std::string& json) {
  std::string line;
  bool at_margin = false;
  for (const char c : json) {
    at_margin = c == '\n' || (at_margin && c == ' ');
    line += at_margin ? "" : std::string(1, c);
  }
  return line + "\n";
}

class Exporter {
 public:
  Exporter(ApiClient& client, const Invocation& invocation, std::string filter)
      : client_(client), invocation_(invocation), filter_(std::move(filter)) {}

  absl::Status Export(const Noun& noun) {
    if (noun.type == ResourceType::kPlatform) {
      return ExportPlatform(noun);
    }
    ListQuery query;
    query.farm = invocation_.farm;
    query.filter = filter_;
    Manifest organizations;
    const bool nested = noun.type == ResourceType::kOrganization;
    const auto status = ListPages(client_, noun, query, [&](std::vector<MessagePtr> page) {
      for (MessagePtr& resource : page) {
        if (nested) {
          organizations.items.push_back({"", &noun, std::move(resource)});
        } else if (IsWanted(noun, *resource)) {
          Print(noun, *resource);
        }
      }
    });
    OrderManifest(organizations);
    for (const ManifestItem& item : organizations.items) {
      Print(noun, *item.resource);
    }
    return status;
  }

  std::int64_t count() const { return count_; }

 private:
  absl::Status ExportPlatform(const Noun& noun) {
    if (!filter_.empty()) {
      return absl::OkStatus();  // it is no member of a list to be filtered
    }
    const MessagePtr request = NewRequest("Get", noun);
    SetString(*request, "name", "platform");
    const MessagePtr platform = NewResource(noun);
    const auto status = client_.Call(MethodOf("Get", noun), *request, *platform);
    if (status.ok()) {
      Print(noun, *platform);
    }
    return status;
  }

  // Of the farms, the one that is exported.
  bool IsWanted(const Noun& noun, const google::protobuf::Message& resource) const {
    return noun.type != ResourceType::kFarm || invocation_.farm == "-" ||
           FarmOf(TextOf(resource, "name")) == invocation_.farm;
  }

  void Print(const Noun& noun, google::protobuf::Message& resource) {
    SetString(resource, "etag", "");
    ++count_;
    const std::string type(noun.noun);
    if (invocation_.format == Format::kName) {
      Put(TextOf(resource, "name") + "\n");
    } else if (invocation_.format == Format::kJson || invocation_.format == Format::kJsonLines) {
      std::string json = contract::WriteJson(resource, false);
      json.insert(1, "\n  \"type\": \"" + type + "\",");
      Put(invocation_.format == Format::kJson ? json : OneLine(json));
    } else {
      Put("---\ntype: " + type + "\n" + contract::WriteYaml(resource, false));
    }
  }

  ApiClient& client_;
  const Invocation& invocation_;
  const std::string filter_;
  std::int64_t count_ = 0;
};

}  // namespace

ExitCode ExportResources(ApiClient& client, const Invocation& invocation) {
  const auto nouns = TypesOf(invocation);
  if (!nouns.ok()) {
    return Fail(nouns.status());
  }
  auto filter = FilterOf(invocation.filter, invocation.selector);
  if (!filter.ok()) {
    return Fail(filter.status());
  }
  Exporter exporter(client, invocation, *std::move(filter));
  for (const Noun* noun : *nouns) {
    if (auto status = exporter.Export(*noun); !status.ok()) {
      return Fail(status);
    }
  }
  if (exporter.count() == 0) {
    std::fprintf(stderr, "nothing to export\n");
  }
  return ExitCode::kDone;
}

}  // namespace croft::admin_cli
