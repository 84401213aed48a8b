# Sourced by tests/bench/run: what the API costs, beside PostgreSQL alone and gRPC.

# peak_mib PID...: the largest resident set of one of them so far.
peak_mib() {
  local pid
  for pid in "$@"; do awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$pid/status" 2> /dev/null; done | sort -n | tail -1
}
control_pids() { descendants "$control_pid" | while read -r pid; do grep -qz croft-control "/proc/$pid/cmdline" 2> /dev/null && echo "$pid"; done; }

# Accounts created one by one beside bare INSERTs of the same rows.
bench_create() {
  local results=$work/create.txt writers theirs
  "$bin/create_bench" "$work/control" main "made$(milliseconds)" 5 > "$results" || die "create_bench failed"
  for writers in 1 16; do
    theirs=$("$here/insert_accounts.sh" "$work/control" "$writers" 5) || die "the bare inserts failed"
    set -- $(awk -v w="$writers" '$2 == w { print $3, $4, $5 }' "$results") $theirs
    row "creates/s, $writers writers" "$1" "$4" "$(ratio "$1" "$4")" "INSERT of the same row"
    row "one create, $writers writers: p50" "$2 us" "$5 us" "$(ratio "$2" "$5")" "INSERT of the same row"
    row "one create, $writers writers: p99" "$3 us" "$6 us" "$(ratio "$3" "$6")" "INSERT of the same row"
  done
}

# A million accounts from CSV beside COPY, while one site is changed again and again until it serves.
bench_million() {
  local begin took copy import peak=0 now times=$work/changes.txt i=0
  { echo name; seq -f 'million%.0f' 1 1000000; } > "$work/million.csv"
  : > "$times"
  begin=$(milliseconds)
  "$bin/croft" import accounts "$work/million.csv" 2> "$work/import.err" &
  import=$!
  while kill -0 "$import" 2> /dev/null; do
    now=$(peak_mib "$import")
    peak=$((${now:-0} > peak ? now : peak))
    local start
    start=$(milliseconds)
    croft set site s1 "labels.turn=n$((i += 1))" --wait=serving 2> /dev/null || die "the site was not changed"
    echo $(($(milliseconds) - start)) >> "$times"
  done
  wait "$import" || die "the import failed: $(tail -1 "$work/import.err")"
  took=$(($(milliseconds) - begin))
  copy=$("$here/copy_accounts.sh" "$work/control" 1000000)
  row "import of 1,000,000 accounts" "$took ms" "$copy ms" "$(ratio "$took" "$copy")" "<= 3, COPY into the same constraints; $i site changes beside it"
  row "largest resident set: croft, control" "$peak MiB" "$(peak_mib $(control_pids)) MiB" "-" "<= 256 MiB each"
  row "site change beside the import: p50" "$(percentile 50 < "$times") ms" "-" "-" "CLI to serving"
  row "site change beside the import: p99" "$(percentile 99 < "$times") ms" "-" "-" "<= 1000 ms, CLI to serving"
}

# All accounts, two million and more, as lines of JSON.
bench_list() {
  local begin took rows list peak=0 now
  { echo name; seq -f 'second%.0f' 1 1000000; } > "$work/million.csv"
  croft import accounts "$work/million.csv" 2> /dev/null || die "the second million failed"
  begin=$(milliseconds)
  "$bin/croft" list accounts -o jsonl > "$work/accounts.jsonl" &
  list=$!
  while kill -0 "$list" 2> /dev/null; do
    now=$(peak_mib "$list")
    peak=$((${now:-0} > peak ? now : peak))
    sleep 0.2
  done
  wait "$list" || die "the list failed"
  took=$(($(milliseconds) - begin))
  rows=$(wc -l < "$work/accounts.jsonl")
  row "list of $rows accounts as JSON lines" "$((rows * 1000 / took))/s" "-" "-" "$took ms"
  row "largest resident set: croft, control" "$peak MiB" "$(peak_mib $(control_pids)) MiB" "-" "<= 256 MiB each"
}

# GetSite over the JSON gateway beside gRPC, of the same control.
bench_gateway() {
  local results=$work/gateway.txt clients
  "$bin/gateway_bench" "$work/control" farms/main/sites/personal 3 > "$results" || die "gateway_bench failed"
  for clients in 1 16; do
    set -- $(awk -v c="$clients" '$2 == c { print $3, $4, $5 }' "$results")
    row "GetSite over JSON, $clients clients: requests/s" "$4" "$1" "$(ratio "$4" "$1")" "gRPC, same control"
    row "GetSite over JSON, $clients clients: p50" "$5 us" "$2 us" "$(ratio "$5" "$2")" "gRPC, same control"
    row "GetSite over JSON, $clients clients: p99" "$6 us" "$3 us" "$(ratio "$6" "$3")" "gRPC, same control"
  done
}
