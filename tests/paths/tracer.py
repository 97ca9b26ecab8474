"""What of the product runs during a call: functions, files, frames and lines, as an interpreter sees them."""

from __future__ import annotations

import ast
import gc
import sys
import threading
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import baton
import rest
from support.fakes.fake_dynamo import FakeDynamo

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

LAYER, FUNCTIONS = Path(baton.__file__).parent, Path(rest.__file__).parents[1]
FAKE = Path(sys.modules[FakeDynamo.__module__].__file__ or "").parent
DECIDING = frozenset({"put_item", "transact_write_items"})


@dataclass(frozen=True, slots=True)
class Function:
    file: str
    name: str
    line: int


@dataclass(slots=True)
class Trace:
    """``put``: the frames from the process's entry to the first write of a ``HEAD``. ``switches``: how often the next
    function called is in another file. ``lines``: those that ran, by file."""

    functions: set[Function] = field(default_factory=set)
    lines: set[tuple[str, int]] = field(default_factory=set)
    put: tuple[Function, ...] = ()
    deepest: tuple[Function, ...] = ()
    calls: int = 0
    switches: int = 0

    @property
    def figures(self) -> dict[str, int]:
        return {
            "functions": len(self.functions),
            "of more than one statement": sum(_statements(each) > 1 for each in self.functions),
            "in adapters/dynamodb": sum("adapters/dynamodb/" in each.file for each in self.functions),
            "files": len({each.file for each in self.functions}),
            "switches": self.switches,
            "deep": len(self.deepest),
            "frames to the put": len(self.put),
            "files to the put": len({each.file for each in self.put}),
            "lines": len(self.lines),
        }


class Tracer:
    """In one thread and in those that it begins. Comprehensions and lambdas are part of the function around them."""

    def __init__(self) -> None:
        self.trace = Trace()
        self._stacks = threading.local()
        self._last = ""

    def run(self, act: Callable[[], Any]) -> Trace:
        # A collection would close generators that earlier calls left behind, and their lines aren't this call's.
        gc.collect()
        gc.disable()
        before, of_threads = sys.gettrace(), threading.gettrace()
        threading.settrace(self._called)
        sys.settrace(self._called)
        try:
            act()
        finally:
            sys.settrace(before)
            threading.settrace(of_threads)
            gc.enable()
        return self.trace

    def _called(self, frame: FrameType, event: str, arg: object) -> Any:
        file = product_file(frame.f_code.co_filename)
        stack: list[Function] = self._stacks.__dict__.setdefault("stack", [])
        if file is None:
            if frame.f_code.co_filename.startswith(str(FAKE)) and frame.f_code.co_name in DECIDING:
                self._wrote(stack, str(frame.f_locals.get("request")))
            return None
        if frame.f_code.co_name == "<module>":
            return None
        if frame.f_code.co_name.startswith("<"):
            return self._line(file)
        function = Function(file, frame.f_code.co_qualname, frame.f_code.co_firstlineno)
        self.trace.functions.add(function)
        self.trace.calls += 1
        self.trace.switches += self._last != file
        self._last = file
        stack.append(function)
        if len(stack) > len(self.trace.deepest):
            self.trace.deepest = tuple(stack)
        return self._line(file, stack)

    def _line(self, file: str, stack: list[Function] | None = None) -> Any:
        def local(frame: FrameType, event: str, arg: object) -> Any:
            if event == "line":
                self.trace.lines.add((file, frame.f_lineno))
            if event == "return" and stack:
                stack.pop()
            return local

        return local

    def _wrote(self, stack: list[Function], request: str) -> None:
        if not self.trace.put and "'HEAD'" in request:
            self.trace.put = tuple(stack)


@cache
def product_file(name: str) -> str | None:
    path = Path(name)
    for root in (LAYER, FUNCTIONS):
        if path.is_relative_to(root):
            return str(path.relative_to(root.parent))
    return None


def _statements(function: Function) -> int:
    """Without its docstring and without those of functions in it."""
    return _counts(function.file).get(function.line, 0)


@cache
def _counts(file: str) -> dict[int, int]:
    root = LAYER if file.startswith(LAYER.name) else FUNCTIONS
    tree = ast.parse((root.parent / file).read_text(encoding="utf-8"))
    counts = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            counts[first] = sum(map(_weight, node.body[ast.get_docstring(node) is not None :]))
    return counts


def _weight(node: ast.stmt) -> int:
    if isinstance(node, ast.FunctionDef):
        return 1
    return 1 + sum(_weight(each) for each in ast.walk(node) if each is not node and isinstance(each, ast.stmt))
