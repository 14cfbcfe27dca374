#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/source_archive_test.sh: what `git archive` writes knows its commit, which `--version` and packages
# show, also inside another repository.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
unset SOURCE_DATE_EPOCH

check() { # check <what> <expected> <got>
  if [[ $2 != "$3" ]]; then
    printf 'FAILED %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}
# commit_in <folder>: what write_version.cmake finds
commit_in() {
  cmake -DSOURCE_DIR="$1" -DVERSION=0.1.0 -DOUTPUT="$work/version.cpp" -P "$1/cmake/write_version.cmake"
  sed -n 's/.*tool_commit() { return \(.*\); }/\1/p' "$work/version.cpp"
}
# package_in <folder>: the version of a package
package_in() {
  printf 'set(CPACK_PACKAGE_VERSION 0.1.0)\nset(CPACK_BENCH_SOURCE_DIR "%s")\ninclude("%s")\nmessage("${CPACK_PACKAGE_VERSION}")\n' \
    "$1" "$1/cmake/package_version.cmake" >"$work/package.cmake"
  cmake -P "$work/package.cmake" 2>&1
}

# A repository with the files of this one that matter.
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
export GIT_CONFIG_GLOBAL=/dev/null
source=$work/source
mkdir -p "$source"
cp -r cmake .gitattributes "$source"
git -C "$source" init --quiet --initial-branch=main
git -C "$source" add --all
GIT_COMMITTER_DATE='2026-02-03T04:05:06Z' git -C "$source" commit --quiet -m one
commit=$(git -C "$source" rev-parse --short=12 HEAD)
# extract <name>: an archive of the last commit, in a repository with another one
extract() {
  mkdir "$work/$1"
  git -C "$work/$1" init --quiet
  git -C "$work/$1" commit --quiet --allow-empty -m other
  mkdir "$work/$1/bench"
  git -C "$source" archive HEAD | tar -C "$work/$1/bench" -xf -
}

extract archive
check "checkout: commit" "\"$commit\"" "$(commit_in "$source")"
check "checkout: package" "0.1.0~20260203.040506+$commit" "$(package_in "$source")"
check "archive: commit" "\"$commit\"" "$(commit_in "$work/archive/bench")"
check "archive: package" "0.1.0~20260203.040506+$commit" "$(package_in "$work/archive/bench")"
dpkg --compare-versions "0.1.0~20260203.040506+$commit" lt "0.1.0~20260204.000000+0" || check "later commits are newer" yes no
dpkg --compare-versions "0.1.0~20260203.040506+$commit" lt 0.1.0 || check "the release is newer" yes no

git -C "$source" tag v0.1.0
extract release
check "tagged checkout: package" 0.1.0 "$(package_in "$source")"
check "archive of a tag: package" 0.1.0 "$(package_in "$work/release/bench")"
check "archive of a tag: commit" "\"$commit\"" "$(commit_in "$work/release/bench")"
echo '# changed' >>"$source/cmake/BenchVersion.cmake"
check "changed checkout: commit" "\"$commit-dirty\"" "$(commit_in "$source")"
check "changed checkout: package" "0.1.0~20260203.040506+$commit.dirty" "$(package_in "$source")"

cp -r cmake "$work/copy.cmake" && mkdir "$work/copy" && mv "$work/copy.cmake" "$work/copy/cmake"
check "a copy without a repository: commit" std::nullopt "$(commit_in "$work/copy")"
check "a copy without a repository: package" 0.1.0 "$(package_in "$work/copy")"

[[ $failures == 0 ]] && echo "source_archive: all checks passed"
exit $((failures > 0))
