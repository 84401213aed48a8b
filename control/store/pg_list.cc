// Lists of resources: in which order, from where on, and by which index.
#include <fmt/format.h>

#include <algorithm>

#include "control/store/pg_rows.h"
#include "control/store/pg_store_impl.h"
#include "control/store/row_type.h"

namespace croft::control::store {
namespace {

using contract::Comparison;

// Up to this many rows are collected by an index on something else than the list's order, and
// sorted; more are found faster by walking the list.
constexpr int kCollectedMax = 20'000;

enum class Rowset { kLive, kDeleted, kBoth };

// A statement under construction.
class Statement {
 public:
  explicit Statement(std::string_view text) : text_(text) {}

  // Adds text whose {} is the number of the parameter that `add` gives.
  template <typename Add>
  void Append(std::string_view text, Add add) {
    add(params_);
    text_ += fmt::format(fmt::runtime(text), params_.values().size());
  }
  void Append(std::string_view text) { text_ += text; }

  const std::string& text() const { return text_; }
  const Params& params() const { return params_; }

 private:
  std::string text_;
  Params params_;
};

// Names of a farm's members lie between its name + "/" and its name + "0".
struct NameRange {
  std::string from;
  std::string below;  // empty: no bound
};

// What narrows a list: a term, or a few rows by uid; neither: nothing.
struct Source {
  std::string term;
  std::optional<std::vector<std::int64_t>> uids;

