#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu_check_test.sh BUILD WORK: calls of ci/gpu_check.sh without a GPU, with BUILD's
# replacements (tests/fakes). These are the plugin, the driver and CUPTI for `bench profile`,
# PyTorch, and a program of checks that only writes the figures of bench_gpu_test. The test fails if
# a step fails, or if a figure differs from the scripts of these fakes.
set -euo pipefail
build=$(realpath -- "$1") work=$2
here=$(CDPATH='' cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

evidence=''
fail() { printf 'gpu_check_test.sh: %s\n' "$*" >&2 && cat "$work/gpu_check.txt" >&2 && exit 1; }
# expect <line of summary.txt>
expect() { grep -qxF -- "$1" "$evidence/summary.txt" || fail "no line '$1'"; }
# expect_start <begin of a line of summary.txt>
expect_start() { grep -qE -- "^$1" "$evidence/summary.txt" || fail "no line that begins with '$1'"; }
# never <begin of a line of summary.txt>
never() { ! grep -E -- "^$1" "$evidence/summary.txt" >&2 || fail "a line begins with '$1'"; }
# check <folder> <status> <arguments...>: runs ci/gpu_check.sh into the folder.
check() {
  local status=0 wanted=$2
  evidence=$work/$1
  shift 2
  "$here/../ci/gpu_check.sh" --bundle "$work/bench.tar.gz" "$@" "$evidence" >"$work/gpu_check.txt" 2>&1 || status=$?
  [[ $status == "$wanted" ]] || fail "status $status of $*"
}

rm -rf "$work"
tree=$work/tree/bench
mkdir -p "$tree/bin" "$tree/share/bench/configs"
work=$(realpath -- "$work") tree=$work/tree/bench

# The bundle.
printf '#!/bin/sh\nexec "%s/bench" "$@"\n' "$build" >"$tree/bin/bench"
cat >"$tree/bin/bench_gpu_test" <<'CHECKS'
#!/bin/sh
# FIGURES.jsonl --session FILE --only PART
figure() { echo '{"question":"'$1'","check":"'"$2"'","outcome":"ok"'"$3"'}' >>"$file"; }
file=$1
[ "$FAKE_KILLED_CHECK" != "$5" ] || kill -KILL $$
case $5 in
  sampling) figure '' 'stream against graph, 20 us' ',"length_us":20,"stream_us":21.5,"graph_us":20.1,"launch_us":2' ;;
  tracing)
    echo '{"kind":"session"}' >"$3"
    for question in b c d e j; do figure $question "of $question"; done
    ;;
  late_tracing) figure c 'a tracer that begins after the context' \
    ',"kernel_ns":1790000000000000000,"end_monotonic_ns":50,"end_realtime_ns":1790000000000000009' ;;
  counters) figure f 'of f' ;;
  cold) figure k 'a product of 2048^3 in bf16 over 4 x L2' ',"us":31.25,"l2_hit_share":0.04' ;;
  verdicts)
    for shape in 1 2; do
      figure g "tensor cores of $shape" ',"eligible":"eligible","counted":"used (counter)"'
    done
    ;;
  ceilings) exit 124 ;;
  *) figure '' "of $5" ;;
