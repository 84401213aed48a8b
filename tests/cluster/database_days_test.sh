#!/usr/bin/env bash
# The bad days of PostgreSQL: gone, slow, read-only, out of connections, out of disk. A write succeeds or is refused with the way out; what
# was answered "created" is there, what was refused is not, and all goes on by itself. (A stopped or hung server and lost answers:
# pg_lost_answer_test.cc.)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../deploy/stack.sh"
data_dir=$(mktemp -d /tmp/croft-dbdays.XXXXXX)
chmod 755 "$data_dir"
. "$repository/deploy/checks.sh"
host_pid= proxy_pid= mounted=
clean_up() {
  stop_stack
  [ -n "$proxy_pid" ] && kill "$proxy_pid" 2> /dev/null
  [ -n "$host_pid" ] && kill "$host_pid" 2> /dev/null && wait "$host_pid" 2> /dev/null
  [ -n "$mounted" ] && umount -l "$mounted" 2> /dev/null
  rm -rf "$data_dir"
}
trap clean_up EXIT

# PostgreSQL is that of another control, $host: started and stopped with it, and changed by its superuser.
host=$data_dir/host
start_host() {
  rm -f "$host/listen"
  "$bin/croft-control" --data-dir "$host" --listen 127.0.0.1:0 --json-listen "" >> "$host.log" 2>&1 &
  host_pid=$!
  wait_until 60 "PostgreSQL runs (see $host.log)" test -s "$host/listen"
}
stop_host() {
  kill "$host_pid"
  wait "$host_pid"
  host_pid=
}
mkdir "$host" && start_host || exit 1
psql() {
  PGPASSWORD=$(cat "$host/pg.password") "$(echo /usr/lib/postgresql/*/bin/psql)" -qAtX -h "$host/pg/socket" -U croft -d "$1" -c "$2"
}
cut_connections() { psql croft "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'estate'" > /dev/null; }
tablespace=
if [ "$(id -u)" -eq 0 ]; then
  mkdir "$data_dir/small" && mount -t tmpfs -o size=24m,mode=700,uid="$(id -u postgres)" tmpfs "$data_dir/small" && mounted=$data_dir/small
  psql croft "CREATE TABLESPACE small LOCATION '$data_dir/small'" && tablespace="TABLESPACE small"
fi
psql croft "CREATE ROLE estate LOGIN PASSWORD 'of-a-test'" && psql croft "CREATE DATABASE estate OWNER estate $tablespace" || exit 1
mkdir "$data_dir/proxy" && chmod 755 "$data_dir/proxy" && echo 0 > "$data_dir/delay"
"$here/delaying_proxy.py" "$data_dir/proxy/.s.PGSQL.5432" "$host/pg/socket/.s.PGSQL.5432" "$data_dir/delay" &
proxy_pid=$!
wait_until 10 "the proxy listens" test -S "$data_dir/proxy/.s.PGSQL.5432" && chmod 777 "$data_dir/proxy/.s.PGSQL.5432" || exit 1
export CROFT_DATABASE_URL="postgresql:///estate?user=estate&host=$data_dir/proxy" PGPASSWORD=of-a-test
start_control "$data_dir/control" || exit 1
unset CROFT_DATABASE_URL PGPASSWORD
{ croft create farm main && croft create store files path=/srv/files homes.fan_out=100,100; } 2> /dev/null || exit 1

# make COUNT PREFIX: so many accounts, one by one; $created and $refused list them, $said has what the refusals said.
make() {
  local i name
  created=() refused=() said=
  for i in $(seq "$1"); do
    name=$2$i
    if croft create account "$name" > "$data_dir/said" 2>&1; then created+=("$name"); else
      refused+=("$name")
      said+=$(cat "$data_dir/said")$'\n'
    fi
  done
  echo "${#created[@]} created, ${#refused[@]} refused: $(tail -n 2 <<< "$said")"
}
# Every account that was answered "created" is there, and none of the others.
nothing_wrong() {
  local name
  for name in "${created[@]}"; do croft get account "$name" -o name > /dev/null || { echo "$name was created and is not there"; return 1; }; done
  for name in "${refused[@]}"; do exits_with 3 croft get account "$name" -o name 2> /dev/null || { echo "$name was refused and is there"; return 1; }; done
}
says() { grep -qF -- "$1" <<< "$said" || { echo "says: $said"; echo "not: $1"; return 1; }; }
works_again() { wait_until 30 "it goes on by itself" croft create account "again-$1" && nothing_wrong; }

