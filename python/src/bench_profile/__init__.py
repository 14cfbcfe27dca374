# SPDX-License-Identifier: Apache-2.0
"""The profiler of `bench` for Python programs, and the results of `bench` as Python data.

    import bench_profile as bp

    bp.start("run.jsonl")
    with bp.scope("encoder"):       # a layer: everything inside belongs to it
        ...
    bp.stop()

`bench analyze run.jsonl --summary` shows where the time went. The library libbench_profile.so is
loaded at first use; available() says whether it is there. docs/python.md of `bench` has examples.
"""

from ._control import (ProfileError, dump, dumps, file, pause, recording, resume, start, stop,
                       version)
from ._library import LibraryNotFound, available
from ._program import ProgramNotFound, find_program
from ._record import Counter, Range, Scope, counter, event, frame, mark, scope, task
from ._records import Records, read
from ._run import RunFailed, run
from ._torch import TorchScopes, torch_scopes
from ._version import __version__

__all__ = [
    "Counter", "LibraryNotFound", "ProfileError", "ProgramNotFound", "Range", "Records",
    "RunFailed", "Scope", "TorchScopes", "__version__", "available", "counter", "dump", "dumps",
    "event", "file", "find_program", "frame", "mark", "pause", "read", "recording", "resume", "run",
    "scope", "start", "stop", "task", "torch_scopes", "version",
]
