# Sourced by deploy/demo and deploy/serve: builds Croft and runs control and nodes of one farm below one directory. Everything it starts is
# a child of the calling script, and stop_stack ends it.

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=dev
# CROFT_BIN names programs that are built already, as the tests do.
bin=${CROFT_BIN:-$repository/build/$preset/bin}
croft() { "$bin/croft" "$@"; }

# Installs the packages of the given purposes and builds the programs; quiet when there is nothing to do.
prepare_programs() {
  [ -z "${CROFT_BIN:-}" ] || return 0
  "$repository/deploy/install-packages" build run "$@"
  say "building (the first time takes some minutes)"
  local log=$repository/build/configure.log
  mkdir -p "$repository/build"
  (cd "$repository" && cmake --preset "$preset" > "$log" 2>&1) || { tail -20 "$log" >&2; die "cmake failed"; }
  (cd "$repository" && cmake --build --preset "$preset" --target croft croft-control croft-launcher croft-agent \
     croft-listener croft-worker) > "$repository/build/build.log" 2>&1 &
  local builder=$! line
  while kill -0 "$builder" 2> /dev/null; do
    if [ -t 2 ]; then
      line=$(tail -n 1 "$repository/build/build.log" 2> /dev/null | grep -o '^\[[0-9]*/[0-9]*\]' || true)
      printf '\r%s' "$line" >&2
    fi
    sleep 0.5
  done
  [ -t 2 ] && printf '\r\033[K' >&2
  wait "$builder" || { grep -E 'error|FAILED' "$repository/build/build.log" | head -20 >&2; die "the build failed"; }
}

# wait_until SECONDS WHAT COMMAND...: polls until the command succeeds.
wait_until() {
  local seconds=$1 what=$2 deadline=$((SECONDS + $1))
  shift 2
  until "$@" > /dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || { say "error: $what: not after $seconds s"; return 1; }
    sleep 0.05
  done
}

identity_first=58000
declare -a node_pids=()
control_pid=

# start_control DIR: control with its private PostgreSQL; sets CROFT_CONFIG.
start_control() {
  mkdir -p "$1"
  local listen=127.0.0.1:0
  [ -s "$1.address" ] && listen=$(cat "$1.address")  # a control that comes back is where the nodes look for it
  rm -f "$1/listen"
  "$bin/croft-control" --data-dir "$1" --listen "$listen" --json-listen 127.0.0.1:0 >> "$1.log" 2>&1 &
  control_pid=$!
  export CROFT_CONFIG=$1/operator.yaml
  wait_until 60 "control answers (see $1.log)" control_answers "$1" || return 1
  cp "$1/listen" "$1.address"
}
control_answers() {
  kill -0 "$control_pid" 2> /dev/null || return 0
  [ -s "$1/listen" ] && [ -s "$1/operator.yaml" ] && croft list farms -o name
}

# prepare_node NAME DIR ADDRESS... : enrols it and writes its configuration. HEALTH_PORT names its health URL's port.
prepare_node() {
  local name=$1 dir=$2
  shift 2
  mkdir -p "$dir"
  croft enroll node "$name" > "$dir/join-token" 2> /dev/null || return 1
  cp "${CROFT_CONFIG%/*}/ca.crt" "$dir/ca.crt"
  {
    echo "control: $(cat "${CROFT_CONFIG%/*}/listen")"
    echo "ca_file: $dir/ca.crt"
    echo "join_token_file: $dir/join-token"
    echo "addresses: [$(printf '"%s", ' "$@" | sed 's/, $//')]"
    echo "health: {ip: \"$1\", port: ${HEALTH_PORT:-8081}}"
  } > "$dir/node.yaml"
  chmod 600 "$dir/join-token"
  if [ "$(id -u)" -eq 0 ]; then
    chown "$identity_first:$identity_first" "$dir/join-token" "$dir/node.yaml" "$dir/ca.crt"
  fi
}

# start_node INDEX DIR; $launcher_options are passed on.
start_node() {
  # shellcheck disable=SC2086
  "$bin/croft-launcher" --data-dir "$2" --identity-range "$identity_first-$((identity_first + 999))" ${launcher_options:-} >> "$2.log" 2>&1 &
  node_pids[$1]=$!
}

stop_node() {
  local pid=${node_pids[$1]:-}
  [ -n "$pid" ] && kill -TERM "$pid" 2> /dev/null && wait "$pid" 2> /dev/null
  node_pids[$1]=
}

stop_stack() {
  local i
  for i in "${!node_pids[@]}"; do stop_node "$i"; done
  if [ -n "$control_pid" ]; then
    kill -TERM "$control_pid" 2> /dev/null && wait "$control_pid" 2> /dev/null
    control_pid=
  fi
}

# keep_running: as systemd does where Croft is installed, starts again what ends: control, and node I of $data_dir/webI. Returns never.
keep_running() {
  local i
  while :; do
    wait -n "$control_pid" "${node_pids[@]}" 2> /dev/null
    sleep 1 &
    wait $!
    if ! kill -0 "$control_pid" 2> /dev/null; then
      say "control has ended and is started again (see $data_dir/control.log)"
      start_control "$data_dir/control"
    fi
    for i in "${!node_pids[@]}"; do
      kill -0 "${node_pids[$i]}" 2> /dev/null && continue
      say "web$i has ended and is started again (see $data_dir/web$i.log)"
      start_node "$i" "$data_dir/web$i"
    done
  done
}

# same_as_before NAME VALUE: what a kept --data-dir was made with must be given again.
same_as_before() {
  local file=$data_dir/$1
  if [ -e "$file" ] && [ "$(cat "$file")" != "$2" ]; then
    die "$data_dir was made with $1 $(cat "$file"), not $2; give that again, or another --data-dir"
  fi
  printf '%s\n' "$2" > "$file"
}

# port_is_free IP PORT: nobody answers there.
port_is_free() { ! (: > "/dev/tcp/$1/$2") 2> /dev/null || die "port $2 of $1 is taken; choose another with --http-port"; }

# What the nodes complained of, before their logs go.
show_complaints() { grep -hE 'level=(error|warning)' "$data_dir"/web*.log | tail -n 5 >&2; }

# Every process below a pid, the pid first.
descendants() {
  local child
  echo "$1"
  for child in $(pgrep -P "$1" 2> /dev/null); do descendants "$child"; done
}

# stack_processes: "UID PID COMMAND" of everything that runs.
stack_processes() {
  local pid
  for pid in "$control_pid" "${node_pids[@]}"; do
    [ -n "$pid" ] && descendants "$pid"
  done | sort -un | while read -r pid; do ps -o uid=,pid=,args= -p "$pid" 2> /dev/null; done
}

# make_homes STORE_PATH: a home with a page for every account that has none yet.
make_homes() {
  croft list accounts -o csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { sub(".*/", "", $at["NAME"]); print $at["HOME"], $at["NAME"] }' > "$1/.homes"
  cut -d' ' -f1 "$1/.homes" | sed "s|^|$1/|" | xargs mkdir -p
  local home name
  while read -r home name; do
    [ -e "$1/$home/index.html" ] || printf '<!doctype html><title>%s</title><h1>The pages of %s</h1>\n' "$name" "$name" > "$1/$home/index.html"
  done < "$1/.homes"
  rm -f "$1/.homes"
}
