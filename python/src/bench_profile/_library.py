# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libbench_profile.so, and declares its functions."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import shutil
from typing import Any, Iterator, List, Optional, Tuple

from ._version import __version__

VARIABLE = "BENCH_PROFILE_LIBRARY"
SONAME = "libbench_profile.so." + ".".join(__version__.split(".")[:2])
FILES = (SONAME, "libbench_profile.so")
PACKAGE = pathlib.Path(__file__).resolve().parent
OWN_TREE = PACKAGE / "_bench"  # in a wheel with the program: an installed tree of `bench`

_TEXT, _INT, _INT64, _HANDLE = ctypes.c_char_p, ctypes.c_int, ctypes.c_int64, ctypes.c_void_p

# Functions that are called often and return at once. They keep Python's lock: to release it and to
# take it again costs as much as the call, and up to 5 ms if another thread computes.
_SHORT = {
    "recording": (_INT, ()),
    "range": (None, (_INT, _TEXT, _TEXT, _INT64)),
    "mark": (None, (_TEXT, _TEXT, _INT)),
    "counter_new": (_HANDLE, (_TEXT, _TEXT, _INT64)),
    "counter_free": (None, (_HANDLE,)),
    "counter_set": (None, (_HANDLE, _INT64)),
    "counter_add": (None, (_HANDLE, _INT64)),
    "counter_get": (_INT64, (_HANDLE,)),
    "scope_begin": (_HANDLE, (_TEXT,)),
    "scope_end": (None, (_HANDLE,)),
    "last_error": (_TEXT, ()),
}
# Functions that write files or make texts: other threads run during the call.
_LONG = {
    "set": (_INT, (_TEXT, _TEXT)),
    "start": (_INT, ()),
    "stop": (_INT, ()),
    "pause": (_INT, ()),
    "resume": (_INT, ()),
    "dump": (_INT, ()),
    "dumps": (ctypes.c_size_t, (_INT, _INT, _INT, _INT, _TEXT, ctypes.c_size_t)),
    "file": (_TEXT, ()),
    "version": (_TEXT, ()),
}


class LibraryNotFound(ImportError):
    """libbench_profile.so is not on this machine, or cannot be loaded."""


class Library:
    """The loaded library: each C function bench_profile_NAME as the attribute NAME."""

    def __init__(self, path: str) -> None:
        """Raises OSError or AttributeError if `path` is not the library."""
        self.path = path
        for loader, declarations in ((ctypes.PyDLL, _SHORT), (ctypes.CDLL, _LONG)):
            loaded = loader(path)
            for name, (result, arguments) in declarations.items():
                function = getattr(loaded, "bench_profile_" + name)
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # for type checkers: the functions set above
        raise AttributeError(name)


@functools.lru_cache(maxsize=4096)
def encode(text: str) -> bytes:
    """Returns the text as the C interface takes it. A program repeats few names, many times."""
    return text.encode("utf-8", "replace")


def source_checkout() -> Optional[pathlib.Path]:
    """Returns the root of the source checkout that contains this package, if it is in one."""
    for folder in PACKAGE.parents:
        if (folder / "profiler" / "user" / "exports.map").is_file():
            return folder
    return None


def _folders_of_program(program: str) -> Iterator[pathlib.Path]:
    """Yields where the library of this program is: in an installed tree, in a build, in a checkout
    whose script `bench` is the program."""
    folder = pathlib.Path(program).resolve().parent
    libraries = folder.parent / "lib"
    yield from (libraries / "bench", libraries, folder.parent / "lib64")
    yield from sorted(libraries.glob("*-linux-gnu"))
    yield folder / "profiler" / "user"
    yield folder / "build" / "release" / "profiler" / "user"


def _search_folders() -> Iterator[Tuple[str, pathlib.Path]]:
    """Yields (why, folder) in the order of the search."""
    yield "the package", PACKAGE
    for name in ("lib/bench", "lib", "lib64"):
        yield "the package", OWN_TREE / name
    for why, program in (("$BENCH", os.environ.get("BENCH")), ("PATH", shutil.which("bench"))):
        if program:
            for folder in _folders_of_program(program):
                yield f"the `bench` of {why}", folder
    checkout = source_checkout()
    if checkout is not None:
        yield "the source checkout", checkout / "build" / "release" / "profiler" / "user"


def _candidates(tried: List[str]) -> Iterator[str]:
    """Yields the files to load, best first. Appends to `tried` where there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        folder = pathlib.Path(named)
        found = [str(folder / name) for name in FILES if (folder / name).exists()]
        yield from found[:1] or [named]  # no other one: the user has chosen
        return
    tried.append(f"${VARIABLE}: not set")
    for why, folder in _search_folders():
        files = [str(folder / name) for name in FILES if (folder / name).exists()]
        yield from files[:1]
        if not files:
            tried.append(f"{why}: not in {folder}")
    yield SONAME  # wherever the system's loader searches


def _wrong_version(library: Library) -> Optional[str]:
    """Returns what is wrong. While the version is 0.x, only equal minor versions are compatible;
    later, equal major ones."""
    found = library.version().decode().split(".")
    parts = 2 if __version__.startswith("0.") else 1
    if found[:parts] == __version__.split(".")[:parts]:
        return None
    return f"has version {'.'.join(found)}, and this package has {__version__}"


def _next_step() -> str:
    checkout = source_checkout()
    if checkout is not None:
        return f"`{checkout}/bench --version` builds it"
    return ("Install a wheel with the program, or install bench (`cmake --build build/release && "
            "cmake --install build/release --prefix DIR`) and put DIR/bin on PATH")


@functools.lru_cache(maxsize=1)
def load() -> Library:
    """Returns the library, which is loaded once. Raises LibraryNotFound; the next call tries
    again."""
    tried: List[str] = []
    for path in _candidates(tried):
        try:
            library = Library(path)
        except (OSError, AttributeError) as error:
            tried.append(str(error) if path in str(error) else f"{path}: {error}")
            continue
        problem = _wrong_version(library)
        if problem is None:
            return library
        tried.append(f"{path}: {problem}")
    raise LibraryNotFound(
        "the profiler's library libbench_profile.so was not found:\n  " + "\n  ".join(tried) +
        f"\n{_next_step()}, or set {VARIABLE} to the file. "
        "bench_profile.available() says whether it is there.")


def available() -> bool:
    """Returns whether the profiler's library is there, and loads it. Raises nothing."""
    try:
        load()
    except LibraryNotFound:
        return False
    return True
