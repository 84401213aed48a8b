#!/usr/bin/env bash
# apply, diff, export, history, undo, watch, import and bulk commands against a real control with its private PostgreSQL. CROFT_BIN names
# the programs.
set -uo pipefail
work=$(mktemp -d /tmp/croft-declarative.XXXXXX)
chmod 755 "$work"
control_pid= watch_pid=
clean_up() {
  for pid in $watch_pid $control_pid; do
    kill -TERM "$pid" 2> /dev/null && wait "$pid" 2> /dev/null
  done
  rm -rf "$work"
}
trap clean_up EXIT

croft() { "$CROFT_BIN/croft" "$@"; }
failures=0
fail() { printf 'FAIL %s\n  out: %s\n  err: %s\n' "$1" "${out:0:600}" "${err:0:600}"; failures=$((failures + 1)); }
# expect EXIT WHAT COMMAND...: output is left in $out and $err.
expect() {
  local want=$1 what=$2 got=0
  shift 2
  "$@" > "$work/out" 2> "$work/err" < "${input:-/dev/null}" || got=$?
  out=$(cat "$work/out") err=$(cat "$work/err")
  [ "$got" = "$want" ] || fail "$what: exit $got, not $want"
}
# has TEXT WHAT: $out or $err of the last command holds it.
has() { [[ $out == *"$1"* || $err == *"$1"* ]] || fail "$2: no \"$1\""; }
has_not() { [[ $out != *"$1"* && $err != *"$1"* ]] || fail "$2: \"$1\""; }

export CROFT_CONFIG=$work/control/operator.yaml
"$CROFT_BIN/croft-control" --data-dir "$work/control" --listen 127.0.0.1:0 2> "$work/control.log" &
control_pid=$!
for _ in $(seq 600); do
  croft list farms > /dev/null 2>&1 && break
  kill -0 "$control_pid" 2> /dev/null || { cat "$work/control.log"; exit 1; }
  sleep 0.1
done

# A farm with every type, from a directory: YAML and JSON, short names and full ones, in no order.
mkdir -p "$work/farm/sites" "$work/farm/.git"
cat > "$work/farm/farm.yaml" << 'END'
# The farm and what its sites need.
type: pool
name: php
max_concurrent_requests: 100
---
type: farm
name: main
settings:
  limits: {max_body: 50MB}
---
type: store
name: content
path: /srv/content
homes: {fan_out: [75, 50]}
---
type: organization
name: below
organization: acme
display_name: "Bücher & Söhne: 東京"
---
type: organization
name: acme
---
type: node
name: web1
END
cat > "$work/farm/sites/shop.yml" << 'END'
type: site
name: shop
organization: acme
labels: {app: shop}
bindings: ["*:80:shop.example", "*:80:bücher.example"]
applications:
- path: /
  pool: php
  root: content:shop
END
printf '[{"type": "site", "name": "farms/main/sites/blog", "labels": {"app": "shop"}, "bindings": [{"host": "blog.example"}],
  "applications": [{"path": "/", "pool": "php", "root": {"store": "content", "path": "blog"}}]}]' > "$work/farm/sites/blog.json"
printf '{"type":"account","name":"bob","organization":"acme","home":{"store":"content"}}\n{"type":"account","name":"ann","state":"SUSPENDED","home":{"store":"content"}}\n' > "$work/farm/accounts.jsonl"
printf 'type: operator\nname: alice\norganization: acme\ngrants: ["organizations/acme:OPERATOR"]\n' > "$work/farm/operators.yaml"
echo 'no: manifest' > "$work/farm/.git/x.yaml"
echo 'neither' > "$work/farm/README.md"

expect 2 "apply without -f" croft apply
has "-f FILE" "the way out"
expect 5 "a directory without manifests" croft apply -f "$work/farm/.git/.."/.git/../../farm/.nothing
expect 1 "diff before" croft diff -f "$work/farm"
has "+++ farms/main/sites/shop" "what would be made"
expect 0 "dry run" croft apply -f "$work/farm" --dry-run
has "11 created, 0 updated, 0 unchanged (only checked, nothing changed)" "counts"
expect 3 "dry run made nothing" croft get farm main
expect 0 "apply a directory" croft apply -f "$work/farm" --reason "first time"
has "site shop created" "each is named"
has "11 created" "counts"
expect 0 "apply again" croft apply -f "$work/farm"
has "11 unchanged" "counts"
has "site shop unchanged" "each is named"
expect 0 "no difference" croft diff -f "$work/farm"
[ -z "$out" ] || fail "no difference prints nothing"

