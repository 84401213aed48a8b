#!/usr/bin/env bash
# copy_accounts.sh CONTROL_DIR COUNT: milliseconds that COPY takes to put COUNT account rows into a table with the columns, indexes and
# constraints of control's own, in control's own PostgreSQL.
set -euo pipefail
control=$1 count=$2
export PGPASSWORD
PGPASSWORD=$(cat "$control/pg.password")
sql() { psql -qAtX -v ON_ERROR_STOP=1 -h "$control/pg/socket" -U croft -d croft "$@"; }
rows=$(mktemp)
trap 'rm -f "$rows"; sql -c "SET client_min_messages = warning" -c "DROP TABLE IF EXISTS bench_account" > /dev/null' EXIT
sql -c "SET client_min_messages = warning" -c "DROP TABLE IF EXISTS bench_account" -c "CREATE TABLE bench_account (LIKE resource INCLUDING ALL)"
sql -c "COPY (SELECT * FROM resource WHERE type = 7 ORDER BY uid LIMIT $count) TO STDOUT" > "$rows"
begin=$(date +%s%3N)
sql -c "\\copy bench_account FROM '$rows'"
echo $(($(date +%s%3N) - begin))
