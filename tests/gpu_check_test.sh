#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu_check_test.sh BUILD WORK: all of ci/gpu_check.sh without a GPU, over what BUILD has in place of
# one (tests/fakes): the plugin, the driver and CUPTI below `bench profile`, PyTorch, and a program of
# checks that only writes what bench_gpu_test would. A step that fails, or a figure that is not what
# the scripts of these make it, fails the test.
set -euo pipefail
build=$(realpath -- "$1") work=$2
here=$(CDPATH='' cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

fail() { printf 'gpu_check_test.sh: %s\n' "$*" >&2 && cat "$work/gpu_check.txt" >&2 && exit 1; }
# expect <line of summary.txt>
expect() { grep -qxF -- "$1" "$work/evidence/summary.txt" || fail "no line '$1'"; }
# expect_start <begin of a line of summary.txt>
expect_start() { grep -qE -- "^$1" "$work/evidence/summary.txt" || fail "no line that begins with '$1'"; }

rm -rf "$work"
tree=$work/tree/bench
mkdir -p "$tree/bin" "$tree/share/bench/configs"
work=$(realpath -- "$work") tree=$work/tree/bench

# The bundle.
printf '#!/bin/sh\nexec "%s/bench" "$@"\n' "$build" >"$tree/bin/bench"
cat >"$tree/bin/bench_gpu_test" <<'CHECKS'
#!/bin/sh
for question in b c d e f i j; do
  echo '{"question":"'$question'","check":"of '$question'","outcome":"ok"}'
done >"$1"
[ "$2" = --session ] && echo '{"kind":"session"}' >"$3"
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
tar -C "$work/tree" -czf "$work/bench.tar.gz" bench

# The device. What counters say is the same of all cases: tensor cores are used.
cat >"$work/script.json" <<'SCRIPT'
{"cases": [
   {"match": "gemm/m8*", "kernels": [{"name": "nvjet_hsh_128x256_64x4_TNT", "ns": 9000}]},
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

status=0
"$here/../ci/gpu_check.sh" --bundle "$work/bench.tar.gz" "$work/evidence" >"$work/gpu_check.txt" 2>&1 ||
  status=$?

[[ $status == 1 ]] || fail "status $status"

# Every step ends well but the rules: they forbid tensor cores to products of f32, and these use them.
for name in doctor checks "the product and PyTorch's" 'a program profiled' 'PyTorch profiled' network \
  trace 'shapes, part [0-9]+ of 12' 'operators, part [1-8] of 8'; do
  expect_start "ok        $name \\([0-9]+ s\\)\$"
done
[[ $(grep -c '^ok ' "$work/evidence/summary.txt") == 27 ]] || fail "not all steps are ok"
expect 'FAILED    rules of tensor cores (status 1)'
shape=gemm/forward/m8n8k8/f32/cublaslt/cuda/hot
kernel=nvjet_hsh_128x256_64x4_TNT
while read -r line; do expect "$line"; done <<LINES
product   bf16 32^3: bench 0.010 ms, PyTorch 0.010 ms, ratio 1.0000 (medians of 3 and 3 rounds in turns; wanted within 1.03)
rules     2 shapes; verdicts of counters 2 (wanted: 100), of names 2, of rules 2
rules     names and counters: 2 of 2 agree
rules     rules and counters: 1 of 2 agree
rules     differs: $shape: rules not eligible [math-default], names used, counters used: $kernel
rules     kernel $kernel: by name used, by counters used 2
kernels   bench run, 3 passes: 15 of 15 attributed
kernels   profile_program: 1 of 1 attributed
kernels   profile_torch: 2 of 4 attributed
kernels   profile_torch: of nobody tail (2)
kernels   all kernels attributed: 18 of 20
FAILED    kernels
LINES
for question in a b c d e f g h i j; do
  expect_start "\\($question\\) "
done
! grep -q 'no answer' "$work/evidence/summary.txt" || fail "a question has no answer"
expect_start '2 failed, [0-9]+ s$'

# What it leaves.
files=$(cd "$work/evidence" && echo *)
[[ $files == "checks.jsonl device.json log.txt profiles.jsonl.gz results.jsonl.gz session.jsonl.gz summary.txt trace.json.gz" ]] ||
  fail "other files: $files"
for file in "$work"/evidence/*.gz; do
  [[ -n $(gzip -dc "$file" | head -c 1) ]] || fail "$file is empty"
done
[[ $(gzip -dc "$work/evidence/results.jsonl.gz" | grep -c '"record":"case"') == 7 ]] ||
  fail "other results: $(gzip -dc "$work/evidence/results.jsonl.gz" | grep '"record":"case"')"

# Without time for anything every step is left out, and the end still comes.
status=0
"$here/../ci/gpu_check.sh" --limit 19 --bundle "$work/bench.tar.gz" "$work/evidence" \
  >"$work/gpu_check.txt" 2>&1 || status=$?
[[ $status == 1 ]] || fail "status $status without time"
for name in doctor checks "the product and PyTorch's" 'a program profiled' 'PyTorch profiled' network trace; do
  expect "left out  $name: the time is used up"
done
expect 'left out  shapes, parts 1 to 12 of 12: the time is used up'
expect 'left out  operators, parts 1 to 8 of 8: the time is used up'
expect 'kernels   all kernels attributed: 0 of 0'
! grep -q '^ok ' "$work/evidence/summary.txt" || fail "something was done without time"
