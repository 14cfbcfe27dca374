#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ci/gpu_check.sh [--bundle FILE] [--smoke | --only STEP,...] [--limit SECONDS] OUT
# Runs everything in this project that needs an NVIDIA GPU, the most valuable steps first, in at most
# six minutes. Writes at most 8 files with checks, figures and recorded inputs for tests into the
# folder OUT; the last lines that it prints are the goals of docs/cuda.md with what was measured.
# Needs a driver, Python 3, and cuDNN and cuBLAS in the places that docs/cuda.md lists or among
# Python's packages; no network. If PyTorch is installed, it computes the same shapes and network.
#   --bundle FILE    an archive of ci/bundle.sh (default: build/bundle/bench.tar.gz if it exists, else
#                    the checkout is built, which needs CMake, Ninja, CUDA's toolkit and the libraries
#                    of ci/setup)
#   --smoke          only how time is taken, traced and counted, the gate of a kernel against itself,
#                    and as many operators as fit, in 60 seconds
#   --only STEP,...  single steps; --list names them in their order
#   --limit SECONDS  total time (default: 350, with --smoke 60). The output names the steps that did
#                    not fit
# Results are written as soon as they are available, compressed, so that they survive if the call is
# killed; `ci/gpu_summary.py goals OUT` then shows the goals. A call that is ended by SIGTERM or
# SIGINT shows them itself.
# On an H100 with PyTorch on 16 cores, a call with all steps took 336 s: facts to graph_level 8 s,
# operators 99, torch 7, frameworks 78, network 21, PyTorch's network 37, gate 10, transformer 36, plan 1.
# verdicts (41 s) was cut. No time was left for the steps after it: --only names them.
# Status: 0 no check failed, 1 some failed, 77 there is no GPU.
#
# OUT/summary.txt        the steps, their failures and durations, the figures; the last lines are
#                        answers to the questions of docs/cuda.md, its table of figures, and its goals
# OUT/log.txt            the machine (driver, clocks, memory, folders of libraries), and the output of
#                        every step
# OUT/device.json        devices, libraries, and the device as cuDNN describes it
# OUT/checks.jsonl       one record per step, figures of bench_gpu_test, and of this script
# OUT/results.jsonl.gz   `bench run` over configs/gpu_*.yaml with profiles and counters
# OUT/session.jsonl.gz   a recorded session of the tracer, for profiler/gpu/testdata
# OUT/trace.json.gz      a Chrome trace
# OUT/profiles.jsonl.gz  `bench profile` of a CUDA program and of PyTorch, and PyTorch's own times
#
# Variables that replace the measured objects, for tests/gpu_check_test.sh, which has no GPU:
# BENCH_GPU_CHECK_SIZE     edge of the product that PyTorch also computes (default: 8192)
# BENCH_GPU_CHECK_SECONDS  seconds for which bench and PyTorch each measure it (default: 3)
# BENCH_GPU_CHECK_NETWORK  case or file that is traced (default: ResNet-50)
# BENCH_GPU_CHECK_FUSED    the convolution whose plan is timed
# BENCH_GPU_CHECK_PROGRAM  command for `bench profile` (default: a worker of `bench run`)
# BENCH_GPU_CHECK_MEMINFO  replaces /proc/meminfo
# BENCH_GPU_CHECK_DEVICE   replaces /dev/nvidia0
# BENCH_GPU_CHECK_SELF     the case that is compared with itself
# BENCH_GPU_CHECK_PEAKS    the cases of `bench peak` (default: all of the GPU, some of them five times)
# shellcheck disable=SC2317  # steps and their functions are called by name
set -euo pipefail
root=$(CDPATH='' cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

# The most valuable steps first.
order=(facts memory blocking sampling long_graph tracing late_tracing counters cold graph_level
  operators frameworks network trace gate transformer plan verdicts shapes rules program torch_profile
  start ceilings product doctor peaks)
smoke=(facts memory blocking sampling long_graph tracing late_tracing counters cold graph_level gate
  operators)

# Prints the comment at the top, up to the list of output files.
usage() { sed -n '3,/^#$/s/^# //p' "${BASH_SOURCE[0]}"; }
bundle='' limit='' steps=("${order[@]}") seconds=350
while (($#)); do
  case $1 in
    --bundle) bundle=${2:?file} && shift 2 ;;
    --limit) limit=${2:?seconds} && shift 2 ;;
    --only) IFS=, read -ra steps <<<"${2:?steps}" && shift 2 ;;
    --smoke) steps=("${smoke[@]}") seconds=60 && shift ;;
    --list) printf '%s\n' "${order[*]}" && exit 0 ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
  esac
