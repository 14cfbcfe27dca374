#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints figures about the structure of the sources, for comparing two versions (docs/performance.md).

usage: measure_structure.py [REVISION...]   default: the working tree; a revision is read from git
"""

import re
import statistics
import subprocess
import sys

PRODUCTION = re.compile(r"^(base|profiler|ops|harness)/.*\.(cpp|hpp|h|cu|cuh|c|js|css|html)$")
TESTS = re.compile(r"_test\.cpp$|/testdata/|/fakes/|/gpu_tests/")
JSON = re.compile(r'#include <(nlohmann|rapidjson)/')
COMMENT = re.compile(r"\s*(//|/\*|\*)")
FRAME = re.compile(r"\s*(#include .*|[{}();,\]]*)$")  # includes, lone brackets, blank lines


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def files_of(revision):
    """Path -> text of all production files."""
    if revision is None:
        paths = git("ls-files", "-co", "--exclude-standard").split("\n")
        read = lambda path: open(path, encoding="utf-8", errors="replace").read()
    else:
        paths = git("ls-tree", "-r", "--name-only", revision).split("\n")
        read = lambda path: git("show", f"{revision}:{path}")
    return {path: read(path) for path in paths if PRODUCTION.match(path) and not TESTS.search(path)}


def figures(files):
    lines = {path: text.count("\n") for path, text in files.items()}
    every_line = [line for text in files.values() for line in text.split("\n")[:-1]]
    comments = sum(bool(COMMENT.match(line)) for line in every_line)
    frame = sum(bool(FRAME.match(line)) for line in every_line)
    headers = [path for path in files if path.endswith((".hpp", ".h"))]
    sources = [path for path in files if path.endswith(".cpp")]
    folders = {}
    for path in sources:
        folder = path.rsplit("/", 1)[0]
        folders[folder] = folders.get(folder, 0) + 1
    largest = max(folders, key=folders.get)
    return [
        ("production lines", sum(lines.values())),
        ("of these, lines of comments", comments),
        ("of these, includes, lone brackets and blank lines", frame),
        ("files", len(files)),
        ("median lines of a file", statistics.median(lines.values())),
        ("headers of at most 30 lines", sum(lines[path] <= 30 for path in headers)),
        (f"sources in the largest flat folder ({largest})", folders[largest]),
        ("files that include a JSON library", sum(bool(JSON.search(t)) for t in files.values())),
    ]


def main(arguments):
    for revision in arguments or [None]:
        print(revision or "working tree")
        for name, value in figures(files_of(revision)):
            print(f"  {value:>8}  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
