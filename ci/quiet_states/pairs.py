#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows how often `bench compare` is right about pairs of consecutive runs of one program.

    pairs.py BENCH RECORD...      RECORD: result files of equal runs in their order, concatenated (.gz)
    pairs.py --thin RECORD OUT    five quantiles of the quiet samples of each process in place of all

For each pair of consecutive runs it compares the two as they are (no verdict but `same` or
`unclear` is right), and with all samples of the second one 3 % longer (`slower` is right).
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

SLOWER = 1.03


def lines_of(path):
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
    with opened as file:
        return [json.loads(line) for line in file if line.strip()]


def quantile(values, share):
    values = sorted(values)
    position = share * (len(values) - 1)
    low = int(position)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (position - low)


def thin_process(record):
    """A quiet process keeps five quantiles of its quiet samples; None for others."""
    level = record.get("quiet_level_ns")
    canaries = record.get("canaries_ns", [])
    quiet = [sample for sample, canary in zip(record["samples_ns"], canaries)
             if canary and canary <= 1.05 * level]
    if len(quiet) < 5:
        return None
    kept = {key: record[key] for key in ("record", "run_id", "id", "process",
                                         "iterations_per_sample", "warmup_iterations", "stop",
                                         "canary_threads", "quiet_level_ns", "join_ns", "steady",
                                         "implementation") if key in record}
    kept["samples_ns"] = [round(quantile(quiet, share / 4)) for share in range(5)]
    kept["canaries_ns"] = [level] * 5
    return kept


def thin(record, out):
    kept = []
    for line in lines_of(record):
        if line["record"] == "run":
            line["environment"] = {"machine_class": line["environment"]["machine_class"]}
            line.pop("arguments", None)
        elif line["record"] == "process":
            line = thin_process(line)
        elif line["record"] == "case":
            for key in ("details", "setup", "check", "work", "memory", "rates", "time_all"):
                line.pop(key, None)
        else:
            continue
        if line:
            kept.append(json.dumps(line, separators=(",", ":")))
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        file.write(("\n".join(kept) + "\n").encode())


def runs_of(path):
    runs = collections.OrderedDict()
    for line in lines_of(path):
        runs.setdefault(line["run_id"], []).append(line)
    return list(runs.values())


def write(path, lines, factor):
    with open(path, "w") as file:
        for line in lines:
            if line["record"] == "process" and factor != 1:
                line = dict(line, samples_ns=[round(factor * s) for s in line["samples_ns"]])
            file.write(json.dumps(line) + "\n")


def verdicts(bench, base, candidate):
    output = subprocess.run([bench, "compare", base, candidate, "--json"], capture_output=True,
                            text=True, check=True).stdout
    return {case["id"]: case["verdict"] for case in json.loads(output)["cases"]}


def count_pairs(bench, path, folder):
    counts = collections.defaultdict(collections.Counter)
    runs = runs_of(path)
    for first, second in zip(runs, runs[1:]):
        base, candidate = folder / "base.jsonl", folder / "candidate.jsonl"
        write(base, first, 1)
        for what, factor in (("equal", 1), ("slower", SLOWER)):
            write(candidate, second, factor)
            for case, verdict in verdicts(bench, base, candidate).items():
                threads = "1 thread" if case.endswith("/t1") else "all threads"
                counts[threads, what][verdict] += 1
                counts[case, what][verdict] += 1
    return counts


def main():
    if sys.argv[1] == "--thin":
        return thin(sys.argv[2], sys.argv[3])
    bench = sys.argv[1]
    for path in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            counts = count_pairs(bench, path, pathlib.Path(folder))
        print(path)
        for name in sorted({name for name, _ in counts}, key=lambda n: ("/" in n, n)):
            equal, slower = counts[name, "equal"], counts[name, "slower"]
            pairs, shifted = sum(equal.values()), sum(slower.values())
            print(f"  {name[:58]:58} pairs {pairs:4}"
                  f"  wrong {100 * (equal['slower'] + equal['faster']) / pairs:5.1f} %"
                  f"  same {100 * equal['same'] / pairs:5.1f} %"
                  f"  unclear {100 * equal['unclear'] / pairs:5.1f} %"
                  f"  +3 % slower {100 * slower['slower'] / shifted:5.1f} %")


main()
