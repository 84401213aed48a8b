#!/usr/bin/env bash
# What goes wrong in production, made to go wrong: damaged rows and replicas, a hung store, a full disk, a node that is down.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/free_port.sh"
. "$here/../../deploy/stack.sh"
free_port || exit 1
http_port=$port nodes=2
data_dir=$(mktemp -d /tmp/croft-bad.XXXXXX)
chmod 755 "$data_dir"
. "$repository/deploy/checks.sh"
mounted=()
fuse_pid=
clean_up() {
  [ "$failures" = 0 ] || tail -n 8 "$data_dir"/*.log
  [ -n "$fuse_pid" ] && kill -CONT "$fuse_pid" 2> /dev/null
  stop_stack
  [ -n "$fuse_pid" ] && kill -9 "$fuse_pid" 2> /dev/null
  local mount
  for mount in "${mounted[@]}"; do umount -l "$mount" 2> /dev/null; done
  rm -rf "$data_dir"
}
trap clean_up EXIT

mkdir -p "$data_dir/content/a" "$data_dir/content/b"
echo "page a" > "$data_dir/content/a/index.html"
echo "page b" > "$data_dir/content/b/index.html"
chmod -R a+rX "$data_dir/content"
start_control "$data_dir/control" || exit 1
sql() {
  PGPASSWORD=$(cat "$data_dir/control/pg.password") "$(echo /usr/lib/postgresql/*/bin/psql)" -qAtX -h "$data_dir/control/pg/socket" -U croft -d croft -c "$1"
}
{
  croft create farm main
  croft create store content path="$data_dir/content" homes.fan_out=2,2
  croft create pool static
  croft create site a bindings="*:$port:a.example" root=content:a pool=static
  croft create site b bindings="*:$port:b.example" root=content:b pool=static
} 2> /dev/null

# The second node's replica lives on a file system of its own, small enough to fill.
mkdir -p "$data_dir/web2"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=48m,mode=755 tmpfs "$data_dir/web2"; then mounted+=("$data_dir/web2"); fi
for i in 1 2; do
  HEALTH_PORT=$((port + 1)) prepare_node "web$i" "$data_dir/web$i" "127.0.0.$i" || exit 1
  start_node "$i" "$data_dir/web$i"
done
wait_until 60 "both nodes serve" on_every_node answers a.example / 200 || exit 1

