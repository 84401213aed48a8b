# Sourced by deploy/demo --once: checks the running demo end to end, a line per check.

failures=0
check() {
  local what=$1
  shift
  if "$@" > "$data_dir/check.log" 2>&1; then
    printf 'ok    %s\n' "$what"
  else
    printf 'FAIL  %s\n' "$what"
    sed 's/^/        /' "$data_dir/check.log" | tail -n 8
    failures=$((failures + 1))
  fi
}

# get NODE HOST PATH [curl options]: the body; fails on a transport error.
get() {
  local node=$1 host=$2 path=$3
  shift 3
  curl -s --max-time 10 -H "Host: $host" "$@" "http://127.0.0.$node:$http_port$path"
}
status() { get "$1" "$2" "$3" -o /dev/null -w '%{http_code}'; }

# on_every_node COMMAND ARGS with NODE put first.
on_every_node() {
  local node
  for node in $(seq 1 "$nodes"); do "$1" "$node" "${@:2}" || return 1; done
}
answers() {
  local got
  got=$(status "$1" "$2" "$3")
  [ "$got" = "$4" ] || { echo "web$1 http://$2$3 answered $got, not $4"; return 1; }
}
body_has() {
  get "$1" "$2" "$3" | grep -qF -- "$4" || { echo "web$1 http://$2$3: no \"$4\" in the body"; return 1; }
}
exits_with() {
  local want=$1 got=0
  shift
  "$@" || got=$?
  [ "$got" = "$want" ] || { echo "exit $got, not $want"; return 1; }
}

