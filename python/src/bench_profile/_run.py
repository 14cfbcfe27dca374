# SPDX-License-Identifier: Apache-2.0
"""Measures with the program `bench`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import weakref
from typing import Optional, Sequence, Tuple

from ._program import find_program
from ._records import Path, Records, read


class RunFailed(RuntimeError):
    """`bench run` measured nothing; the text is its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message or f"bench run ended with status {status}")
        self.status = status


def _communicate(process: subprocess.Popen[bytes]) -> Tuple[bytes, bytes]:
    try:
        return process.communicate()
    except KeyboardInterrupt:
        # A notebook interrupts only this process; bench then ends its workers.
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise


def run(config: Path, *options: Path, out: Optional[Path] = None) -> Records:
    """Runs `bench run CONFIG OPTIONS` and returns the records. `config` is a configuration or the
    id of a case; the options are those of the command line. The result file is temporary unless
    `out` names it. `.status` of the returned object is the exit status. Raises RunFailed if nothing
    was measured, ProgramNotFound."""
    folder = tempfile.mkdtemp(prefix="bench-") if out is None else None
    path = os.path.join(folder, "result.jsonl") if folder else os.fspath(out or "")
    try:
        records = _run_into(path, [config, *options])
    except BaseException:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if folder:
        # Kept as long as the object, which makes its report from the file.
        weakref.finalize(records, shutil.rmtree, folder, ignore_errors=True)
    return records


def _run_into(path: str, arguments: Sequence[Path]) -> Records:
    command = [find_program(), "run", *(os.fspath(word) for word in arguments), "--out", path]
    existed = os.path.exists(path)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        _, errors = _communicate(process)
    # Without these options, bench keeps a file that existed, and measures nothing.
    refused = existed and not {"--force", "--resume"} & set(command)
    if refused or not os.path.exists(path):
        raise RunFailed(process.returncode, errors.decode("utf-8", "replace").strip())
    records = read(path)
    records.status = process.returncode
    return records
