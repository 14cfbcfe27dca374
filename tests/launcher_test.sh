#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/launcher_test.sh <launcher>: the launcher in a separate checkout, with a ci/setup and a
# cmake that record their calls instead of installing and compiling.
set -uo pipefail
launcher=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
unset CI BENCH_SETUP BENCH_CUDA_LIBS CMAKE_PREFIX_PATH

check() { # check <what> <expected> <got>
  if [[ $2 != "$3" ]]; then
    printf 'FAILED %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}

contains() { # contains <what> <part> <text>
  [[ $3 == *"$2"* ]] || check "$1" "...$2..." "$3"
}

# The fake build creates a program that prints its arguments and folder, and ends with status 5. Its
# output is that of ci/output, which replaces ninja's.
make_checkout() {
  root="$work/a folder"
  rm -rf "$root" && mkdir -p "$root"/{base,ops,harness,cmake,ci/requirements} "$work/bin"
  cp "$launcher" "$root/bench"
  cp "$(dirname "$launcher")/ci/install_missing.sh" "$root/ci/"
  touch "$root"/{CMakeLists.txt,CMakePresets.json} "$root"/base/{a,b}.cpp
  cat >"$root/ci/setup" <<'SETUP'
#!/bin/sh
here=$(dirname "$0")
case $1 in
  --check) [ -e "$here/installed" ] || { echo "Debian packages: libfoo-dev"; exit 1; } ;;
  *) echo "setup $*" >>"$here/calls"; touch "$here/installed" ;;
esac
SETUP
  cat >"$work/bin/cmake" <<'CMAKE'
#!/bin/sh
case $1 in
  --preset) mkdir -p build/$2 && touch build/$2/build.ninja; echo configure >>ci/calls ;;
  --build)
    echo "build $4" >>"$2/../../ci/calls"
    cat "$2/../../ci/output" 2>/dev/null
    [ ! -e "$2/../../ci/broken" ] || exit 1
    [ ! -e "$2/../../ci/build.ninja" ] || ninja -C "$2" -f ../../ci/build.ninja -j 1 || exit 1
    cat >"$2/bench" <<'PROGRAM'
#!/bin/sh
printf '%s|' "$PWD" "$@"
[ "${BENCH_CALLED_AS%% *}" = $$ ] && printf '%s' "${BENCH_CALLED_AS#* }" >"$(dirname "$0")/called_as"
[ ! -e /proc/self/fd/9 ] || printf 'inherited the lock'
[ -z "${BENCH_CUDA_LIBS:-}" ] || printf 'libraries in %s' "$BENCH_CUDA_LIBS"
exit 5
PROGRAM
    chmod +x "$2/bench" ;;
esac
CMAKE
  chmod +x "$root/ci/setup" "$work/bin/cmake"
  PATH="$work/bin:$PATH"
}

calls() { paste -sd, "$root/ci/calls" 2>/dev/null; }

# run <command>...: sets its status, out and err; called from another folder without a terminal
run() {
  out=$(cd "$work/bin" && "$@" 2>"$work/err" </dev/null)
  status=$?
  err=$(<"$work/err")
}

make_checkout
run "$root/bench" --version
check "no terminal: status" 2 $status
contains "no terminal: what is missing" "libfoo-dev" "$err"
contains "no terminal: the command" "'$root/ci/setup' --build" "$err"
check "no terminal: stdout" "" "$out"
check "no terminal: nothing done" "" "$(calls)"

run env BENCH_SETUP=yes "$root/bench" run "two words" '' '*'
check "first call: status is the program's" 5 $status
check "first call: arguments and folder" "$work/bin|run|two words||*|" "$out"
check "first call: steps" "setup --build,configure,build bench_program" "$(calls)"

check "the program knows the name that the user called" "$root/bench" \
  "$(<"$root/build/release/called_as")"

run "$root/bench" list
check "up to date: output" "$work/bin|list|" "$out"
check "up to date: messages" "" "$err"
check "up to date: steps" "setup --build,configure,build bench_program" "$(calls)"