# What is printed can be applied; an export changes nothing.
for format in yaml json; do
  expect 0 "get as $format" croft get site shop -o $format
  cp "$work/out" "$work/shop.$format"
  expect 0 "apply of get -o $format" croft apply -f "$work/shop.$format"
  has "1 unchanged" "nothing changes"
done
for format in yaml json jsonl; do
  input=/dev/null expect 0 "list as $format" croft list accounts -o $format
  cp "$work/out" "$work/list"
  input=$work/list expect 0 "apply of list -o $format" croft apply -f -
  has "2 unchanged" "nothing changes"
done
croft create token ci operator=alice > /dev/null 2>&1
revision=$(croft list changes -o name --limit 1 2> /dev/null)
for format in yaml json jsonl; do
  expect 0 "export as $format" croft export -o $format
  has "Bücher & Söhne: 東京" "names come out as they are"
  has_not create_time "what Croft sets stays out"
  has_not croft_ "no secret"
  cp "$work/out" "$work/export"
  input=$work/export expect 0 "apply of the export" croft apply -f -
  has "0 created, 0 updated" "nothing changes"
  has_not "deleted" "nothing is deleted"
  input=$work/export expect 0 "diff of the export" croft diff -f -
done
[ "$(croft list changes -o name --limit 1 2> /dev/null)" = "$revision" ] || fail "an export makes a change"
expect 0 "export of types and labels" croft export sites pools --selector app=shop -o name
[ "$out" = $'farms/main/sites/blog\nfarms/main/sites/shop' ] || fail "only those"
expect 0 "export of tokens when named" croft export tokens -o name
has "tokens/ci" "by name"

# Changes, and what is wrong with a file.
sed -e 's/name: shop/name: shop\nstate: STOPPED/' "$work/farm/sites/shop.yml" > "$work/shop.yaml"
expect 1 "diff" croft diff -f "$work/shop.yaml"
has "+state: STOPPED" "after"
expect 0 "apply" croft apply -f "$work/shop.yaml" --wait=serving --timeout 5s
has "site shop updated (state)" "what changed"
expect 0 "what is no longer said is unset" croft apply -f "$work/farm/sites/shop.yml"
has "site shop updated (state)" "what changed"
expect 4 "a field of another manager" croft apply -f "$work/shop.yaml" --field-manager billing
expect 0 "taken" croft apply -f "$work/shop.yaml" --field-manager billing --force
printf 'type: site\nname: shop\nbindings:\n- host: "shop\\t.example"\n' > "$work/bad.yaml"
expect 5 "a tab in a host name" croft apply -f "$work/bad.yaml"
has "bad.yaml" "the file is named"
printf 'type: site\nname: shop\nbindngs: []\n---\ntype: site\nname: &x y\n' > "$work/bad.yaml"
expect 5 "unknown field and anchor" croft apply -f "$work/bad.yaml"
has "bad.yaml:3: bindngs: unknown field of Site; the nearest is \"bindings\"" "file, line, nearest"
has "bad.yaml:6: anchors" "all errors at once"
has "nothing was done" "it says so"
head -c 17000000 /dev/zero | tr '\0' ' ' > "$work/huge.yaml"
expect 5 "17 MB" croft apply -f "$work/huge.yaml"
has "16 MiB" "the limit"
expect 5 "no such file" croft apply -f "$work/nothing.yaml"

# Pruning, only within a label and after the list was seen.
expect 12 "prune without a word" croft apply -f "$work/farm/sites/shop.yml" --prune-selector app=shop --force
has "prunes farms/main/sites/blog" "the list"
has "--expect-pruned 1" "the way out"
expect 12 "another number" croft apply -f "$work/farm/sites/shop.yml" --prune-selector app=shop --force --expect-pruned 2
expect 0 "nothing was pruned" croft get site blog
expect 0 "prune" croft apply -f "$work/farm/sites/shop.yml" --prune-selector app=shop --force --expect-pruned 1
has "site blog deleted" "what was pruned"
expect 3 "pruned" croft get site blog

# More than one change holds.
for i in $(seq 2500); do echo "{\"type\":\"account\",\"name\":\"many$i\",\"labels\":{\"batch\":\"b\"}}"; done > "$work/many.jsonl"
expect 0 "many" croft apply -f "$work/many.jsonl" -o name
has "2500 resources: 1000 at a time, in 3 changes" "a notice"
has "2500 created" "all of them"

