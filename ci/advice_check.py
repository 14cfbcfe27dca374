#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/advice_check.py BENCH [REPEATS]: what `bench explain --try` shows, again and again.

Measures a change of each of six cases, for which it is known which way the change goes on a CPU, and
then REPEATS more times (default 5). Prints a table: the first ratio with the range of a later
duet, the later ratios, and how many of these are in the range. Exits with 1 if a known direction was not found.
"""
import json
import subprocess
import sys

# (case, change, which way it is known to go)
KNOWN = [
    ("conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot/nchw", "any_layout", "faster"),
    ("conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot/t1", "all_threads", "faster"),
    ("softmax/forward/8x64/f32/onednn/cpu/hot", "one_thread", "faster"),
    ("pointwise/forward/relu-64x64x56x56/f32/onednn/cpu/hot", "bf16", "faster"),
    ("gemm/forward/m1n2048k2048/f32/onednn/cpu/hot", "batch", "faster"),
    ("conv/forward/c60h28w28k64r3s3p1/f32/onednn/cpu/hot", "one_thread", "slower"),
]


def measure(bench, case, change):
    result = subprocess.run([bench, "explain", case, f"--try={change}", "--json", "--quiet"],
                            capture_output=True, text=True, check=False)
    if not result.stdout:
        sys.exit(f"advice_check: {case}: {result.stderr}")
    variant = json.loads(result.stdout)["cases"][0]["variants"][0]
    if "ratio" not in variant:
        sys.exit(f"advice_check: {case}: {variant['reason']}")
    return variant


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: ci/advice_check.py BENCH [REPEATS]")
    bench = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    is_found = True
    print("| case | change | first ratio | range of a later duet | later ratios | in the range |")
    print("|---|---|--:|---|---|--:|", flush=True)
    for case, change, direction in KNOWN:
        first = measure(bench, case, change)
        low, high = first["later_low"], first["later_high"]
        later = [measure(bench, case, change)["ratio"] for _ in range(repeats)]
        inside = sum(low <= ratio <= high for ratio in later)
        is_found &= first["high"] < 1 if direction == "faster" else first["low"] > 1
        print(f"| `{case}` | `{change}` | {first['ratio']:.3f} | {low:.3f} to {high:.3f} | "
              f"{', '.join(f'{ratio:.3f}' for ratio in later)} | {inside} of {repeats} |", flush=True)
    return 0 if is_found else 1


if __name__ == "__main__":
    sys.exit(main())
