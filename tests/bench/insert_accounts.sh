#!/usr/bin/env bash
# insert_accounts.sh CONTROL_DIR WRITERS SECONDS: account rows inserted one a transaction into a table with the columns, indexes and
# constraints of control's own, in control's own PostgreSQL, by so many connections. Prints inserts/s, and p50 and p99 in microseconds.
set -euo pipefail
control=$1 writers=$2 seconds=$3
export PGPASSWORD
PGPASSWORD=$(cat "$control/pg.password")
sql() { psql -qAtX -v ON_ERROR_STOP=1 -h "$control/pg/socket" -U croft -d croft -c "SET client_min_messages = warning" "$@"; }
work=$(mktemp -d)
trap 'rm -rf "$work"; sql -c "DROP TABLE IF EXISTS bench_insert" -c "DROP SEQUENCE IF EXISTS bench_uid" > /dev/null' EXIT
sql -c "DROP TABLE IF EXISTS bench_insert" -c "CREATE TABLE bench_insert (LIKE resource INCLUDING ALL)" -c "CREATE SEQUENCE IF NOT EXISTS bench_uid"
# One account's row as control wrote it, with another uid, name and home.
columns=$(sql -c "SELECT string_agg(column_name, ', ') FROM information_schema.columns WHERE table_name = 'bench_insert' AND table_schema = 'public'")
values=$(sql -c "SELECT string_agg(CASE column_name WHEN 'uid' THEN 'nextval(''bench_uid'')' WHEN 'name' THEN '''farms/main/accounts/i'' || currval(''bench_uid'')'
  WHEN 'home_path' THEN '''i'' || currval(''bench_uid'')' ELSE format('%L', row ->> column_name::text) END, ', ')
  FROM information_schema.columns, (SELECT to_jsonb(r) AS row FROM resource r WHERE type = 7 AND NOT deleted LIMIT 1) one
  WHERE table_name = 'bench_insert' AND table_schema = 'public'")
echo "INSERT INTO bench_insert ($columns) VALUES ($values);" > "$work/insert.sql"
(cd "$work" && "$(pg_config --bindir 2> /dev/null || ls -d /usr/lib/postgresql/*/bin | tail -1)/pgbench" -h "$control/pg/socket" -U croft -n -c "$writers" -j 2 \
  -T "$seconds" -f insert.sql -l croft > /dev/null)
cat "$work"/pgbench_log.* | awk '{ print $3 }' | sort -n | awk -v s="$seconds" '{ v[NR] = $1 } END { printf "%.0f %d %d\n", NR / s, v[int(NR / 2) + 1], v[int(NR * 0.99) + 1] }'
