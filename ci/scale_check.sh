#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ci/scale_check.sh [--keep] [BENCH]
# Runs a job of `bench submit --slurm` on a real Slurm: a cluster of this one machine, on the loopback,
# in a scratch folder. Kills a shard with SIGKILL while it measures, requeues it, and checks that the
# merged result has exactly the cases of a run without shards, each once. Needs `ci/setup --scale`; it
# needs no root rights and does not touch a Slurm that is installed here.
#   BENCH    the program (default: ./bench of this checkout)
#   --keep   keep the scratch folder, with the logs of Slurm
set -euo pipefail
root=$(CDPATH='' cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
usage() { sed -n '3,9s/^# //p' "${BASH_SOURCE[0]}"; }

keep=no bench=$root/bench
while (($#)); do
  case $1 in
    --keep) keep=yes ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) bench=$(realpath -- "$1") ;;
  esac
  shift
done

say() { printf 'ci/scale_check.sh: %s\n' "$*" >&2; }
fail() {
  say "FAILED: $*"
  exit 1
}
# Debian installs the daemons where only root's PATH looks.
PATH=$PATH:/usr/sbin:/sbin
for tool in slurmctld slurmd sbatch squeue scontrol python3; do
  command -v "$tool" >/dev/null || fail "$tool is missing; install it with ci/setup --scale"
done

work=$(mktemp -d)
daemons=()
finish() {
  local pid
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null || true; done
  if [[ $keep == yes ]]; then say "kept $work"; else rm -rf "$work"; fi
}
trap finish EXIT

# wait_for <seconds> <what> <command>...: returns when the command succeeds.
wait_for() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || fail "waited too long for $what"
    sleep 0.2
  done
}

is_idle() { [[ $(sinfo --noheader --format=%T) == idle ]]; }

start_slurm() {
  local node user ports
  node=$(hostname -s) user=$(id -un)
  ports=$(python3 -c 'import socket
ports = [socket.socket() for _ in range(2)]
for port in ports: port.bind(("127.0.0.1", 0))
print(*(port.getsockname()[1] for port in ports))')
  mkdir -p "$work/state" "$work/spool"
  cat >"$work/slurm.conf" <<CONF
ClusterName=scale_check
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
KillWait=5
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=check Nodes=ALL Default=YES MaxTime=UNLIMITED State=UP
CONF
  export SLURM_CONF=$work/slurm.conf
  slurmctld -D -f "$SLURM_CONF" >"$work/slurmctld.out" 2>&1 &
  daemons+=($!)
  slurmd -D -f "$SLURM_CONF" -N "$node" >"$work/slurmd.out" 2>&1 &
  daemons+=($!)
  wait_for 60 'the node of Slurm' is_idle
  say "$(sinfo --version) runs on $node, $(nproc) processors"
}

# Kills the measuring program of a task as a crash of its node would: without a warning.
kill_task() {
  local job pid
  job=$(squeue --noheader --jobs="$1" --format=%A) # a task of an array has a number of its own
  for pid in $(scontrol listpids "$job" | awk 'NR > 1 && $1 > 1 { print $1 }'); do
    kill -KILL "$pid" 2>/dev/null || true
  done
}

state_of() { squeue --noheader --states=all --jobs="$1" --format=%T; }
is_done() { ! state_of "$1" | grep -qvxE 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY'; }
has_ended() { [[ $(state_of "$1") =~ ^(COMPLETED|FAILED|CANCELLED)$ ]]; }
has_process() { grep -q '"record":"process"' "$1"; }

start_slurm
cd "$work"
export BENCH_LOCK=$work/lock # times do not matter here, so it need not wait for other measurements
cat >suite.yaml <<'SUITE'
version: 1
name: scale check
defaults:
  warmup: { iterations: 1, time: 1ms }
  measure: { processes: 5, min_iterations: 3, max_time: 200ms, precision: 0.01% }
cases:
  - { op: gemm, n: 64, k: 64, cache: [hot, cold], sweep: { m: [16, 32, 64, 256] } }
  - { op: pointwise, shape: [64, 1024], sweep: { function: [relu, tanh, gelu_tanh] } }
  - { op: softmax, shape: [128, 1000] }
SUITE
say 'measures all cases without shards'
"$bench" run suite.yaml --out whole.jsonl --quiet >whole.txt
"$bench" submit --slurm suite.yaml --shards 4 --time 20m --out job.slurm.sh
export BENCH=$bench BENCH_RESULTS=results
bash job.slurm.sh | tee submitted.txt
array=$(sed -n 's/^job \([0-9]*\) measures.*/\1/p' submitted.txt)
merge=$(sed -n 's/^job \([0-9]*\) then.*/\1/p' submitted.txt)

wait_for 300 'the first samples of shard 2' has_process results/shard-2.jsonl
kill_task "${array}_2"
wait_for 60 'the end of shard 2' has_ended "${array}_2"
cp results/shard-2.jsonl killed.jsonl
say "killed shard 2 (job ${array}_2) after $(grep -c '"record":"process"' killed.jsonl) processes: $(state_of "${array}_2")"
! grep -q '"record":"end"' killed.jsonl || fail 'shard 2 had ended before it was killed'
scontrol requeue "${array}_2"
wait_for 600 'the end of the job' is_done "$array,$merge"

say 'results/merge.log:'
cat results/merge.log
python3 - <<'COMPARE'
import json
def records(path, kind):
    lines = (json.loads(line) for line in open(path))
    return [record for record in lines if record["record"] == kind]
whole = [record["id"] for record in records("whole.jsonl", "case")]
merged = [record["id"] for record in json.load(open("results/all.json"))["cases"]]
assert sorted(merged) == sorted(whole), (sorted(merged), sorted(whole))
assert len(set(merged)) == len(merged)
assert all(record.get("time") for record in json.load(open("results/all.json"))["cases"])
parts = {}
for shard in range(1, 5):
    runs = records(f"results/shard-{shard}.jsonl", "run")
    assert {run["shard"] for run in runs} == {f"{shard}/4"}
    assert len({run["assignment"]["positions"] for run in runs}) == 1
    parts[shard] = runs
assert len(parts[2]) == 2 and parts[2][1]["resumes"] == parts[2][0]["run_id"], parts[2]
killed = {(record["id"], record["process"]) for record in records("killed.jsonl", "process")}
again = {(record["id"], record["process"]) for record in records("results/shard-2.jsonl", "process")
         if record["run_id"] == parts[2][1]["run_id"]}
assert not killed & again, "the resumed shard measured processes again"
print(f"{len(merged)} cases in 4 shards, as in the run without shards; shard 2 resumed after",
      f"{len(killed)} processes and measured the other {len(again)}")
for shard, runs in parts.items():
    print(f"  shard {shard}: positions {runs[0]['assignment']['positions']} by rule {runs[0]['assignment']['rule']}")
COMPARE
say passed
