#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/perf_gate_test.sh <ci/perf_gate.sh> <launcher> <ci/recipes>: the recipes for CI in a repository of two
# commits, with a fake build. Between two jobs of GitHub and GitLab only build/gate-base/build survives, as in
# a CI system's cache; Jenkins keeps the whole checkout.
set -uo pipefail
script=$1 launcher=$2 recipes=$(realpath "$3")
recipe_runner=$PWD/tests/run_recipe.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
unset CI BENCH_SETUP GITHUB_STEP_SUMMARY CMAKE_PREFIX_PATH BENCH_CUDA_LIBS
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
export GIT_CONFIG_GLOBAL=/dev/null

check() { # check <what> <expected> <got>
  if [[ $2 != "$3" ]]; then
    printf 'FAILED %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}

# A source repository. Its fake cmake writes the folder of each build to $work/builds.
origin=$work/origin
mkdir -p "$origin"/{base,ops,harness,cmake,ci/requirements} "$work/bin"
cp "$launcher" "$origin/bench" && cp "$script" "$origin/ci/perf_gate.sh"
cp "$(dirname "$launcher")/ci/install_missing.sh" "$origin/ci/"
touch "$origin"/{CMakeLists.txt,CMakePresets.json} "$origin"/base/a.cpp "$origin"/{ops,harness,cmake}/b
touch "$origin/ci/requirements/r.txt"
printf '#!/bin/sh\nexit 0\n' >"$origin/ci/setup" && chmod +x "$origin/ci/setup"
cat >"$work/bin/cmake" <<CMAKE
#!/bin/sh
case \$1 in
  --preset) mkdir -p build/\$2 && touch build/\$2/build.ninja ;;
  --build)
    [ "\$4" = bench_program ] || exit 0
    case \$2 in */gate-base/*) echo base ;; *) echo candidate ;; esac >>"$work/builds"
    cat >"\$2/bench" <<'PROGRAM'
#!/bin/sh
case "\$*" in
  selftest*)
    echo "\$*" >>../selftest
    # A stored self-test is recent, unless it is of the last job of the day before.
    [ -z "\$SELFTEST_DUE" ] || { mkdir -p baselines/class && echo proof >baselines/class/selftest.jsonl; } ;;
  gate*BENCH_SLOWDOWN*) echo "\$*" >>../selftest && exit \${SLOWED_STATUS:-1} ;;
  gate*) mkdir -p gate && echo "gate \$*" >gate/gate.md && exit \${GATE_STATUS:-0} ;;
esac
PROGRAM
    chmod +x "\$2/bench" ;;
esac
CMAKE
chmod +x "$work/bin/cmake"
# GitHub's command: it knows whether there is a comment, and may write only with the token of the project.
cat >"$work/bin/gh" <<GH
#!/bin/sh
echo "\$*" >>"$work/gh"
case "\$*" in *--paginate*) cat "$work/comment" 2>/dev/null; exit 0 ;; esac
[ "\$PULL_REPOSITORY" = "\$GITHUB_REPOSITORY" ] || exit 1
echo 5 >"$work/comment"
GH
chmod +x "$work/bin/gh"
# GitLab's interface: the notes of the merge request, and what was written to them.
cat >"$work/bin/curl" <<CURL
#!/bin/sh
echo "\$*" >>"$work/curl"
case "\$*" in
  *per_page*) cat "$work/notes" ;;
  *) cat >"$work/note" ;;
esac
CURL
printf '#!/bin/sh\ncat\n' >"$work/bin/jq" # the notes of the fake are the answer of the filter
chmod +x "$work/bin/curl" "$work/bin/jq"
PATH="$work/bin:$PATH"
git -C "$origin" init --quiet --initial-branch=main
git -C "$origin" add --all && GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' git -C "$origin" commit --quiet -m one
echo 'int x;' >"$origin/base/a.cpp"
git -C "$origin" commit --quiet --all -m two
first=$(git -C "$origin" rev-parse HEAD~1)

git -C "$origin" branch change && git -C "$origin" reset --quiet --hard HEAD~1

# job <recipe> <base>: a job for the branch `change`; for GitHub and GitLab in a new clone at the same path,
# with the cache of the last job
job() {
  rm -rf "$work/cache" "$work/builds" "$work/gh" "$work/curl" "$work/note"
  if [[ $1 != Jenkinsfile ]]; then
    [[ ! -d $work/clone/build/gate-base/build ]] || mv "$work/clone/build/gate-base/build" "$work/cache"
    rm -rf "$work/clone"
  fi
  [[ -d $work/clone ]] || git clone --quiet --branch change "$origin" "$work/clone"
  if [[ -d $work/cache ]]; then
    mkdir -p "$work/clone/build/gate-base" && mv "$work/cache" "$work/clone/build/gate-base/build"
  fi
  : >"$work/summary"
  (cd "$work/clone" && PULL_BASE=$2 CI_MERGE_REQUEST_DIFF_BASE_SHA=$2 CHANGE_TARGET=main \
    CI_API_V4_URL=https://gitlab.example.org/api/v4 CI_MERGE_REQUEST_PROJECT_ID=3 CI_MERGE_REQUEST_IID=7 \
    GITHUB_REPOSITORY=us/bench PULL_REPOSITORY=${repository:-us/bench} GITHUB_STEP_SUMMARY=$work/summary \
    "$recipe_runner" "$recipes/$1") >"$work/log" 2>&1
  status=$?
  [[ $status == 0 ]] || cat "$work/log"
}
builds() { paste -sd, "$work/builds" 2>/dev/null; }
report() { cat "$work/clone/gate/gate.md" 2>/dev/null; }

for recipe in github.yml gitlab.yml Jenkinsfile; do
  rm -rf "$work/clone"
  gated="gate gate configs/quick.yaml --base build/gate-base --out gate --force --budget 15m"
  job $recipe "$first"
  check "$recipe, first job: status" 0 $status
  check "$recipe, first job: builds both" candidate,base "$(builds)"
  check "$recipe, first job: gates" "$gated" "$(report)"
  job $recipe "$first"
  check "$recipe, second job: status" 0 $status
  case $recipe in
    Jenkinsfile) check "$recipe, second job: both builds are used again" "" "$(builds)" ;;
    *) check "$recipe, second job: the restored build of the base is used" candidate "$(builds)" ;;
  esac
  check "$recipe, second job: gates" "$gated" "$(report)"
  check "$recipe, second job: the base's checkout" "$first" "$(git -C "$work/clone/build/gate-base" rev-parse HEAD)"
done

# Earlier, the comment made a passed gate of a fork red, whose token may only read.
rm -rf "$work/clone" "$work/comment"
repository=them/bench job github.yml "$first"
check "GitHub, from a fork: status" 0 $status
check "GitHub, from a fork: no comment" "" "$(cat "$work/gh" 2>/dev/null)"
check "GitHub, from a fork: the summary has the report" "$gated" "$(cat "$work/summary")"
job github.yml "$first"
check "GitHub: a new comment" "pr comment 7 --body-file comment.md" "$(tail -n 1 "$work/gh")"
job github.yml "$first"
check "GitHub: the same comment, updated" "api --method PATCH repos/us/bench/issues/comments/5 -F body=@comment.md" \
  "$(tail -n 1 "$work/gh")"

# A merge request of a fork has no token for notes. Otherwise the first note is new, and later ones replace it.
notes=https://gitlab.example.org/api/v4/projects/3/merge_requests/7/notes
: >"$work/notes"
job gitlab.yml "$first"
check "GitLab, from a fork: status" 0 $status
check "GitLab, from a fork: no note" "" "$(cat "$work/curl" 2>/dev/null)"
export GATE_NOTE_TOKEN=t
job gitlab.yml "$first"
check "GitLab: a new note" "-sSf -H PRIVATE-TOKEN: t -o /dev/null -X POST --data-urlencode body@- $notes" \
  "$(tail -n 1 "$work/curl")"
check "GitLab: the note is the report" "$gated" "$(cat "$work/note")"
echo 9 >"$work/notes"
job gitlab.yml "$first"
check "GitLab: the same note, updated" \
  "-sSf -H PRIVATE-TOKEN: t -o /dev/null -X PUT --data-urlencode body@- $notes/9" "$(tail -n 1 "$work/curl")"
unset GATE_NOTE_TOKEN

# A self-test that is due is followed by a gate that must fail; otherwise the job fails, and tries again next time.
rm -f "$work/selftest"
proved="selftest --budget 30s --if-older 24h --quiet"
slowed="gate configs/quick.yaml --quick --cand-env BENCH_SLOWDOWN=1.0 --out build/gate-alive --force --budget 30s --quiet"
job github.yml "$first"
check "recent self-test: status" 0 $status
check "recent self-test: nothing is slowed" "$proved" "$(cat "$work/selftest")"
rm -f "$work/selftest"
SELFTEST_DUE=1 job github.yml "$first"
check "due self-test: status" 0 $status
check "due self-test: a slowed gate" "$proved,$slowed" "$(paste -sd, "$work/selftest")"
check "due self-test: gates" "$gated" "$(report)"
SELFTEST_DUE=1 SLOWED_STATUS=0 job github.yml "$first" >/dev/null
check "dead gate: status" 2 $status
check "dead gate: message" 1 "$(grep -c 'not alive: it returned 0, not 1' "$work/log")"
check "dead gate: nothing is stored" "" "$(find "$work/clone/baselines" -name selftest.jsonl)"
rm -f "$work/selftest"
(cd "$work/clone" && ci/perf_gate.sh --base HEAD --out gate --prove never) >"$work/log" 2>&1
check "--prove never: no self-test" "" "$(cat "$work/selftest" 2>/dev/null)"

# A slower candidate fails the job, which also writes the report.
for recipe in github.yml gitlab.yml Jenkinsfile; do
  export GATE_STATUS=1
  job $recipe "$first" >/dev/null
  check "$recipe, a slower candidate: status" 1 $status
  check "$recipe, a slower candidate: report" "$gated" "$(report)"
  unset GATE_STATUS
done

job gitlab.yml "$(git -C "$origin" rev-parse change)"
check "another base: status" 0 $status
check "another base: a restored build of another commit is not used" candidate,base "$(builds)"

# On a machine that keeps everything, the second run builds nothing.
rm -f "$work/builds"
(cd "$work/clone" && ci/perf_gate.sh --base HEAD --out gate) >"$work/log" 2>&1
check "kept checkout: status" 0 $?
check "kept checkout: builds nothing" "" "$(builds)"

[[ $failures == 0 ]] && echo "perf_gate: all checks passed"
exit $((failures > 0))
