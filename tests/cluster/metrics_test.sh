#!/usr/bin/env bash
# A farm of one node that serves: /metrics of control and of the agent are what Prometheus takes and what deploy/grafana and
# deploy/prometheus name; counter history has each request once, whatever happens to control.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/free_port.sh"
. "$here/../../deploy/stack.sh"
free_port || exit 1
work=$(mktemp -d /tmp/croft-metrics-test.XXXXXX)
chmod 755 "$work"
clean_up() {
  stop_stack
  [ "${failures:-1}" = 0 ] || tail -n 20 "$work"/*.log
  rm -rf "$work"
}
trap clean_up EXIT

failures=0
check() {
  local what=$1
  shift
  if "$@"; then echo "ok    $what"; else echo "FAIL  $what"; failures=$((failures + 1)); fi
}
page_check() { python3 "$here/metrics_check.py" "$@"; }
token() { sed -n 's/^ *token: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$CROFT_CONFIG" | head -n 1; }
json() { cat "$work/control/json-listen"; }
control_page() { curl -sf --cacert "$work/control/ca.crt" -H "Authorization: Bearer $(token)" "https://$(json)/metrics" > "$work/control.page"; }
agent_page() { curl -sf "http://127.0.0.1:$((port + 2))/metrics" > "$work/agent.page"; }
status_of() { curl -s -o /dev/null -w '%{http_code}' --cacert "$work/control/ca.crt" "$@" "https://$(json)/metrics"; }
value() { page_check --value "$work/$1.page" "$2"; }
has() {
  "$1_page" && [ "$(value "$1" "$2")" = "$3" ]
}
# history INSTANCE: requests of the last ten minutes, and how many steps are missing.
history() {
  curl -sf --cacert "$work/control/ca.crt" -H "Authorization: Bearer $(token)" -H 'Content-Type: application/json' \
    -d "{\"type\": \"site\", \"farm\": \"farms/main\", \"instance\": \"$1\", \"stepMs\": 10000, \"since\": \"$(date -u -d '-10 min' +%FT%TZ)\"}" \
    "https://$(json)/croft.v1.ReportService/ListCounterHistory" |
    python3 -c 'import json, sys; print(sum(int(p.get("value", 0)) for p in json.load(sys.stdin)["series"][0]["points"]))'
}
# told N: control knows that the site has counted N requests, ever.
told() {
  curl -sf --cacert "$work/control/ca.crt" -H "Authorization: Bearer $(token)" -H 'Content-Type: application/json' \
    -d '{"type": "site", "farm": "farms/main"}' "https://$(json)/croft.v1.ReportService/ListCounters" |
    python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["instances"][0]["counters"][0]["value"] != sys.argv[1])' "$1"
}
counted() { [ "$(history farms/main/sites/web)" = "$1" ] && [ "$(history "")" = "$1" ]; }
serves() { curl -sf -o /dev/null "http://127.0.0.1:$port/$1"; }
visit() {
  local i
  for i in $(seq "$1"); do serves index.html || return 1; done
}
limited() {
  croft create organization acme && croft create operator limited grants=acme:VIEWER || return 1
  local secret
  secret=$(croft create token limited operator=limited lifetime=1d)
  [ -n "$secret" ] && [ "$(status_of -H "Authorization: Bearer $secret")" = 403 ]
}

mkdir -p "$work/www" && echo hello > "$work/www/index.html"
start_control "$work/control" || exit 1
{
  croft create farm main && croft create store folder path="$work/www" && croft create pool web &&
    croft create site web bindings="*:$port:" root=folder: pool=web
} 2> "$work/estate.log" || exit 1
HEALTH_PORT=$((port + 1)) prepare_node web1 "$work/web1" "*" || exit 1
launcher_options="--metrics-listen 127.0.0.1:$((port + 2))" start_node 1 "$work/web1"
wait_until 60 "the node serves" serves index.html || exit 1
# What was counted before a stream's first report is in no step of history, nor in control's metrics.
wait_until 60 "it has told what it counted before" told 1 || exit 1
visit 29
for i in 1 2 3 4 5; do serves none; done
check "control tells what the node counted" wait_until 20 "34 requests" has control 'croft_requests_total{farm="main",node="web1"}' 34
check "by status" wait_until 5 "5 of 4xx" has control 'croft_responses_total{farm="main",node="web1",code="4xx"}' 5
check "the agent tells all that it counted" wait_until 5 "35 requests" has agent 'croft_requests_total{farm="main",node="web1"}' 35
check "the site has metrics of its own" wait_until 30 "35 requests" has control 'croft_site_requests_total{farm="main",site="web"}' 35
check "on the agent too" has agent 'croft_site_requests_total{farm="main",site="web"}' 35
check "the node is connected and not behind" wait_until 10 "no lag" has control 'croft_node_lag_revisions{farm="main",node="web1"}' 0
check "control's page is valid" page_check "$work/control.page"
check "the agent's page is valid" page_check "$work/agent.page"
check "the dashboard and the alerts name what there is" page_check --named-in "$work/control.page"
check "without a token there is none" [ "$(status_of)" = 401 ]
check "a token that does not see all is refused" limited
check "each request is in the history once" wait_until 30 "34 requests" counted 34

kill -9 "$control_pid"
wait "$control_pid" 2> /dev/null
visit 10
start_control "$work/control" || exit 1
wait_until 60 "the node is connected again" has control 'croft_node_connected{farm="main",node="web1"}' 1
wait_until 60 "it has told what it counted before" told 45
visit 7
check "after a crash of control none is counted twice" wait_until 40 "41 requests" counted 41
check "nor in the metrics" wait_until 10 "7 requests" has control 'croft_requests_total{farm="main",node="web1"}' 7
[ "$failures" = 0 ]
