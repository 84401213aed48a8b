#!/usr/bin/env bash
# deploy/serve on a folder with an awkward name: serves it, starts again what is killed, refuses what cannot work, leaves nothing behind.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/free_port.sh"
. "$here/../../deploy/stack.sh"
free_port || exit 1
work=$(mktemp -d /tmp/croft-serve-test.XXXXXX)
chmod 755 "$work"
folder="$work/a folder (50%) #1"
data=$work/data
serve=
clean_up() {
  [ -n "$serve" ] && kill -TERM "$serve" 2> /dev/null && wait "$serve" 2> /dev/null
  rm -rf "$work"
}
trap clean_up EXIT

failures=0
check() {
  local what=$1
  shift
  if "$@"; then echo "ok    $what"; else echo "FAIL  $what"; failures=$((failures + 1)); fi
}
serves() { [ "$(curl -sf "http://127.0.0.1:$port/sub%20folder/a%23b.txt")" = "here it is" ]; }
answers_operators() { CROFT_CONFIG=$data/control/operator.yaml croft list nodes -o csv | grep -q ',CONNECTED,'; }
# The child of serve that runs the program.
child() { pgrep -P "$serve" -f "^$bin/croft-$1 "; }
started_again() {
  local before
  before=$(child "$1")
  kill -9 "$before" || return 1
  wait_until 30 "another croft-$1 runs" another "$1" "$before" && wait_until 30 "pages are served" serves &&
    wait_until 30 "the node is connected" answers_operators
}
another() {
  local now
  now=$(child "$1")
  [ -n "$now" ] && [ "$now" != "$2" ]
}
refuses() {
  local words=$1
  shift
  timeout 60 "$repository/deploy/serve" "$@" > "$work/refused" 2>&1 && return 1
  grep -qF -- "$words" "$work/refused" || { cat "$work/refused"; return 1; }
}
leaves_nothing() {
  kill -TERM "$serve"
  wait "$serve"
  serve=
  ! pgrep -f -- "$data/" > /dev/null && ! curl -s -o /dev/null "http://127.0.0.1:$port/"
}

mkdir -p "$folder/sub folder"
echo "here it is" > "$folder/sub folder/a#b.txt"
"$repository/deploy/serve" "$folder" --http-port "$port" --data-dir "$data" > "$work/out" 2>&1 &
serve=$!
# What is killed is started again once it says that it serves.
check "says that it serves" wait_until 90 "the line that says so" grep -q '^serving ' "$work/out"
check "serves a folder with an awkward name" serves
check "a launcher that is killed is started again" started_again launcher
check "a control that is killed is started again" started_again control
check "a taken port is refused at once" refuses "is taken" "$folder" --http-port "$port"
check "ends without a trace" leaves_nothing
check "a kept directory of another folder is refused" refuses "was made with folder" "$work" --http-port "$port" --data-dir "$data"
if [ "$(id -u)" -eq 0 ]; then
  mkdir -m 700 "$work/private"
  check "a folder that the pool cannot read is refused" refuses "cannot be read by other users" "$work/private" --http-port "$port"
fi
[ "$failures" = 0 ] || { cat "$work/out"; exit 1; }
