#include "control/store/pg_rows.h"

#include <fmt/format.h>

#include "control/store/row_type.h"

namespace croft::control::store {

std::string TimeParam(int number) {
  return fmt::format("(timestamptz 'epoch' + ${}::bigint * interval '1 microsecond')", number);
}

std::string WithinClause(ResourceType type, int parameter) {
  // Read once, before the rows, so that an index on the owner can serve.
  return fmt::format(
      " AND {} = ANY (ARRAY(WITH RECURSIVE below AS ("
      "  SELECT unnest(${}::bigint[]) AS uid UNION"
      "  SELECT lower.uid FROM resource lower JOIN below ON lower.organization_uid = below.uid"
      "  WHERE lower.type = 101 AND NOT lower.deleted) SELECT uid FROM below)) ",
      type == ResourceType::kOrganization ? "r.uid" : "r.organization_uid", parameter);
}

StoredResource ToStoredResource(const Rows& rows, int row) {
  StoredResource resource;
  resource.type =
      TypeOfNumber(static_cast<int>(rows.Int(row, 0))).value_or(ResourceType::kPlatform);
  resource.uid = rows.Int(row, 1);
  resource.name = std::string(rows.Text(row, 2));
  resource.farm_uid = rows.Int(row, 3);
  resource.organization_uid = rows.Int(row, 4);
  resource.organization = std::string(rows.Text(row, 5));
  resource.store_uid = rows.Int(row, 6);
  resource.identity = static_cast<std::uint32_t>(rows.Int(row, 7));
  resource.body = rows.Bytes(row, 8);
  resource.revision = rows.Int(row, 9);
  resource.change_id = rows.Int(row, 10);
  resource.created = rows.Time(row, 11);
  resource.updated = rows.Time(row, 12);
  resource.deleted = rows.Bool(row, 13);
  resource.owners = rows.Bytes(row, 14);
  return resource;
}

std::vector<StoredResource> ToStoredResources(const Rows& rows) {
  std::vector<StoredResource> resources;
  resources.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    resources.push_back(ToStoredResource(rows, row));
  }
  return resources;
}

}  // namespace croft::control::store