esac
CHECKS
chmod +x "$tree"/bin/*
head='version: 1
defaults:
  device: cuda
  warmup: { iterations: 1, time: 100us }
  measure: { processes: 1, min_iterations: 3, max_time: 1ms }
cases:'
printf '%s\n  - { op: gemm, dtype: [f16, f32], m: 8, n: 8, k: 8 }\n' "$head" \
  >"$tree/share/bench/configs/gpu_shapes.yaml"
printf '%s\n  - { op: pointwise, function: relu, shape: [4, 64] }\n' "$head" \
  >"$tree/share/bench/configs/gpu_operators.yaml"
printf '%s\n  - { op: gemm, m: 4, n: 4, k: 4 }\n' "$head" >"$work/network.yaml"
printf '%s\n  - { op: gemm, dtype: f16, m: 16, n: 16, k: 16 }\n' "$head" \
  >"$tree/share/bench/configs/gpu_frameworks.yaml"
printf 'version: 1\ncases:\n  - { op: pointwise, function: gelu_erf, shape: [4, 64] }\n' \
  >"$tree/share/bench/configs/transformer.yaml"
tar -C "$work/tree" -czf "$work/bench.tar.gz" bench

# The device. Its counters are the same for all cases: tensor cores are used.
cat >"$work/script.json" <<'SCRIPT'
{"device": {"multiprocessors": 1, "memory_bytes": 67108864, "memory_clock_khz": 1000000,
            "memory_bus_bits": 64},
 "cases": [
   {"match": "peak/read-b16777216s2", "ns": 4000000},
   {"match": "gemm/m8*", "kernels": [{"name": "nvjet_hsh_128x256_64x4_TNT", "ns": 9000}]},
   {"match": "gemm/m16*", "ns": 4000},
   {"match": "gemm/m32*", "ns": 10000},
   {"match": "pointwise/*", "kernels": [{"name": "relu_1", "ns": 2000}, {"name": "relu_2", "ns": 2000}]}],
 "counters": {"values": {"tensor_instructions": 128, "tensor_active_share": 0.25}}}
SCRIPT
operator='aten::mm, seq = 1, sizes = [[4, 8], [8, 2]]'
export FAKE_GPU_SCRIPT=$work/script.json
export BENCH_CUDA_PLUGIN=$build/tests/fakes/libfake_gpu.so BENCH_CUDA_LIBS=$build/tests/fakes/cupti
export PYTHONPATH=$here/fakes/gpu_check PYTHONDONTWRITEBYTECODE=1
export FAKE_TORCH_PROGRAM="$build/tests/bench_cuda_program init push measured push '$operator'
  launch _Z4gemmv 7 pop launch _Z4tailv 7 pop"
export BENCH_GPU_CHECK_SIZE=32 BENCH_GPU_CHECK_NETWORK=$work/network.yaml
export BENCH_GPU_CHECK_PROGRAM="$build/tests/bench_cuda_program init push layer:a launch _Z4gemmv 7 pop"

export BENCH_GPU_CHECK_SECONDS=1 BENCH_GPU_CHECK_DEVICE=/dev/null
export BENCH_GPU_CHECK_FUSED=conv/forward/c4h8w8k4r3s3p1+bias+relu/f16/cudnn/cuda/hot
# On the CPU: time on the fake device is virtual, and duets refuse samples whose time exceeds the
# real time.
export BENCH_GPU_CHECK_SELF=gemm/forward/m4n4k4/f32/onednn/cpu/hot
# The loops only: products of a GPU's size take minutes on the CPU.
export BENCH_GPU_CHECK_PEAKS='peak/*/read-b16*'

# How time is taken, traced and counted. One part takes too long and is cut, which is not a failure.
check a 0 --only facts,doctor,start,memory,blocking,sampling,long_graph,tracing,late_tracing,counters,cold,product,plan,peaks,ceilings,graph_level --limit 120
for name in facts doctor start memory blocking sampling long_graph tracing late_tracing counters cold torch \
  product 'product against PyTorch' plan peaks 'all peaks' 'spread of the ceilings' graph_level; do
  expect_start "ok        $name \\([0-9]+ s\\)\$"
done
expect_start 'cut       ceilings'
never 'FAILED|left out'
expect_start 'product   bf16 32\^3: bench 0.010 ms at 1.50 GHz, 0 void, 0 throttled, PyTorch 0.010 ms, ratio 1.0000'
while read -r line; do expect "$line"; done <<'LINES'
| kernel of 20 us by stream, by graph | 21.50 us, 20.10 us | `sampling` |
| kernel of 50 us by stream, by graph | not measured | `sampling` |
| clock of a tracer after the context | CLOCK_REALTIME | `late_tracing` |
| bf16 2048^3 over 4 x L2 | 31.2 us, 4 % hits | `cold` |
| bench by PyTorch | 1.0000 | `product` |
peaks     read dram: 8.389 GB/s to 8.389 GB/s, spread 0.0 % over 5 runs
| bench peak: read dram | 8.389 GB/s to 8.389 GB/s | `peaks` |
LINES
expect_start '\| start of a worker, device held open \| [0-9]+ ms '
for question in a b c d e f h j k l; do
  expect_start "\\($question\\) "
done
files=$(cd "$evidence" && echo *)
[[ $files == "checks.jsonl device.json log.txt profiles.jsonl.gz results.jsonl.gz session.jsonl.gz summary.txt" ]] ||
  fail "other files of A: $files"

