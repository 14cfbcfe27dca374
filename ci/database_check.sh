#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ci/database_check.sh [--keep] [--records N] [BENCH]
# Tests `bench history --db` with a real PostgreSQL, which it starts in a scratch folder, and with
# SQLite: concurrent writers, of which some are killed with SIGKILL, lose nothing that was saved and
# leave nothing half saved; errors of the server are explained. Needs `ci/setup --scale`, and does not
# touch a PostgreSQL that is installed here.
#   BENCH         the program (default: ./bench of this checkout)
#   --records N   also measure with N records: the rate of saving, a trend, the list of all series
#   --keep        keep the scratch folder, with the log of PostgreSQL
set -euo pipefail
root=$(CDPATH='' cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
usage() { sed -n '3,11s/^# //p' "${BASH_SOURCE[0]}"; }

keep=no bench=$root/bench records=0
while (($#)); do
  case $1 in
    --keep) keep=yes ;;
    --records)
      records=$2
      shift
      ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) bench=$(realpath -- "$1") ;;
  esac
  shift
done

say() { printf 'ci/database_check.sh: %s\n' "$*" >&2; }
fail() {
  say "FAILED: $*"
  exit 1
}
# Debian keeps the server's programs out of PATH.
PATH=$PATH:$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
for tool in initdb pg_ctl createdb python3; do
  command -v "$tool" >/dev/null || fail "$tool is missing; install it with ci/setup --scale"
done

work=$(mktemp -d)
# PostgreSQL does not run as root.
as_server=()
if [[ $(id -u) == 0 ]]; then
  as_server=(runuser -u postgres --)
  chmod 711 "$work"
