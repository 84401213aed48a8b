// Resources::List.
#include <charconv>

#include "control/domain/failures.h"
#include "control/domain/page_token.h"
#include "control/domain/resource_message.h"
#include "control/domain/resources.h"
#include "control/domain/row_filter.h"
#include "control/domain/selection.h"
#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using store::ListOrder;
using store::ListQuery;
using store::StoredResource;

constexpr int kPageSizeDefault = 100;
constexpr int kPageSizeMax = 1000;
// Rows that one call reads to fill its page; a page may end early, even empty, with a token.
constexpr int kExaminedMax = 20'000;
constexpr int kRowsAtOnce = 2000;

absl::Status ParseOrder(const std::string& text, ListQuery& query) {
  std::string_view order = text;
  constexpr std::string_view kDescending = " desc";
  constexpr std::string_view kAscending = " asc";
  query.descending = order.ends_with(kDescending);
  if (query.descending) {
    order.remove_suffix(kDescending.size());
  } else if (order.ends_with(kAscending)) {
    order.remove_suffix(kAscending.size());
  }
  if (order == "name" || text.empty()) {
    query.order = ListOrder::kName;
  } else if (order == "create_time") {
    query.order = ListOrder::kCreation;
  } else {
    return InvalidField("order_by", text,
                        "is \"name\" or \"create_time\", with \" desc\" for the other direction");
  }
  return absl::OkStatus();
}

// What a page token belongs to.
std::string Describe(const ListRequest& request) {
  return fmt::format("{} {} {} {} {}", contract::Facts(request.type).noun, request.parent,
                     request.filter, request.order_by, request.show_deleted);
}

// "42 farms/main/sites/shop": the last row that was looked at.
std::string FormatCursor(const ListQuery& query) {
  return fmt::format("{} {}", query.after_uid, query.after_name);
}

absl::Status ParseCursor(const ListRequest& request, ListQuery& query) {
  const auto cursor = ParsePageToken(Describe(request), request.page_token);
  if (!cursor.ok() || cursor->empty()) {
    return cursor.status();
  }
  const char* end = cursor->data() + cursor->size();
  const auto [at, error] = std::from_chars(cursor->data(), end, query.after_uid);
  if (error != std::errc() || at == end || *at != ' ') {
    return InvalidField("page_token", request.page_token,
                        "is not a token of this list; leave it empty to begin anew");
  }
  query.after_name.assign(at + 1, end);
  return absl::OkStatus();
}

// One unreadable row must not stop a list: it comes with the fields every resource has.
MessagePtr ToMessage(const StoredResource& row) {
  MessagePtr message = NewMessage(row.type);
  if (!ParseRow(row, *message)) {
    log::Error("domain", "a resource's body can't be read", {{"resource", row.name}});
  }
  return message;
}

// Takes what matches, up to the page's size; the query's cursor moves with it. False when the page
// is full before the rows are.
absl::StatusOr<bool> TakeRows(const std::vector<StoredResource>& rows, RowFilter& filter,
                              int page_size, ListQuery& query, Page& page) {
  for (const StoredResource& row : rows) {
    if (std::ssize(page.resources) == page_size) {
      return false;
    }
    MessagePtr message = ToMessage(row);
    const auto matches = filter.Matches(row, *message);
    if (!matches.ok()) {
      return matches.status();
    }
    if (*matches) {
      page.resources.push_back(std::move(message));
    }
    query.after_name = row.name;
    query.after_uid = row.uid;
  }
  return true;
}

}  // namespace

absl::StatusOr<Page> Resources::List(const Caller& caller, const ListRequest& request) {
  if (request.page_size < 0) {
    return InvalidField("page_size", std::to_string(request.page_size), "has to be 0 to 1000");
  }
  const auto farm_uid = FindParentFarm(store_, request.type, request.parent);
  if (!farm_uid.ok()) {
    return farm_uid.status();
  }
  auto filter = RowFilter::Parse(request.filter, request.type, store_, access_);
  if (!filter.ok()) {
    return filter.status();
  }
  ListQuery query{.type = request.type,
                  .farm_uid = *farm_uid,
                  .show_deleted = request.show_deleted,
                  .filter = filter->query(),
                  .within = Access::VisibleOrganizations(caller, request.type)};
  absl::Status status = ParseOrder(request.order_by, query);
  if (status.ok()) {
    status = ParseCursor(request, query);
  }
  if (!status.ok()) {
    return status;
  }
  const int page_size =
      request.page_size == 0 ? kPageSizeDefault : std::min(request.page_size, kPageSizeMax);
  Page page;
  query.limit = page_size + 1;
  for (int examined = 0; examined < kExaminedMax;) {
    const auto rows = store_.List(query);
    if (!rows.ok()) {
      return rows.status();
    }
    const auto all_taken = TakeRows(*rows, *filter, page_size, query, page);
    if (!all_taken.ok()) {
      return all_taken.status();
    }
    if (*all_taken && std::ssize(*rows) < query.limit) {
      return page;
    }
    if (!*all_taken) {
      break;
    }
    examined += query.limit;
    query.limit = kRowsAtOnce;
  }
  page.next_page_token = MakePageToken(Describe(request), FormatCursor(query));
  return page;
}

}  // namespace croft::control::domain
