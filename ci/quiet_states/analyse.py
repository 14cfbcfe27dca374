#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Evaluates the canaries of samples: prints the table of docs/decisions/0019.

    analyse.py RECORD...     (text or .gz, of `study`)

For each case, the standard deviation of the process medians over all samples, and over the samples
whose canaries before and after are both at most 5 % above the quiet level (the 5 % quantile of
that canary over the whole record and the same number of threads). `in` is the fraction of processes
with at least ten such samples (four for the network), `kept` the fraction of samples.
"""
import collections
import gzip
import math
import statistics
import sys

CANARIES = ["fma", "load", "mixed", "l2", "dram"]
TOLERANCE = 1.05
RULES = [("all", None), ("no switch", ["switches"]), ("fma", ["fma"]), ("load", ["load"]),
         ("mixed", ["mixed"]), ("l2", ["l2"]), ("dram", ["dram"]),
         ("mixed, no switch", ["mixed", "switches"])]


def read(names):
    """Returns processes: the measured case, and its rows (sample, delay, switches, canaries)."""
    processes = []
    for name in names:
        with gzip.open(name, "rt") if name.endswith(".gz") else open(name) as lines:
            for line in lines:
                words = line.split()
                if words[:1] == ["P"]:
                    op, threads, cache, canaries = words[1:5]
                    processes.append({"case": (op, int(threads), cache),
                                      "canaries": canaries.split("-")[0], "rows": []})
                elif words and words[0].isdigit():
                    processes[-1]["rows"].append([int(word) for word in words])
    return [process for process in processes if len(process["rows"]) > 2]


def quantile(values, share):
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))]


def pairs(process):
    """Returns each row with the canaries of the next one, which are those after its sample."""
    rows = process["rows"]
    return list(zip(rows, rows[1:]))


def spread(medians):
    return 100 * statistics.pstdev([math.log(median) for median in medians])


def main(names):
    processes = [p for p in read(names) if p["canaries"] in ("all", "lead")]
    level = {}
    for threads in (1, 2):
        for column, canary in enumerate(CANARIES, 3):
            values = [row[column] for p in processes if p["case"][1] == threads
                      for row in p["rows"]]
            level[threads, canary] = quantile(values, 0.05)

    def keeps(rule, threads, before, after):
        if rule is None:
            return True
        if "switches" in rule and (before[1] > 0 or before[2] > 0):
            return False
        return all(row[3 + CANARIES.index(canary)] <= TOLERANCE * level[threads, canary]
                   for row in (before, after) for canary in rule if canary != "switches")

    cases = collections.defaultdict(list)
    for process in processes:
        cases[process["case"]].append(process)
    print("%-20s %9s " % ("case", "processes")
          + "".join("%-18s" % name for name, _ in RULES))
    for case, members in sorted(cases.items()):
        fewest = 4 if case[0] == "net" else 10
        cells = []
        for _, rule in RULES:
            medians, kept = [], []
            for process in members:
                both = pairs(process)
                samples = [b[0] for b, a in both if keeps(rule, case[1], b, a)]
                kept.append(len(samples) / len(both))
                if len(samples) >= fewest:
                    medians.append(statistics.median(samples))
            cells.append("%5.2f%% in %3.0f%% %3.0f%%" % (
                spread(medians), 100 * len(medians) / len(members), 100 * statistics.mean(kept))
                if len(medians) > 3 else "too few")
        print("%-20s %9d " % ("%s %d %s" % case, len(members))
              + "".join("%-18s" % cell.replace(" in ", " ") for cell in cells))


if __name__ == "__main__":
    main(sys.argv[1:])