fi
mkdir "$work/server"
[[ ${#as_server[@]} == 0 ]] || chown postgres "$work/server"
finish() {
  (cd / && "${as_server[@]}" "$(command -v pg_ctl)" -D "$work/server/data" -m immediate stop >/dev/null 2>&1) || true
  if [[ $keep == yes ]]; then say "kept $work"; else rm -rf "$work"; fi
}
trap finish EXIT

start_server() {
  cd /
  printf 'a-password\n' >"$work/password"
  chmod 644 "$work/password"
  "${as_server[@]}" "$(command -v initdb)" -D "$work/server/data" -U bench -A scram-sha-256 --pwfile="$work/password" \
    >"$work/initdb.log"
  "${as_server[@]}" "$(command -v pg_ctl)" -D "$work/server/data" -l "$work/server/log" -w \
    -o "-k $work/server -c listen_addresses=''" start >/dev/null
  PGPASSWORD=a-password createdb -h "$work/server" -U bench bench
  cd "$work"
  say "$(postgres --version) runs in $work/server"
}

# write_stores: a store of one case for each of 8 writers, and each writer's runs.
write_stores() {
  python3 - "$work" <<'STORES'
import json, os, sys
record = {"schema": "bench.baseline/1", "case_hash": "0123456789abcdef", "reason": "check",
          "environment": {"machine_class": "check-2c-00000000"}}
for writer in range(8):
    for part in range(20):
        folder = f"{sys.argv[1]}/writer{writer}/part{part}/check-2c-00000000"
        os.makedirs(folder)
        for case in range(50):
            line = dict(record, id=f"gemm/case{case}", run_id=f"w{writer}-p{part}",
                        time=f"2026-11-{1 + part:02}T08:00:00Z", epoch=0, processes=[
                {"n": 9, "iterations_per_sample": 1, "med_ns": 50000 + writer, "q25_ns": 49000,
                 "p90_ns": 51000, "min_ns": 48000}])
            with open(f"{folder}/gemm__case{case}.jsonl", "w") as file:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
STORES
}

# write_parts URL WRITER: saves the writer's runs, one by one, and notes each that was reported as
# saved.
write_parts() {
  local part
  for ((part = 0; part < 20; ++part)); do
    "$bench" history --db "$1" --save "writer$2/part$part" >"log.$2.$part" 2>&1 || return 1
    echo "w$2-p$part" >>"saved.$2"
  done
}

# check_writers URL: 8 writers at once; 3 of them are killed while they save.
check_writers() {
  local url=$1 pids=() writer
  rm -f saved.* log.*
  for writer in 0 1 2 3 4 5 6 7; do
    touch "saved.$writer"
    setsid bash -c "$(declare -f write_parts); bench=$bench; write_parts '$url' $writer" &
    pids+=($!)
  done
  for writer in 1 4 6; do
    until (($(wc -l <"saved.$writer") >= 2)); do sleep 0.02; done
    sleep "0.0$writer"
    kill -KILL -- "-${pids[writer]}" 2>/dev/null || fail "writer $writer had ended before it was killed"
  done
  for writer in 0 2 3 5 7; do
    wait "${pids[writer]}" || fail "writer $writer: $(cat log."$writer".* | tail -n 3)"
  done
  wait || true
  "$bench" history --db "$url" --json >history.json
  python3 - <<'COMPARE'
import glob, json
runs = {}
for case in json.load(open("history.json"))["cases"]:
    for run in case["runs"]:
        runs.setdefault(run["run_id"], set()).add(case["id"])
saved = [line.strip() for name in sorted(glob.glob("saved.*")) for line in open(name)]
lost = [run for run in saved if run not in runs]
assert not lost, f"lost: {lost}"
half = {run: len(cases) for run, cases in runs.items() if len(cases) != 50}
assert not half, f"half saved: {half}"
for writer in (0, 2, 3, 5, 7):
    assert sum(run.startswith(f"w{writer}-") for run in saved) == 20
print(f"{len(saved)} runs were reported as saved, {len(runs)} are stored, each with all 50 cases")
COMPARE
  # A killed writer that runs again completes its runs, and nothing is stored twice.
  for writer in 1 4 6; do write_parts "$url" "$writer" || fail "writer $writer cannot go on"; done
  "$bench" history --db "$url" --list --json |
    python3 -c 'import json, sys
runs = {series["runs"] for series in json.load(sys.stdin)["series"]}
assert runs == {160}, runs'
}

# expect STATUS TEXT ARGUMENT...: checks the exit status, and that the message has the text and no
# password.
expect() {
  local status=0 text=$2 wanted=$1
  shift 2
  "$bench" history "$@" >message 2>&1 || status=$?
  [[ $status == "$wanted" ]] || fail "status $status instead of $wanted: $(cat message)"
  grep -qF -- "$text" message || fail "no '$text' in: $(cat message)"
  ! grep -qE 'a-password|another-password' message || fail "a password in: $(cat message)"
}

server() { printf 'postgresql://%s@/%s?host=%s' "$1" "$2" "$work/server"; }

check_errors() {
  expect 2 'contains no history of bench' --db "$(server bench:a-password bench)"
  expect 2 'password authentication failed' --db "$(server bench:another-password bench)"
  expect 2 'create it with `createdb`' --db "$(server bench:a-password none)"
  expect 2 'check that the server runs' --db "postgresql://bench:a-password@/bench?host=$work/none"
}
check_permission() {
  PGPASSWORD=a-password psql -q -h "$work/server" -U bench bench \
    -c "create role reader login password 'another-password'"
  expect 2 'ask the owner' --db "$(server reader:another-password bench)"
  PGPASSWORD=a-password psql -q -h "$work/server" -U bench bench \
    -c "update bench_schema set version = 99"
  expect 2 'use a newer bench' --db "$(server bench:a-password bench)"
  PGPASSWORD=a-password psql -q -h "$work/server" -U bench bench \
    -c "update bench_schema set version = 2"
}

# measure URL: a store of 1,000 records is saved again and again under other runs.
measure() {
  local url=$1
  python3 "$root/ci/perf/history_database.py" "$bench" "$url" "$records" "$work/load"
}

start_server
write_stores
check_errors
say 'PostgreSQL, 8 writers, 3 of them killed'
check_writers "$(server bench:a-password bench)"
check_permission
say 'SQLite, 8 writers, 3 of them killed'
check_writers "sqlite:$work/history.db"
if ((records > 0)); then
  say "PostgreSQL, $records records"
  PGPASSWORD=a-password createdb -h "$work/server" -U bench load
  measure "$(server bench:a-password load)"
  say "SQLite, $records records"
  measure "sqlite:$work/load.db"
fi
say passed
