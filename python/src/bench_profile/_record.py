# SPDX-License-Identifier: Apache-2.0
"""What a program records: scopes, tasks, frames, events, counters, markers.

While nothing is recorded, each costs a foreign call and a relaxed atomic load of the library.
"""

from __future__ import annotations

import functools
import inspect
import time
from types import TracebackType
from typing import Any, Callable, Optional, Type, TypeVar, overload

from ._library import Library, encode, load

Function = TypeVar("Function", bound=Callable[..., Any])

_TASK, _FRAME, _EVENT = range(3)
_NOT_OPEN = -1
_EXTENTS = {"global": 0, "process": 1, "thread": 2, "task": 3, "marker": 4}
_MIN_INT64, _MAX_INT64 = -2**63, 2**63 - 1


class Scope:
    """A layer: everything that this thread records until the end of the block belongs to it. Scopes
    nest (encoder:attention). Each is also an NVTX range `layer:NAME`. The object is of one thread;
    it may be entered again after its end."""

    __slots__ = ("_name", "_handle")

    def __init__(self, name: str) -> None:
        self._name = encode(name)
        self._handle: Optional[int] = None

    def __enter__(self) -> Scope:
        if self._handle is not None:
            raise RuntimeError(f"the scope {self._name.decode()!r} is open; "
                               "write scope(...) in each `with`")
        self._handle = load().scope_begin(self._name)
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        handle, self._handle = self._handle, None
        load().scope_end(handle)

    def __call__(self, function: Function) -> Function:
        """Makes each call of the function a scope."""
        return _scoped(function, self._name)


def _scoped(function: Function, name: bytes) -> Function:
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or \
            inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__qualname__} is suspended while others run, and a scope is of "
                        "its thread; write `with scope(...)` around a part that does not wait")

    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        library = load()
        handle = library.scope_begin(name)
        try:
            return function(*arguments, **named)
        finally:
            library.scope_end(handle)

    return wrapper  # type: ignore[return-value]


@overload
def scope(name: str) -> Scope: ...
@overload
def scope(name: Function) -> Function: ...
def scope(name: Any) -> Any:
    """`with scope("conv1"):` records a block as a layer, `@scope("conv1")` each call of a function,
    and `@scope` the same under the function's own name."""
    if isinstance(name, str):
        return Scope(name)
    return _scoped(name, encode(name.__qualname__.rpartition("<locals>.")[2]))


class Range:
    """A period: from `with` to the end of the block, or from start() to stop(). start() again
    restarts it. The object is of one thread."""

    __slots__ = ("_kind", "_domain", "_name", "_start_ns")

    def __init__(self, kind: int, domain: str, name: str) -> None:
        self._kind, self._domain, self._name = kind, encode(domain), encode(name)
        self._start_ns = _NOT_OPEN

    def start(self) -> None:
        # The library's clock is the same one, CLOCK_MONOTONIC.
        self._start_ns = time.monotonic_ns() if load().recording() else _NOT_OPEN

    def stop(self) -> None:
        if self._start_ns != _NOT_OPEN:
            load().range(self._kind, self._domain, self._name, self._start_ns)
            self._start_ns = _NOT_OPEN

    def __enter__(self) -> Range:
        self.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.stop()


def task(name: str, domain: str = "") -> Range:
    """A piece of work. Each domain has a table of its own in dumps()."""
    return Range(_TASK, domain, name)


def frame(name: str, domain: str = "") -> Range:
    """One element of a series: an image, a step, an iteration."""
    return Range(_FRAME, domain, name)


def event(name: str) -> Range:
    """A piece of work without a domain."""
    return Range(_EVENT, "", name)


def _to_int64(value: int) -> int:
    return min(max(int(value), _MIN_INT64), _MAX_INT64)


class Counter:
    """A value that changes: a signed 64-bit integer that saturates. It also changes while nothing
    is recorded. Threads may share it."""

    __slots__ = ("_library", "_handle")
    _library: Library

    def __init__(self, name: str, domain: str = "", value: int = 0) -> None:
        self._library = load()
        self._handle = self._library.counter_new(encode(domain), encode(name), _to_int64(value))

    def __del__(self) -> None:
        library = getattr(self, "_library", None)  # absent if the library was not found
        if library is not None:
            library.counter_free(self._handle)

    def set(self, value: int) -> None:
        self._library.counter_set(self._handle, _to_int64(value))

    def increment(self, by: int = 1) -> None:
        self._library.counter_add(self._handle, _to_int64(by))

    def decrement(self, by: int = 1) -> None:
        self.increment(-by)

    def __iadd__(self, by: int) -> Counter:
        self.increment(by)
        return self

    def __isub__(self, by: int) -> Counter:
        self.decrement(by)
        return self

    @property
    def value(self) -> int:
        return int(self._library.counter_get(self._handle))


def counter(name: str, domain: str = "", value: int = 0) -> Counter:
    """Returns a new counter: `samples = counter("samples"); samples += 32`."""
    return Counter(name, domain, value)


def mark(name: str, domain: str = "", extent: str = "process") -> None:
    """Records an instant. `extent` is how far a viewer draws it: global, process, thread, task or
    marker."""
    if extent not in _EXTENTS:
        raise ValueError(f"extent {extent!r}, expected one of {', '.join(_EXTENTS)}")
    load().mark(encode(domain), encode(name), _EXTENTS[extent])
