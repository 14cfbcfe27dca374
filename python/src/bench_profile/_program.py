# SPDX-License-Identifier: Apache-2.0
"""Finds the program `bench`."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from typing import NoReturn, Optional

from ._library import OWN_TREE, source_checkout

OWN_PROGRAM = OWN_TREE / "bin" / "bench"


class ProgramNotFound(FileNotFoundError):
    """The program `bench` is not on this machine."""


@functools.lru_cache(maxsize=16)
def _is_bench(path: str) -> bool:
    """Returns whether it is this `bench`: other projects have a program of that name."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, check=False, timeout=60,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return re.match(rb"bench \d+\.\d+\.\d+ \(commit ", done.stdout) is not None


def find_program() -> str:
    """Returns the path of `bench`: $BENCH, the program in this package, on PATH, or the script of
    the source checkout, which builds it on first use. Raises ProgramNotFound."""
    named = os.environ.get("BENCH")
    if named:
        if os.access(named, os.X_OK):
            return named
        raise ProgramNotFound(f"$BENCH is {named}, which is not a program")
    if OWN_PROGRAM.is_file():
        return str(OWN_PROGRAM)
    on_path: Optional[str] = shutil.which("bench")
    if on_path and _is_bench(on_path):
        return on_path
    checkout = source_checkout()
    if checkout is not None:
        return str(checkout / "bench")
    other = f"{on_path} is another program" if on_path else "not on PATH"
    raise ProgramNotFound(
        f"the program bench was not found: $BENCH: not set; {OWN_PROGRAM}: not in this package; "
        f"{other}. Install bench (`cmake --build build/release && cmake --install build/release "
        "--prefix DIR`) and put DIR/bin on PATH, or set BENCH to the program.")


def main() -> NoReturn:
    """The command `bench` of a package that contains the program."""
    os.execv(OWN_PROGRAM, sys.argv)
