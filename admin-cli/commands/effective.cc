// describe --effective: the settings in force for an object, and the level each comes from.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "admin-cli/field_list.h"
#include "admin-cli/field_meaning.h"
#include "admin-cli/invocation.h"
#include "admin-cli/request.h"
#include "croft/v1/settings.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/base/error.h"
#include "proto/comments/api_comments.h"
#include "proto/contract/field_path.h"
#include "proto/contract/settings_rules.h"

namespace croft::admin_cli {
namespace {

constexpr auto kUsage = absl::StatusCode::kUnimplemented;

using Values = std::vector<v1::EffectiveValue>;

absl::StatusOr<MessagePtr> Fetch(ApiClient& client, const Noun& noun, const std::string& name) {
  const MessagePtr request = NewRequest("Get", noun);
  SetString(*request, "name", name);
  MessagePtr resource = NewResource(noun);
  if (auto status = client.Call(MethodOf("Get", noun), *request, *resource); !status.ok()) {
    return status;
  }
  return resource;
}

const v1::Settings* SettingsOf(const google::protobuf::Message& resource) {
  const auto* field = resource.GetDescriptor()->FindFieldByName("settings");
  return field == nullptr ? nullptr
                          : dynamic_cast<const v1::Settings*>(
                                &resource.GetReflection()->GetMessage(resource, field));
}

// The levels above an object: the platform's and its farm's. One that the caller may not see is
// said and left out.
class Levels {
 public:
  absl::Status Add(ApiClient& client, const char* noun, const std::string& name) {
    auto level = Fetch(client, **FindNoun(noun), name);
    if (absl::IsNotFound(level.status()) || absl::IsPermissionDenied(level.status())) {
      Say(fmt::format("the settings of {} are not yours to see and left out", name));
      return absl::OkStatus();
    }
    if (!level.ok()) {
      return level.status();
    }
    AddOwn(name, *SettingsOf(**level));
    resources_.push_back(*std::move(level));
    return absl::OkStatus();
  }

  // `settings` outlives this.
  void AddOwn(const std::string& origin, const v1::Settings& settings) {
    layers_.push_back({origin, &settings});
  }
  void DropLast() { layers_.pop_back(); }
  Values Explain() const { return contract::ExplainSettings(layers_); }

 private:
  std::vector<MessagePtr> resources_;
  std::vector<contract::SettingsLayer> layers_;
};

absl::StatusOr<Values> Inherited(ApiClient& client, const Noun& noun,
                                 const google::protobuf::Message& resource) {
  const std::string name = TextOf(resource, "name");
  Levels levels;
  absl::Status status;
  if (noun.noun != "platform") {
    status = levels.Add(client, "platform", "platform");
  }
  if (status.ok() && contract::Facts(noun.type).in_farm) {
    status = levels.Add(client, "farm", "farms/" + FarmOf(name));
  }
  if (!status.ok()) {
    return status;
  }
  if (const v1::Settings* own = SettingsOf(resource); own != nullptr) {
    levels.AddOwn(name, *own);
  }
  Values values = levels.Explain();
  const auto* site = dynamic_cast<const v1::Site*>(&resource);
  for (int i = 0; site != nullptr && i < site->paths_size(); ++i) {
    // What differs below the path.
    const std::string origin = name + site->paths(i).path();
    levels.AddOwn(origin, site->paths(i).settings());
    for (v1::EffectiveValue& value : levels.Explain()) {
      if (value.origin() == origin) {
        value.set_path(fmt::format("{} ({} and below)", value.path(), site->paths(i).path()));
        values.push_back(std::move(value));
      }
    }
    levels.DropLast();
  }
  return values;
}

// A type that inherits nothing: what the object sets, else the default that the API documents.
absl::StatusOr<Values> Own(const google::protobuf::Message& resource) {
  const auto list = ListFields(*resource.GetDescriptor(), "");
  if (!list.ok()) {
    return list.status();
  }
  const comments::ApiComments comments;
  Values values;
  for (const FieldLine& line : list->settable) {
    if (line.path == "name" || line.path == "etag" || line.path.find('[') != std::string::npos ||
        line.path.ends_with(".KEY")) {
      continue;
    }
    v1::EffectiveValue value;
    value.set_path(line.path);
    value.set_value(contract::GetField(resource, line.path).value_or(""));
    value.set_origin(TextOf(resource, "name"));
    if (value.value().empty()) {
      value.set_value(DefaultOf(*line.field, comments));
      value.set_origin("default");
    }
    values.push_back(std::move(value));
  }
  return values;
}

ExitCode Print(const Values& values, const Invocation& invocation) {
  if (ItemPrinter::Prints(invocation.format)) {
    ItemPrinter items(invocation.format);
    for (const v1::EffectiveValue& value : values) {
      items.Print(value, value.path());
    }
    items.Finish();
    return ExitCode::kDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const v1::EffectiveValue& value : values) {
    rows.push_back({value.path(), value.value().empty() ? "-" : value.value(), value.origin()});
  }
  return PrintTable({"SETTING", "VALUE", "FROM"}, rows, invocation, "no setting");
}

}  // namespace

ExitCode DescribeEffective(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  const bool platform = (*noun)->type == contract::ResourceType::kPlatform;
  if (invocation.names.size() != 1 && !(platform && invocation.names.empty())) {
    return Fail(Error(kUsage,
                      "describe --effective wants one name: croft describe site shop "
                      "--effective"));
  }
  const std::string name =
      platform ? "platform" : FullName(**noun, invocation.names[0], invocation.farm);
  const auto resource = Fetch(client, **noun, name);
  if (!resource.ok()) {
    return Fail(resource.status());
  }
  // An account's pages have the settings of the site that shows them, below those of the farm.
  const bool inherits = SettingsOf(**resource) != nullptr || (*noun)->noun == "account";
  const auto values = inherits ? Inherited(client, **noun, **resource) : Own(**resource);
  if (!values.ok()) {
    return Fail(values.status());
  }
  if ((*noun)->noun == "account") {
    Say("the site that shows the pages adds its own settings: croft explain url "
        "http://HOST/~" +
        std::string(ShortName(name)) + "/");
  }
  return Print(*values, invocation);
}

}  // namespace croft::admin_cli
