#include <cstdio>
#include <string>
#include <vector>

#include "admin-cli/invocation.h"
#include "croft/v1/site.pb.h"
#include "proto/base/error.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/strict_reader.h"

namespace croft::admin_cli {
namespace {

void Line(const char* title, const std::string& value) {
  if (!value.empty()) {
    std::printf("%-14s %s\n", title, value.c_str());
  }
}

std::vector<std::vector<std::string>> SettingRows(const v1::ExplainUrlResponse& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& setting : answer.settings()) {
    rows.push_back(
        {setting.path(), setting.value().empty() ? "-" : setting.value(), setting.origin()});
  }
  return rows;
}

void PrintAnswer(const v1::ExplainUrlResponse& answer) {
  Line("answer", answer.status() == 0 ? "a worker of the pool answers"
                                      : std::to_string(answer.status()) + ": " + answer.reason());
  if (answer.has_binding()) {
    Line("binding", contract::FormatBinding(answer.binding()));
  }
  for (const auto& shadowed : answer.shadowed()) {
    Line("  shadows", contract::FormatBinding(shadowed.binding()) + "  of " + shadowed.site());
  }
  Line("site", answer.site());
  Line("application", answer.application());
  Line("virtual dir", answer.virtual_directory());
  Line("account", answer.account());
  Line("pool", answer.pool());
  if (answer.has_root()) {
    Line("root", answer.root().store() + ":" + answer.root().path());
  }
  Line("file", answer.file());
  Line("on the node", answer.node_path());
  const auto settings = SettingRows(answer);
  std::vector<std::vector<std::string>> nodes;
  for (const auto& node : answer.nodes()) {
    nodes.push_back({node.node(), node.connection(), std::to_string(node.applied_revision()),
                     std::to_string(node.serving_revision())});
  }
  if (!settings.empty()) {
    std::printf("\n");
    TablePrinter({"SETTING", "VALUE", "FROM"}, Format::kTable).Print(settings);
  }
  if (!nodes.empty()) {
    std::printf("\n");
    TablePrinter({"NODE", "CONNECTION", "APPLIED", "SERVING"}, Format::kTable).Print(nodes);
  }
}

}  // namespace

ExitCode ExplainUrl(ApiClient& client, const Invocation& invocation) {
  if (invocation.type != "url" || invocation.names.size() + invocation.assignments.size() != 1) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "explain wants \"url http://host/path\": see croft explain --help"));
  }
  v1::ExplainUrlRequest request;
  request.set_farm("farms/" + invocation.farm);
  // A URL with "=" in its query looks like an assignment.
  request.set_url(invocation.names.empty() ? invocation.assignments[0] : invocation.names[0]);
  request.set_ip(invocation.ip);
  v1::ExplainUrlResponse answer;
  if (auto status = client.Call("SiteService/ExplainUrl", request, answer); !status.ok()) {
    return Fail(status);
  }
  if (invocation.format == Format::kYaml) {
    std::printf("%s", contract::WriteYaml(answer, true).c_str());
  } else if (invocation.format == Format::kJson || invocation.format == Format::kJsonLines) {
    std::printf("%s\n", contract::WriteJson(answer, true).c_str());
  } else if (invocation.format == Format::kName) {
    std::printf("%s\n", (answer.account().empty() ? answer.site() : answer.account()).c_str());
  } else if (invocation.format == Format::kCsv) {
    TablePrinter({"SETTING", "VALUE", "FROM"}, Format::kCsv).Print(SettingRows(answer));
  } else {
    PrintAnswer(answer);
  }
  return ExitCode::kDone;
}

}  // namespace croft::admin_cli
