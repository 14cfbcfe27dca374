# SPDX-License-Identifier: Apache-2.0
"""Scopes for the modules of a PyTorch model. This file does not import torch."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

from ._library import Library, encode, load


def _never() -> bool:
    return False


class TorchScopes:
    """Hooks that make a scope of each call of a module in the model, until remove() or the end of
    the `with` block. Modules nest as their calls nest. In code that torch.compile compiles, the
    hooks do nothing."""

    def __init__(self, module: Any, name: Optional[str] = None) -> None:
        library = load()
        self._calls = _Calls(library, name or type(module).__name__)
        self._hooks: List[Any] = []
        try:
            for path, child in module.named_modules():
                self._hooks.append(child.register_forward_pre_hook(_opener(self._calls, path)))
                # Called also if forward() raises.
                self._hooks.append(child.register_forward_hook(_closer(self._calls, path),
                                                               always_call=True))
        except Exception:
            self.remove()
            raise

    def remove(self) -> None:
        """Removes the hooks, and ends the scopes that are open on this thread."""
        while self._hooks:
            self._hooks.pop().remove()
        self._calls.close_all()

    def __enter__(self) -> TorchScopes:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.remove()


class _Calls:
    """The calls of modules that are open, per thread, with their scopes."""

    def __init__(self, library: Library, root: str) -> None:
        self._begin: Callable[[bytes], int] = library.scope_begin
        self._end: Callable[[int], None] = library.scope_end
        self._root = root
        self._open = threading.local()
        self._names: Dict[Tuple[Optional[str], str], bytes] = {}

    def _stack(self) -> List[Tuple[str, int]]:
        try:
            return self._open.stack  # type: ignore[no-any-return]
        except AttributeError:
            self._open.stack = []
            return self._open.stack  # type: ignore[no-any-return]

    def _name(self, parent: Optional[str], path: str) -> bytes:
        """Returns the name of a module within the scope of its caller: `0.conv2` in `layer1`."""
        key = (parent, path)
        name = self._names.get(key)
        if name is None:
            is_inside = bool(parent) and path.startswith(f"{parent}.")
            text = path[len(parent or "") + 1:] if is_inside else path or self._root
            name = self._names[key] = encode(text)
        return name

    def open(self, path: str) -> None:
        if not path:
            self.close_all()  # left by a call that KeyboardInterrupt ended, without its hooks
        stack = self._stack()
        name = self._name(stack[-1][0] if stack else None, path)
        stack.append((path, self._begin(name)))

    def close(self, path: str) -> None:
        stack = self._stack()
        # No scope if a hook before ours raised; one inside if its hooks were not called.
        if stack and stack[-1][0] != path and all(opened != path for opened, _ in stack):
            return
        while stack:
            opened, handle = stack.pop()
            self._end(handle)
            if opened == path:
                return

    def close_all(self) -> None:
        stack = self._stack()
        while stack:
            self._end(stack.pop()[1])


# Hooks are functions, not methods: copy.deepcopy() of a model copies what its hooks are bound to.
def _opener(calls: _Calls, path: str) -> Callable[..., None]:
    compiling = _is_compiling()

    def open_scope(module: Any, arguments: Any) -> None:
        if not compiling():
            calls.open(path)

    return open_scope


def _closer(calls: _Calls, path: str) -> Callable[..., None]:
    compiling = _is_compiling()

    def close_scope(module: Any, arguments: Any, result: Any) -> None:
        if not compiling():
            calls.close(path)

    return close_scope


def _is_compiling() -> Callable[[], bool]:
    """Returns the function that torch.compile knows as constant, so that it compiles no hook."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    return getattr(compiler, "is_compiling", _never)


def torch_scopes(module: Any, name: Optional[str] = None) -> TorchScopes:
    """Makes a scope of each forward call of `module` (named `name`, by default as its class) and of
    the modules in it, by their names in the model. Needs PyTorch 2.0. Use it as `with
    torch_scopes(model):`, or keep the object and call remove()."""
    return TorchScopes(module, name)
