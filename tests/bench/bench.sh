# Sourced by tests/bench/run: measuring, and the peer. Every figure is taken beside the peer's in the same run and printed as a ratio too.

# cpu_ticks PID...: utime + stime in clock ticks.
cpu_ticks() {
  local pid sum=0 fields
  for pid in "$@"; do
    fields=$(sed 's/.*) //' "/proc/$pid/stat" 2> /dev/null) || continue
    set -- $fields
    sum=$((sum + ${12} + ${13}))
  done
  echo "$sum"
}
ticks_per_second=$(getconf CLK_TCK)

# rss_anon_kib PID...
rss_anon_kib() {
  local pid
  for pid in "$@"; do awk '/^RssAnon/ { print $2 }' "/proc/$pid/status"; done | awk '{ s += $1 } END { print s + 0 }'
}

milliseconds() { date +%s%3N; }

# percentile P < one number a line
percentile() { sort -n | awk -v p="$1" '{ v[NR] = $1 } END { i = int((NR * p + 99) / 100); print v[i < 1 ? 1 : i] }'; }

row() { printf '%-46s %14s %14s %10s   %s\n' "$1" "$2" "$3" "$4" "$5"; }
head_row() { row MEASURE CROFT PEER RATIO "BAR AND PEER"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b == 0) print "-"; else printf "%.2f", a / b }'; }

nginx_pid=
# start_nginx DIR < server blocks (not at the end of a pipe: it sets nginx_pid): two workers, request log on, as a hoster would run it.
start_nginx() {
  mkdir -p "$1/logs" "$1/tmp"
  {
    echo "worker_processes 2; pid $1/nginx.pid; error_log $1/logs/error.log; user root;"
    echo "events { worker_connections 4096; }"
    echo "http { include /etc/nginx/mime.types; access_log $1/logs/access.log; sendfile on; keepalive_requests 1000000;"
    echo "server_names_hash_max_size 1048576; server_names_hash_bucket_size 128; client_body_temp_path $1/tmp;"
    echo "proxy_temp_path $1/tmp; fastcgi_temp_path $1/tmp; uwsgi_temp_path $1/tmp; scgi_temp_path $1/tmp;"
    cat
    echo "}"
  } > "$1/nginx.conf"
  nginx -c "$1/nginx.conf" -p "$1" || return 1
  # The file comes once the daemon runs, seconds later with many server blocks.
  wait_until 60 "nginx runs" test -s "$1/nginx.pid" || return 1
  nginx_pid=$(cat "$1/nginx.pid")
}
nginx_workers() { pgrep -P "$nginx_pid"; }
stop_nginx() {
  [ -n "$nginx_pid" ] || return 0
  kill -TERM "$nginx_pid" 2> /dev/null
  wait_until 60 "nginx ends" nginx_is_gone
  nginx_pid=
}
nginx_is_gone() { ! kill -0 "$nginx_pid" 2> /dev/null; }

# loaded URL CONNECTIONS SECONDS [wrk options]: prints requests and failures.
loaded() {
  local url=$1 connections=$2 seconds=$3
  shift 3
  wrk -t1 -c"$connections" -d"${seconds}s" "$@" "$url" > "$work/wrk.txt" 2>&1
  awk '/requests in/ { r = $1 } /Non-2xx/ { f += $NF } /Socket errors/ { gsub(",", ""); f += $4 + $6 + $8 + $10 } END { print r + 0, f + 0 }' "$work/wrk.txt"
}

# cpu_per_request URL CONNECTIONS SECONDS "PIDS" [wrk options]: microseconds of CPU per request.
cpu_per_request() {
  local url=$1 connections=$2 seconds=$3 pids=$4 before after result
  shift 4
  loaded "$url" "$connections" 1 "$@" > /dev/null
  before=$(cpu_ticks $pids)
  result=$(loaded "$url" "$connections" "$seconds" "$@")
  after=$(cpu_ticks $pids)
  set -- $result
  [ "$2" = 0 ] || say "warning: $2 of $1 requests failed: $url"
  awk -v t="$((after - before))" -v hz="$ticks_per_second" -v n="$1" 'BEGIN { printf "%.1f", n ? t / hz * 1e6 / n : 0 }'
}
