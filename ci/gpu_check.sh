#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ci/gpu_check.sh [--bundle FILE] [--limit SECONDS] OUT
# Everything about this project that only a machine with an NVIDIA GPU can tell, in one call: checks,
# figures and recorded inputs for tests, at most 8 files in the folder OUT. Needs a driver, Python 3, and
# cuDNN and cuBLAS where the search of docs/cuda.md finds them or among Python's packages; no network.
#   --bundle FILE    what ci/bundle.sh made (default: build/bundle/bench.tar.gz where it is there, else
#                    the checkout is built, which needs CMake, Ninja, CUDA's toolkit and the libraries
#                    of ci/setup)
#   --limit SECONDS  of all together (default: 530). What matters most comes first; what does not fit
#                    is left out, and said so
# Status: 0 all checks passed, 1 some failed, 77 there is no GPU.
#
# OUT/summary.txt        what was done, what failed, how long it took, the figures; the last lines
#                        answer questions (a) to (j) of docs/cuda.md
# OUT/log.txt            the output of every step
# OUT/device.json        devices, libraries, and the device as cuDNN describes it
# OUT/checks.jsonl       the figures of bench_gpu_test
# OUT/results.jsonl.gz   `bench run` over configs/gpu_*.yaml with profiles and counters
# OUT/session.jsonl.gz   a recorded session of the tracer, for profiler/gpu/testdata
# OUT/trace.json.gz      a Chrome trace
# OUT/profiles.jsonl.gz  `bench profile` of a CUDA program and of PyTorch, and PyTorch's own times
#
# Variables that replace what is measured, for tests/gpu_check_test.sh, which has no GPU:
# BENCH_GPU_CHECK_SIZE     edge of the product that PyTorch computes too (default: 8192)
# BENCH_GPU_CHECK_NETWORK  case or file that is traced (default: ResNet-50)
# BENCH_GPU_CHECK_PROGRAM  words of the program below `bench profile` (default: a worker of `bench run`)
set -euo pipefail
root=$(CDPATH='' cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

usage() { sed -n '3,13s/^# //p' "${BASH_SOURCE[0]}"; }
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
results=$out/results.jsonl profiles=$out/profiles.jsonl
: >"$log"
: >"$summary"
rm -f "$out"/{checks,results,session,profiles}.jsonl "$out/trace.json"
size=${BENCH_GPU_CHECK_SIZE:-8192}
network=${BENCH_GPU_CHECK_NETWORK:-network/forward/resnet50_v1_5-n32/f16/cudnn/cuda/hot}
failures=0
packing=15 # seconds of the limit that the end needs

say() { printf '%s\n' "$*" | tee -a "$summary"; }
left() { printf '%d\n' "$((limit - packing - SECONDS))"; }

# step <name> <seconds at most> <command...>: its output into the log, its end into the summary.
# Status: the command's; 124 where it was left out or ran out of time, which is a failure unless
# `cut` says that it may be.
step() {
  local name=$1 most=$2 begin=$SECONDS status=0
  shift 2
  if (($(left) < 5)); then
    say "left out  $name: the time is used up"
    return 124
  fi
  printf '\n==== %s: %s\n' "$name" "$*" >>"$log"
  [[ $(type -t "$1") != function ]] || set -- bash -euo pipefail -c '"$@"' "$1" "$@"
  ((most < $(left))) || most=$(left)
  timeout --kill-after=5 "$most" "$@" >>"$log" 2>&1 || status=$?
  [[ $status != 137 ]] || status=124
  case $status in
    0) say "ok        $name ($((SECONDS - begin)) s)" ;;
    77) say "skipped   $name" ;;
    124) say "too slow  $name ($((SECONDS - begin)) s)" ;;
    *) say "FAILED    $name (status $status)" ;;
  esac
  [[ $status == @(0|77) || $status$cut == 124allowed ]] || failures=$((failures + 1))
  return "$status"
}
cut=forbidden

