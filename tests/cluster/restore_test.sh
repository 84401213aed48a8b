#!/usr/bin/env bash
# The restore drill: backups of a control that runs and imports, damaged and half-made ones, and a farm that serves through all of it
# until it agrees with what was restored.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/free_port.sh"
. "$here/../../deploy/stack.sh"
free_port || exit 1
http_port=$port nodes=2
data_dir=$(mktemp -d /tmp/croft-restore.XXXXXX)
chmod 755 "$data_dir"
. "$repository/deploy/checks.sh"
visitors=() mounted=() other_pid=
clean_up() {
  local mount
  [ "${#visitors[@]}" -gt 0 ] && kill "${visitors[@]}" 2> /dev/null
  [ -n "$other_pid" ] && kill "$other_pid" && wait "$other_pid"
  stop_stack
  for mount in "${mounted[@]}"; do umount -l "$mount" 2> /dev/null; done
  rm -rf "$data_dir"
}
trap clean_up EXIT

backups=$data_dir/backups
mkdir -p "$backups" "$data_dir/content/a"
echo "page a" > "$data_dir/content/a/index.html"
chmod -R a+rX "$data_dir/content"
control=$data_dir/control
start_control "$control" || exit 1
# sql DATABASE STATEMENT, in the cluster of the control that runs.
sql() {
  PGPASSWORD=$(cat "$control/pg.password") "$(echo /usr/lib/postgresql/*/bin/psql)" -qAtX -h "$control/pg/socket" -U croft -d "$1" -c "$2"
}
backup() { "$bin/croft-control" backup "$@"; }
restore() { "$bin/croft-control" restore "$@"; }
{
  croft create farm main
  croft create store content path="$data_dir/content" homes.fan_out=100,100
  croft create pool static
  croft create site a bindings="*:$port:a.example" root=content:a pool=static
  croft create site b bindings="*:$port:b.example" root=content:a pool=static
} 2> /dev/null
for i in 1 2; do
  HEALTH_PORT=$((port + 1)) prepare_node "web$i" "$data_dir/web$i" "127.0.0.$i" || exit 1
  start_node "$i" "$data_dir/web$i"
done
wait_until 60 "both nodes serve" on_every_node answers a.example / 200 || exit 1

# A visitor of each node, until the end; what was not answered 200 is remembered.
visit() {
  local count=0
  while [ ! -e "$data_dir/visits.stop" ]; do
    answers "$1" a.example / 200 >> "$data_dir/visits.failed" && count=$((count + 1))
  done
  echo "$count" > "$data_dir/visits.$1"
}
for i in 1 2; do
  visit "$i" &
  visitors+=($!)
done

# fails_with TEXT COMMAND...: exit 1 (2 for usage), with TEXT among what it says.
fails_with() {
  local text=$1 said
  shift
  said=$("$@" 2>&1) && { echo "did not fail: $*"; return 1; }
  grep -qF -- "$text" <<< "$said" || { echo "says: $said"; echo "not: $text"; return 1; }
}

