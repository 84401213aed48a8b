// history, undo change, get change: what became of resources, and back again.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "admin-cli/diff_text.h"
#include "admin-cli/invocation.h"
#include "admin-cli/subject.h"
#include "croft/v1/change.pb.h"
#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::util::TimeUtil;

constexpr int kPageSizeMax = 1000;
constexpr int kDefaultLimit = 100;
constexpr const char* kEver = "1970-01-01T00:00:00Z";
constexpr auto kUndoTimeout = std::chrono::minutes(5);

bool IsChange(const std::string& type) { return type == "change" || type == "changes"; }

// "state: STARTED -> STOPPED"; of many fields the first ones.
std::string WhatOf(const v1::HistoryEntry& entry) {
  constexpr int kShown = 3;
  std::string what;
  for (int i = 0; i < std::min(kShown, entry.changes_size()); ++i) {
    const v1::FieldChange& change = entry.changes(i);
    const auto shown = [](const std::string& value) {
      return value.empty() ? std::string("(unset)") : value.substr(0, 60);
    };
    what += fmt::format("{}{}: {} -> {}", i == 0 ? "" : "; ", change.path(), shown(change.before()),
                        shown(change.after()));
  }
  const int more = entry.changes_size() - kShown;
  return more > 0 ? what + fmt::format("; and {} more", more) : what;
}

ExitCode PrintEntries(const std::vector<v1::HistoryEntry>& entries, const Invocation& invocation) {
  const Format format = invocation.format;
  ItemPrinter items(format);
  std::vector<std::vector<std::string>> rows;
  for (const v1::HistoryEntry& entry : entries) {
    const v1::Change& change = entry.change();
    if (ItemPrinter::Prints(format)) {
      items.Print(entry, std::to_string(change.revision()));
    }
    std::vector<std::string> row = {std::to_string(change.revision()),
                                    TimeUtil::ToString(change.time()), change.who(), entry.action(),
                                    WhatOf(entry)};
    if (format == Format::kWide || format == Format::kCsv) {
      row.push_back(change.request_id());
    }
    row.push_back(change.reason());
    rows.push_back(std::move(row));
  }
  items.Finish();
  if (ItemPrinter::Prints(format)) {
    return ExitCode::kDone;
  }
  std::vector<std::string> titles = {"REVISION", "TIME", "WHO", "ACTION", "WHAT", "REASON"};
  if (format == Format::kWide || format == Format::kCsv) {
    titles.insert(titles.end() - 1, "REQUEST");
  }
  return PrintTable(titles, rows, invocation, "no change");
}

void PrintChange(const v1::Change& change, Format format) {
  if (ItemPrinter::Prints(format)) {
    ItemPrinter items(format);
    items.Print(change, std::to_string(change.revision()));
    items.Finish();
    return;
  }
  if (format != Format::kCsv) {
    std::printf("revision %ld, %s, by %s\n", static_cast<long>(change.revision()),
                TimeUtil::ToString(change.time()).c_str(), change.who().c_str());
    if (!change.reason().empty()) {
      Put("reason: " + change.reason() + "\n");
    }
    if (!change.request_id().empty()) {
      Put("request: " + change.request_id() + "\n");
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const v1::ChangedResource& resource : change.resources()) {
    rows.push_back({resource.action(), resource.name()});
  }
  TablePrinter({"ACTION", "NAME"}, format).Print(rows);
}

}  // namespace

