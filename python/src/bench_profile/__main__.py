# SPDX-License-Identifier: Apache-2.0
"""python -m bench_profile SCRIPT: runs a script with the profiler on, without changing its code."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from typing import List

from . import _control
from ._library import LibraryNotFound


def _parse(words: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench_profile",
        description="Runs a Python program and records its scopes, tasks and counters from the "
                    "start. Child processes after fork write files of their own.",
        epilog="`bench profile -- python SCRIPT` records oneDNN's primitives and the GPU as well.")
    parser.add_argument("-o", "--out", metavar="FILE",
                        help="the profile (default $BENCH_PROFILE_FILE, or profile-PID.jsonl)")
    parser.add_argument("-m", dest="is_module", action="store_true",
                        help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER)
    return parser.parse_args(words)


def _run(options: argparse.Namespace) -> None:
    sys.argv = [options.script, *options.arguments]
    if options.is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(options.script, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.script))
        runpy.run_path(options.script, run_name="__main__")


def _finish() -> None:
    try:
        _control.stop()
    except _control.ProfileError:
        return  # the library has reported it; what the script raised is more important
    file = _control.file()
    print(f"bench_profile: the profile is {file}; next: bench analyze {file} --summary",
          file=sys.stderr)


def main() -> None:
    options = _parse(sys.argv[1:])
    if not options.is_module and not os.path.exists(options.script):
        sys.exit(f"python -m bench_profile: {options.script} does not exist")
    try:
        _control.start(options.out)
    except (LibraryNotFound, _control.ProfileError) as error:
        print(f"python -m bench_profile: {error}", file=sys.stderr)
        sys.exit(2)
    process = os.getpid()
    try:
        _run(options)
    finally:
        if os.getpid() == process:  # not a child of os.fork() that left the script
            _finish()


if __name__ == "__main__":
    main()