# History and undo.
expect 0 "history" croft history site shop
has "first time" "the reason"
has "state" "the field"
expect 0 "history as json" croft history site shop -o json --limit 1
has '"action"' "an entry"
change=$(croft list changes site blog -o name --limit 1 2> /dev/null)
expect 0 "get change" croft get change "$change"
has "farms/main/sites/blog" "what it touched"
expect 0 "undo, dry" croft undo change "$change" site blog --dry-run
expect 3 "not yet" croft get site blog
expect 0 "undo of one object" croft undo change "$change" site blog --reason "a mistake"
has "undone, revision" "the new change"
expect 0 "it is back" croft get site blog
expect 2 "undo of what is no number" croft undo change x
expect 0 "changes by whom and when" croft list changes --since 1h --who administrator
expect 2 "no time" croft list changes --since yesterday

# Watch: what exists, then what comes; a token goes on where it ended.
"$CROFT_BIN/croft" watch sites --all -o jsonl > "$work/watch" 2> "$work/watch.err" &
watch_pid=$!
for _ in $(seq 100); do grep -q sites/shop "$work/watch" && break; sleep 0.1; done
expect 0 "change what is watched" croft set site shop labels.seen=yes --force
for _ in $(seq 100); do grep -q UPDATED "$work/watch" && break; sleep 0.1; done
grep -Eq '"kind": ?"UPDATED"' "$work/watch" || fail "the change is seen: $(cat "$work/watch" "$work/watch.err")"
kill -INT "$watch_pid"
wait "$watch_pid" || fail "watch ends cleanly"
watch_pid=
token=$(sed -n 's/^to go on from here: --resume //p' "$work/watch.err")
[ -n "$token" ] || fail "a token is printed: $(cat "$work/watch.err")"
expect 0 "another change" croft set site shop labels.seen=again --force
expect 0 "resume" timeout 20 "$CROFT_BIN/croft" watch sites --resume "$token" --limit 1
has "UPDATED" "the change in between"
expect 0 "events of an object" croft list events --object site/shop --since 2h -o json
expect 2 "events of a word" croft list events --object shop

# Import of any type, with a result for each line.
printf 'name,organization,state,labels.tier\nimp1,acme,ACTIVE,gold\nbad name,acme,,\nimp2,,SLEEPING,\nimp3,,,\n' > "$work/people.csv"
expect 6 "import" croft import accounts "$work/people.csv" --errors "$work/refused.csv"
has "2 created, 0 updated, 0 unchanged, 2 refused" "counts"
has "people.csv:3: name: " "file, line and field"
has "people.csv:4: state: " "and of the other"
grep -q '^4,state,' "$work/refused.csv" || fail "--errors"
printf '{"name":"imp4","bindings":[{"host":"imp4.example"}]}\n' > "$work/sites.jsonl"
expect 0 "import of sites" croft import sites "$work/sites.jsonl"
input=$work/sites.jsonl expect 0 "from stdin" croft import sites -
has "1 unchanged" "as it is"
expect 5 "an unknown column" croft import accounts <(printf 'name,nmae\n')

# Many at once.
expect 12 "how many is wanted" croft set accounts --selector batch=b state=SUSPENDED --expect-count 7
expect 0 "set many" croft set accounts --selector batch=b state=SUSPENDED --expect-count 2500
has "2500 of 2500 done" "what came of it"
expect 0 "one of them" croft get account many2500
has SUSPENDED "is set"
expect 2 "a list's item" croft set sites --all bindings+=a.example
expect 0 "not waited for" croft delete accounts --filter 'labels.batch = b' --expect-count 2500 --no-wait
operation=$out
expect 0 "wait for it" croft wait operation "$operation" --timeout 60s
has "2500 of 2500 done" "what came of it"
expect 0 "list operations" croft list operations
has "${operation#operations/}" "it is listed"
expect 0 "get operation" croft get operation "$operation" -o json
has '"SUCCEEDED"' "its state"
expect 0 "they are gone" croft list accounts --filter 'labels.batch = b' -o name
[ -z "$out" ] || fail "they are gone"

expect 0 "counters of a day" croft get counters site --since 24h --step 5min
expect 0 "top" croft top sites

[ "$failures" = 0 ] && echo "all passed"
exit $((failures > 0))