during_import() {
  local importer arguments
  seq -f 'u%05g' 10000 | (echo name; cat) > "$data_dir/people.csv"
  croft import accounts "$data_dir/people.csv" > "$data_dir/import.log" 2>&1 &
  importer=$!
  wait_until 20 "the import is under way" imported || return 1
  backup "$backups/first" --data-dir "$control" &
  local made=$!
  while kill -0 "$made" 2> /dev/null; do
    arguments=$(cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' ' ')
    grep -qF "$(cat "$control/pg.password")" <<< "$arguments" && { echo "a password among the arguments"; return 1; }
  done
  wait "$made" || return 1
  wait "$importer" || { cat "$data_dir/import.log"; return 1; }
  [ "$(stat -c %a "$backups/first")" = 700 ] && [ "$(stat -c %a "$backups/first/key")" = 600 ] || { echo "others may read it"; return 1; }
  [ -z "$(find "$backups" -name '*.unfinished' -o -name 'complaints*')" ] || { echo "something is left behind"; return 1; }
  "$bin/croft-control" verify "$backups/first"
}
imported() { [ "$(sql croft "SELECT count(*) FROM resource WHERE type = 7")" -gt 0 ]; }

refuses_what_is_there() {
  fails_with "isn't empty" backup "$backups/first" --data-dir "$control" || return 1
  fails_with "isn't empty" restore "$backups/first" --data-dir "$control" || return 1
  fails_with "there is no database in $data_dir/nothing" backup "$backups/x" --data-dir "$data_dir/nothing" || return 1
  echo "$(head -c 64 /dev/zero | tr '\0' 'a')" > "$data_dir/other-key" && chmod 600 "$data_dir/other-key"
  fails_with "sealed with another key" backup "$backups/x" --data-dir "$control" --key-file "$data_dir/other-key" || return 1
  [ ! -e "$backups/x" ] && [ ! -e "$backups/x.unfinished" ] && [ ! -e "$data_dir/nothing" ]
}

# spoil COMMAND: a copy of the backup, spoilt by the command.
spoil() {
  rm -rf "$backups/damaged" && cp -a "$backups/first" "$backups/damaged" && (cd "$backups/damaged" && eval "$1")
}
# damaged TEXT COMMAND: the spoilt copy is refused with the text, and nothing is made.
damaged() {
  local copy=$backups/damaged
  spoil "$2" || return 1
  fails_with "$1" restore "$copy" --data-dir "$data_dir/never" || return 1
  fails_with "$1" "$bin/croft-control" verify "$copy" || return 1
  [ ! -e "$data_dir/never" ] && [ ! -e "$data_dir/never.unfinished" ]
}
damages() {
  local resum='sha256sum manifest.json > manifest.json.sha256'
  damaged 'damaged/database.dump was changed' \
    'size=$(stat -c %s database.dump); printf "\377\376\375" | dd of=database.dump bs=1 seek=$((size / 2)) conv=notrunc status=none' &&
    damaged 'damaged/database.dump has' 'truncate -s -1 database.dump' &&
    damaged 'damaged/key was changed' 'tr 0-9a-e 1-9a-f < key > k && mv k key' &&
    damaged 'damaged/key is missing' 'rm key' &&
    damaged 'damaged/manifest.json' 'sed -i s/epoch/epoca/ manifest.json' &&
    damaged 'is no backup' 'rm manifest.json' &&
    damaged 'this croft-control knows 1' 'sed -i "s/\"format\": 1/\"format\": 2/" manifest.json; '"$resum" &&
    damaged 'schema 9999' 'sed -i "s/\"schema\": [0-9]*/\"schema\": 9999/" manifest.json; '"$resum" &&
    damaged 'outside the backup' 'sed -i "s|\"key\"|\"../key\"|" manifest.json; '"$resum" &&
    spoil 'sed -i "s/\"server_version\": [0-9]*/\"server_version\": 990001/" manifest.json; '"$resum" &&
    fails_with 'no older' restore "$backups/damaged" --data-dir "$data_dir/never" && [ ! -e "$data_dir/never.unfinished" ]
}
disk_full() {
  [ "$(id -u)" -eq 0 ] || { echo "needs root to mount a small file system"; return 0; }
  local small=$data_dir/small
  mkdir "$small" && mount -t tmpfs -o size=64k,mode=755 tmpfs "$small" || return 0
  mounted+=("$small")
  fails_with "No space left on device" backup "$small/b" --data-dir "$control" || return 1
  [ -z "$(ls "$small")" ] || { ls -R "$small"; return 1; }
  local size
  for size in 30m 47m; do  # too small for the cluster, and for what is restored into it
    mount -o remount,size=$size "$small"
    fails_with "No space left on device" restore "$backups/first" --data-dir "$small/c" || return 1
    [ -z "$(ls "$small")" ] || { ls -R "$small"; return 1; }
  done
}

killed_restore() {
  local pid
  "$bin/croft-control" restore "$backups/first" --data-dir "$data_dir/restored" 2> /dev/null &
  pid=$!
  wait_until 30 "its database runs" test -e "$data_dir/restored.unfinished/pg/cluster/postmaster.pid" || return 1
  kill -9 "$pid"
  wait "$pid" 2> /dev/null
  [ ! -e "$data_dir/restored" ] || { echo "a half-made data directory"; return 1; }
  "$bin/croft-control" restore "$backups/first" --data-dir "$data_dir/stopped" 2> "$data_dir/stopped.log" &
  pid=$!
  wait_until 30 "another one's database runs" test -e "$data_dir/stopped.unfinished/pg/cluster/postmaster.pid" || return 1
  kill -TERM "$pid"
  wait "$pid" && { echo "restored though it was stopped"; return 1; }
  cat "$data_dir/stopped.log"
  [ ! -e "$data_dir/stopped.unfinished" ] && [ ! -e "$data_dir/stopped" ]
}

# The farm goes on, most of its sites made since the backup; then control is lost, and comes back from the backup where it was.
farm_goes_on() {
  local i
  for i in $(seq 12); do croft create site "v$i" bindings="*:$port:v$i.example" root=content:a pool=static > /dev/null 2>&1 || return 1; done
  croft set site v12 state=STARTED --wait=serving && on_every_node answers v12.example / 200 || return 1
  lost_uid=$(sql croft "SELECT last_value FROM uid_sequence")
  lost_epoch=$(sql croft "SELECT epoch FROM head")
  kill -9 $(descendants "$control_pid")
  wait "$control_pid" 2> /dev/null
  wait_until 20 "its database has ended" eval '! pgrep -f "postgres -D $control/pg/cluster"' || return 1
  cp "$control.address" "$data_dir/restored.address"
  control=$data_dir/restored
  restore "$backups/first" --data-dir "$control" || return 1
  cmp "$data_dir/control/key" "$control/key" || return 1
  on_every_node answers v12.example / 200 || return 1
  start_control "$control" || return 1
}
is_consistent() {
  local accounts revision
  accounts=$(sql croft "SELECT count(*) FROM resource WHERE type = 7")
  revision=$(sql croft "SELECT revision FROM head")
  echo "$accounts accounts, revision $revision"
  grep -q "\"revision\": \"$revision\"" "$backups/first/manifest.json" || return 1
  [ "$accounts" -gt 0 ] && [ "$accounts" -le 10000 ] || return 1
  # Every row has its change, every account its own home, and no change is newer than the head.
  [ "$(sql croft "SELECT count(*) FROM resource r LEFT JOIN change c USING (change_id) WHERE c.change_id IS NULL")" = 0 ] &&
    [ "$(sql croft "SELECT count(*) = count(DISTINCT home_path) FROM resource WHERE type = 7")" = t ] &&
    [ "$(sql croft "SELECT max(c.revision) = max(h.revision) FROM change c, head h")" = t ] &&
    [ "$(sql croft "SELECT (SELECT next_slot FROM home_slot) = count(*) FROM resource WHERE type = 7")" = t ]
}
nodes_ask() {
  local i
  [ "$(sql croft "SELECT epoch FROM head")" != "$lost_epoch" ] || { echo "the same epoch"; return 1; }
  for i in 1 2; do
    wait_until 40 "web$i asks, with the command" resume_command "web$i" || { croft describe node "web$i"; return 1; }
  done
  on_every_node answers v12.example / 200 || return 1
  for i in 1 2; do $(resume_command "web$i") || return 1; done
  wait_until 30 "what was not in the backup is gone" on_every_node answers v12.example / 400 || return 1
  wait_until 30 "both nodes are back" nodes_connected || return 1
  croft create site after bindings="*:$port:after.example" root=content:a pool=static --wait=serving && on_every_node answers after.example / 200
}
resume_command() { croft describe node "$1" | tr -d '\n' | tr -s ' ' | grep -o 'croft resume node [^ ]* --expect-count 12'; }
no_number_twice() {
  croft create account newcomer || return 1
  [ "$(sql croft "SELECT uid FROM resource WHERE name LIKE '%/newcomer'")" -gt "$lost_uid" ]
}

# Into a database of the same cluster, where the cluster's identity cannot tell that the history is another.
by_url() {
  local url="postgresql:///other?user=croft&host=$control/pg/socket" password other=$data_dir/other
  password=$(cat "$control/pg.password")
  sql croft "CREATE DATABASE other" || return 1
  PGPASSWORD=$password restore "$backups/first" --data-dir "$other" --database-url "$url" --key-file "$data_dir/key-elsewhere" || return 1
  [ "$(sql other "SELECT epoch FROM head")" != "$(sql croft "SELECT epoch FROM head")" ] &&
    [ "$(sql other "SELECT epoch FROM head")" != "$lost_epoch" ] || { echo "the same epoch"; return 1; }
  PGPASSWORD=$password fails_with "isn't empty, it has public." restore "$backups/first" --data-dir "$data_dir/third" --database-url "$url" || return 1
  [ ! -e "$data_dir/third" ] && [ ! -e "$data_dir/third.unfinished" ] || return 1
  fails_with "password authentication failed" env PGPASSWORD=wrong "$bin/croft-control" restore "$backups/first" --data-dir "$data_dir/third" --database-url "$url" || return 1
  PGPASSWORD=$password "$bin/croft-control" --data-dir "$other" --database-url "$url" --key-file "$data_dir/key-elsewhere" --listen 127.0.0.1:0 \
    --json-listen "" > "$other.log" 2>&1 &
  other_pid=$!
  wait_until 30 "it runs (see $other.log)" other_answers || { cat "$other.log"; return 1; }
  PGPASSWORD=$password backup "$backups/second" --data-dir "$other" --database-url "$url" --key-file "$data_dir/key-elsewhere" || return 1
  cmp "$backups/first/key" "$backups/second/key" || return 1
  CROFT_CONFIG=$other/operator.yaml croft get site b -o name
}
other_answers() { [ -s "$data_dir/other/listen" ] && CROFT_CONFIG=$data_dir/other/operator.yaml croft list farms -o name; }

visits_were_answered() {
  touch "$data_dir/visits.stop"
  wait "${visitors[@]}"
  visitors=()
  echo "visits: $(cat "$data_dir/visits.1" "$data_dir/visits.2" | tr '\n' ' ')"
  [ ! -s "$data_dir/visits.failed" ] || { tail -n 3 "$data_dir/visits.failed"; return 1; }
  [ "$(cat "$data_dir/visits.1")" -gt 0 ] && [ "$(cat "$data_dir/visits.2")" -gt 0 ]
}

check "a backup is made while accounts are imported" during_import
check "nothing that is there is overwritten, and a wrong key is noticed" refuses_what_is_there
check "a damaged backup is refused, naming the file" damages
check "a full disk: nothing is left behind" disk_full
check "a killed or stopped restore makes no data directory" killed_restore
check "control is lost and restored, the farm serves on" farm_goes_on
check "what was restored is one moment of the import" is_consistent
check "nodes ask before most sites vanish, and agree" nodes_ask
check "no number is given twice" no_number_twice
check "a database given by URL, in the same cluster" by_url
check "no visitor was turned away" visits_were_answered
if [ "$failures" = 0 ]; then echo "all checks passed"; else echo "$failures checks failed"; fi
exit $((failures > 0))
