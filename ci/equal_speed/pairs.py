#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows how often `bench compare` is right about pairs of equal runs, and how certain one run is.

    pairs.py BENCH RECORD...    RECORD: a folder of result files of equal runs, in the order of their
                                names, or a .jsonl.gz of `process` records with the field `run`

For each pair of runs of a record, it compares the two as they are (`same` is right, `slower` and
`faster` are wrong), and with all samples of the second one 5 % longer (`slower` is right). `error`
is the root mean square of the logarithm of the ratio, divided by sqrt(2): the error of one run.
`cover` is how often the interval holds 1. `beside`: the same for the pairs whose threads were
equally far apart at times. For a folder, it also shows the standard deviation of the times that the
runs state, beside that of the medians of all samples, and how many intervals hold the median run.
"""
import collections
import glob
import gzip
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

SLOWER = 1.05
FIRST_KIND = ("conv", "gemm", "softmax")


def read_lines(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def read_record(path):
    """Returns the process records of each run, in order."""
    runs = collections.OrderedDict()
    if os.path.isdir(path):
        names = sorted(glob.glob(os.path.join(path, "*.jsonl")),
                       key=lambda name: (len(name), name))
        for number, name in enumerate(names):
            runs[number] = [line for line in read_lines(name) if line["record"] == "process"]
        return runs
    for line in read_lines(path):
        if line["record"] == "process":
            runs.setdefault(line["run"], []).append(line)
    return runs


def make_result(run, processes, factor):
    """Returns the lines of a result file. Without case records: the reader makes them."""
    lines = [{"record": "run", "schema": "bench.result/1", "run_id": f"run{run}", "tool": {},
              "config": {"name": "record"},
              "environment": {"machine_class": "one-2c-00000000", "threads": 2}}]
    numbers = collections.Counter()
    for process in processes:
        line = dict(process, run_id=f"run{run}", process=numbers[process["id"]], stop="precision",
                    canary_threads=2, steady=True)
        numbers[process["id"]] += 1
        line["samples_ns"] = [round(factor * sample) for sample in process["samples_ns"]]
        lines.append(line)
    return "".join(json.dumps(line) + "\n" for line in lines)


def compare(bench, base, candidate):
    output = subprocess.run([bench, "compare", base, candidate, "--json"], capture_output=True,
                            text=True, check=True).stdout
    return {case["id"]: case for case in json.loads(output)["cases"]}


def read_cases(path):
    """Returns the times of the case records of a folder of result files, by case."""
    times = collections.defaultdict(list)
    for name in glob.glob(os.path.join(path, "*.jsonl")):
        for line in read_lines(name):
            if line["record"] == "case" and "time" in line:
                times[line["id"]].append((line["time"], line.get("time_all", line["time"])))
    return times


def rms(values):
    return 100 * math.sqrt(sum(v * v for v in values) / len(values) / 2) if values else math.nan


def describe(cases):
    errors = [math.log(c["ratio"]) for c, _ in cases]
    with_interval = [c for c, _ in cases if "low" in c]
    covered = sum(c["low"] <= 1 <= c["high"] for c in with_interval)
    verdicts = collections.Counter(c["verdict"] for c, _ in cases)
    slower = sum(s["verdict"] == "slower" for _, s in cases)
    widths = [100 * math.log(c["high"] / c["low"]) / 2 for c in with_interval]
    part = 100 / len(cases)
    return (f"error {rms(errors):5.2f} %  +-{statistics.median(widths):5.2f} %"
            f"  cover {100 * covered / max(1, len(with_interval)):5.1f} %"
            f"  wrong {part * (verdicts['slower'] + verdicts['faster']):4.1f} %"
            f"  same {part * verdicts['same']:5.1f} %  +5 % slower {part * slower:5.1f} %")


def examine(bench, path, folder):
    runs = read_record(path)
    for run, processes in runs.items():
        for suffix, factor in (("", 1), ("-slower", SLOWER)):
            with open(os.path.join(folder, f"{run}{suffix}.jsonl"), "w") as file:
                file.write(make_result(run, processes, factor))
    pairs = collections.defaultdict(list)
    for first, second in itertools.combinations(runs, 2):
        base = os.path.join(folder, f"{first}.jsonl")
        equal = compare(bench, base, os.path.join(folder, f"{second}.jsonl"))
        slower = compare(bench, base, os.path.join(folder, f"{second}-slower.jsonl"))
        for case in equal:
            pairs[case].append((equal[case], slower[case]))
    print(path)
    groups = collections.defaultdict(list)
    for case, values in pairs.items():
        print(f"  {case[:28]:28} {describe(values)}")
        groups[case.split("/")[0] in FIRST_KIND] += values
    for is_first, name in ((True, "conv, gemm, softmax"), (False, "pool, relu")):
        if not groups[is_first]:
            continue
        print(f"  {name:28} {describe(groups[is_first])}")
        beside = [pair for pair in groups[is_first] if "distance" not in pair[0].get("reason", "")]
        if beside and len(beside) < len(groups[is_first]):
            print(f"    {'beside':26} {describe(beside)}  {len(beside)} of {len(groups[is_first])}")
    for case, times in read_cases(path).items():
        logs = [math.log(time["median_ns"]) for time, _ in times]
        every = [math.log(time["median_ns"]) for _, time in times]
        middle = statistics.median(logs)
        intervals = [time for time, _ in times if "low_ns" in time]
        hold = sum(math.log(t["low_ns"]) <= middle <= math.log(t["high_ns"]) for t in intervals)
        print(f"  {case[:28]:28} own times {100 * statistics.pstdev(logs):5.2f} %, of all samples "
              f"{100 * statistics.pstdev(every):5.2f} %; intervals {len(intervals)} of "
              f"{len(times)}, {hold} hold the median")


def main():
    bench = sys.argv[1]
    for path in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            examine(bench, path, folder)


main()
