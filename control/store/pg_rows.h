// Rows of the resource table as the rest of control sees them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/store/pg_connection.h"
#include "control/store/store.h"

namespace croft::control::store {

// SELECT ... FROM resource r with its owner's name and its change; add WHERE, ORDER BY.
// ToStoredResource reads it.
inline constexpr std::string_view kSelectResource =
    "SELECT r.type, r.uid, r.name, r.farm_uid, r.organization_uid, o.name, r.store_uid, "
    "r.identity, r.body, c.revision, r.change_id, "
    "(extract(epoch FROM r.created_at) * 1000000)::bigint, "
    "(extract(epoch FROM coalesce(c.changed_at, r.created_at)) * 1000000)::bigint, r.deleted, "
    "r.owners "
    "FROM resource r "
    "LEFT JOIN change c ON c.change_id = r.change_id "
    "LEFT JOIN resource o ON o.type = 101 AND o.uid = r.organization_uid ";

// " AND ..." that keeps rows r of the type which belong to the organizations of a parameter (Ints)
// or to one below them.
std::string WithinClause(ResourceType type, int parameter);

// A parameter that Params::Time gave, as timestamptz: kTimeParam with its number.
std::string TimeParam(int number);

StoredResource ToStoredResource(const Rows& rows, int row);
std::vector<StoredResource> ToStoredResources(const Rows& rows);

}  // namespace croft::control::store
