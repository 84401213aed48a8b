#include "control/domain/history.h"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "control/domain/failures.h"
#include "control/domain/page_token.h"
#include "control/domain/resource_message.h"
#include "proto/base/error.h"
#include "proto/contract/any_resource.h"
#include "proto/contract/field_changes.h"

namespace croft::control::domain {
namespace {

using store::HistoryPosition;
using store::LogPosition;
using store::StoredResource;
using store::Version;
using store::VersionAction;

constexpr int kPageSizeDefault = 100;
constexpr int kPageSizeMax = 1000;
constexpr int kVersionsAtOnce = 1000;
// A page has two bodies of each; whoever asks for more gets a short page.
constexpr int kVersionsOfPageMax = 200;
// A page of versions ends early beyond this, so that it fits into a message.
constexpr std::size_t kPageBytesMax = 1 << 20;
// Pages without anything the caller may see that one call reads.
constexpr int kHiddenPagesMax = 20;

absl::StatusOr<int> PageSize(std::int32_t asked) {
  if (asked < 0) {
    return InvalidField("page_size", std::to_string(asked), "has to be 0 to 1000");
  }
  return asked == 0 ? kPageSizeDefault : std::min(asked, kPageSizeMax);
}

// Two numbers, as all cursors here are.
absl::StatusOr<std::pair<std::int64_t, std::int64_t>> ParseCursor(const std::string& list,
                                                                  const std::string& token) {
  const auto text = ParsePageToken(list, token);
  if (!text.ok()) {
    return text.status();
  }
  std::pair<std::int64_t, std::int64_t> cursor(0, 0);
  const std::size_t space = text->find(' ');
  if (!text->empty() &&
      (space == std::string::npos || !absl::SimpleAtoi(text->substr(0, space), &cursor.first) ||
       !absl::SimpleAtoi(text->substr(space + 1), &cursor.second))) {
    return InvalidField("page_token", token,
                        "is not a token of this list; leave it empty to begin anew");
  }
  return cursor;
}

MessagePtr ToMessage(const StoredResource& row) {
  MessagePtr message = NewMessage(row.type);
  ParseRow(row, *message);
  return message;
}

v1::HistoryEntry ToEntry(const Version& version) {
  v1::HistoryEntry entry;
  *entry.mutable_change() = version.change;
  entry.set_action(NameOf(version.action));
  const MessagePtr before = version.before.has_value() ? ToMessage(*version.before) : nullptr;
  const MessagePtr after = version.row.deleted ? nullptr : ToMessage(version.row);
  for (v1::FieldChange& change : contract::DiffFields(before.get(), after.get())) {
    entry.add_changes()->Swap(&change);
  }
  if (after != nullptr) {
    *entry.mutable_resource() = contract::Wrap(*after);
  }
  return entry;
}

// Adds what the caller may see, as long as the page is small; where to go on if it is not.
absl::StatusOr<std::optional<HistoryPosition>> AddEntries(Access& access, const Caller& caller,
                                                          const std::vector<Version>& versions,
                                                          v1::ListHistoryResponse& response) {
  std::size_t bytes = response.ByteSizeLong();
  for (const Version& version : versions) {
    if (bytes > kPageBytesMax) {
      return HistoryPosition{version.row.uid, version.row.change_id};
    }
    const auto may = access.MayRead(caller, version.row);
    if (!may.ok()) {
      return may.status();
    }
    if (*may) {
      *response.add_entries() = ToEntry(version);
      bytes += response.entries(response.entries_size() - 1).ByteSizeLong();
    }
  }
  return std::nullopt;
}

}  // namespace

std::string NameOf(VersionAction action) {
  switch (action) {
    case VersionAction::kCreate:
      return "create";
    case VersionAction::kUpdate:
      return "update";
    case VersionAction::kDelete:
      return "delete";
    case VersionAction::kUndelete:
      return "undelete";
  }
  return "";
}

std::string NameOfChange(std::int64_t revision) { return fmt::format("change {}", revision); }

absl::StatusOr<v1::Change> FindChange(store::Store& store, std::int64_t revision) {
  if (revision <= 0 || revision == INT64_MAX) {
    return NotFound(NameOfChange(revision));
  }
  auto changes = store.ListChanges({.before_revision = revision + 1, .limit = 1});
  if (!changes.ok()) {
    return changes.status();
  }
  if (changes->empty() || changes->front().revision() != revision) {
    return NotFound(NameOfChange(revision));
  }
  v1::Change change = std::move(changes->front());
  change.clear_resources();
  return change;
}

absl::Status ForEachVersion(store::Store& store, Access& access, const Caller& caller,
                            std::int64_t revision, const std::function<void(Version)>& visit) {
  LogPosition at{.revision = revision, .tag = 0, .type = 0, .uid = 0};
  for (;;) {
    auto page = store.ListLog(at, revision, kVersionsAtOnce);
    if (!page.ok()) {
      return page.status();
    }
    for (Version& version : page->versions) {
      const auto may = access.MayRead(caller, version.row);
      if (!may.ok()) {
        return may.status();
      }
      if (*may) {
        visit(std::move(version));
      }
    }
    if (page->versions.empty() || page->next.type == LogPosition::kWholeChange) {
      return absl::OkStatus();
    }
    at = page->next;
  }
}

absl::StatusOr<v1::GetChangeResponse> GetChange(store::Store& store, Access& access,
                                                const Caller& caller,
                                                const v1::GetChangeRequest& request) {
  const std::string list = NameOfChange(request.revision());
  const auto size = PageSize(request.page_size());
  if (!size.ok()) {
    return size.status();
  }
  const auto cursor = ParseCursor(list, request.page_token());
  if (!cursor.ok()) {
    return cursor.status();
  }
  auto change = FindChange(store, request.revision());
  if (!change.ok()) {
    return change.status();
  }
  v1::GetChangeResponse response;
  std::int64_t total = 0;
  std::pair<std::int64_t, std::int64_t> last = *cursor;
  const absl::Status status =
      ForEachVersion(store, access, caller, request.revision(), [&](const Version& version) {
        ++total;
        const std::pair<std::int64_t, std::int64_t> key(version.place.type, version.place.uid);
        if (key <= *cursor) {
          return;
        }
        if (change->resources_size() == *size) {
          response.set_next_page_token(
              MakePageToken(list, fmt::format("{} {}", last.first, last.second)));
          return;
        }
        last = key;
        v1::ChangedResource& resource = *change->add_resources();
        resource.set_name(version.row.name);
        resource.set_action(NameOf(version.action));
      });
  if (!status.ok()) {
    return status;
  }
  if (total == 0 && !Access::SeesEverything(caller)) {
    return NotFound(list);
  }
  change->set_total(total);
  response.mutable_change()->Swap(&*change);
  return response;
}

absl::StatusOr<v1::ListHistoryResponse> ListHistory(store::Store& store, Access& access,
                                                    const Caller& caller,
                                                    const v1::ListHistoryRequest& request) {
  const auto parsed = contract::ParseResourceName(request.name());
  if (!parsed.ok()) {
    return InvalidField("name", request.name(), std::string(parsed.status().message()));
  }
  const std::string name = contract::FormatResourceName(*parsed);
  const std::string list = "history of " + name;
  const auto size = PageSize(request.page_size());
  if (!size.ok()) {
    return size.status();
  }
  const auto cursor = ParseCursor(list, request.page_token());
  if (!cursor.ok()) {
    return cursor.status();
  }
  v1::ListHistoryResponse response;
  HistoryPosition from{cursor->first, cursor->second};
  for (int pages = 0; pages < kHiddenPagesMax && response.entries().empty(); ++pages) {
    auto page = store.ListHistory(name, from, std::min(*size, kVersionsOfPageMax));
    if (!page.ok()) {
      return page.status();
    }
    const auto cut = AddEntries(access, caller, page->versions, response);
    if (!cut.ok()) {
      return cut.status();
    }
    from = cut->value_or(page->next);
    if (from.change_id == 0) {
      break;
    }
  }
  if (from.change_id != 0) {
    response.set_next_page_token(
        MakePageToken(list, fmt::format("{} {}", from.uid, from.change_id)));
  } else if (response.entries().empty() && request.page_token().empty()) {
    return NotFound(name);
  }
  return response;
}

}  // namespace croft::control::domain
