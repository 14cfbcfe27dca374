#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds idioms that a stranger has to read twice, in comments, messages and documents.

Each row of IDIOMS was chosen so that few of its hits are false alarms. What is right all the same is
listed in EXCEPTIONS with the part of the line that is meant.

usage: check_language.py [ROOT] [--count]   --count: hits per idiom, and exit status 0
       check_language.py --self-test
"""

import collections
import pathlib
import re
import subprocess
import sys

# What to look for, what to write in its place, lines that it must find, lines that it must not find.
IDIOMS = [
    (r"\bk(Most|Fewest|Least|Largest|Longest|Smallest|Lowest|Narrowest|Deepest|Maximum)[A-Z]",
     "limits are called kMax... and kMin...", ["kMostPairs = 3"], ["kMaxPairs = 3"]),
    (r"(//|/\*|^\s*\*) Of\b", "begin with what it is or does", ["// Of the library."],
     ["// Part of the library."]),
    (r"[^\s/].*// of (a|an|the|one|each|every|what|all|both|its)\b", "begin with a noun",
     ["int a;  // of the base"], ["int a;  // time of the base"]),
    (r"(?<!here )\b(is|are|was) no (?!longer)", "negate the verb: is not a ...",
     ["`-1` is no sample rate"], ["there is no sample", "it is no longer valid"]),
    (r'"`\{\}` (is no|sets no|makes no|cannot be a)\b', "say what is wrong and what is expected",
     ['"`{}` makes no case"'], ['"unknown value `{}`"']),
    (r"\b([Ww]hoever|[Ww]hom|[Ss]omebody|[Nn]obody)\b", "name the actor: the caller, another program",
     ["whoever reads it"], ["the reader"]),
    (r"\b(tells?|told)\b(?![(_])", "says, reports, returns, states", ["it tells why"], ["tell(1)"]),
    (r"\b(says?|said) (of|nothing)\b", "reports about; reports nothing", ["says of itself"], ["says so"]),
    (r"\bst(ands?|ood) (in|at|there|first|last|before|behind|beside)\b", "is in, is beside",
     ["it stands in the record"], ["a stand-in"]),
    (r"\bbelow (a tool|a vendor|vendors|the capture|somebody|perf|COMMAND|`bench|`\{)",
     "under a profiler", ["below a tool"], ["below the median"]),
    (r"\b(anew|meanwhile|alike|likewise|bears?)\b", "again; at the same time; equal; also; has",
     ["begins anew"], ["begins again"]),
    (r"\b(\d+|one|once|processes|times|bytes|rows?|threads|registers|values?|entry) an? "
     r"(case|process|thread|block|row|round|side|run|line|column|channel|dimension|core|operator)\b",
     "write per", ["one row a case"], ["one row per case"]),
    (r"\bof (ours|theirs)\b", "our, their", ["a bug of ours"], ["our bug"]),
    (r"(//|;|\.) [Aa]bsent\b", "nullopt if ...; absent if ...", ["// Absent: unknown"],
     ["// nullopt if it is absent"]),
    (r"\b(is|are|was|were|be|been) (told|said|laid|had|meant)\b", "use the active voice",
     ["it is said why"], ["the record says why"]),
    (r"\bmachines? (that )?moved\b|\bin turns\b", "machine speed changed; interleaved",
     ["the machine moved"], ["the speed changed"]),
    (r"(?<!here )\b(is|are) none\b|\bof no use\b", "there is none; is not usable",
     ["the rest is none"], ["there is none"]),
    (r"\b(torn|damaged)\b", "incomplete, malformed", ["a torn line"], ["an incomplete line"]),
]
COMPILED = [(re.compile(pattern), advice) for pattern, advice, _, _ in IDIOMS]

# File -> parts of lines that are right as they are.
EXCEPTIONS = {
    "ci/check_language.py": [""],
    # Words of a protocol or a file format.
    "docs/worker_protocol.md": ["`damaged`"],
    "harness/judge/evidence_fields.hpp": ['"damaged"'],
    "harness/wire/messages.cpp": ['"damaged"'],
    # Names of files and texts that tests make up.
    "profiler/capture/gpu_rows_test.cpp": ['"torn"'],
    "profiler/readers/table_test.cpp": ["torn", "damaged"],
    "profiler/text_source_test.cpp": ["torn.gz"],
    "tests/analyze_bad_input_test.cpp": ["torn.gz"],
    # "below" is a place here.
    "harness/config/case_template.cpp": ["keys below", "dashes below"],
    # "told apart", "no worse".
    "profiler/gpu/kernel_work.cpp": ["told apart"],
    "ops/tensor_core/eligibility_test.cpp": ["no worse"],
    # Local functions that set up a report.
    "harness/cli/profile_command.cpp": ["auto tell ="],
    "ops/plugin/plugin_kernel_test.cpp": ["& tell :", "= tell;"],
}

SUFFIXES = {".cpp", ".hpp", ".h", ".c", ".cu", ".cuh", ".md", ".py", ".sh", ".cmake", ".txt", ".yaml",
            ".js", ".css", ".html", ""}
# Records of decisions, and what was recorded, are as they were written.
LEFT_OUT = re.compile(r"^(docs/decisions|docs/data|LICENSE|licenses/)|/(testdata|corpus|golden)/|^CHANGELOG")


def lines_of(root):
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    for path in listed.stdout.split():
        file = root / path
        if LEFT_OUT.search(path) or file.suffix not in SUFFIXES or not file.is_file():
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            yield path, number, line


def is_exception(path, line):
    return any(part in line for part in EXCEPTIONS.get(path, []))


def self_test():
    for pattern, _, hits, misses in IDIOMS:
        for line in hits:
            if not re.search(pattern, line):
                sys.exit(f"self-test failed: {pattern} does not find: {line}")
        for line in misses:
            if re.search(pattern, line):
                sys.exit(f"self-test failed: {pattern} finds: {line}")
    print(f"check_language: self-test of {len(IDIOMS)} idioms passed")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    counting = "--count" in arguments
    folders = [a for a in arguments if not a.startswith("--")]
    root = pathlib.Path(folders[0] if folders else pathlib.Path(__file__).parents[1])
    hits = collections.Counter()
    for path, number, line in lines_of(root):
        for pattern, advice in COMPILED:
            if not pattern.search(line) or is_exception(path, line):
                continue
            hits[pattern.pattern] += 1
            if not counting:
                print(f"{path}:{number}: {advice}\n  {line.strip()[:120]}")
    total = sum(hits.values())
    if counting:
        for pattern, count in hits.most_common():
            print(f"{count:6} {pattern}")
    exceptions = sum(len(parts) for parts in EXCEPTIONS.values()) - 1  # without this file
    print(f"check_language: {total} hits, {exceptions} exceptions")
    if total > 0 and not counting:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