# Networks, shapes, operators, programs, the gate, PyTorch. Every step succeeds except the rules: they forbid
# tensor cores for products of f32, and these use them.
check b 1 --only network,trace,verdicts,shapes,rules,program,torch_profile,gate,operators,frameworks,transformer --limit 300
for name in network trace verdicts 'shapes, part [0-9]+ of 12' program torch torch_profile gate 'operators, part [1-8] of 8' \
  frameworks 'shapes against PyTorch' 'network by PyTorch' transformer 'operators against PyTorch'; do
  expect_start "ok        $name \\([0-9]+ s\\)\$"
done
never 'cut|left out'
expect 'FAILED    rules (status 1)'
shape=gemm/forward/m8n8k8/f32/cublaslt/cuda/hot
kernel=nvjet_hsh_128x256_64x4_TNT
while read -r line; do expect "$line"; done <<LINES
rules     2 shapes; verdicts of counters 2 (wanted: 100), of names 2, of rules 2
rules     names and counters: 2 of 2 agree
rules     rules and counters: 1 of 2 agree, 0 missed
rules     differs: $shape: rules not eligible [math-default], names used, counters used: $kernel
rules     kernel $kernel: by name used, by counters used 2
kernels   bench run, 3 passes: 15 of 15 attributed
kernels   profile_program: 1 of 1 attributed
kernels   profile_torch: 2 of 4 attributed
kernels   profile_torch: unattributed tail (2)
kernels   all kernels attributed: 18 of 20
FAILED    kernels
| rules and counters on tensor cores, one process | 2 of 2 agree, 0 missed | \`verdicts\` |
| verdicts of counters on tensor cores | 2 used | \`shapes\` |
shapes    gemm/forward/m16n16k16/f16/cublaslt/cuda/hot: bench 4.00 us, tuned 4.00 us, PyTorch 5.00 us, ratio 0.8
shapes    pointwise/forward/gelu_erf-4x64/bf16/cudnn/cuda/hot: bench 4.00 us, tuned n/a, PyTorch 5.00 us, ratio 0.8
| operators of transformers, bf16, by PyTorch's time | geometric mean 0.800 over 1, worst 0.800: pointwise/forward/gelu_erf-4x64/bf16/cudnn/cuda/hot | \`transformer\` |
met           each shape takes at most PyTorch's time: worst 0.800: gemm/forward/m16n16k16/f16/cublaslt/cuda/hot
met           geometric mean of these ratios: at most 0.91: 0.800 over 1 shapes
met           tuned never slower than untuned by more than 1 %: worst 1.000: gemm/forward/m16n16k16/f16/cublaslt/cuda/hot
met           operators: none wrong or failed, at most 19 unsupported: 1 ok
met           counters contradict no rule in 99 % of the shapes: 2 of 2 agree, 0 missed
LINES
[[ $(grep -c '"record":"step"' "$evidence/checks.jsonl") -gt 20 ]] || fail "steps have no records"
# A step had a second record without an outcome.
! grep -F '"outcome":""' "$evidence/checks.jsonl" >&2 || fail "a record without an outcome"
expect_start '\| a kernel against itself \| (candidate is |no difference is certain: candidate )'
expect_start '2 failed, [0-9]+ s$'
files=$(cd "$evidence" && echo *)
[[ $files == "checks.jsonl device.json log.txt profiles.jsonl.gz results.jsonl.gz summary.txt trace.json.gz" ]] ||
  fail "other files of B: $files"
for file in "$evidence"/*.gz; do
  [[ -n $(gzip -dc "$file" | head -c 1) ]] || fail "$file is empty"
done
[[ $(gzip -dc "$evidence/results.jsonl.gz" | grep -c '"record":"case"') == 7 ]] ||
  fail "other results: $(gzip -dc "$evidence/results.jsonl.gz" | grep '"record":"case"')"

# Both together give the table of docs/cuda.md.
python3 "$here/../ci/gpu_summary.py" table "$work/a" "$work/b" >"$work/table.md"
grep -qF 'Fake GPU, driver ' "$work/table.md" || fail "no device in the table: $(cat "$work/table.md")"
grep -qF '| plan of a fused f16 convolution |' "$work/table.md" || fail "no plan in the table"

# The short check has the most valuable steps and stays below its limit.
check smoke 0 --smoke
for name in memory blocking sampling long_graph tracing late_tracing counters cold graph_level gate \
  'operators, part 8 of 8'; do
  expect_start "ok        $name "
done
never 'ok        (network|shapes|peaks)'

# Single steps, on a machine with little memory.
printf 'MemTotal: 300000 kB\nMemAvailable: 204800 kB\n' >"$work/meminfo"
BENCH_GPU_CHECK_MEMINFO=$work/meminfo check small 0 \
  --only memory,product,plan,peaks,network,trace,shapes,rules,program,torch_profile,gate,operators
expect_start 'ok        memory '
while read -r name needed; do
  expect "skipped   $name: it needs $needed MiB of the host's memory, 200 are available"
done <<'STEPS'
torch 2048
product 512
plan 672
peaks 3584
network 4096
shapes 712
program 662
gate 1104
operators 572
STEPS
[[ $(grep -cE '^(ok|FAILED|cut|left out)' "$evidence/summary.txt") == 1 ]] || fail "a step ran in spite of that"
# Steps that need less than the available memory run, one process at a time.
printf 'MemTotal: 900000 kB\nMemAvailable: 600000 kB\n' >"$work/meminfo"
BENCH_GPU_CHECK_MEMINFO=$work/meminfo check medium 0 --only plan,operators
expect "skipped   plan: it needs 672 MiB of the host's memory, 585 are available"
expect_start 'ok        operators, part 8 of 8'
check unknown 2 --only memory,soundness

# A step that the kernel kills for lack of memory is a failure. It was "cut", as after the time.
FAKE_KILLED_CHECK=blocking check killed 1 --only blocking,sampling
expect 'FAILED    blocking (status 137)'
expect_start 'ok        sampling '

# A call that is stopped in a step evaluates what it has measured; one that is killed leaves files
# that can be evaluated. The program of the last step hangs.
cat >"$tree/bin/hanging" <<'HANGING'
#!/bin/sh
echo $$ >"$FAKE_HANGS.new" && mv "$FAKE_HANGS.new" "$FAKE_HANGS"
exec sleep 100
HANGING
chmod +x "$tree/bin/hanging"
goal='met           operators: none wrong or failed, at most 19 unsupported: 1 ok'
for signal in TERM KILL; do
  evidence=$work/stopped_$signal
  export FAKE_HANGS=$work/hangs_$signal
  BENCH_GPU_CHECK_PROGRAM=$tree/bin/hanging "$here/../ci/gpu_check.sh" --bundle "$work/bench.tar.gz" \
    --only memory,operators,program,doctor --limit 300 "$evidence" >"$work/gpu_check.txt" 2>&1 &
  call=$!
  for ((tenths = 0; tenths < 1800; ++tenths)); do
    [[ ! -e $FAKE_HANGS ]] || break
    sleep 0.1
  done
  [[ -e $FAKE_HANGS ]] || fail "the step that hangs did not begin"
  kill -"$signal" "$call"
  wait "$call" || true
  kill "$(cat "$FAKE_HANGS")" 2>/dev/null || true
  expect_start 'ok        memory '
  [[ $(gzip -dc "$evidence/results.jsonl.gz" | grep -c '"record":"case"') == 1 ]] ||
    fail "no results after $signal"
  python3 "$here/../ci/gpu_summary.py" goals "$evidence" >"$work/goals.txt"
  grep -qxF "$goal" "$work/goals.txt" || fail "no goal after $signal: $(cat "$work/goals.txt")"
  [[ $signal == TERM ]] || continue
  expect_start 'stopped   from outside'
  expect_start 'cut       program '
  expect 'left out  doctor: the time is used up'
  expect "$goal"
done

# The help ends before the list of output files. It ended in the middle of a sentence of this list.
help=$("$here/../ci/gpu_check.sh" --help)
[[ $help == 'ci/gpu_check.sh [--bundle FILE]'*$'\nStatus: 0 no check failed, 1 some failed, 77 there is no GPU.' ]] ||
  fail "other help: $help"

# Without time every step is omitted, and the end still runs.
check late 0 --only doctor,memory,product,shapes,operators --limit 19
for name in doctor memory product; do
  expect "left out  $name: the time is used up"
done
expect 'left out  shapes, parts 1 to 12 of 12: the time is used up'
expect 'left out  operators, parts 1 to 8 of 8: the time is used up'
never 'ok|FAILED'

# Without a GPU nothing runs.
printf '{"device":null,"verdict":{"availability":"no_driver","reason":"libcuda.so.1 was not found"}}' >"$work/none.json"
FAKE_GPU_SCRIPT=$work/none.json check none 77
expect 'there is no GPU, so nothing else was tried: libcuda.so.1 was not found'
