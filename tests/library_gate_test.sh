#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/library_gate_test.sh <ci/recipes> <bench> <older library> <newer library>: the recipes for the CI of a
# library, each twice, as for pull requests of two people. The library's "build" is one of the two given
# ones, by the file VERSION of its sources; <bench> is built against the older one. The gate is real.
set -uo pipefail
recipes=$(realpath "$1") bench=$2
recipe_runner=$PWD/tests/run_recipe.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
unset CI GITHUB_STEP_SUMMARY LD_LIBRARY_PATH
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
export HOME=$work BENCH_OLDER=$3 BENCH_NEWER=$4 # HOME: a recipe changes the settings of git

check() { # check <what> <expected> <got>
  if [[ $2 != "$3" ]]; then
    printf 'FAILED %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}

mkdir "$work/bin"
ln -s "$bench" "$work/bin/bench"
cat >"$work/bin/cmake" <<'CMAKE'
#!/bin/sh
# The library of another major version has another name.
[ "$1" = --build ] || exit 0
mkdir -p "$2/src"
case $(cat "$2/../VERSION") in
  older) ln -sf "$BENCH_OLDER" "$2/src/libdnnl.so.3" ;;
  newer) ln -sf "$BENCH_NEWER" "$2/src/libdnnl.so.3" ;;
  major) touch "$2/src/libdnnl.so.4" ;;
esac
CMAKE
chmod +x "$work/bin/cmake"
PATH="$work/bin:$PATH"

# The library's repository: main is the older version, two pull requests change it.
origin=$work/origin
mkdir -p "$origin"/{ci,perf}
cp "$recipes/library/gate.sh" "$origin/ci/performance_gate.sh"
# Generous limits, so that no verdict depends on the machine.
cat >"$origin/perf/cases.yaml" <<'CASES'
version: 1
name: perf
gate: { delta: 40%, detect: 60% }
defaults: { threads: 1, warmup: { iterations: 2, time: 2ms },
            measure: { processes: 2, min_iterations: 5, max_time: 20ms } }
cases:
  - { op: gemm, m: 128, n: 128, k: 128, bias: true }
CASES
git -C "$origin" init --quiet --initial-branch=main
commit() { # commit <branch> <version>
  git -C "$origin" checkout --quiet -B "$1" main 2>/dev/null
  echo "$2" >"$origin/VERSION" && git -C "$origin" add --all && git -C "$origin" commit --quiet -m "$2"
}
commit main older
commit faster newer
commit bump major
base=$(git -C "$origin" rev-parse main)

# job <recipe> <branch>: the pull request of this branch, whose checkout the CI system keeps, except GitHub
job() {
  [[ $1 != */github.yml ]] || rm -rf "$work/checkout"
  [[ -d $work/checkout ]] || git clone --quiet "$origin" "$work/checkout"
  git -C "$work/checkout" checkout --quiet --detach "origin/$2"
  : >"$work/summary"
  (cd "$work/checkout" && PULL_BASE=$base CI_MERGE_REQUEST_DIFF_BASE_SHA=$base CHANGE_TARGET=main \
    GITHUB_STEP_SUMMARY=$work/summary "$recipe_runner" "$1") >"$work/log" 2>&1
  status=$?
}

for recipe in "$recipes"/library/{github.yml,gitlab.yml,Jenkinsfile}; do
  name=${recipe##*/}
  rm -rf "$work/checkout"
  for time in first second; do
    job "$recipe" faster
    [[ $status == 0 ]] || cat "$work/log"
    check "$name, $time time: status" 0 $status
    report=$(tr -d '\\' <"$work/summary")
    [[ $report == *"1 of 1 cases judged: 1 PASS"* ]] || check "$name, $time time: summary" "1 PASS" "$report"
    check "$name, $time time: the build of the base" "$3" "$(readlink "$work/checkout/build/base/build/src/libdnnl.so.3")"
    check "$name, $time time: the build of the candidate" "$4" "$(readlink "$work/checkout/build/src/libdnnl.so.3")"
    for library in "$3" "$4"; do
      [[ $report == *"$(realpath "$library")"* ]] || check "$name, $time time: libraries" "$library" "$report"
    done
  done
  job "$recipe" bump
  check "$name: a library that the program cannot load: status" 2 $status
  check "$name: a library that the program cannot load: no old report" "" "$(cat "$work/summary")"
  [[ $(cat "$work/log") == *"it has no libdnnl.so.3, but libdnnl.so.4"* ]] ||
    check "$name: a library that the program cannot load: message" "no libdnnl.so.3" "$(cat "$work/log")"
done

[[ $failures == 0 ]] && echo "library_gate: all checks passed"
exit $((failures > 0))
