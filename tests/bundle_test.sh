#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bundle_test.sh BUILD WORK: packs BUILD as ci/bundle.sh does, unpacks it elsewhere, and uses it
# there with an empty environment. All libraries except those of the C and C++ runtime must come
# from the archive. Then it runs ci/gpu_check.sh with it and with every GPU hidden: the script must
# report on every machine that there is none.
set -euo pipefail
build=$1 work=$2

fail() { printf 'bundle_test.sh: %s\n' "$*" >&2 && exit 1; }

rm -rf "$work"
mkdir -p "$work/elsewhere"
# As in a source archive, which is not a repository: the script ended with "unknown date format" and nothing packed.
GIT_DIR=/nonexistent ci/bundle.sh --build "$build" --out "$work/bench.tar.gz" >/dev/null
tar -C "$work/elsewhere" -xzf "$work/bench.tar.gz"
tree=$work/elsewhere/bench

env -i "$tree/bin/bench" run conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot --quick \
  --out "$work/result.jsonl" >/dev/null 2>&1 || fail "the program does not run"
grep -q '"record":"case".*"outcome":"ok"' "$work/result.jsonl" || fail "its case is not ok"

# only_own PROGRAM ARGUMENT...: the program loads nothing from outside the bundle except the
# libraries of the C and C++ runtime.
only_own() {
  local loaded foreign
  loaded=$( (env -i LD_DEBUG=libs "$@" 2>&1 >/dev/null || true) | sed -n 's/.*calling init: //p' | sort -u)
  [[ $loaded == *"$tree/"*lib/bench/* ]] || fail "$1 loads no library of the bundle: $loaded"
  foreign=$(grep -v "^$tree" <<<"$loaded" |
    grep -Ev '/(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libutil|libstdc\+\+|libgcc_s)\.so\.' || true)
  [[ -z $foreign ]] || fail "$1 loads libraries from outside of the bundle: $foreign"
}
only_own "$tree/bin/bench" worker --probe devices

# Each library of another project has the notice of its licence: that of oneDNN is beside it.
for library in "$tree"/lib/bench/*.so*; do
  name=${library##*/}
  case $name in
    libbench_*) ;;
    libdnnl.so.3) [[ -s $tree/lib/bench/LICENSE && -s $tree/lib/bench/THIRD-PARTY-PROGRAMS ]] || fail "oneDNN has no notice" ;;
    *) [[ -s $tree/lib/bench/notices/$name.txt ]] || fail "$name has no notice" ;;
  esac
done

# Another oneDNN can be tried. An RPATH of the program preceded LD_LIBRARY_PATH.
mkdir "$work/other"
cp "$tree/lib/bench/libdnnl.so.3" "$work/other"
env -i LD_LIBRARY_PATH="$work/other" "$tree/bin/bench" run \
  conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot --quick --out "$work/other.jsonl" >/dev/null 2>&1 ||
  fail "the program does not run with another oneDNN"
grep -qF "\"library.onednn.path\":\"$work/other/libdnnl.so.3\"" "$work/other.jsonl" ||
  fail "LD_LIBRARY_PATH does not select the oneDNN"

[[ -f $tree/lib/bench/libbench_cuda.so ]] || exit 0 # built without CUDA's toolkit
only_own "$tree/bin/bench_gpu_test" --no-such-option
compgen -G "$tree/lib/bench/libcupti.so.*" >/dev/null || fail "no CUPTI in the bundle"
[[ -f $tree/lib/bench/libbench_cuda_injection.so ]] || fail "no library for bench profile of CUDA"
status=0
env -i PATH="$PATH" CUDA_VISIBLE_DEVICES= ci/gpu_check.sh --bundle "$work/bench.tar.gz" "$work/evidence" \
  >"$work/gpu_check.txt" 2>&1 || status=$?
[[ $status == 77 ]] || fail "ci/gpu_check.sh: status $status: $(cat "$work/gpu_check.txt")"
for file in summary.txt log.txt device.json; do
  [[ -s $work/evidence/$file ]] || fail "ci/gpu_check.sh wrote no $file"
done
grep -q 'there is no GPU' "$work/evidence/summary.txt" || fail "no reason in the summary"
