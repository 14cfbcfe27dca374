# SPDX-License-Identifier: Apache-2.0
"""Starts, stops and reads the profiler of this process."""

from __future__ import annotations

import ctypes
import os
from typing import Iterable, Optional, Union

from ._library import encode, load

Path = Union[str, "os.PathLike[str]"]

FORMATS = ("table", "json")
SORTS = ("total", "mean", "min", "max", "count")
ORDERS = ("descending", "ascending")


class ProfileError(RuntimeError):
    """A call that the profiler refused, with its reason."""


def _check(succeeded: int) -> None:
    if not succeeded:
        raise ProfileError(load().last_error().decode("utf-8", "replace"))


def start(file: Optional[Path] = None, *, kinds: Union[None, str, Iterable[str]] = None,
          dump_period: Optional[str] = None) -> None:
    """Starts recording. The first call opens `file` (default: $BENCH_PROFILE_FILE, or
    profile-PID.jsonl in the current folder) and replaces an older file of that name. The profile is
    complete when the program ends. `kinds` and `dump_period` are the switches of docs/profiler.md.
    Raises ProfileError."""
    library = load()
    if kinds is not None and not isinstance(kinds, str):
        kinds = ",".join(kinds)
    path = None if file is None else os.fspath(file)
    for name, value in (("file", path), ("kinds", kinds), ("dump_period", dump_period)):
        if value is not None:
            _check(library.set(encode(name), os.fsencode(value)))
    _check(library.start())


def stop() -> None:
    """Stops recording and writes what was recorded. A later start() continues in the same file."""
    _check(load().stop())


def pause() -> None:
    """Records nothing until resume(). The two do not nest."""
    _check(load().pause())


def resume() -> None:
    """Continues after pause()."""
    _check(load().resume())


def dump() -> None:
    """Writes what was recorded so far, and continues. The file is complete after each dump."""
    _check(load().dump())


def dumps(format: str = "table", sort: str = "total", order: str = "descending",
          reset: bool = False) -> str:
    """Returns the sums of what was recorded so far, by category and name, as a table or as JSON.
    With `reset` the sums start again; the file keeps everything."""
    words = (FORMATS.index(format), SORTS.index(sort), ORDERS.index(order))
    library = load()
    text = ctypes.create_string_buffer(4096)
    while True:
        size = library.dumps(*words, 0, text, len(text))
        if size < len(text):
            break
        # Records of other threads may make the text longer in between.
        text = ctypes.create_string_buffer(size + size // 8 + 1)
    if reset:
        library.dumps(0, 0, 0, 1, None, 0)
    return text.raw[:size].decode("utf-8", "replace")


def recording() -> bool:
    """Returns whether events are recorded at the moment."""
    return bool(load().recording())


def file() -> Optional[str]:
    """Returns the file of this process; None before its first start()."""
    return os.fsdecode(load().file()) or None


def version() -> str:
    """Returns the version of the library."""
    return str(load().version().decode())