create_and_serve() {
  croft create site check bindings="*:$http_port:check.example" root=content:small/1 pool=static --wait=serving || return 1
  on_every_node body_has check.example / 'Site 1<'
}
change_goes_live() {
  croft set site check root=content:small/2 --wait=serving && on_every_node body_has check.example / 'Site 2<' || return 1
  croft set site check bindings+="*:$http_port:also.example" --wait=serving && on_every_node answers also.example / 200
}
stop_and_start() {
  croft stop site check --wait=serving && on_every_node answers check.example / 503 || return 1
  croft start site check --wait=serving && on_every_node answers check.example / 200
}
delete_goes_live() {
  croft delete site check --wait=serving && on_every_node answers check.example / 400
}
personal_pages() {
  on_every_node body_has www.isp.example /user7/ 'pages of user7<' &&
    on_every_node body_has www.isp.example /~USER7/ 'pages of user7<' &&
    on_every_node body_has user7.pages.example / 'pages of user7<' &&
    on_every_node answers www.isp.example /~user7 301 &&
    on_every_node answers www.isp.example /~nobody/ 404
}
suspend_and_resume() {
  croft suspend account user7 --wait=serving && on_every_node answers user7.pages.example / 403 || return 1
  croft resume account user7 --wait=serving && on_every_node answers user7.pages.example / 200
}
static_files() {
  local etag
  etag=$(get 1 python.example /genindex.html -o /dev/null -D - | tr -d '\r' | sed -n 's/^etag: //Ip')
  [ "$(get 1 python.example /genindex.html -o /dev/null -w '%{http_code}' -H "If-None-Match: $etag")" = 304 ] || { echo "no 304"; return 1; }
  [ "$(get 1 python.example /genindex.html -H 'Range: bytes=0-99' | wc -c)" = 100 ] || { echo "no range"; return 1; }
  answers 1 python.example /../../etc/passwd 400 || answers 1 python.example /../../etc/passwd 404
}
mirror_equals_source() {
  local copy=$data_dir/mirror
  rm -rf "$copy" && mkdir "$copy" || return 1
  # Not wget's link walk, which misses files that no page links to, but the same list a full copy would have.
  (cd "$content/python" && find . -type f -printf '%P\n') | sed 's/%/%25/g; s/ /%20/g; s/#/%23/g; s/?/%3F/g' |
    awk -v base="http://127.0.0.1:$http_port/" -v copy="$copy/" '{ print "url = \"" base $0 "\""; print "output = \"" copy $0 "\"" }' |
    curl -s -f --create-dirs -H 'Host: python.example' -K - || return 1
  diff -rq "$content/python" "$copy" && rm -rf "$copy"
}
explains() {
  croft explain url "http://user7.pages.example:$http_port/index.html" | tee "$data_dir/explain.txt"
  grep -q 'accounts/user7' "$data_dir/explain.txt" && grep -q 'limits.max_body' "$data_dir/explain.txt" && grep -q "nodes/web1" "$data_dir/explain.txt"
}
counts() {
  local before after
  wait_until 10 "counters arrive" counted 1 || return 1
  before=$(site_requests)
  for _ in 1 2 3 4 5; do get 1 apache.example /en/ -o /dev/null; done
  wait_until 10 "five more requests are counted" counted $((before + 5))
}
site_requests() { croft get counters site apache -o csv | awk -F, '$2 == "requests_total" { sum += $3 } END { print sum + 0 }'; }
counted() {
  [ "$1" = 1 ] && get 1 apache.example /en/ -o /dev/null
  [ "$(site_requests)" -ge "$1" ]
}
processes_named() { descendants "${node_pids[$1]}" | while read -r pid; do grep -qz "croft-$2" "/proc/$pid/cmdline" 2> /dev/null && echo "$pid"; done; }
bad_input() {
  exits_with 5 croft set site python settings.limits.max_bdy=1 && exits_with 5 croft create site long bindings="*:80:$(printf 'a%.0s' $(seq 300)).example" &&
    exits_with 4 croft create site other bindings="*:$http_port:python.example" root=content:small/1 pool=static &&
    exits_with 3 croft get site nothing && exits_with 2 croft get nothing x
}
load_pid=
start_load() {
  : > "$data_dir/load.txt"
  (while [ ! -e "$data_dir/load.stop" ]; do get 1 s1.example / -o /dev/null -w '%{http_code}\n'; done > "$data_dir/load.txt") &
  load_pid=$!
}
# Every request since start_load was answered 200.
load_was_clean() {
  touch "$data_dir/load.stop"
  wait "$load_pid" 2> /dev/null
  rm -f "$data_dir/load.stop"
  local total bad
  total=$(wc -l < "$data_dir/load.txt")
  bad=$(grep -cv '^200$' "$data_dir/load.txt")
  echo "$total requests, $bad failed"
  [ "$total" -gt 0 ] && [ "$bad" = 0 ]
}
agent_killed() {
  local workers agent
  get 1 s1.example / -o /dev/null
  workers=$(processes_named 1 worker)
  agent=$(processes_named 1 agent)
  start_load
  kill -9 $agent
  wait_until 15 "a new agent runs" new_agent "$agent" || return 1
  croft create site after bindings="*:$http_port:after.example" root=content:small/3 pool=static --wait=serving || return 1
  answers 1 after.example / 200 && croft delete site after --wait=serving && load_was_clean || return 1
  [ "$(processes_named 1 worker)" = "$workers" ] || { echo "workers were $workers, are $(processes_named 1 worker)"; return 1; }
}
new_agent() {
  local now
  now=$(processes_named 1 agent)
  [ -n "$now" ] && [ "$now" != "$1" ]
}
worker_killed() {
  get 1 s1.example / -o /dev/null
  kill -9 $(processes_named 1 worker)
  wait_until 15 "served again" answers 1 s1.example / 200
}
listener_killed() {
  kill -9 $(processes_named 1 listener)
  wait_until 15 "served again" answers 1 s1.example / 200
}
control_down_node_restarts() {
  kill -9 $(descendants "$control_pid") 2> /dev/null
  wait "$control_pid" 2> /dev/null
  control_pid=
  answers 1 s1.example / 200 || return 1
  stop_node 1
  start_node 1 "$data_dir/web1"
  wait_until 10 "the restarted node serves without control" answers 1 s1.example / 200 || return 1
  start_control "$data_dir/control" || return 1
  croft get site python -o name || return 1
  wait_until 30 "both nodes are back" nodes_connected
  croft create site back bindings="*:$http_port:back.example" root=content:small/4 pool=static --wait=serving &&
    on_every_node answers back.example / 200 && croft delete site back
}
nodes_connected() { [ "$(croft list nodes -o csv | grep -c ',CONNECTED,')" = "$nodes" ]; }
separate_uids() {
  local uids
  uids=$(stack_processes | awk '{ print $1 }' | sort -u | wc -l)
  echo "$uids uids"
  [ "$uids" -ge 6 ]
}
health_url() {
  curl -sf "http://127.0.0.1:$health_port/health" && croft drain node web1 --wait=applied || return 1
  wait_until 5 "a draining node's health URL answers 503" health_is 503 && croft undrain node web1 || return 1
  wait_until 5 "the node is healthy again" health_is 200
}
health_is() { [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$health_port/health")" = "$1" ]; }

run_checks() {
  check "create a site and serve it on every node" create_and_serve
  check "a change is live when --wait=serving returns" change_goes_live
  check "stop and start a site: 503, 200" stop_and_start
  check "delete a site: 400" delete_goes_live
  check "an unknown host is answered 400" on_every_node answers nobody.example / 400
  check "personal pages by /user/, /~user/ and host" personal_pages
  check "suspend and resume an account: 403, 200" suspend_and_resume
  check "ETag, ranges, confinement" static_files
  check "the Python documentation arrives byte for byte" mirror_equals_source
  check "explain url names account, settings and nodes" explains
  check "requests are counted per site" counts
  check "bad input: exit codes 2, 3, 4, 5" bad_input
  check "the health URL follows draining" health_url
  check "agent killed: no request failed, same workers, changes go on" agent_killed
  check "worker killed: served again" worker_killed
  check "listener killed: served again" listener_killed
  check "control down: node restarts and serves; control comes back whole" control_down_node_restarts
  if [ "$(id -u)" -eq 0 ]; then check "at least six uids" separate_uids; fi
  if [ "$failures" = 0 ]; then echo "all checks passed"; else echo "$failures checks failed"; fi
  [ "$failures" = 0 ]
}