  // Whose columns name and uid an index of the source is in order of.
  const char* table() const { return term.empty() ? "r" : "t"; }
};

// Uids of the type's live rows that satisfy one condition; {} is the type's number.
using UidQuery = Statement;

void AddUidQuery(const Comparison& comparison, const ListQuery& query,
                 std::vector<UidQuery>& queries) {
  const auto text = [&](Params& params) { params.Text(comparison.text); };
  const auto type = [&](Params& params) { params.Int(TypeNumber(query.type)); };
  const std::string& last = comparison.steps.back()->name();
  if (!comparison.IsExact() || comparison.text.empty()) {
    return;
  }
  if (comparison.path == "organization") {
    UidQuery by("SELECT uid FROM resource WHERE NOT deleted ");
    by.Append("AND type = ${}::smallint AND organization_uid ", type);
    by.Append(comparison.op == Comparison::Operator::kHas
                  ? "= ANY (ARRAY(WITH RECURSIVE below AS (SELECT uid FROM resource WHERE "
                    "type = 101 AND NOT deleted AND name = ${} UNION "
                    "SELECT l.uid FROM resource l JOIN below ON l.organization_uid = below.uid "
                    "WHERE l.type = 101 AND NOT l.deleted) SELECT uid FROM below))"
                  : "= (SELECT uid FROM resource WHERE type = 101 AND NOT deleted AND name = ${})",
              text);
    queries.push_back(std::move(by));
  } else if (comparison.path == "bindings.host") {
    UidQuery by("SELECT site_uid FROM binding WHERE ");
    by.Append("substring(encoded_key FROM 19) = ${}::bytea",
              [&](Params& params) { params.Bytes(comparison.text); });
    queries.push_back(std::move(by));
  } else if (comparison.path == "home.store") {
    UidQuery by("SELECT uid FROM resource WHERE NOT deleted AND type = 7 AND store_uid = ");
    by.Append("(SELECT uid FROM resource WHERE type = 4 AND NOT deleted AND name = ${})", text);
    queries.push_back(std::move(by));
  } else if (last == "pool" || last == "store") {
    UidQuery by("SELECT from_uid FROM reference WHERE ");
    by.Append("from_type = ${}::smallint", type);
    by.Append(" AND to_name = ${}", text);
    queries.push_back(std::move(by));
  }
}

// What could serve, the likeliest to be short first.
std::vector<UidQuery> FindUidQueries(const ListQuery& query, const NameRange& range) {
  std::vector<UidQuery> queries;
  if (query.show_deleted) {
    return queries;  // they know live rows only
  }
  if (query.filter != nullptr) {
    for (const Comparison* comparison : query.filter->Conjuncts()) {
      AddUidQuery(*comparison, query, queries);
    }
  }
  if (query.within.has_value()) {
    UidQuery by("SELECT r.uid FROM resource r WHERE NOT r.deleted ");
    by.Append("AND r.type = ${}::smallint", [&](Params& p) { p.Int(TypeNumber(query.type)); });
    by.Append(fmt::format("{}", WithinClause(query.type, 2)));
    by.Append("", [&](Params& params) { params.Ints(*query.within); });
    queries.push_back(std::move(by));
  }
  if (query.order == ListOrder::kCreation && !range.below.empty()) {
    UidQuery by("SELECT uid FROM resource WHERE NOT deleted ");
    by.Append("AND type = ${}::smallint ", [&](Params& p) { p.Int(TypeNumber(query.type)); });
    by.Append("AND name > ${} ", [&](Params& params) { params.Text(range.from); });
    by.Append("AND name < ${} ", [&](Params& params) { params.Text(range.below); });
    queries.push_back(std::move(by));
  }
  return queries;
}

// What stands before the last segment of every name in the list; nullopt where that differs.
std::optional<std::string> CommonPrefix(const ListQuery& query, const NameRange& range) {
  const contract::ResourceTypeFacts& facts = contract::Facts(query.type);
  if (facts.in_farm && range.from.empty()) {
    return std::nullopt;
  }
  return fmt::format("{}{}/", range.from, facts.collection);
}

// A name, or names that begin with something: a place in the list.
void AppendNameConditions(const Comparison& name, const ListQuery& query, const NameRange& range,
                          Statement& statement) {
  const bool is_whole = name.text.find('/') != std::string::npos;
  const std::optional<std::string> prefix = is_whole ? std::string() : CommonPrefix(query, range);
  if (name.op != Comparison::Operator::kEqual || name.starts_open || !prefix.has_value()) {
    return;
  }
  const std::string from = *prefix + name.text;
  if (!name.ends_open) {
    statement.Append("AND r.name = ${} ", [&](Params& params) { params.Text(from); });
    return;
  }
  constexpr std::string_view kLastCharacter = "\xf4\x8f\xbf\xbf";  // U+10FFFF
  statement.Append("AND r.name >= ${} ", [&](Params& params) { params.Text(from); });
  statement.Append("AND r.name < ${} ",
                   [&](Params& params) { params.Text(from + std::string(kLastCharacter)); });
}

// Conjuncts that the key answers.
void AppendKeyConditions(const ListQuery& query, const NameRange& range, Statement& statement) {
  for (const Comparison* comparison : query.filter->Conjuncts()) {
    if (comparison->path == "uid" && comparison->IsExact()) {
      statement.Append("AND r.uid = ${}::bigint ",
                       [&](Params& params) { params.Int(comparison->number); });
    } else if (comparison->path == "name") {
      AppendNameConditions(*comparison, query, range, statement);
    }
  }
}

void AppendCursor(const ListQuery& query, const Source& source, Statement& statement) {
  const char* const table = source.table();
  const char* const than = query.descending ? "<" : ">";
  if (query.order == ListOrder::kCreation) {
    if (query.after_uid != 0) {
      statement.Append(fmt::format("AND {}.uid {} ${{}}::bigint ", table, than),
                       [&](Params& params) { params.Int(query.after_uid); });
    }
  } else if (!query.after_name.empty() && query.show_deleted) {
    statement.Append(fmt::format("AND ({0}.name, {0}.uid) {1} (${{}}, ", table, than),
                     [&](Params& params) { params.Text(query.after_name); });
    statement.Append("${}::bigint) ", [&](Params& params) { params.Int(query.after_uid); });
  } else if (!query.after_name.empty()) {
    statement.Append(fmt::format("AND {}.name {} ${{}} ", table, than),
                     [&](Params& params) { params.Text(query.after_name); });
  }
}

void AppendOrder(const ListQuery& query, const Source& source, Statement& statement) {
  const char* const table = source.table();
  const char* const direction = query.descending ? " DESC" : "";
  statement.Append(query.order == ListOrder::kCreation
                       ? fmt::format("ORDER BY {}.uid{} ", table, direction)
                       : fmt::format("ORDER BY {0}.name{1}, {0}.uid{1} ", table, direction));
  statement.Append("LIMIT ${}::int", [&](Params& params) { params.Int(query.limit); });
}

Statement MakeStatement(const ListQuery& query, const NameRange& range, const Source& source,
                        Rowset rowset) {
  Statement statement(kSelectResource);
  const auto type = [&](Params& params) { params.Int(TypeNumber(query.type)); };
  if (!source.term.empty()) {
    statement.Append("JOIN term t ON t.type = r.type AND t.uid = r.uid ");
    statement.Append("WHERE t.type = ${}::smallint ", type);
    statement.Append("AND t.term = ${} ", [&](Params& params) { params.Text(source.term); });
  } else {
    statement.Append("WHERE r.type = ${}::smallint ", type);
  }
  if (source.uids.has_value()) {
    statement.Append("AND r.uid = ANY (${}::bigint[]) ",
                     [&](Params& params) { params.Ints(*source.uids); });
  }
  if (rowset != Rowset::kBoth) {
    statement.Append(rowset == Rowset::kLive ? "AND NOT r.deleted " : "AND r.deleted ");
  }
  if (!range.below.empty()) {
    const char* const table = source.table();
    statement.Append(fmt::format("AND {}.name > ${{}} ", table),
                     [&](Params& params) { params.Text(range.from); });
    statement.Append(fmt::format("AND {}.name < ${{}} ", table),
                     [&](Params& params) { params.Text(range.below); });
  }
  if (query.filter != nullptr) {
    AppendKeyConditions(query, range, statement);
  }
  if (query.within.has_value()) {
    const int number = static_cast<int>(statement.params().values().size()) + 1;
    statement.Append(WithinClause(query.type, number));
    statement.Append("", [&](Params& params) { params.Ints(*query.within); });
  }
  AppendCursor(query, source, statement);
  AppendOrder(query, source, statement);
  return statement;
}

bool Precedes(const ListQuery& query, const StoredResource& a, const StoredResource& b) {
  const bool is_less = query.order == ListOrder::kCreation
                           ? a.uid < b.uid
                           : std::tie(a.name, a.uid) < std::tie(b.name, b.uid);
  return query.descending ? !is_less && a.uid != b.uid : is_less;
}

std::string FindTerm(const ListQuery& query) {
  if (query.filter != nullptr) {
    for (const Comparison* comparison : query.filter->Conjuncts()) {
      if (std::string term = contract::TermOf(*comparison); !term.empty()) {
        return term;
      }
    }
  }
  return "";
}

std::vector<std::int64_t> ToUids(const Rows& rows) {
  std::vector<std::int64_t> uids;
  for (int row = 0; row < rows.size(); ++row) {
    uids.push_back(rows.Int(row, 0));
  }
  return uids;
}

using RunQuery = std::function<absl::StatusOr<Rows>(const Statement&)>;

absl::StatusOr<Source> FindSource(const ListQuery& query, const NameRange& range,
                                  const RunQuery& run) {
  Source source{.term = FindTerm(query), .uids = std::nullopt};
  if (!source.term.empty()) {
    return source;
  }
  for (UidQuery& by : FindUidQueries(query, range)) {
    by.Append(fmt::format(" LIMIT {}", kCollectedMax + 1));
    const auto rows = run(by);
    if (!rows.ok()) {
      return rows.status();
    }
    if (rows->size() <= kCollectedMax) {
      source.uids = ToUids(*rows);
      return source;
    }
  }
  return source;
}

// By name, live and deleted rows have an index each.
std::vector<Rowset> RowsetsOf(const ListQuery& query, const Source& source) {
  if (!query.show_deleted) {
    return {Rowset::kLive};
  }
  if (query.order == ListOrder::kName && source.term.empty()) {
    return {Rowset::kLive, Rowset::kDeleted};
  }
  return {Rowset::kBoth};
}

}  // namespace

absl::StatusOr<std::vector<StoredResource>> PgStore::List(const ListQuery& query) {
  NameRange range;
  if (query.farm_uid != 0) {
    const auto farm = FindByUid(ResourceType::kFarm, query.farm_uid);
    if (!farm.ok()) {
      return farm.status();
    }
    if (!farm->has_value()) {
      return std::vector<StoredResource>();
    }
    range = {(*farm)->name + "/", (*farm)->name + "0"};
  }
  const RunQuery run = [this](const Statement& statement) {
    return Query(statement.text(), statement.params());
  };
  const auto source = FindSource(query, range, run);
  if (!source.ok()) {
    return source.status();
  }
  std::vector<StoredResource> listed;
  const std::vector<Rowset> rowsets = RowsetsOf(query, *source);
  for (const Rowset rowset : rowsets) {
    const auto rows = run(MakeStatement(query, range, *source, rowset));
    if (!rows.ok()) {
      return rows.status();
    }
    std::vector<StoredResource> found = ToStoredResources(*rows);
    std::move(found.begin(), found.end(), std::back_inserter(listed));
  }
  if (rowsets.size() > 1) {
    std::sort(listed.begin(), listed.end(),
              [&](const auto& a, const auto& b) { return Precedes(query, a, b); });
    listed.resize(std::min(listed.size(), static_cast<std::size_t>(query.limit)));
  }
  return listed;
}

}  // namespace croft::control::store
