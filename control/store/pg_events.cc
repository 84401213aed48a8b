// Events that nodes reported.
#include <google/protobuf/util/time_util.h>

#include "control/store/pg_store_impl.h"

namespace croft::control::store {

using google::protobuf::util::TimeUtil;

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
  return Query(
             "INSERT INTO event (happened_at, node, kind, site, pool, message) "
             "SELECT timestamptz 'epoch' + t * interval '1 microsecond', n, k, s, p, m FROM "
             "unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) "
             "AS e (t, n, k, s, p, m)",
             Params().Ints(times).Texts(nodes).Texts(kinds).Texts(sites).Texts(pools).Texts(
                 messages))
      .status();
}

absl::StatusOr<std::vector<v1::Event>> PgStore::ListEvents(std::int64_t before_id, int limit,
                                                           std::string_view resource) {
  const auto rows = Query(
      "SELECT event_id, (extract(epoch FROM happened_at) * 1000000)::bigint, node, kind, site, "
      "pool, message FROM event WHERE ($1::bigint = 0 OR event_id < $1::bigint) "
      "AND ($3 = '' OR node = $3 OR site = $3 OR pool = $3 OR starts_with(node, $3 || '/')) "
      "ORDER BY event_id DESC LIMIT $2::int",
      Params().Int(before_id).Int(limit).Text(resource));
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