# run_after_change <what> [<steps before>]: the next call must build, the one after it must not
run_after_change() {
  rm -f "$root/ci/calls"
  run "$root/bench" list
  check "$1: builds" "${2:-}build bench_program" "$(calls)"
  run "$root/bench" list
  check "$1: once" "${2:-}build bench_program" "$(calls)"
}
settle() { run "$root/bench" settle; }

settle && touch "$root/base/a.cpp" && run_after_change "changed source"
settle && rm "$root/base/b.cpp" && run_after_change "removed source"
settle && touch "$root/ops/new.cpp" && run_after_change "added source"
settle && mkdir "$root/profiler" && touch "$root/profiler/p.cpp" && run_after_change "added folder"
settle && touch "$root/CMakePresets.json" && run_after_change "changed preset" configure,
settle && mkdir -p "$root/build/deps/cuda" && touch "$root/build/deps/cuda/installed-cuda.txt" &&
  run_after_change "installed CUDA toolkit" configure,
check "installed CUDA toolkit: its libraries" \
  "$work/bin|list|libraries in $root/build/deps/cuda/toolkit/lib:$root/build/deps/cuda/cudnn" "$out"
run env BENCH_CUDA_LIBS=/mine "$root/bench" list
check "installed CUDA toolkit: the caller's libraries" "$work/bin|list|libraries in /mine" "$out"
rm -r "$root/build/deps/cuda"
settle && mkdir -p "$root/.git/logs" && touch "$root/.git/logs/HEAD" && run_after_change "new commit"
settle && rm -rf "$root/build/release/bench" && run_after_change "binary removed"

# What ninja would not see, since it compares times: everything is built again.
settle && echo 'int x;' >"$work/older" && touch -d '1 day ago' "$work/older" &&
  cp -p "$work/older" "$root/base/a.cpp" && run_after_change "a source replaced by an older one" \
  "configure,build clean,"
settle && touch -d '1 hour' "$root/build/release/bench".* && touch "$root/base/a.cpp" &&
  run_after_change "a build of the future: the clock was set back" "configure,build clean,"
run "$root/bench" list
check "everything built again: the reason is not repeated" "" "$err"
settle && touch "$root/base/a.cpp" "$root/ci/broken" && run "$root/bench" list
rm "$root/ci/broken" && cp -p "$work/older" "$root/base/a.cpp" &&
  run_after_change "a failed build, then an older source" "configure,build clean,"

# The oneDNN that the caller names replaces the one that an existing build uses.
settle && rm -f "$root/ci/calls"
export CMAKE_PREFIX_PATH="/opt/my onednn"
run_after_change "another CMAKE_PREFIX_PATH" configure,
unset CMAKE_PREFIX_PATH
run "$root/bench" list
check "CMAKE_PREFIX_PATH no longer set: the build stays" "configure,build bench_program" "$(calls)"

settle && touch "$root/base/a.cpp" "$root/ci/broken"
cat >"$root/ci/output" <<'NINJA'
@step 1 3 0.5 Building CXX object a.o
a.cpp:7: warning: of a step that succeeded
FAILED: base/b.o
/usr/bin/c++ -O2 -c b.cpp
b.cpp:1:2: error: there is nothing like that
    1 | nothing
@step 2 3 0.9 Building CXX object c.o
c.cpp:9: warning: of the step after it
ninja: build stopped: subcommand failed.
NINJA
run "$root/bench" list
check "failed build: status" 2 $status
check "failed build: the old binary does not run" "" "$out"
check "failed build: what the failed step printed, without its command" \
  "bench: building build/release, since the sources changed
bench: building: 1 of 3
bench: failed: base/b.o
b.cpp:1:2: error: there is nothing like that
    1 | nothing
bench: building: 2 of 3
bench: all output of the build: $root/build/release/build.log
bench: the build failed" "$err"
check "failed build: the log" "$(cat "$root/ci/output"; echo '@status 1')" \
  "$(<"$root/build/release/build.log")"
rm "$root/ci/broken"
run "$root/bench" list
check "after a failed build" "$work/bin|list|" "$out"