damaged_record() {
  stop_node 2
  croft create site c bindings="*:$port:c.example" root=content:a pool=static || return 1
  # As if written by that change, by a control that is not there any more; the node that was away is sent it.
  sql "UPDATE resource SET body = decode('ffffffff', 'hex'), change_id = (SELECT max(change_id) FROM change)
       WHERE name = 'farms/main/sites/b'" || return 1
  kill -TERM "$control_pid"
  wait "$control_pid"
  start_control "$data_dir/control" || return 1
  start_node 2 "$data_dir/web2"
  wait_until 20 "the change beside it is served" answers 2 c.example / 200 || return 1
  on_every_node answers b.example / 200 || return 1
  croft describe node web2 | grep -q 'quarantine' || { croft describe node web2; return 1; }
}
damaged_replica() {
  local file
  stop_node 1
  file=$(find "$(readlink -f "$data_dir/web1/replica/current")" -name data.mdb)
  dd if=/dev/urandom of="$file" bs=4096 seek=2 count=16 conv=notrunc status=none || return 1
  start_node 1 "$data_dir/web1"
  wait_until 30 "the node serves after its replica was damaged" answers 1 a.example / 200 || return 1
  croft create site e bindings="*:$port:e.example" root=content:a pool=static --wait=serving && answers 1 e.example / 200
}
node_down() {
  stop_node 2
  wait_until 20 "control sees that web2 is gone" web2_is LOST || return 1
  croft create site f bindings="*:$port:f.example" root=content:a pool=static --wait=serving || return 1
  grep -q 'web2 is not connected' "$data_dir/check.log" || { echo "web2 is not listed"; return 1; }
  answers 1 f.example / 200 || return 1
  start_node 2 "$data_dir/web2"
  wait_until 20 "web2 catches up" answers 2 f.example / 200
}
web2_is() { croft list nodes -o csv | grep -q "web2,$1,"; }
disk_full() {
  [ ${#mounted[@]} -gt 0 ] || { echo "needs root to mount a small file system"; return 0; }
  dd if=/dev/zero of="$data_dir/web2/filler" bs=64k status=none 2> /dev/null
  croft create site g bindings="*:$port:g.example" root=content:a pool=static --wait=applied --timeout 3s
  answers 2 a.example / 200 || return 1
  wait_until 10 "the node says why it cannot apply" disk_full_is_told || { croft describe node web2; return 1; }
  rm "$data_dir/web2/filler"
  wait_until 40 "the node heals" answers 2 g.example / 200
}
port_taken() {
  local other=$((port + 2)) holder
  python3 -m http.server --bind 127.0.0.1 "$other" > /dev/null 2>&1 &
  holder=$!
  wait_until 10 "a stranger holds the port" curl -s -o /dev/null "http://127.0.0.1:$other/" || return 1
  exits_with 11 croft create site taken bindings="*:$other:taken.example" root=content:a pool=static --wait=serving || return 1
  croft set site a state=STARTED --wait=serving || { echo "a site that is not bound there suffers"; return 1; }
  wait_until 10 "the node says so" problem_is "cannot listen on 127.0.0.1:$other" || { croft list nodes; kill "$holder"; return 1; }
  answers 1 a.example / 200 || return 1
  kill "$holder"
  wait_until 40 "it listens once the port is free" eval '! problem_is "cannot listen"' || return 1
  [ "$(curl -s -H 'Host: taken.example' "http://127.0.0.1:$other/")" = "page a" ]
}
# A database restored from before most sites were made.
another_history() {
  local i
  for i in $(seq 30); do croft create site "v$i" bindings="*:$port:v$i.example" root=content:a pool=static > /dev/null 2>&1 || return 1; done
  wait_until 20 "they are served" on_every_node answers v30.example / 200 || return 1
  sql "DELETE FROM binding b USING resource r WHERE r.type = 6 AND r.uid = b.site_uid AND r.name LIKE 'farms/main/sites/v%';
       DELETE FROM resource WHERE type = 6 AND name LIKE 'farms/main/sites/v%'; UPDATE head SET epoch = epoch + 1" || return 1
  for i in 1 2; do
    wait_until 30 "web$i asks, with the command" resume_command "web$i" || { croft describe node "web$i"; return 1; }
  done
  exits_with 12 croft resume node web1 --expect-count 29 || return 1
  answers 1 v30.example / 200 || return 1
  $(resume_command web1) || return 1
  wait_until 30 "they are gone from web1" answers 1 v30.example / 400 || return 1
  answers 2 v30.example / 200 || return 1
  $(resume_command web2) || return 1
  wait_until 30 "they are gone from web2" answers 2 v30.example / 400 || return 1
  wait_until 10 "the events say so" eval 'croft list events | grep -q vanishing_accepted' || return 1
  croft set site a state=STARTED --wait=serving && on_every_node answers a.example / 200
}
resume_command() { croft describe node "$1" | tr -d '\n' | tr -s ' ' | grep -o 'croft resume node [^ ]* --expect-count 30'; }
problem_is() { croft list nodes -o csv | grep -q "$1"; }
disk_full_is_told() { croft describe node web2 | grep -qi 'disk full'; }
hung_store() {
  local program=$CROFT_BIN/hanging-store i
  if [ "$(id -u)" -ne 0 ] || [ ! -e /dev/fuse ]; then
    echo "needs root and FUSE"
    return 0
  fi
  mkdir -p "$data_dir/hung"
  "$program" "$data_dir/hung" > "$data_dir/fuse.log" 2>&1 &
  fuse_pid=$!
  mounted+=("$data_dir/hung")
  wait_until 10 "FUSE is mounted" mountpoint -q "$data_dir/hung" || { cat "$data_dir/fuse.log"; return 1; }
  croft create store hung path="$data_dir/hung" &&
    croft create site hung bindings="*:$port:hung.example" root=hung:site pool=static --wait=serving || return 1
  answers 1 hung.example /page.txt 200 || return 1
  kill -STOP "$fuse_pid"
  for i in $(seq 40); do
    status 1 hung.example "/x$i" > /dev/null &
    burst[i]=$!
  done
  wait_until 20 "its content is refused at once" refused_at_once || return 1
  for i in 1 2 3 4 5; do
    [ "$(get 1 a.example / -o /dev/null --max-time 1 -w '%{http_code}')" = 200 ] || { echo "another store's page suffers"; return 1; }
  done
  kill -CONT "$fuse_pid"
  wait "${burst[@]}"
  wait_until 30 "it heals" answers 1 hung.example /page.txt 200
}
refused_at_once() { [ "$(get 1 hung.example /page.txt -o /dev/null --max-time 1 -w '%{http_code}')" = 503 ]; }

check "a record damaged in the database is quarantined, the rest goes on" damaged_record
check "a damaged replica: the node serves and heals" damaged_replica
check "a node down is listed, not awaited" node_down
check "a port that is taken: the node says so, serves the rest, and heals" port_taken
check "disk full: the node serves and says why it cannot apply" disk_full
check "a hung store hurts only its own content" hung_store
check "another history: no node lets most sites go unasked" another_history
if [ "$failures" = 0 ]; then echo "all checks passed"; else echo "$failures checks failed"; fi
exit $((failures > 0))
