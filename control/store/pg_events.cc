// Events that nodes reported.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include "control/store/pg_rows.h"
#include "control/store/pg_store_impl.h"

namespace croft::control::store {

using google::protobuf::util::TimeUtil;

namespace {

// Writers take turns, so that ids become visible in their order, and whoever reads on after one
// misses none.
constexpr std::string_view kBeginInsert =
    "BEGIN; SELECT pg_advisory_xact_lock(hashtext('croft events'))";

// The condition that events are about the query's resource; its index is in order of event_id.
std::string AboutResource(const EventQuery& query, Params& params) {
  if (query.resource.empty()) {
    return "";
  }
  const auto parsed = contract::ParseResourceName(query.resource);
  if (!parsed.ok()) {
    return "AND false ";
  }
  params.Text(query.resource);
  const std::size_t number = params.values().size();
  switch (parsed->type) {
    case ResourceType::kFarm:
      return fmt::format("AND node > ${0}::text || '/' AND node < ${0}::text || '0' ", number);
    case ResourceType::kNode:
      return fmt::format("AND node = ${} ", number);
    case ResourceType::kSite:
      return fmt::format("AND site = ${} AND site <> '' ", number);
    case ResourceType::kPool:
      return fmt::format("AND pool = ${} AND pool <> '' ", number);
    default:
      return "AND false ";
  }
}

}  // namespace

absl::Status PgStore::InsertEvents(const std::vector<v1::Event>& events) {
  if (events.empty()) {
    return absl::OkStatus();
  }
  std::vector<std::int64_t> times;
  std::vector<std::string> nodes, kinds, sites, pools, messages;
  for (const v1::Event& event : events) {
    times.push_back(TimeUtil::TimestampToMicroseconds(event.time()));
    nodes.push_back(event.node());
    kinds.push_back(event.kind());
    sites.push_back(event.site());
    pools.push_back(event.pool());
    messages.push_back(event.message());
  }
  const Params params =
      Params().Ints(times).Texts(nodes).Texts(kinds).Texts(sites).Texts(pools).Texts(messages);
  return Run([&params](Connection& connection) {
    absl::Status status = connection.Execute(kBeginInsert);
    if (status.ok()) {
      status = connection
                   .Query(
                       "INSERT INTO event (happened_at, node, kind, site, pool, message) "
                       "SELECT timestamptz 'epoch' + t * interval '1 microsecond', n, k, s, p, m "
                       "FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], "
                       "$5::text[], $6::text[]) AS e (t, n, k, s, p, m)",
                       params)
                   .status();
    }
    return status.ok() ? connection.Execute("COMMIT") : status;
  });
}

absl::StatusOr<std::vector<v1::Event>> PgStore::ListEvents(const EventQuery& query) {
  const bool forward = query.after_id.has_value();
  Params params;
  params.Int(query.limit)
      .Int(forward                ? *query.after_id
           : query.before_id == 0 ? INT64_MAX
                                  : query.before_id);
  std::string sql = fmt::format(
      "SELECT event_id, (extract(epoch FROM happened_at) * 1000000)::bigint, node, kind, site, "
      "pool, message FROM event WHERE event_id {} $2::bigint ",
      forward ? ">" : "<");
  sql += AboutResource(query, params);
  if (query.since.has_value()) {
    params.Time(*query.since);
    sql +=
        fmt::format("AND happened_at >= {} ", TimeParam(static_cast<int>(params.values().size())));
  }
  sql += fmt::format("ORDER BY event_id {} LIMIT $1::int", forward ? "" : "DESC");
  const auto rows = Query(sql, params);
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<v1::Event> events;
  for (int row = 0; row < rows->size(); ++row) {
    v1::Event& event = events.emplace_back();
    event.set_id(rows->Int(row, 0));
    *event.mutable_time() = TimeUtil::MicrosecondsToTimestamp(rows->Int(row, 1));
    event.set_node(std::string(rows->Text(row, 2)));
    event.set_kind(std::string(rows->Text(row, 3)));
    event.set_site(std::string(rows->Text(row, 4)));
    event.set_pool(std::string(rows->Text(row, 5)));
    event.set_message(std::string(rows->Text(row, 6)));
  }
  return events;
}

}  // namespace croft::control::store
