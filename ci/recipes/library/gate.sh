#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gate.sh BASE-COMMIT: judges a change of a library. To copy into the library's repository, as
# ci/performance_gate.sh.
# Builds the library at BASE-COMMIT and in this checkout, and lets each side of a gate load one of the
# builds. `bench` stays the same: it is built once, against the oldest version of the library that it
# must load (docs/gate.md, "Your library, the same bench"). Adapt what is below.
set -euo pipefail
cases=perf/cases.yaml # what to measure
libraries=build/src   # where a build puts the library, below the folder of its sources
build() {             # build SOURCES; ccache makes the second build short
  cmake -S "$1" -B "$1/build" -DCMAKE_BUILD_TYPE=Release
  cmake --build "$1/build" --parallel
}

base=$(git rev-parse --verify --quiet "${1:?commit to compare with}^{commit}") || {
  echo "gate.sh: no commit '$1' here; fetch the whole history" >&2
  exit 2
}
# Some CI systems keep the checkout. A library that another commit built would be measured if this
# commit builds none of that name.
rm -rf gate build
git worktree prune
git worktree add --quiet --detach build/base "$base"
build build/base
build .

status=0
bench gate "$cases" --base-env LD_LIBRARY_PATH="$PWD/build/base/$libraries" \
  --cand-env LD_LIBRARY_PATH="$PWD/$libraries" --out gate --budget 15m || status=$?
if [[ -n ${GITHUB_STEP_SUMMARY:-} && -f gate/gate.md ]]; then
  cat gate/gate.md >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