# Progress without a terminal: a line for each tenth of the steps, with the remaining time once it
# can be estimated.
settle && touch "$root/base/a.cpp"
printf '@step %s\n' '0 2 0.1 Re-checking globbed directories...' '1 2 0.9 Re-running CMake...' >"$work/cmake"
for step in 1 5 20 21 22 40 99 100; do echo "@step $step 100 $step.5 Building CXX object $step.o"; done |
  cat "$work/cmake" - >"$root/ci/output"
run "$root/bench" list
check "progress: lines" "bench: building build/release, since the sources changed
bench: building: 20 of 100, about 80 s left
bench: building: 40 of 100, about 60 s left
bench: building: 99 of 100, about 10 s left" "$err"
check "progress: output is the program's alone" "$work/bin|list|" "$out"

# The lines are those that ninja prints for NINJA_STATUS.
settle && touch "$root/base/a.cpp" && rm "$root/ci/output"
cat >"$root/ci/build.ninja" <<'NINJA'
rule say
  command = echo 'a warning of $out'; $end
build one: say
  end = true
build two: say | one
  end = echo 'the error of two'; false
build three: say | two
NINJA
run "$root/bench" list
check "ninja: status" 2 $status
check "ninja: messages" "bench: building build/release, since the sources changed
bench: building: 1 of 3
bench: failed: two
a warning of two
the error of two
bench: all output of the build: $root/build/release/build.log
bench: the build failed" "$(grep -v 'building: 2 of 3' <<<"$err")"
rm "$root/ci/build.ninja"
run "$root/bench" list
check "ninja: after a failed build" "$work/bin|list|" "$out"

ln -sf "$root/bench" "$work/link" && run "$work/link" x
check "through a link" "$work/bin|x|" "$out"

make_checkout
for i in 1 2 3 4 5; do
  (cd "$work" && CI=true "$root/bench" "$i" >"$work/out.$i" 2>/dev/null </dev/null)&
done
wait
check "concurrent first calls: steps" "setup --build,configure,build bench_program" "$(calls)"
for i in 1 2 3 4 5; do check "concurrent first calls: $i" "$work|$i|" "$(<"$work/out.$i")"; done

# on_terminal <answer>: script(1) gives the launcher a terminal
on_terminal() {
  printf '%s\n' "$1" | (cd "$work" && script -qec "'$root/bench' t" /dev/null) >"$work/typed" 2>&1
  status=$?
}
make_checkout
on_terminal n
check "answer no: status" 2 $status
check "answer no: steps" "" "$(calls)"
contains "answer no: asked" "Install it now?" "$(<"$work/typed")"
echo '@step 30 120 60.2 Building CXX object a.o' >"$root/ci/output"
on_terminal y
check "answer yes: status" 5 $status
contains "on a terminal: one line, written over" \
  $'\r\e[Kbench: building: 30 of 120, about 3 min left\r\e[K' "$(<"$work/typed")"
check "answer yes: steps" "setup --build,configure,build bench_program" "$(calls)"

# The hint is a command to copy, also in a folder whose name has an apostrophe.
make_checkout
mv "$root" "$work/it's" && root="$work/it's"
run "$root/bench" list
hint=$(sed -n 's/^bench: install it with: //p' <<<"$err")
check "hint: names the script" "$root/ci/setup --build" "$(eval "printf '%s' $hint" | sed 's/--build$/ &/')"

# README promises that each of its two commands needs nothing else. Earlier, ci/test ended with a list
# of what is missing.
make_checkout
cp "$(dirname "$launcher")/ci/test" "$root/ci/test"
run "$root/ci/test"
check "ci/test, no terminal: status" 2 $status
contains "ci/test, no terminal: what is missing" "libfoo-dev" "$err"
contains "ci/test, no terminal: the command" "ci/test: install it with: '$root/ci/setup'" "$err"
check "ci/test, no terminal: nothing done" "" "$(calls)"
run env BENCH_SETUP=yes "$root/ci/test" # the build itself fails here, without a build folder
check "ci/test: installs, then configures" "setup ,configure" "$(calls)"

[[ $failures == 0 ]] && echo "launcher: all checks passed"
exit $((failures > 0))
