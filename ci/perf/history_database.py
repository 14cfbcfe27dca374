#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `bench history --db` at size, with records as a run of five processes has them.

usage: history_database.py BENCH URL RECORDS FOLDER

Saves RECORDS records of 1,000 series from stores in FOLDER, which it creates, and prints the rate of
saving, and the wall times of the commands for one case and for the list of all series: the median
and the largest of five.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time

CASES = 1000
RUNS_PER_STORE = 10
MACHINE_CLASS = "load-2c-00000000"


def record(case, run, rng):
    median = int(50_000 * (1 + case / 100) * rng.gauss(1, 0.01))
    processes = [{"n": 20, "iterations_per_sample": 1, "med_ns": median + i, "q25_ns": median - 500,
                  "p90_ns": median + 2000, "min_ns": median - 900, "sd_ns": 700 + i} for i in range(5)]
    details = {f"detail.{i}": f"value {i} of the machine" for i in range(36)}
    return {"schema": "bench.baseline/1", "id": f"gemm/forward/m{case}n256k256/f32/onednn/cpu/hot",
            "case_hash": f"{case:016x}", "run_id": f"run{run:06}", "config": "load", "epoch": 0,
            "time": f"{2000 + run // 336}-{1 + run // 28 % 12:02}-{1 + run % 28:02}T08:00:00Z",
            "tool": {"version": "0.1.0", "commit": f"{run:012x}"}, "reason": "load",
            "environment": {"machine_class": MACHINE_CLASS, "cpu": "load", "threads": 2,
                            "libraries": {"onednn": "3.2.0"}, "details": details},
            "implementation": "brg:avx512_core", "at_canary_ns": 1272, "level": "run",
            "canary_threads": 2, "processes": processes, "exact": {"primitives": "1"},
            "by_speed": {"processes": 5, "scatter": 0.009, "process_scatter": 0.003, "cells": [
                [1272, 60, median * 1000, 560], [1290, 40, median * 1003, 560]]}}


def write_store(folder, first):
    rng = random.Random(first)
    os.makedirs(f"{folder}/{MACHINE_CLASS}")
    for case in range(CASES):
        lines = [json.dumps(record(case, run, rng), separators=(",", ":"))
                 for run in range(first, first + RUNS_PER_STORE)]
        name = lines and record(case, first, rng)["id"].replace("/", "__")
        with open(f"{folder}/{MACHINE_CLASS}/{name}.jsonl", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


def seconds(command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def main(bench, url, records, folder):
    saving = 0.0
    stores = int(records) // (CASES * RUNS_PER_STORE)
    for store in range(stores):
        shutil.rmtree(folder, ignore_errors=True)
        write_store(folder, store * RUNS_PER_STORE)
        saving += seconds([bench, "history", "--db", url, "--save", folder])
    shutil.rmtree(folder, ignore_errors=True)
    total = stores * CASES * RUNS_PER_STORE
    print(f"saved {total} records at {total / saving:.0f} a second, with reading the store")
    case = "gemm/forward/m500n256k256/f32/onednn/cpu/hot"
    for name, words in (("a case", [case]), ("the list of all series", ["--list"])):
        times = [1000 * seconds([bench, "history", "--db", url, *words]) for _ in range(5)]
        print(f"{name}: median {statistics.median(times):.0f} ms, largest {max(times):.0f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
