#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ci/perf_gate.sh [--base REF] [--out DIR] [--advisory] [CONFIG [GATE-ARGUMENT...]]
# Judges this checkout against the commit that it branched from, as for a pull request: builds both,
# then runs `bench gate CONFIG --base`. The base's checkout and build are kept in build/gate-base. A CI
# system may restore only build/gate-base/build; it is used again if it was built from the same commit.
#   --base REF   a commit to compare with (default: the merge base with origin's default branch, or the
#                commit before this one if they are the same)
#   --out DIR    folder of reports and kits (default: gate)
#   --advisory   report the findings, but exit 0 unless the gate itself cannot run (status 2)
#   --prove TIME first show that the gate is alive, unless that was shown in the last TIME (default 24h,
#                or `never`): `bench selftest`, and this gate must fail a slowdown of 2x. 1 minute together
# Appends the Markdown report to $GITHUB_STEP_SUMMARY if that is set.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

usage() { sed -n '3,13s/^# //p' "${BASH_SOURCE[0]}"; }
ref='' out=gate advisory=false prove=24h
while (($#)); do
  case $1 in
    --base) ref=${2:?commit} && shift 2 ;;
    --out) out=${2:?folder} && shift 2 ;;
    --advisory) advisory=true && shift ;;
    --prove) prove=${2:?time} && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
  esac
done
config=${1:-configs/quick.yaml}
shift $(($# ? 1 : 0))

merge_base() {
  local head main
  head=$(git rev-parse HEAD)
  main=$(git rev-parse --verify --quiet origin/HEAD || git rev-parse --verify --quiet origin/main ||
    git rev-parse --verify --quiet main || echo "$head")
  local base
  base=$(git merge-base HEAD "$main")
  [[ $base != "$head" ]] || base=$(git rev-parse --verify --quiet HEAD~1) || base=$head
  printf '%s\n' "$base"
}

base=$(git rev-parse --verify --quiet "${ref:-$(merge_base)}^{commit}") || {
  echo "ci/perf_gate.sh: no commit '$ref' here; fetch the whole history (fetch-depth: 0)" >&2
  exit 2
}
tree=build/gate-base
# Creates the worktree of the base. git does not create one in a folder that exists, so the restored
# build moves aside and back. The sources get the time of their commit, which is the same in each new
# checkout: the build would otherwise be older than all of them.
add_worktree() {
  local kept=build/gate-base.kept
  rm -rf "$kept"
  [[ ! -d $tree/build ]] || mv "$tree/build" "$kept"
  rm -rf "$tree"
  git worktree prune
  git worktree add --quiet --detach "$tree" "$base"
  git -C "$tree" ls-files -z | (cd "$tree" && xargs -0 touch -h -d "@$(git log -1 --format=%ct)")
  [[ -d $kept ]] || return 0
  # A build of another commit may be newer than sources that differ from its own.
  [[ $(cat "$kept/gate-base.commit" 2>/dev/null) == "$base" ]] || rm -rf "$kept/release"
  mv "$kept" "$tree/build"
}
if [[ -e $tree/.git ]]; then
  git -C "$tree" checkout --quiet --detach "$base"
else
  add_worktree
fi
# The base uses the libraries that are already installed here.
mkdir -p "$tree/build"
[[ -e $tree/build/deps || ! -e build/deps ]] || ln -sfn "$PWD/build/deps" "$tree/build/deps"
rm -f "$tree/build/gate-base.commit"

BENCH_SETUP=yes ./bench --version >&2
(cd "$tree" && BENCH_SETUP=yes ./bench --version >&2)
printf '%s\n' "$base" >"$tree/build/gate-base.commit"

# The self-test shows how often the gate is wrong on this machine, and each report states it. It is stored in
# baselines/CLASS/selftest.jsonl. That this script then fails is shown by a candidate of half the speed. Without
# that, the self-test is removed, so that the next call tries again.
show_alive() {
  local before=build/gate-alive.begin status=0 proof
  touch "$before"
  ./bench selftest --budget 30s --if-older "$prove" --quiet >build/gate-selftest.txt || status=$?
  ((!status)) || echo "ci/perf_gate.sh: the self-test of the gate returned $status" >&2
  proof=$(find baselines -name selftest.jsonl -newer "$before" 2>/dev/null || true)
  [[ -n $proof ]] || return 0
  head -n 1 build/gate-selftest.txt >&2
  status=0
  ./bench gate "$config" --quick --cand-env BENCH_SLOWDOWN=1.0 --out build/gate-alive --force --budget 30s \
    --quiet >build/gate-alive.txt || status=$?
  ((status != 1)) || return 0
  xargs -d '\n' rm -f <<<"$proof"
  echo "ci/perf_gate.sh: the gate is not alive: it returned $status, not 1, for a candidate that is slower by" \
    "100 %; see build/gate-alive.txt" >&2
  exit 2
}
[[ $prove == never ]] || show_alive

status=0
./bench gate "$config" --base "$tree" --out "$out" --force "$@" || status=$?
if [[ -n ${GITHUB_STEP_SUMMARY:-} && -f $out/gate.md ]]; then
  cat "$out/gate.md" >>"$GITHUB_STEP_SUMMARY"
fi
if $advisory && ((status != 2)); then
  ((!status)) || echo "ci/perf_gate.sh: the gate returned $status; advisory, so this passes" >&2
  exit 0
fi
exit "$status"
