// list, get, describe: the same for every noun.
#include <utility>

#include "admin-cli/invocation.h"
#include "admin-cli/list_pages.h"
#include "admin-cli/request.h"
#include "admin-cli/resource_printer.h"
#include "admin-cli/subject.h"
#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

absl::StatusOr<MessagePtr> Fetch(ApiClient& client, const Invocation& invocation, const Noun& noun,
                                 const std::string& name, const std::vector<std::string>& fields) {
  const MessagePtr request = NewRequest("Get", noun);
  SetString(*request, "name", FullName(noun, name, invocation.farm));
  SetBool(*request, "show_deleted", invocation.show_deleted);
  SetMask(*request, "read_mask", fields);
  MessagePtr resource = NewResource(noun);
  if (auto status = client.Call(MethodOf("Get", noun), *request, *resource); !status.ok()) {
    return status;
  }
  return resource;
}

bool Selects(const Invocation& invocation) {
  return !invocation.filter.empty() || !invocation.selector.empty() || !invocation.sort.empty() ||
         invocation.limit > 0;
}

}  // namespace

ExitCode Fail(const absl::Status& status) {
  PrintError(status);
  return ExitCodeOf(status);
}

View ViewOf(const Invocation& invocation) {
  View view(invocation.format);
  view.columns = invocation.columns;
  view.headers = !invocation.no_headers;
  return view;
}

ExitCode PrintTable(const std::vector<std::string>& titles,
                    const std::vector<std::vector<std::string>>& rows, const Invocation& invocation,
                    const std::string& nothing) {
  TablePrinter table(titles, ViewOf(invocation));
  if (auto status = table.Check(); !status.ok()) {
    return Fail(status);
  }
  if (rows.empty() && invocation.format != Format::kCsv) {
    Say(nothing);
  } else {
    table.Print(rows);
  }
  return ExitCode::kDone;
}

ExitCode ListResources(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  if (!invocation.names.empty() || (*noun)->type == contract::ResourceType::kPlatform) {
    if (Selects(invocation)) {
      return Fail(Error(absl::StatusCode::kUnimplemented,
                        "either names or --filter, --selector, --sort and --limit, not both"));
    }
    return GetResources(client, invocation);
  }
  auto filter = FilterOf(invocation.filter, invocation.selector);
  if (!filter.ok()) {
    return Fail(filter.status());
  }
  ResourcePrinter printer(**noun, ViewOf(invocation), invocation.farm == "-");
  if (auto status = printer.Check(); !status.ok()) {
    return Fail(status);
  }
  ListQuery query;
  query.farm = invocation.farm;
  query.filter = *std::move(filter);
  query.order_by = invocation.sort;
  query.show_deleted = invocation.show_deleted;
  // Of a name nothing else is needed.
  query.fields =
      invocation.format == Format::kName ? std::vector<std::string>{"name"} : printer.fields();
  query.limit = invocation.limit;
  const absl::Status status = ListPages(
      client, **noun, query, [&](const std::vector<MessagePtr>& page) { printer.Print(page); });
  if (!status.ok()) {
    return Fail(status);
  }
  printer.Finish();
  return ExitCode::kDone;
}

ExitCode GetResources(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  if (invocation.names.empty() && (*noun)->type != contract::ResourceType::kPlatform) {
    return ListResources(client, invocation);
  }
  std::vector<std::string> names = invocation.names;
  if (names.empty()) {
    names.emplace_back("platform");
  }
  ResourcePrinter printer(**noun, ViewOf(invocation));
  if (auto status = printer.Check(); !status.ok()) {
    return Fail(status);
  }
  std::vector<MessagePtr> found;
  ExitCode code = ExitCode::kDone;
  for (const std::string& name : names) {
    auto resource = Fetch(client, invocation, **noun, name, printer.fields());
    if (!resource.ok()) {
      code = Fail(resource.status());
      continue;
    }
    found.push_back(*std::move(resource));
  }
  if (found.size() == 1 && names.size() == 1) {
    printer.PrintOne(*found[0]);
  } else {
    printer.Print(found);
    if (!found.empty() || ItemPrinter::Prints(invocation.format)) {
      printer.Finish();
    }
  }
  return code != ExitCode::kDone && !found.empty() ? ExitCode::kPartlyDone : code;
}

}  // namespace croft::admin_cli
