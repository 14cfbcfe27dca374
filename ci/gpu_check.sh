#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ci/gpu_check.sh [--bundle FILE] [--limit SECONDS] OUT
# Everything about this project that only a machine with an NVIDIA GPU can tell, in one call: checks,
# figures and recorded inputs for tests, at most 8 files in the folder OUT. Needs a driver, and
# cuDNN and cuBLAS where the search of docs/cuda.md finds them; no network, no packages.
#   --bundle FILE    what ci/bundle.sh made (default: build/bundle/bench.tar.gz where it is there, else
#                    the checkout is built, which needs CMake, Ninja, CUDA's toolkit and the libraries
#                    of ci/setup)
#   --limit SECONDS  of all together (default: 530); what does not fit is left out, and said so
# Status: 0 all checks passed, 1 some failed, 77 there is no GPU.
#
# OUT/summary.txt       what was done, what failed, how long it took; the last lines answer
#                       questions (a) to (j) of docs/cuda.md
# OUT/log.txt           the output of every step
# OUT/device.json       devices, libraries, and the device as cuDNN describes it
# OUT/checks.jsonl      the figures of bench_gpu_test
# OUT/results.jsonl.gz  `bench run` over configs/gpu_*.yaml with profiles
# OUT/session.jsonl.gz  a recorded session of the tracer, for profiler/gpu/testdata
# OUT/trace.json.gz     a Chrome trace
# OUT/torch.jsonl.gz    PyTorch, profiled, and its own figures for the same product
set -euo pipefail
root=$(CDPATH='' cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

usage() { sed -n '3,12s/^# //p' "${BASH_SOURCE[0]}"; }
bundle='' limit=530
while (($#)); do
  case $1 in
    --bundle) bundle=${2:?file} && shift 2 ;;
    --limit) limit=${2:?seconds} && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
  esac
done
(($# == 1)) || { usage >&2 && exit 2; }
mkdir -p "$1"
out=$(CDPATH='' cd -P -- "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$out/log.txt summary=$out/summary.txt
: >"$log"
: >"$summary"
failures=0

say() { printf '%s\n' "$*" | tee -a "$summary"; }

# step <name> <seconds at most> <command...>: its output into the log, its end into the summary.
# Status: the command's; 124 where it was left out or ran out of time.
step() {
  local name=$1 most=$2 left=$((limit - SECONDS)) begin=$SECONDS status=0
  shift 2
  if ((left < 5)); then
    say "left out  $name: the time is used up"
    return 124
  fi
  printf '\n==== %s: %s\n' "$name" "$*" >>"$log"
  [[ $(type -t "$1") != function ]] || set -- bash -euo pipefail -c "$1"
  timeout --kill-after=5 "$((most < left ? most : left))" "$@" >>"$log" 2>&1 || status=$?
  case $status in
    0) say "ok        $name ($((SECONDS - begin)) s)" ;;
    77) say "skipped   $name" ;;
    124 | 137) say "too slow  $name ($((SECONDS - begin)) s)" ;;
    *) say "FAILED    $name (status $status)" ;;
  esac
  [[ $status == 0 || $status == 77 ]] || failures=$((failures + 1))
  return "$status"
}

get_program() {
  [[ -n $bundle || ! -f $root/build/bundle/bench.tar.gz ]] || bundle=$root/build/bundle/bench.tar.gz
  if [[ -n $bundle ]]; then
    tar -C "$work" -xzf "$bundle"
    bench=$work/bench/bin/bench checks=$work/bench/bin/bench_gpu_test
    configs=$work/bench/share/bench/configs
  else
    step build 480 cmake --preset release -S "$root" -DBENCH_TESTS=OFF || return
    step build 480 cmake --build "$root/build/release" || return
    bench=$root/build/release/bench checks=$root/build/release/lib/bench/bench_gpu_test
    configs=$root/configs
  fi
}

# pack <file>: compressed, and only where it is there and small enough to travel.
pack() {
  [[ -s $1 ]] || return 0
  gzip -9nf "$1"
  local bytes
  bytes=$(stat -c %s "$1.gz")
  ((bytes <= 16000000)) || { rm "$1.gz" && say "left out  $1.gz: $bytes bytes"; }
}

# A product as `bench` and as PyTorch see it, in turns.
# shellcheck disable=SC2317  # called by step
compare_with_torch() {
  local product=gemm/forward/m8192n8192k8192/bf16/cublaslt/cuda/hot round
  for round in 1 2 3; do
    "$bench" run "$product" --set measure.processes=1 --force --out "$work/product.$round.jsonl"
    python3 "$root/ci/gpu_torch.py" product >>"$out/torch.jsonl"
  done
  cat "$work"/product.*.jsonl >>"$out/results.jsonl"
  python3 "$root/ci/gpu_summary.py" product "$out/torch.jsonl" "$work"/product.*.jsonl | tee -a "$summary"
}

# shellcheck disable=SC2317
profile_torch() {
  "$bench" profile --force --out "$work/torch_profile.jsonl" -- python3 "$root/ci/gpu_torch.py" network
  cat "$work"/torch_profile*.jsonl >>"$out/torch.jsonl"
  "$bench" analyze "$work"/torch_profile*.jsonl
}

get_program || { say "there is no program to check" && exit 1; }
say "$("$bench" --version)"
step doctor 120 "$bench" doctor || true
"$bench" worker --probe libraries >"$out/device.json" 2>>"$log" || true
export -f compare_with_torch profile_torch
export bench root out work summary
status=0
step checks 150 "$checks" "$out/checks.jsonl" --session "$out/session.jsonl" || status=$?
if ((status == 77)); then
  say "$(tail -n 1 "$log")"
  say "there is no GPU: nothing else was tried"
  exit 77
fi
step operators 150 "$bench" run "$configs/gpu_operators.yaml" --quick --profile --force \
  --out "$work/operators.jsonl" || true
step shapes 150 "$bench" run "$configs/gpu_shapes.yaml" --quick --profile=all --force \
  --out "$work/shapes.jsonl" || true
step network 60 "$bench" run network/forward/resnet50_v1_5-n32/f16/cudnn/cuda/hot --quick --profile \
  --force --out "$work/network.jsonl" || true
step trace 30 "$bench" trace "$work/network.jsonl" --force --out "$out/trace.json" || true
cat "$work"/{operators,shapes,network}.jsonl >"$out/results.jsonl" 2>/dev/null || true
if python3 -c 'import torch' 2>>"$log"; then
  step "PyTorch's product" 90 compare_with_torch || true
  step "PyTorch profiled" 60 profile_torch || true
else
  say "left out  PyTorch: it is not installed"
fi
python3 "$root/ci/gpu_summary.py" answers "$out" >>"$summary" || failures=$((failures + 1))
for file in results.jsonl session.jsonl torch.jsonl trace.json; do pack "$out/$file"; done
say "$failures failed, $SECONDS s"
cat "$summary"
exit $((failures > 0))