done
(($# == 1)) || { usage >&2 && exit 2; }
for word in "${steps[@]}"; do
  if [[ " ${order[*]} " != *" $word "* ]]; then
    printf 'ci/gpu_check.sh: unknown step %s: --list names them all\n' "$word" >&2
    exit 2
  fi
done
limit=${limit:-$seconds}
mkdir -p "$1"
out=$(CDPATH='' cd -P -- "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$out/log.txt summary=$out/summary.txt
checks_file=$out/checks.jsonl results=$out/results.jsonl profiles=$out/profiles.jsonl
: >"$log"
: >"$summary"
rm -f "$out"/{checks,results,session,profiles}.jsonl{,.gz} "$out"/trace.json{,.gz}
size=${BENCH_GPU_CHECK_SIZE:-8192}
product_seconds=${BENCH_GPU_CHECK_SECONDS:-3}
network=${BENCH_GPU_CHECK_NETWORK:-network/forward/resnet50_v1_5-n32/f16/cudnn/cuda/hot}
fused=${BENCH_GPU_CHECK_FUSED:-conv/forward/n32c64h56w56k64r3s3p1+bias+relu/f16/cudnn/cuda/hot}
self=${BENCH_GPU_CHECK_SELF:-gemm/forward/m1024n1024k1024/f16/cublaslt/cuda/hot}
meminfo=${BENCH_GPU_CHECK_MEMINFO:-/proc/meminfo}
device=${BENCH_GPU_CHECK_DEVICE:-/dev/nvidia0}
peaks=${BENCH_GPU_CHECK_PEAKS:-*/cuda/*}
repeated_peaks=${BENCH_GPU_CHECK_PEAKS:-/peak.*(copy|fma)/}
failures=0
packing=15 # seconds reserved for the final evaluation and for the compression of the files
running='' # process of the current step
stopped=no

# Ends the current step and leaves out the others. The evaluation follows.
stop() {
  stopped=yes limit=$SECONDS
  say 'stopped   from outside: the rest shows what was measured before'
  [[ -z $running ]] || kill "$running" 2>/dev/null || true
}

say() { printf '%s\n' "$*" | tee -a "$summary"; }
# note <step> <outcome> <seconds>: adds the record of a step to the checks, and a line to the summary.
note() {
  printf '{"record":"step","step":"%s","outcome":"%s","seconds":%d}\n' "${@:1:3}" >>"$checks_file"
  say "$(printf '%-9s %s%s' "$2" "$1" "${4:-}")"
}
left() { printf '%d\n' "$((limit - packing - SECONDS))"; }

# step <name> <seconds at most> <command...>: writes its output into the log and its result into the
# summary. Status: the command's; 124 if it was omitted or cut, which is not a failure. Status 137
# means killed: by `timeout` after the time, or before it by another program or for lack of memory,
# which is a failure.
step() {
  local name=$1 most=$2 begin=$SECONDS status=0
  shift 2
  if (($(left) < 5)); then
    note "$name" 'left out' 0 ': the time is used up'
    return 124
  fi
  printf '\n==== %s: %s\n' "$name" "$*" >>"$log"
  [[ $(type -t "$1") != function ]] || set -- bash -euo pipefail -c '"$@"' "$1" "$@"
  ((most < $(left))) || most=$(left)
  # In the background, because a signal to this script interrupts only `wait`.
  timeout --kill-after=5 "$most" "$@" >>"$log" 2>&1 &
  running=$!
  wait "$running" || status=$?
  if [[ $stopped == yes ]]; then
    wait "$running" || true
    status=124
  fi
  running=''
  ((status != 137 || SECONDS - begin < most)) || status=124
  local took=$((SECONDS - begin))
  case $status in
    0) note "$name" ok $took " ($took s)" ;;
    77) note "$name" skipped $took ;;
    124) note "$name" cut $took " ($took s)" ;;
    *) note "$name" FAILED $took " (status $status)" ;;
  esac
  [[ $status == @(0|77|124) ]] || failures=$((failures + 1))
  return "$status"
}

# keep <file...>: adds the output files of `bench run` to the results.
keep() {
  local file
  for file in "$@"; do
    [[ ! -s $file ]] || gzip -6nc "$file" >>"$results.gz"
  done
}

# in_parts <name> <parts> <seconds at most> <bench run's arguments...>: runs the cases in <parts> parts.
# If the time is used up, only the remaining parts are omitted. Each part takes every <parts>-th case.
in_parts() {
  local name=$1 parts=$2 end=$((SECONDS + $3)) part begin longest=0
  shift 3
  ((end < SECONDS + $(left))) || end=$((SECONDS + $(left)))
  for ((part = 1; part <= parts; ++part)); do
    if ((end - SECONDS < 5 || end - SECONDS < longest)); then
      note "$name, parts $part to $parts of $parts" 'left out' 0 ': the time is used up'
      return
    fi
    begin=$SECONDS
    step "$name, part $part of $parts" "$((end - SECONDS))" "$bench" run "$@" --shard "$part/$parts" \
      --force --out "$work/$name.$part.jsonl" || true
    keep "$work/$name.$part.jsonl"
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

# The folders in which `pip install nvidia-cudnn-cu13` and similar packages put libraries. They
# follow those of the bundle or of the build's toolkit, because CUPTI must be the version of the
# build. A BENCH_CUDA_LIBS of the caller is kept.
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

# pack <file>: compresses the file, if it exists and is not compressed yet. Removes it if it is too
# large to transfer.
pack() {
  [[ ! -s $1 ]] || gzip -6nf "$1"
  [[ -s $1.gz ]] || return 0
  local bytes
  bytes=$(stat -c %s "$1.gz")
  ((bytes <= 16000000)) || { rm "$1.gz" && say "left out  $1.gz: $bytes bytes"; }
}

say_figures() { python3 "$root/ci/gpu_summary.py" "$@" | tee -a "$summary"; }

# conclude <part of gpu_summary.py> <arguments...>: runs a final evaluation, however little time is
# left.
conclude() {
  python3 "$root/ci/gpu_summary.py" "$@" >>"$summary" 2>>"$log" && return
  say "FAILED    $1"
  failures=$((failures + 1))
}

available_memory() { awk '/^MemAvailable:/ {print int($2 / 1024)}' "$meminfo"; }

# enough_memory <step> <MiB of its data> [<concurrent processes>]: returns whether the host has
# enough memory. The data are those of the largest case: its tensors, a copy of them in the
# library's layout, and a copy as doubles for the check. A process with a device's context and
# libraries needs half a GiB in addition.
enough_memory() {
  local available needed=$((${3:-1} * ($2 + 512)))
  available=$(available_memory)
  ((available >= needed)) && return
  note "$1" skipped 0 ": it needs $needed MiB of the host's memory, $available are available"
  return 1
}

# ---- The steps: do_<name>. Functions that `step` calls run in a separate shell.

write_facts() {
  {
    printf '==== %s\n' "$(uname -a)"
    grep -E '^(MemTotal|MemAvailable|Hugepagesize)' "$meminfo"
    nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE || printf 'no nvidia-smi\n'
    nvidia-smi --query-gpu=name,driver_version,persistence_mode,clocks.max.sm --format=csv || true
    printf '==== folders of libraries: %s\n' "${BENCH_CUDA_LIBS:-}"
    tr : '\n' <<<"${BENCH_CUDA_LIBS:-}" | while read -r folder; do ls -l "$folder" || true; done
  } 2>&1
}
do_facts() { step facts 30 write_facts || true; }

do_doctor() { step doctor 60 "$bench" doctor || true; }

# start_times <held open: true, false>: start times of three workers that query the device.
start_times() {
  local begin times=()
  for _ in 1 2 3; do
    begin=$(date +%s%N)
    "$bench" worker --probe libraries >/dev/null
    times+=($((($(date +%s%N) - begin) / 1000000)))
  done
  printf '{"question":"l","check":"the start of a worker","outcome":"figures","device_held_open":%s,"ms":[%s]}\n' \
    "$1" "$(IFS=,; printf '%s' "${times[*]}")" | tee -a "$checks_file"
}
# A driver without persistence initialises the device for each process, unless another process holds
# it open.
start_of_worker() {
  start_times false
  if [[ -r $device ]]; then
    exec 9<"$device"
    start_times true
  fi
}
do_start() { step start 60 start_of_worker || true; }

# Runs a part of bench_gpu_test, which ends it after 90 s. The limit of the step is only a
# safeguard.
checks_part() {
  step "$1" 100 "$checks" "$checks_file" --session "$out/session.jsonl" --only "$1" || true
}
do_memory() { checks_part memory; }
do_blocking() { checks_part blocking; }
do_sampling() { checks_part sampling; }
do_long_graph() { checks_part long_graph; }
do_tracing() { checks_part tracing; }
do_late_tracing() { checks_part late_tracing; }
do_counters() { checks_part counters; }
do_cold() { checks_part cold; }
do_verdicts() { checks_part verdicts; }
do_ceilings() { checks_part ceilings; }
do_graph_level() { checks_part graph_level; }

# The first import may read gigabytes.
torch=unknown
do_torch() {
  [[ $torch == unknown ]] || return 0
  torch=no
  if ! python3 -c 'import importlib.util, sys; sys.exit(not importlib.util.find_spec("torch"))' 2>>"$log"; then
    note torch 'left out' 0 ': PyTorch is not installed'
  elif ! enough_memory torch 1536; then
    return 0
  elif step torch 180 python3 -c 'import torch; print(torch.__version__)'; then
    torch=yes
  fi
}

# Measures a product with `bench` and with PyTorch, for the same time.
compare_with_torch() {
  local product=gemm/forward/m${size}n${size}k${size}/bf16/cublaslt/cuda/hot
  "$bench" run "$product" --set measure.processes=1 --set "measure.max_time=${product_seconds}s" \
    --set measure.precision=0.1% --set measure.min_iterations=10 --force --out "$work/product.jsonl"
  [[ $torch == no ]] || python3 "$root/ci/gpu_torch.py" product "$size" "$product_seconds" >>"$profiles"
}
do_product() {
  do_torch
  enough_memory product "$((size * size * 40 / 1048576))" || return 0
  step product 90 compare_with_torch || true
  keep "$work/product.jsonl"
  [[ ! -s $work/product.jsonl ]] || step "product against PyTorch" 15 say_figures product "$profiles" "$work/product.jsonl" || true
}

# measure_frameworks: measures the same shapes with `bench`, untuned and tuned, and with PyTorch. The
# untuned side runs before and after the others, so that a drift of the clock shows.
measure_frameworks() {
  local shapes=$configs/gpu_frameworks.yaml
  "$bench" run "$shapes" --quiet --force --out "$work/untuned.1.jsonl"
  "$bench" run "$shapes" --set tune=10 --quiet --force --out "$work/tuned.1.jsonl"
  [[ $torch == no ]] || python3 "$root/ci/gpu_torch.py" shapes "$work/untuned.1.jsonl" >>"$profiles"
  "$bench" run "$shapes" --quiet --force --out "$work/untuned.2.jsonl"
}
do_frameworks() {
  do_torch
  enough_memory frameworks 2560 || return 0
  step frameworks 120 measure_frameworks || true
  keep "$work"/tuned.1.jsonl "$work"/untuned.1.jsonl
  step 'shapes against PyTorch' 15 say_figures frameworks "$checks_file" "$profiles" \
    "$work"/untuned.*.jsonl "$work"/tuned.*.jsonl || true
}

# Measures the operators of transformers with `bench` and with PyTorch.
measure_transformer() {
  "$bench" run "$configs/transformer.yaml" --set device=cuda --set dtype=bf16 --set measure.processes=1 \
    --set measure.max_time=100ms --set measure.precision=1% --quiet --force --out "$work/transformer.1.jsonl"
  [[ $torch == no ]] || python3 "$root/ci/gpu_torch.py" shapes "$work/transformer.1.jsonl" 0.1 >>"$profiles"
}
do_transformer() {
  do_torch
  enough_memory transformer 1536 || return 0
  step transformer 120 measure_transformer || true
  keep "$work/transformer.1.jsonl"
  [[ ! -s $work/transformer.1.jsonl ]] || step 'operators against PyTorch' 15 say_figures frameworks "$checks_file" \
    "$profiles" "$work/transformer.1.jsonl" || true
}

do_plan() {
  enough_memory plan 160 || return 0
  step plan 60 "$bench" run "$fused" --set measure.processes=1 --set measure.max_time=100ms \
    --force --out "$work/plan.jsonl" || true
  keep "$work/plan.jsonl"
}

# measure_peaks <runs> <filter>: measures the ceilings <runs> times. If the time limit ends it, the
# ceilings of the completed runs remain.
measure_peaks() {
  local run
  for ((run = 1; run <= $1; ++run)); do
    printf 'run %d\n' "$run"
    "$bench" peak --device cuda --filter "$2" --quick --quiet --baseline "$work/peaks"
  done
}
# The large arrays and products, which the host fills and checks, are measured once.
do_peaks() {
  enough_memory peaks 3072 || return 0
  step peaks 100 measure_peaks 5 "$repeated_peaks" || true
  step "all peaks" 150 measure_peaks 1 "$peaks" || true
  local files=("$work"/peaks/*/peak.jsonl)
  ((${#files[@]} == 0)) || step "spread of the ceilings" 15 say_figures peaks "$checks_file" "$out/device.json" "${files[@]}" || true
}

measure_torch_network() { python3 "$root/ci/gpu_torch.py" resnet50 >>"$profiles"; }
do_network() {
  enough_memory network 3584 || return 0
  step network 100 "$bench" run "$network" --quick --profile --set measure.timeout=90s --force \
    --out "$work/network.jsonl" || true
  keep "$work/network.jsonl"
  do_torch
  [[ $torch == no ]] || step 'network by PyTorch' 60 measure_torch_network || true
}
do_trace() {
  [[ -s $work/network.jsonl ]] || return 0
  step trace 10 "$bench" trace "$work/network.jsonl" --force --out "$out/trace.json" || true
}

# A process can trace only one session, so each case is traced in its own process. One process reads
# the hardware counters of all cases of a part.
do_shapes() {
  enough_memory shapes 200 || return 0
  local most=$limit
  # With all steps, some parts suffice here: `verdicts` counts for 100 of these shapes.
  ((${#steps[@]} < ${#order[@]})) || most=45
  in_parts shapes 12 "$most" "$configs/gpu_shapes.yaml" --profile=operators,device,counters
}
do_rules() {
  local shapes=("$work"/shapes.*.jsonl)
  ((${#shapes[@]} == 0)) || step rules 15 say_figures rules "$bench" "${shapes[@]}" || true
}

# profile_program <name> <bench profile's arguments...>
profile_program() {
  local name=$1 file
  shift
  "$bench" profile --profile=operators,device --force --out "$work/profile_$name.jsonl" "$@"
  for file in "$work/profile_$name"*.jsonl; do
    "$bench" analyze "$file" --kind kernel
    cat "$file" >>"$profiles"
  done
}
# A program in the bundle: a worker of `bench run`, whose measured executions are an NVTX range.
do_program() {
  local product=gemm/forward/m2048n2048k2048/f16/cublaslt/cuda/hot program
  enough_memory program 150 || return 0
  if [[ -n ${BENCH_GPU_CHECK_PROGRAM:-} ]]; then
    read -ra program <<<"-- $BENCH_GPU_CHECK_PROGRAM"
  else
    program=(--window "nvtx:layer:$product" -- "$bench" run "$product" --under env
      --set measure.processes=1 --set measure.min_iterations=20 --set measure.max_time=5ms
      --force --out "$work/below.jsonl")
  fi
  step program 30 profile_program program "${program[@]}" || true
}
do_torch_profile() {
  do_torch
  [[ $torch == yes ]] || return 0
  step torch_profile 60 profile_program torch --window nvtx:measured -- \
    python3 "$root/ci/gpu_torch.py" network || true
}

# Compares a kernel with itself: the sides differ in a variable that has no effect.
duet_with_itself() {
  "$bench" duet "$self" --base-env BENCH_GPU_CHECK_BASE=1 \
    --duets 6 --force --out "$work/duet.jsonl" | tee "$work/duet.txt"
  python3 -c 'import json, sys
lines = [line.strip() for line in sys.stdin if line.strip()]
lines = [line for line in lines if line.startswith(("candidate is", "no difference"))] or lines[-1:]
print(json.dumps({"question": "m", "check": "the gate of a kernel against itself",
                  "outcome": "figures", "text": lines[0] if lines else "nothing said"}))' \
    <"$work/duet.txt" >>"$checks_file"
}
do_gate() {
  enough_memory gate 40 2 || return 0
  step gate 60 duet_with_itself || true
}

# Without profiles all cases of a part share their workers. Making the plans takes most of the time. On
# an H100 four parts at once took as long as one after the other.
do_operators() {
  enough_memory operators 60 || return 0
  in_parts operators 8 120 "$configs/gpu_operators.yaml"
}

# ---- All steps

# Writes device.json; ends the script if there is no device, which is not a failure.
ask_device() {
  local reason
  timeout 60 "$bench" worker --probe libraries >"$out/device.json" 2>>"$log" || return 0
  reason=$(python3 -c 'import json, sys
answer = json.load(open(sys.argv[1]))
report = answer.get("report") or {}
if not report.get("devices"):
    print((report.get("verdict") or {}).get("reason") or answer.get("reason") or "no device answers")' \
    "$out/device.json" 2>>"$log") || return 0
  [[ -n $reason ]] || return 0
  say "there is no GPU, so nothing else was tried: $reason"
  exit 77
}

get_program || { say "there is no program to check" && exit 1; }
say "$("$bench" --version)"
find_libraries
ask_device
shopt -s nullglob
export -f compare_with_torch duet_with_itself measure_frameworks measure_peaks measure_torch_network measure_transformer profile_program say_figures start_of_worker start_times write_facts
trap stop TERM INT
export bench checks_file configs device meminfo out product_seconds profiles root self size summary torch work
for name in "${steps[@]}"; do
  "do_$name"
done

profiled=("$work"/profile_*.jsonl) traced=("$work"/{shapes,operators,network}*.jsonl)
((${#profiled[@]} + ${#traced[@]} == 0)) || conclude kernels "${traced[@]}" "${profiled[@]}"
conclude answers "$out"
conclude table "$out"
conclude goals "$out"
for file in "$results" "$profiles" "$out/session.jsonl" "$out/trace.json"; do pack "$file"; done
(($(stat -c %s "$log") <= 16000000)) || { tail -c 15000000 "$log" >"$work/log" && mv "$work/log" "$log"; }
say "$failures failed, $SECONDS s"
cat "$summary"
exit $((failures > 0))