gone() {
  stop_host
  make 2 gone
  start_host || return 1
  [ ${#created[@]} = 0 ] && says "goes on by itself once PostgreSQL answers" && works_again gone
}
slow() {
  echo 0.1 > "$data_dir/delay"
  make 2 slow
  [ ${#created[@]} = 2 ] || return 1
  # Who gives up and asks again with the same request id gets one account.
  echo 0.6 > "$data_dir/delay"
  exits_with 124 timeout 1.5 "$bin/croft" create account late --request-id late || return 1
  echo 0 > "$data_dir/delay"
  croft create account late --request-id late && works_again slow
}
read_only() {
  psql croft "ALTER DATABASE estate SET default_transaction_read_only = on"
  cut_connections
  make 3 ro
  psql croft "ALTER DATABASE estate RESET default_transaction_read_only"
  [ ${#created[@]} = 0 ] && says "takes no writes" && works_again ro
}
# The whole server turns read-only under open connections, as a standby that is switched over.
turned_read_only() {
  psql croft "ALTER SYSTEM SET default_transaction_read_only = on" && psql croft "SELECT pg_reload_conf()" > /dev/null
  wait_until 10 "it is read-only" eval '[ "$(psql croft "SHOW default_transaction_read_only")" = on ]' || return 1
  make 3 turned
  psql croft "ALTER SYSTEM RESET default_transaction_read_only" && psql croft "SELECT pg_reload_conf()" > /dev/null
  [ ${#created[@]} = 0 ] && says "takes no writes" && works_again turned
}
no_connections() {
  psql croft "ALTER ROLE estate CONNECTION LIMIT 0"
  cut_connections
  make 2 full
  [ ${#created[@]} = 0 ] && says "connection limit" || return 1
  # Fewer than control would have: calls wait for one another, and who waited in vain is told.
  psql croft "ALTER ROLE estate CONNECTION LIMIT 5"
  wait_until 30 "it goes on by itself" croft create account first-of-few || return 1
  local i pids=()
  for i in $(seq 8); do
    croft create account "few$i" > "$data_dir/few$i" 2>&1 &
    pids+=($!)
  done
  created=() refused=() said="connection limit"
  for i in $(seq 8); do
    if wait "${pids[i - 1]}"; then created+=("few$i"); else
      refused+=("few$i")
      said=$(cat "$data_dir/few$i")
      says "connection limit" || return 1
    fi
  done
  echo "${#created[@]} created, ${#refused[@]} refused"
  psql croft "ALTER ROLE estate CONNECTION LIMIT -1"
  works_again full
}
disk_full() {
  [ -n "$tablespace" ] || { echo "needs root to mount a small file system"; return 0; }
  dd if=/dev/zero of="$data_dir/small/filler" bs=64k status=none 2> /dev/null
  seq -f 'bulk%04g' 9000 | (echo name; cat) > "$data_dir/people.csv"
  croft import accounts "$data_dir/people.csv" > "$data_dir/said" 2>&1 && { echo "imported onto a full disk"; return 1; }
  said=$(cat "$data_dir/said")
  says "make room there" || return 1
  make 3 disk
  croft list accounts -o name > /dev/null || { echo "reading suffers"; return 1; }
  rm "$data_dir/small/filler"
  works_again disk || return 1
  # Whole batches or none of them, and the import can be repeated.
  [ $(($(psql estate "SELECT count(*) FROM resource WHERE type = 7 AND name LIKE '%/bulk%'") % 1000)) = 0 ]
}

check "PostgreSQL is gone and comes back" gone
check "PostgreSQL is slow: who asks twice gets one" slow
check "the database is read-only" read_only
check "the server turns read-only under open connections" turned_read_only
check "out of connections, and fewer than control would have" no_connections
check "out of disk" disk_full
if [ "$failures" = 0 ]; then echo "all checks passed"; else echo "$failures checks failed"; fi
exit $((failures > 0))
