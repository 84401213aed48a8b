#!/usr/bin/env bash
# The command line against a real control with its private PostgreSQL: grammar, outputs, exit codes, import. CROFT_BIN names the programs.
set -uo pipefail
work=$(mktemp -d /tmp/croft-cli.XXXXXX)
chmod 755 "$work"
control_pid=
clean_up() {
  [ -n "$control_pid" ] && kill -TERM "$control_pid" 2> /dev/null && wait "$control_pid" 2> /dev/null
  rm -rf "$work"
}
trap clean_up EXIT

croft() { "$CROFT_BIN/croft" "$@"; }
failures=0
# expect EXIT WHAT COMMAND...: output is left in $out and $err.
expect() {
  local want=$1 what=$2 got=0
  shift 2
  "$@" > "$work/out" 2> "$work/err" || got=$?
  out=$(cat "$work/out") err=$(cat "$work/err")
  if [ "$got" != "$want" ]; then
    printf 'FAIL %s: exit %s, not %s\n  out: %s\n  err: %s\n' "$what" "$got" "$want" "${out:0:400}" "${err:0:400}"
    failures=$((failures + 1))
  fi
}
# has TEXT WHAT: $out or $err of the last command holds it.
has() {
  if [[ $out != *"$1"* && $err != *"$1"* ]]; then
    printf 'FAIL %s: no "%s" in\n  out: %s\n  err: %s\n' "$2" "$1" "${out:0:400}" "${err:0:400}"
    failures=$((failures + 1))
  fi
}

export CROFT_CONFIG=$work/control/operator.yaml
expect 2 "no contexts file" croft list sites
has "CROFT_CONFIG" "the way out is named"

"$CROFT_BIN/croft-control" --data-dir "$work/control" --listen 127.0.0.1:0 2> "$work/control.log" &
control_pid=$!
for _ in $(seq 600); do
  croft list farms > /dev/null 2>&1 && break
  kill -0 "$control_pid" 2> /dev/null || { cat "$work/control.log"; exit 1; }
  sleep 0.1
done

expect 0 "help" croft --help
has "Exit codes" "help names the exit codes"
expect 0 "help of a verb" croft create --help
has "croft create site shop" "a verb's help has examples"
expect 2 "no verb" croft
expect 2 "unknown verb" croft frobnicate site x
has "frobnicate" "the word that is no verb is named"
has "suspend" "the verbs are listed"
expect 2 "unknown verb after options" croft --farm main frobnicate site x
has "frobnicate" "it is named"
expect 2 "unknown type" croft get elephant x
has "organization" "the types are listed"
expect 2 "unknown output format" croft list sites -o xml
has "jsonl" "the formats are listed"

expect 2 "an assignment where none is taken" croft list farms x=1
expect 2 "more objects than asked for" croft delete account $(seq -f 'u%.0f' 101)
has "--expect-count 101" "the way out is named"
expect 0 "no event as json" croft list events -o json
[ "$out" = "[]" ] || { echo "FAIL no event is an empty array: $out"; failures=$((failures + 1)); }

# What needs no control and no context.
expect 0 "fields of a type" env CROFT_CONFIG=/nowhere "$CROFT_BIN/croft" explain site
has "settings.limits.max_body  (SIZE such as 30MB, 0 to 1TiB)" "a field with its unit and range"
has "beyond it 413. Default 30000000." "and its comment"
expect 0 "fields below a path" croft explain pool.processes
has "processes.max_workers" "the field below"
expect 5 "no such field" croft explain site.nothing
has "bindings" "the fields there are"

# Contexts.
context() { printf 'current: c\ncontexts:\n  c: {%s}\n' "$1" > "$work/contexts.yaml"; chmod "${2:-600}" "$work/contexts.yaml"; }
with_context() { CROFT_CONFIG=$work/contexts.yaml croft "$@"; }
address=$(cat "$work/control/listen")
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/other.key" -out "$work/other.crt" -subj /CN=other -days 2 2> /dev/null
context "control: \"$address\", ca_file: $work/other.crt, token: x"
expect 9 "another authority" with_context list farms
has "not from the certificate authority of this context" "said in plain words"
context "control: \"$address\", token: x"
expect 2 "no authority" with_context list farms
has "ca_file" "what is lacking is named"
context "controll: \"$address\""
expect 2 "a mistyped key" with_context list farms
has "controll" "the key is named"
context "control: \"$address\", ca_file: $work/control/ca.crt, token: x" 644
expect 8 "an unknown token" with_context list farms
has "chmod 600" "an open file is warned of"
echo hello > "$work/contexts.yaml"
expect 2 "no contexts file at all" with_context list farms

expect 0 "create farm" croft create farm main
expect 0 "create organization" croft create organization acme display_name="Acme Hosting"
expect 0 "create store" croft create store content path=/srv/content homes.fan_out=75,50
expect 0 "create pool" croft create pool php max_concurrent_requests=100 processes.ping_interval=10s
expect 0 "create site" croft create site shop bindings=*:80:Shop.example. root=content:shop pool=php organization=acme
expect 0 "get as yaml" croft get site shop -o yaml
has "shop.example" "the host is canonical"
expect 0 "get as json" croft get site shop -o json
has '"farms/main/sites/shop"' "json has the full name"
expect 0 "list as names" croft list sites -o name
has "farms/main/sites/shop" "name prints names alone"
expect 0 "list as csv" croft list sites -o csv
has "NAME,STATE,BINDINGS" "csv has a header"
expect 0 "describe" croft describe pool php
has "identity" "describe shows what control gave"

