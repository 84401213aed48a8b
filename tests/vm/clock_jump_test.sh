#!/usr/bin/env bash
# Clock jumps expire nothing that serves: an hour ahead, an hour back before the start, ten years ahead (every certificate and token has
# expired), and back again. Sets the machine's clock, so it runs in one of its own (tests/vm/run).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -e /run/vm ] || { echo "sets the clock: run it by tests/vm/run" >&2; exit 2; }
. "$here/../../deploy/stack.sh"
http_port=8080
data_dir=$(mktemp -d /tmp/croft-clock.XXXXXX)
chmod 755 "$data_dir"
. "$repository/deploy/checks.sh"

sites="one two three"
for site in $sites; do
  mkdir -p "$data_dir/content/$site"
  echo "page $site" > "$data_dir/content/$site/index.html"
done
start_control "$data_dir/control" || exit 1
{
  croft create farm main
  croft create store content path="$data_dir/content" homes.fan_out=2,2
  croft create pool static
  for site in $sites; do croft create site "$site" bindings="*:$http_port:$site.example" root="content:$site" pool=static; done
} 2> /dev/null
prepare_node web1 "$data_dir/web1" 127.0.0.1 || exit 1
start_node 1 "$data_dir/web1"
wait_until 120 "the node serves" answers 1 one.example / 200 || { show_complaints; exit 1; }

# Visitors, over one connection and over one each: a line "CODE ERROR" per request. --rate goes by the steady clock.
visit() {
  curl -s -o /dev/null -w '%{stderr}%{http_code} %{errormsg}\n' --max-time 20 --rate 4/s -H "Host: one.example" "${@:2}" \
    "http://127.0.0.1:$http_port/?[1-1000000]" 2> "$data_dir/visits.$1" &
}
visit kept
visit each -H "Connection: close"
visited() { [ "$(wc -l < "$data_dir/visits.$1")" -ge "$2" ]; }
# Ten requests more of each kind, and none of all so far was answered otherwise.
pages_are_served() {
  local kind
  for kind in kept each; do
    wait_until 60 "visitors are served" visited "$kind" $(($(wc -l < "$data_dir/visits.$kind") + 10)) || return 1
    if grep -v '^200 ' "$data_dir/visits.$kind" | head -n 5 | grep .; then return 1; fi
  done
}

# What must be the same after every jump: the processes, and the replica they serve from.
ours() { stack_processes | awk '{ print $2, $3 }' | grep -E 'croft-(control|launcher|agent|listener|worker)$' | sort; }
replica() { stat -L -c '%n %i' "$data_dir/web1/replica/current"; readlink "$data_dir/web1/replica/current"; }
wait_until 60 "a worker runs" eval 'ours | grep -q croft-worker' || stack_processes
ours > "$data_dir/processes"
replica > "$data_dir/replica"
nothing_restarted() {
  ours | diff "$data_dir/processes" - && replica | diff "$data_dir/replica" - || return 1
  ! grep quarantined "$data_dir/web1.log"
}

# change_goes_through SECONDS: a change is served within them, by the steady clock.
changes=0
change_goes_through() {
  local began now
  changes=$((changes + 1))
  read -r began _ < /proc/uptime
  croft set site two bindings+="*:$http_port:two$changes.example" --wait=serving || return 1
  read -r now _ < /proc/uptime
  answers 1 "two$changes.example" / 200 || return 1
  echo "the change took $began to $now" >&2
  awk -v began="$began" -v now="$now" -v most="$1" 'BEGIN { exit now - began > most }'
}
connected() { croft list nodes -o csv | grep -q ',CONNECTED,'; }

# The last request's line carries the time that the clock says.
log_has_the_time() {
  pages_are_served || return 1
  wait_until 20 "the log has a line of now" line_is_current
}
line_is_current() {
  local logged
  logged=$(tail -n 1 "$data_dir/web1/log/request.log" | cut -c1-19)
  logged=$(date -u -d "$logged" +%s) && [ $(($(date +%s) - logged)) -le 20 ] && [ "$logged" -le "$(date +%s)" ]
}
# No count is negative, and no rate beyond what these visitors can cause.
counters_are_sane() {
  croft top site -o csv > "$data_dir/top" || return 1
  cat "$data_dir/top"
  tail -n +2 "$data_dir/top" | grep -q . && ! grep -E -- ',-|\(-|e\+|[0-9]{9}|[0-9]{6}(\.[0-9]*)?/s|nan|inf' "$data_dir/top"
}
# The command line cannot get in, and says why and what to do.
expiry_is_told() {
  if croft list nodes > "$data_dir/told" 2>&1; then echo "no error"; return 1; fi
  cat "$data_dir/told"
  grep -q 'its certificate expired on .*the clock here says 20[0-9-]* .*; set the clock' "$data_dir/told"
}
# As if the network between them had failed: a new connection would need the certificates.
cut_from_control() {
  ss -Ktn dst "$(cat "$data_dir/control/listen")" > /dev/null
  wait_until 60 "the node notices" node_says "control is not reachable.*certificate expired on"
}
node_says() { grep -q "$1" "$data_dir/web1.log"; }
# Enrolling would not help it: its join token is used up.
agent_starts_anew() {
  kill -9 "$(ours | sed -n 's/ .*croft-agent$//p')"
  wait_until 60 "the new agent says what is wrong" node_says "identity cannot be used.*expired by this machine's clock"
}

jump() {
  date -s "$1" > /dev/null
  echo "      the clock says $(date '+%F %T')"
}
after_a_jump() {
  check "$1: pages are served, none failed" pages_are_served
  check "$1: nothing was restarted" nothing_restarted
  check "$1: the request log says when" log_has_the_time
}
with_management() {
  check "$1: a change is served" change_goes_through 10
  check "$1: counters and rates are sane" counters_are_sane
}

check "before: pages are served" pages_are_served
with_management before
jump "+1 hour"
after_a_jump "an hour ahead"
with_management "an hour ahead"
jump "-2 hours"
after_a_jump "an hour back"
with_management "an hour back"
jump "+10 years"
after_a_jump "ten years ahead"
check "ten years ahead: the command line names the expired certificate" expiry_is_told
check "ten years ahead: a node that is cut off names it too" cut_from_control
check "ten years ahead: pages are served by the node on its own" pages_are_served
jump "-10 years"
check "ten years back: the node connects again by itself" wait_until 120 "the node is connected" connected
after_a_jump "ten years back"
with_management "ten years back"
jump "+10 years"
check "ten years ahead again: an agent that starts now says what is wrong" agent_starts_anew
check "ten years ahead again: pages are served, none failed" pages_are_served
jump "-10 years"
check "ten years back again: that agent connects by itself" wait_until 120 "the node is connected" connected
check "ten years back again: pages are served, none failed" pages_are_served
[ "$failures" = 0 ] || { tail -n 20 "$data_dir/web1.log" "$data_dir/control.log"; exit 1; }