ExitCode ShowHistory(ApiClient& client, const Invocation& invocation) {
  std::vector<std::string> named = invocation.names;
  named.insert(named.begin(), invocation.type);
  constexpr std::string_view kUsage =
      "history wants a type and a name (site shop), or a full name: see croft history --help";
  const auto name = SubjectOf(named, invocation.farm, kUsage);
  if (!name.ok()) {
    return Fail(name.status());
  }
  const auto since = ParseSince(invocation.since.empty() ? kEver : invocation.since, Now());
  if (!since.ok()) {
    return Fail(since.status());
  }
  const int limit = invocation.limit > 0 ? invocation.limit : kDefaultLimit;
  v1::ListHistoryRequest request;
  request.set_name(*name);
  std::vector<v1::HistoryEntry> entries;
  bool more = true;
  while (more && static_cast<int>(entries.size()) < limit) {
    request.set_page_size(std::min(limit - static_cast<int>(entries.size()), kPageSizeMax));
    v1::ListHistoryResponse response;
    if (auto status = client.Call("ChangeService/ListHistory", request, response); !status.ok()) {
      return Fail(status);
    }
    const auto older =
        std::find_if(response.entries().begin(), response.entries().end(),
                     [&](const v1::HistoryEntry& entry) { return entry.change().time() < *since; });
    entries.insert(entries.end(), response.entries().begin(), older);
    request.set_page_token(response.next_page_token());
    more = !response.next_page_token().empty() && older == response.entries().end();
  }
  const ExitCode code = PrintEntries(entries, invocation);
  if (more && invocation.limit == 0) {
    std::fprintf(stderr, "the newest %d; --limit N shows more\n", limit);
  }
  return code;
}

ExitCode UndoChange(ApiClient& client, const Invocation& invocation) {
  const auto& names = invocation.names;
  if (!IsChange(invocation.type) || names.empty()) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "undo wants \"change N\", and perhaps one object of it (change 4711 site "
                      "shop): see croft undo --help"));
  }
  const auto revision = ParseNumber(names[0], "a change");
  if (!revision.ok()) {
    return Fail(revision.status());
  }
  const auto object = SubjectOf({names.begin() + 1, names.end()}, invocation.farm,
                                "undo change N takes one object more, as TYPE NAME or in full");
  if (!object.ok()) {
    return Fail(object.status());
  }
  v1::UndoChangeRequest request;
  request.set_revision(*revision);
  request.set_resource(*object);
  request.set_expect_count(invocation.expect);
  request.set_validate_only(invocation.validate_only);
  request.set_request_id(invocation.request_id);
  request.set_reason(invocation.reason);
  request.set_force(invocation.force);
  v1::UndoChangeResponse response;
  if (auto status = client.Call("ChangeService/UndoChange", request, response, kUndoTimeout);
      !status.ok()) {
    return Fail(status);
  }
  std::vector<std::string> changed;
  ItemPrinter items(invocation.format);
  for (const v1::AppliedResource& applied : response.results()) {
    changed.push_back(applied.name());
    if (ItemPrinter::Prints(invocation.format)) {
      items.Print(applied, applied.name());
    } else {
      Put(FormatApplied(applied, invocation.validate_only) + "\n");
    }
  }
  items.Finish();
  std::fprintf(stderr, "change %ld %s\n", static_cast<long>(*revision),
               invocation.validate_only
                   ? "can be undone (only checked, nothing changed)"
                   : fmt::format("undone, revision {}", response.revision()).c_str());
  return WaitAfterWrite(client, invocation, response.revision(), changed);
}

ExitCode GetChange(ApiClient& client, const Invocation& invocation) {
  if (invocation.names.empty()) {
    return ListChanges(client, invocation);
  }
  for (const std::string& text : invocation.names) {
    const auto revision = ParseNumber(text, "a change");
    if (!revision.ok()) {
      return Fail(revision.status());
    }
    v1::GetChangeRequest request;
    request.set_revision(*revision);
    request.set_page_size(kPageSizeMax);
    v1::Change change;
    for (;;) {
      v1::GetChangeResponse response;
      if (auto status = client.Call("ChangeService/GetChange", request, response); !status.ok()) {
        return Fail(status);
      }
      v1::Change page = response.change();
      page.mutable_resources()->Swap(change.mutable_resources());
      page.mutable_resources()->MergeFrom(change.resources());
      change = std::move(page);
      if (response.next_page_token().empty()) {
        break;
      }
      request.set_page_token(response.next_page_token());
    }
    PrintChange(change, invocation.format);
  }
  return ExitCode::kDone;
}

}  // namespace croft::admin_cli
