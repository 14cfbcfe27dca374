# SPDX-License-Identifier: Apache-2.0
"""Shared by the comparison scripts of this folder: one environment for all contestants (the
programs that are compared), facts about the machine, and reading of `bench` result files (JSON
Lines, schema bench.result/1)."""

import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Idle threads of GNU OpenMP spin this many times before they sleep. This is long enough for the gap
# between two primitives, and short enough to leave the cores to the next contestant. `bench` sets
# the same value.
SPIN_COUNT = 20000

# A contestant that runs longer than this hangs: model compilation takes a minute, runs take less.
LIMIT_S = 600

# Maximum fraction of the processors that other programs may take. Above it, medians change by more
# than the differences of interest: a thread at a barrier waits for one that lost its core.
QUIET_SHARE = 0.02


def cores():
    """Returns the processors that this process may use, in order."""
    return sorted(os.sched_getaffinity(0))


def busy_seconds():
    """Returns the processor time that the machine has spent, or lost to other guests, since boot."""
    user, nice, system, _, _, irq, softirq, steal = map(
        int, Path("/proc/stat").read_text().split(maxsplit=9)[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Session:
    """Runs contestants one after another in one environment, and measures how much other programs
    use the machine at the same time."""

    def __init__(self, threads):
        self.threads = threads
        self.wall_s = 0.0
        self.foreign_s = 0.0  # processor time of everything except the contestants
        # The caller's environment, with threads and pinning fixed.
        self.environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "OMP_DYNAMIC": "false",
            "OMP_PROC_BIND": "close",
            "OMP_PLACES": ",".join(f"{{{core}}}" for core in cores()[:threads]),
            "GOMP_SPINCOUNT": str(SPIN_COUNT),
        }

    def run(self, command):
        """Returns the standard output of a contestant, or ends the script with the reason."""
        command = [str(word) for word in command]
        start, busy, own = time.monotonic(), busy_seconds(), children_seconds()
        try:
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                                  timeout=LIMIT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            sys.exit(f"error: {' '.join(command)}: {error}")
        if done.returncode != 0:
            sys.exit(f"{done.stderr}error: {' '.join(command)}: exit status {done.returncode}")
        self.wall_s += time.monotonic() - start
        self.foreign_s += max(0.0, busy_seconds() - busy - (children_seconds() - own))
        return done.stdout

    def run_bench(self, bench, arguments):
        """Returns the records of one `bench run` with these arguments."""
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "result.jsonl"
            self.run([bench, "run", *arguments, "--quiet", "--out", result])
            return [json.loads(line) for line in result.read_text().splitlines()]

    def disturbance_line(self):
        share = self.foreign_s / (self.wall_s * os.cpu_count()) if self.wall_s > 0 else 0.0
        advice = "" if share <= QUIET_SHARE else ": not quiet, repeat before believing the figures"
        return f"everything else took {100 * share:.1f} % of the processors{advice}"


def case_medians(records):
    """Returns id -> median in nanoseconds of all measured cases; another outcome ends the script."""
    medians = {}
    for record in records:
        if record["record"] != "case":
            continue
        if record["outcome"] != "ok":
            sys.exit(f"error: {record['id']}: {record['outcome']}: {record.get('reason', 'n/a')}")
        medians[record["id"]] = record["time"]["median_ns"]
    return medians


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def memory_gib():
    kib = next(line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines()
               if line.startswith("MemTotal"))
    return int(kib) / 2**20


def machine_line(threads):
    return (f"{cpu_model()}, {len(cores())} cores ({threads} used), {memory_gib():.0f} GiB, "
            f"Linux {platform.release()}")
