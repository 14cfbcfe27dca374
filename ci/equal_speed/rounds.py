#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which rounds of a duet should count: those with equal canaries, or all that nothing interrupted?

    rounds.py RESULT.jsonl[.gz]...

Takes the samples of each process in pairs, as if they were the rounds of a duet of equal sides, in
groups of 20 rounds. Prints for each case the deviation of such a duet from 0 in % (scaled median
absolute deviation, standard deviation) under both rules. docs/decisions/0037 has the figures.
"""

import collections
import gzip
import json
import random
import statistics
import sys
from math import log

ROUNDS = 20
MIN_ROUNDS = 10
MIN_COUNTED = 3


def processes(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record.get("record") == "process" and "canaries_ns" in record:
                yield record


def rounds_of(process, generator):
    """Yields (log ratio, canary of one side, canary of the other); the sides are random."""
    times, canaries = process["samples_ns"], process["canaries_ns"]
    for i in range(0, min(len(times), len(canaries)) - 1, 2):
        first, second = (i, i + 1) if generator.random() < 0.5 else (i + 1, i)
        yield log(times[second] / times[first]), canaries[first], canaries[second]


def duet_medians(rounds):
    """Returns the result of a duet under both rules."""
    everything = [ratio for ratio, _, _ in rounds]
    uninterrupted = [(ratio, a, b) for ratio, a, b in rounds if min(a, b) > 0]
    equal = [ratio for ratio, a, b in uninterrupted if max(a, b) <= 1.05 * min(a, b)]
    uninterrupted = [ratio for ratio, _, _ in uninterrupted]
    return tuple(
        statistics.median(counted if len(counted) >= MIN_COUNTED else fallback)
        for counted, fallback in ((equal, uninterrupted or everything), (uninterrupted, everything))
    )


def deviation(values):
    scaled = 1.4826 * statistics.median(abs(value) for value in values)
    return f"{100 * scaled:5.2f} {100 * statistics.pstdev(values):5.2f}"


def main():
    generator = random.Random(1)
    for path in sys.argv[1:]:
        results = collections.defaultdict(list)
        for process in processes(path):
            rounds = list(rounds_of(process, generator))
            for begin in range(0, len(rounds) - MIN_ROUNDS + 1, ROUNDS):
                results[process["id"]].append(duet_medians(rounds[begin : begin + ROUNDS]))
        print(f"{path}\n{'case':48} duets  equal canaries  uninterrupted")
        for case, duets in results.items():
            equal, uninterrupted = zip(*duets)
            print(f"{case[:48]:48} {len(duets):5}    {deviation(equal)}    {deviation(uninterrupted)}")


if __name__ == "__main__":
    main()
