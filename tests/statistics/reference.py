#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the results of harness/stats with an independent implementation in exact arithmetic.

usage: reference.py PROGRAM [SEED [COUNT]]

The distribution of the signed-rank sum is counted in whole numbers (a dictionary from sum to number
of sign patterns), bounds follow from fractions, Student's t from numerical integration of its
density. The program computes all of these differently.
"""
import itertools
import json
import math
import subprocess
import sys
from fractions import Fraction


def patterns(ranks):
    """Returns the number of sign patterns per sum of positive ranks, doubled to be whole numbers."""
    counts = {0: 1}
    for rank in ranks:
        following = dict(counts)
        for total, number in counts.items():
            following[total + rank] = following.get(total + rank, 0) + number
        counts = following
    return counts


def p_greater(differences):
    kept = [x for x in differences if x != 0]
    ranks = []
    for x in kept:
        below = sum(abs(y) < abs(x) for y in kept)
        equal = sum(abs(y) == abs(x) for y in kept)
        ranks.append(2 * below + equal + 1)
    observed = sum((r for r, x in zip(ranks, kept) if x > 0))
    counts = patterns(ranks)
    return Fraction(sum(n for total, n in counts.items() if total >= observed), 2 ** len(kept))


def walsh(differences):
    pairs = itertools.combinations_with_replacement(differences, 2)
    return sorted((x + y) / 2 for x, y in pairs)


def median(ordered):
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


BOUND = {}


def bound_number(n, alpha):
    if (n, alpha) not in BOUND:
        counts = patterns(range(2, 2 * n + 2, 2))
        total, number = 0, 0
        for value in sorted(counts):
            total += counts[value]
            if Fraction(total, 2 ** n) > Fraction(alpha):
                break
            number += 1
        BOUND[n, alpha] = number
    return BOUND[n, alpha]


def t_density(x, degrees):
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    return scale / math.sqrt(degrees * math.pi) * (1 + x * x / degrees) ** (-(degrees + 1) / 2)


def t_distribution(x, degrees, steps=400):
    width = x / steps  # Simpson's rule from 0
    total = t_density(0, degrees) + t_density(x, degrees)
    for i in range(1, steps):
        total += (4 if i % 2 else 2) * t_density(i * width, degrees)
    return 0.5 + total * width / 3


QUANTILE = {}


def t_quantile(p, degrees):
    if (p, degrees) not in QUANTILE:
        low, high = 0.0, 50.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if t_distribution(middle, degrees) < p else (low, middle)
        QUANTILE[p, degrees] = high
    return QUANTILE[p, degrees]


def detectable(differences):
    n = len(differences)
    mean = math.fsum(differences) / n
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in differences) / (n - 1))
    return (t_quantile(0.99, n - 1) + t_quantile(0.8, n - 1)) * deviation / math.sqrt(n)


def subsets_by_rank_sum(m, n):
    """Returns sum -> number of ways to choose n of the ranks 1..m+n."""
    counts = [{0: 1}] + [{} for _ in range(n)]
    for rank in range(1, m + n + 1):
        for size in range(min(rank, n), 0, -1):
            for total, number in counts[size - 1].items():
                counts[size][total + rank] = counts[size].get(total + rank, 0) + number
    return counts[n]


SHIFT = {}


def shift_rank(m, n, coverage):
    """Returns the rank of the lower bound and its exact coverage; rank 0: no bound."""
    if (m, n) not in SHIFT:
        counts = subsets_by_rank_sum(m, n)
        everything = math.comb(m + n, n)
        least = n * (n + 1) // 2  # the rank sum of U = 0
        rank, below, found = 0, 0, Fraction(0)
        while rank < m * n // 2:
            below += counts[least + rank]
            if 1 - Fraction(2 * below, everything) < Fraction(coverage):
                break
            found = 1 - Fraction(2 * below, everything)
            rank += 1
        SHIFT[m, n] = (rank, float(found))
    return SHIFT[m, n]


def adjusted(probabilities):
    """Returns the least k m / rank over all hypotheses with at least this p-value (the definition)."""
    m = len(probabilities)
    ranks = {p: sum(other <= p for other in probabilities) for p in probabilities}
    scaled = sorted((p, min(Fraction(1), Fraction(p) * m / ranks[p])) for p in set(probabilities))
    least, result = Fraction(1), {}
    for p, value in reversed(scaled):
        least = min(least, value)
        result[p] = least
    return [float(result[p]) for p in probabilities]


def check(line):
    differences = line["differences"]
    n = len(differences)
    averages = walsh(differences)
    lower, upper = bound_number(n, 0.05), bound_number(n, 0.01)
    expected = {
        "p_greater": float(p_greater(differences)),
        "p_less": float(p_greater([-x for x in differences])),
        "estimate": float(median(averages)),
        "lower_5": float(averages[lower - 1]) if lower else None,
        "upper_1": float(averages[-upper]) if upper else None,
        "detectable": detectable(differences),
    }
    others = line["others"]
    some = differences[:16]
    pairs = sorted(y - x for x in some for y in others)
    rank, coverage = shift_rank(len(some), len(others), 0.9)
    expected |= {
        "shift": median(pairs),
        "shift_low": pairs[rank - 1] if rank else None,
        "shift_high": pairs[-rank] if rank else None,
        "shift_confidence": coverage if rank else None,
    }
    problems = []
    for name, value in expected.items():
        found = line[name]
        same = found == value if None in (found, value) else math.isclose(
            found, value, rel_tol=1e-6 if name == "detectable" else 1e-11, abs_tol=1e-13)
        if not same:
            problems.append(f"{name}: {found}, expected {value}, of {differences}")
    for found, value in zip(line["adjusted"], adjusted(line["probabilities"]), strict=True):
        if not math.isclose(found, value, rel_tol=1e-11):
            problems.append(f"adjusted: {found}, expected {value}, of {line['probabilities']}")
    return problems


def main():
    program, seed, count = sys.argv[1], sys.argv[2:3] or ["1"], sys.argv[3:4] or ["1200"]
    text = subprocess.run([program, *seed, *count], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = text.splitlines()
    if len(lines) != int(count[0]):
        sys.exit(f"{len(lines)} lines, expected {count[0]}")
    problems = [problem for line in lines for problem in check(json.loads(line))]
    for problem in problems[:20]:
        print(problem)
    print(f"{len(lines)} inputs, {len(problems)} differences")
    sys.exit(1 if problems else 0)


main()