# Operators and tokens.
expect 0 "create operator" croft create operator alice organization=acme \
  grants=organizations/acme:OPERATOR:site,account:USE_FILE_STORE,acme:viewer
expect 0 "operator as yaml" croft get operator alice -o yaml
has "USE_FILE_STORE" "the grant's permission"
expect 0 "list operators" croft list operators
has "organizations/acme:OPERATOR:site,account:USE_FILE_STORE,organizations/acme:VIEWER" "grants in short form"
expect 5 "no such role" croft create operator bob grants=acme:KING
has "VIEWER, OPERATOR, ADMINISTRATOR" "the roles are named"
expect 0 "create token" croft create token ci operator=alice lifetime=90d
ci=$out
[[ $ci =~ ^croft_[A-Za-z0-9_-]{43}$ ]] || { echo "FAIL the secret alone on stdout: $ci"; failures=$((failures + 1)); }
expect 0 "create token as json" croft create token ci2 operator=alice -o json
has '"secret": "croft_' "the secret is in the answer"
expect 0 "get token" croft get token ci -o json
[[ $out != *croft_* ]] || { echo "FAIL the secret is shown again: $out"; failures=$((failures + 1)); }
as_alice() { CROFT_TOKEN=$ci croft "$@"; }
expect 0 "an operator's list" as_alice list sites -o name
has "farms/main/sites/shop" "what is in its organization"
expect 0 "an operator's pools" as_alice list pools -o name
expect 3 "what it does not see" as_alice get store content
expect 8 "what it may not do" as_alice create organization sub organization=acme
has "role ADMINISTRATOR for type organization in organizations/acme" "role and place are named"
expect 0 "revoke" croft delete token ci
for _ in $(seq 20); do as_alice list sites > /dev/null 2>&1 || break; sleep 0.1; done
expect 8 "a revoked token" as_alice list sites
expect 0 "take a grant away" croft set operator alice grants-=organizations/acme:OPERATOR:site,account:USE_FILE_STORE
expect 0 "one is left" croft get operator alice -o yaml
[[ $out != *USE_FILE_STORE* ]] || { echo "FAIL the grant is still there: $out"; failures=$((failures + 1)); }

expect 5 "a name with a slash is a full name" croft create site a/shop bindings=*:80:x.example root=content:x pool=php
has "farms/{farm}/sites/{site}" "its form is named"
expect 4 "create again" croft create site shop bindings=*:80:x.example root=content:x pool=php
expect 4 "binding of another site" croft create site other bindings=*:80:shop.example root=content:x pool=php
has "farms/main/sites/shop" "the holder is named"
expect 4 "delete what is used" croft delete pool php
has "farms/main/sites/shop" "what uses it is named"
expect 3 "get what is not there" croft get site nothing
expect 3 "delete what is not there" croft delete site nothing
expect 5 "unknown setting" croft set site shop settings.limits.max_bdy=1MB
has "max_body" "the nearest setting is named"
expect 5 "value out of range" croft set site shop settings.limits.max_url=1
has "settings.limits.max_url" "the field is named"
expect 5 "no such unit" croft set site shop settings.limits.max_body=5parsecs
expect 5 "host of 300 characters" croft create site bad bindings="*:80:$(printf 'a%.0s' $(seq 300)).example" root=content:x pool=php
expect 5 "empty label" croft create site bad bindings=*:80:a..example root=content:x pool=php
expect 5 "space in a host" croft create site bad "bindings=*:80:a b.example" root=content:x pool=php
expect 5 "mixed scripts" croft create site bad bindings=*:80:pаypal.example root=content:x pool=php
expect 0 "IDN" croft create site idn bindings=*:80:bücher.example root=content:x pool=php
expect 0 "IDN is kept as A-label" croft get site idn -o yaml
has "xn--bcher-kva.example" "the A-label"

expect 0 "set" croft set site shop bindings+=*:80:www.shop.example settings.limits.max_body=50MB
expect 0 "read back" croft get site shop -o yaml
has "www.shop.example" "the binding was added"
expect 0 "unset" croft set site shop settings.limits.max_body- bindings-=*:80:www.shop.example
expect 0 "dry run" croft set site shop state=STOPPED --dry-run
expect 0 "dry run changed nothing" croft get site shop
has "STARTED" "still started"
expect 12 "wrong etag" croft set site shop state=STOPPED --if-etag 0
expect 0 "request id" croft create account once --request-id r1
expect 0 "the same again" croft create account once --request-id r1
expect 4 "another request with that id" croft create account twice --request-id r1
home=$(croft get account once -o json | sed -n 's/.*"path": "\(.*\)".*/\1/p')
expect 4 "another account's home" croft create account thief "home=content:$home"
has "farms/main/accounts/once" "whose it is"
expect 0 "stop" croft stop site shop
expect 0 "start" croft start site shop
expect 0 "wait with no node" croft set site shop state=STARTED --wait=serving --timeout 5s
expect 0 "changes" croft list changes farms/main/sites/shop
has "create farms/main/sites/shop" "who did what"