# in_parts <name> <parts> <seconds at most> <bench run's arguments...>: part after part, so that the
# end of the time costs the rest alone. Each part takes every n-th case.
in_parts() {
  local name=$1 parts=$2 end=$((SECONDS + $3)) cut=allowed part begin longest=0
  shift 3
  ((end < SECONDS + $(left))) || end=$((SECONDS + $(left)))
  for ((part = 1; part <= parts; ++part)); do
    if ((end - SECONDS < 5 || end - SECONDS < longest)); then
      say "left out  $name, parts $part to $parts of $parts: the time is used up"
      return
    fi
    begin=$SECONDS
    step "$name, part $part of $parts" "$((end - SECONDS))" "$bench" run "$@" --shard "$part/$parts" \
      --force --out "$work/$name.$part.jsonl" || true
    ((longest >= SECONDS - begin)) || longest=$((SECONDS - begin))
  done
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

# Where `pip install nvidia-cudnn-cu13` and its like put libraries, behind those of the bundle or of the
# build's toolkit: CUPTI must be the one that this was built with. A BENCH_CUDA_LIBS of the caller stays
# as it is.
find_libraries() {
  [[ -z ${BENCH_CUDA_LIBS:-} ]] || return 0
  local folders own=$work/bench/lib/bench
  [[ -n $bundle ]] ||
    own=$(dirname -- "$(sed -n 's/^BENCH_CUPTI_LIBRARY:FILEPATH=//p' "$root/build/release/CMakeCache.txt")")
  folders=$(python3 -c 'import glob, importlib.util
spec = importlib.util.find_spec("nvidia")
roots = spec.submodule_search_locations if spec else []
print(":".join(folder for root in roots for folder in sorted(glob.glob(root + "/*/lib"))))' 2>>"$log") ||
    folders=
  export BENCH_CUDA_LIBS=$own${folders:+:$folders}
  printf 'BENCH_CUDA_LIBS=%s\n' "$BENCH_CUDA_LIBS" >>"$log"
}

# pack <file>: compressed, and only where it is there and small enough to travel.
pack() {
  [[ -s $1 ]] || return 0
  gzip -6nf "$1"
  local bytes
  bytes=$(stat -c %s "$1.gz")
  ((bytes <= 16000000)) || { rm "$1.gz" && say "left out  $1.gz: $bytes bytes"; }
}

# shellcheck disable=SC2317  # called by step
say_figures() { python3 "$root/ci/gpu_summary.py" "$@" | tee -a "$summary"; }

# conclude <part of gpu_summary.py> <arguments...>: what the end says, however little time is left.
conclude() {
  python3 "$root/ci/gpu_summary.py" "$@" >>"$summary" 2>>"$log" && return
  say "FAILED    $1"
  failures=$((failures + 1))
}

# A product as `bench` and as PyTorch see it, in turns.
# shellcheck disable=SC2317
compare_with_torch() {
  local product=gemm/forward/m${size}n${size}k${size}/bf16/cublaslt/cuda/hot round
  for round in 1 2 3; do
    "$bench" run "$product" --set measure.processes=1 --force --out "$work/product.$round.jsonl"
    python3 "$root/ci/gpu_torch.py" product "$size" >>"$work/torch.jsonl"
  done
  say_figures product "$work/torch.jsonl" "$work"/product.*.jsonl
}

# profile_program <name> <bench profile's arguments...>
# shellcheck disable=SC2317
profile_program() {
  local name=$1
  shift
  "$bench" profile --profile=operators,device --force --out "$work/profile_$name.jsonl" "$@"
  local file
  for file in "$work/profile_$name"*.jsonl; do
    "$bench" analyze "$file" --kind kernel
  done
}

# One that travels with this: a worker of `bench run`, whose measured executions are an NVTX range.
small_program() {
  local product=gemm/forward/m2048n2048k2048/f16/cublaslt/cuda/hot
  if [[ -n ${BENCH_GPU_CHECK_PROGRAM:-} ]]; then
    read -ra program <<<"-- $BENCH_GPU_CHECK_PROGRAM"
  else
    program=(--window "nvtx:layer:$product" -- "$bench" run "$product" --under env
      --set measure.processes=1 --set measure.min_iterations=20 --set measure.max_time=5ms
      --force --out "$work/below.jsonl")
  fi
}

get_program || { say "there is no program to check" && exit 1; }
say "$("$bench" --version)"
find_libraries
step doctor 60 "$bench" doctor || true
timeout 60 "$bench" worker --probe libraries >"$out/device.json" 2>>"$log" || true
export -f compare_with_torch profile_program say_figures
export bench root work summary size
status=0
step checks 120 "$checks" "$out/checks.jsonl" --session "$out/session.jsonl" || status=$?
if ((status == 77)); then
  say "$(tail -n 1 "$log")"
  say "there is no GPU: nothing else was tried"
  exit 77
fi

torch=no
if timeout 60 python3 -c 'import torch' 2>>"$log"; then torch=yes; else say "left out  PyTorch: it is not installed"; fi
[[ $torch == no ]] || step "the product and PyTorch's" 100 compare_with_torch || true
in_parts shapes 12 200 "$configs/gpu_shapes.yaml" --profile=operators,device,counters
shopt -s nullglob
shapes=("$work"/shapes.*.jsonl)
((${#shapes[@]} == 0)) || step "rules of tensor cores" 15 say_figures rules "$bench" "${shapes[@]}" || true
small_program
step "a program profiled" 25 profile_program program "${program[@]}" || true
[[ $torch == no ]] || step "PyTorch profiled" 60 profile_program torch --window nvtx:measured -- \
  python3 "$root/ci/gpu_torch.py" network || true
step network 100 "$bench" run "$network" --quick --profile --set measure.timeout=90s --force --out "$work/network.jsonl" || true
step trace 10 "$bench" trace "$work/network.jsonl" --force --out "$out/trace.json" || true
# Without profiles all cases of a part share their workers: here what counts is that each has run.
in_parts operators 8 "$limit" "$configs/gpu_operators.yaml"

measured=("$work"/{shapes,operators,product}.*.jsonl "$work"/network*.jsonl)
profiled=("$work"/profile_*.jsonl)
((${#measured[@]} == 0)) || cat "${measured[@]}" >"$results"
((${#profiled[@]} == 0)) || cat "${profiled[@]}" >"$profiles"
[[ ! -f $work/torch.jsonl ]] || cat "$work/torch.jsonl" >>"$profiles"
conclude kernels "${measured[@]}" "${profiled[@]}"
conclude answers "$out"
for file in "$results" "$profiles" "$out/session.jsonl" "$out/trace.json"; do pack "$file"; done
(($(stat -c %s "$log") <= 16000000)) || { tail -c 15000000 "$log" >"$work/log" && mv "$work/log" "$log"; }
say "$failures failed, $SECONDS s"
cat "$summary"
exit $((failures > 0))
