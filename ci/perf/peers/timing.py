# SPDX-License-Identifier: Apache-2.0
"""Timing of one contestant in its own process; the result is one JSON object on standard output."""

import argparse
import json
import statistics
import time


def arguments(description, networks, modes=None):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--network", choices=networks, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--warmup-ms", type=int, default=1000)
    if modes:
        parser.add_argument("--mode", choices=modes, required=True)
    return parser.parse_args()


def measure(options, execute):
    """Returns the durations in nanoseconds of `samples` calls, after at least three warm-up calls."""
    warm = time.monotonic_ns() + options.warmup_ms * 1_000_000
    calls = 0
    while calls < 3 or time.monotonic_ns() < warm:
        execute()
        calls += 1
    samples = []
    for _ in range(options.samples):
        start = time.monotonic_ns()
        execute()
        samples.append(time.monotonic_ns() - start)
    return samples


def report(version, samples):
    print(json.dumps({"version": version, "median_ns": int(statistics.median(samples)),
                      "samples_ns": samples}))