expect 0 "another farm" croft create farm other
expect 0 "a store of it" croft create store content path=/srv/content --farm other
expect 0 "a pool of it" croft create pool php --farm other
expect 0 "short names are of the object's own farm" croft create site farms/other/sites/shop bindings=*:80:shop.example root=content:shop pool=php --wait=serving
expect 0 "sites of all farms" croft list sites --farm -
has "farms/other/sites/shop" "full names tell them apart"
expect 0 "changes of an object by type and name" croft list changes site shop --farm other -o name
expect 2 "changes of a word" croft list changes shop
expect 0 "replace" croft set site shop bindings=*:80:shop.example root=content:shop pool=php settings.log.enabled=false --replace
expect 0 "what is fixed stays" croft get site shop -o yaml
has "organizations/acme" "the organization"
expect 0 "replace again" croft set site shop bindings=*:80:shop.example root=content:shop pool=php --replace
expect 0 "what is not named is unset" croft get site shop -o yaml
[[ $out != *settings* ]] || { echo "FAIL settings are gone: $out"; failures=$((failures + 1)); }

expect 0 "explain" croft explain url http://shop.example/docs/a.html
has "farms/main/pools/php" "explain names the pool"
has "limits.max_body" "explain lists the settings"
expect 0 "explain unknown host" croft explain url http://nobody.example/
has "400" "and what is answered"

{
  echo "name,state"
  for i in $(seq 1 10000); do
    case $i in
      500) echo "bad name,ACTIVE" ;;
      1500) echo "user$i,SLEEPING" ;;
      2500) echo "-dash,ACTIVE" ;;
      3500) echo "www,ACTIVE" ;;
      4500) echo "user$i" ;;
      5500) echo ",ACTIVE" ;;
      6500) echo "user$i,ACTIVE,extra" ;;
      7500) echo "üser,ACTIVE" ;;
      8500) echo "user8499,ACTIVE" ;;
      9500) echo "$(printf 'a%.0s' $(seq 64)),ACTIVE" ;;
      *) echo "user$i,ACTIVE" ;;
    esac
  done
} > "$work/people.csv"
expect 6 "import with ten bad lines" croft import accounts "$work/people.csv" --errors "$work/refused.csv"
has "9990 created, 0 updated, 0 unchanged, 10 refused" "the count"
first=$(sort "$work/refused.csv")
[ "$(wc -l <<< "$first")" = 11 ] || { echo "FAIL ten lines are reported: $first"; failures=$((failures + 1)); }
has "people.csv:501: name: " "line and field of a bad name"
has "people.csv:1501: state: " "line and field of a bad state"
expect 6 "import again" croft import accounts "$work/people.csv" --errors "$work/refused.csv"
has "0 created, 0 updated, 9990 unchanged, 10 refused" "nothing changes"
[ "$(sort "$work/refused.csv")" = "$first" ] || { echo "FAIL the same result: $(cat "$work/refused.csv")"; failures=$((failures + 1)); }
[ "$(croft list accounts -o name | sort -u | wc -l)" = 9991 ] || { echo "FAIL list has every account once"; failures=$((failures + 1)); }
printf 'Name\n\xff\xfe\nbin1\n' > "$work/bytes.csv"
expect 6 "a line that is not UTF-8 spoils no other" croft import accounts "$work/bytes.csv"
has "1 created, 0 updated, 0 unchanged, 1 refused" "the others are created"
has "bytes.csv:2: " "the line"
expect 0 "suspend" croft suspend account user1 --reason unpaid
expect 0 "suspended" croft get account user1
has "SUSPENDED" "the state"
expect 0 "list accounts as jsonl" bash -c '"$CROFT_BIN/croft" list accounts -o jsonl | tail -n 1'
has '"name"' "one object a line"

expect 8 "wrong token" env CROFT_TOKEN=wrong "$CROFT_BIN/croft" list sites
expect 9 "control unreachable" env CROFT_CONTROL=127.0.0.1:1 "$CROFT_BIN/croft" list sites
# The kernel goes on taking connections for a stopped process. Where a parent holds the database, its child listens.
serving=$control_pid
for child in $(cat "/proc/$control_pid/task/$control_pid/children"); do
  [ "$(readlink "/proc/$child/exe")" = "$(readlink -f "$CROFT_BIN/croft-control")" ] && serving=$child
done
kill -STOP "$serving"
SECONDS=0
expect 9 "a control that hangs" croft list sites --timeout 60s
[ "$SECONDS" -le 8 ] || { echo "FAIL a control that hangs: $SECONDS s"; failures=$((failures + 1)); }
has "$address" "its address is named"
kill -CONT "$serving"
expect 0 "a control that goes on" croft list sites

[ "$failures" = 0 ] && echo "all passed"
exit $((failures > 0))
