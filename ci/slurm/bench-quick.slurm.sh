#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Written by `bench submit --slurm quick --shards 4 --time 30m`.
#   bash bench-quick.slurm.sh      submits 4 shards, one per node, and a job that merges them
#   bash bench-quick.slurm.sh 1    submits only shard 1, or several (1,3-5): each measures what its file lacks
# Submit it in a folder that all nodes share. SBATCH_PARTITION, SBATCH_ACCOUNT and the other variables
# of sbatch apply. BENCH: the program on the nodes. BENCH_RESULTS: the folder of the results.
set -euo pipefail
export BENCH_SHARDS=4
bench=${BENCH:-bench}
results=${BENCH_RESULTS:-bench-quick}

submit() {
  mkdir -p -- "$results"
  local shards
  shards=$(sbatch --parsable --job-name=bench-quick --array="$1" --nodes=1 --exclusive --time=30 \
    --requeue --open-mode=append --signal=B:TERM@60 --output="$results/shard-%a.log" "$0" measure)
  printf 'job %s measures the shards %s of 4\n' "${shards%%;*}" "$1"
  # afterany: a report of incomplete shards says what they lack.
  local merge
  merge=$(sbatch --parsable --job-name=bench-quick-merge --dependency="afterany:${shards%%;*}" --nodes=1 \
    --time=10 --output="$results/merge.log" "$0" merge)
  printf 'job %s then writes %s/all.json; its log is %s/merge.log\n' "${merge%%;*}" "$results" \
    "$results"
}

# A requeued task continues its file. The shell becomes bench, which ends with its results when the
# time limit or a preemption sends SIGTERM.
measure() {
  local file=$results/shard-$SLURM_ARRAY_TASK_ID.jsonl output=--out
  [[ ! -s $file ]] || output=--resume
  exec "$bench" run quick --shard auto "$output" "$file" --quiet
}

merge() {
  exec "$bench" report "$results"/shard-*.jsonl -o "$results/all.json" --force
}

case ${1:-} in
  measure) measure ;;
  merge) merge ;;
  *) submit "${1:-1-4}" ;;
esac
