#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds idioms that a stranger has to read twice, in comments, messages and documents, and words that
this project once coined, in messages and documents.

Each row of IDIOMS and of COINED was chosen so that few of its hits are false alarms. What is right all
the same is listed in EXCEPTIONS with the part of the line that is meant. The coined words that remain
are in the glossary of docs/manual.md.

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
# Coined words with a plain replacement. In sources they are looked for in texts only, since names of
# types, fields and files keep them.
COINED = [
    (r"\b[Ss]ittings?\b", "session; one run of the self-test", ["in one sitting"], ["in one session"]),
    (r"(?<!\w)(a|first|each|every|few|more|several|\d+|\{\}) looks?\b(?! (up|like|slower))|"
     r"\blooks at the machine\b",
     "sample, read; interim analysis; quick estimate", ["a first look: 2 processes", "{} looks each"],
     ["it looks for the file", "ids look like x"]),
    (r"\b([Tt]he|[Aa]|gate's) screen\b(?! reader)|\bscreened out\b", "first comparison with the store",
     ["passes the screen", "(13 screened out"], ["a small screen"]),
    (r"\b[Ss]tage (1|2|one|two)\b", "the candidate's run; duets or repeat runs",
     ["0.9 s for 2 cases in stage 1"], ["a stage of the build"]),
    (r"\b(suspects|(a|each|every) suspect)\b", "undecided case, case with duets", ["a suspect gets"],
     ["the verdict SUSPECT", "inconclusive or suspect"]),
    (r"\b[Tt]oken duets?\b|\bsends the token\b", "duet; request", ["token duets"], ["a token of an id"]),
    (r"\b[Ww]indows? (replace|of (7|the candidate|processes))\b|\b(duets|processes) (or|and) windows\b",
     "repeat run", ["all duets or windows"], ["the window of a pooling"]),
    (r"(?<![.\w`])spools?\b(?!`)", "temporary file of a profile", ["the spool of a killed run"],
     ["p.jsonl.spool", "`spool`: file"]),
    (r"\bprocess rounds?\b", "round", ["one per process round"], ["one per round"]),
    (r"\breceipts?\b", "summary", ["ends with a receipt"], ["ends with a summary"]),
    (r"\b(cases?|that|what|which|whatever|not) moved?\b(?! (the|it|its|by the))", "changed",
     ["2 of 14 cases moved", "shows only what moved"], ["a file that is moved"]),
    (r"\b[Ss]pread between\b", "variation between", ["spread between runs"], ["times spread more"]),
    (r"\bclean suites?\b|(?<!\w)\{\} red\b|\bsuites? (that are )?red\b", "unchanged suites; fail",
     ["clean suites that are red"], ["unchanged suites"]),
    (r"\b[Mm]end(s|ed|ing)?\b", "fix", ["mend the base"], ["amend a commit"]),
]


def compiled(rows):
    return [(re.compile(pattern), advice) for pattern, advice, _, _ in rows]


COMPILED = compiled(IDIOMS)
COMPILED_COINED = compiled(COINED)
MAX_GLOSSARY_WORDS = 25
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')  # a string literal

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


def glossary_words(manual):
    """Returns the words that the glossary of the manual defines."""
    section = manual.partition("\n## Glossary\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    return rows[1:]  # without the headings


def is_exception(path, line):
    return any(part in line for part in EXCEPTIONS.get(path, []))


def texts_of(path, line):
    """Returns the parts of the line that people read: all of a document, texts of several words in a
    source."""
    if path.endswith(".md"):
        return line
    if not path.endswith((".cpp", ".hpp")):
        return ""
    return "\n".join(text for text in TEXT.findall(line) if " " in text)


def findings_of(path, line):
    """Yields pattern and advice of each hit."""
    for rows, searched in ((COMPILED, line), (COMPILED_COINED, texts_of(path, line))):
        for pattern, advice in rows:
            if pattern.search(searched):
                yield pattern.pattern, advice


def self_test():
    for pattern, _, hits, misses in IDIOMS + COINED:
        for line in hits:
            if not re.search(pattern, line):
                sys.exit(f"self-test failed: {pattern} does not find: {line}")
        for line in misses:
            if re.search(pattern, line):
                sys.exit(f"self-test failed: {pattern} finds: {line}")
    words = glossary_words("a\n## Glossary\n| word | meaning |\n|---|---|\n| duet | two |\n## End\n| x |\n")
    if words != ["duet"]:
        sys.exit(f"self-test failed: the glossary has {words}")
    print(f"check_language: self-test of {len(IDIOMS)} idioms and {len(COINED)} coined words passed")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    counting = "--count" in arguments
    folders = [a for a in arguments if not a.startswith("--")]
    root = pathlib.Path(folders[0] if folders else pathlib.Path(__file__).parents[1])
    hits = collections.Counter()
    for path, number, line in lines_of(root):
        for pattern, advice in findings_of(path, line):
            if is_exception(path, line):
                continue
            hits[pattern] += 1
            if not counting:
                print(f"{path}:{number}: {advice}\n  {line.strip()[:120]}")
    manual = root / "docs/manual.md"
    words = glossary_words(manual.read_text(encoding="utf-8")) if manual.is_file() else []
    if len(words) > MAX_GLOSSARY_WORDS:
        hits["glossary"] += 1
        print(f"docs/manual.md: the glossary has {len(words)} words, expected at most "
              f"{MAX_GLOSSARY_WORDS}: use a plain word, or replace another one")
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
