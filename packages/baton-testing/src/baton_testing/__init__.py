"""Baton itself in this process: the deployed routes and use cases, on the table that Baton's own tests run on.

They are loaded below ``baton_testing.inside``, under no name of their own: a program that is tested may well have an
``api``. So what an import names there is looked for there first.
"""

from __future__ import annotations

import builtins
import gc
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from baton_testing.inside.stack import Stack as Stack

INSIDE = f"{__name__}.inside"
_ROOMS = {"api", "aws_lambda_powertools", "baton", "boto3", "create_handoff_marker", "rest", "support", "wait"}
_BOOTSTRAP = Path(__file__).parent / "inside" / "bootstrap.py"


def _import(
    name: str,
    at: Mapping[str, Any] | None = None,
    local: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    is_ours = level == 0 and name.partition(".")[0] in _ROOMS
    return builtins.__import__(f"{INSIDE}.{name}" if is_ours else name, at, local, names or (), level)


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{INSIDE}."):
            return None
        if fullname == f"{INSIDE}.baton.bootstrap":  # the only place that wires classes together, and AWS's clients
            return spec_from_file_location(fullname, _BOOTSTRAP, loader=_Loader(fullname, str(_BOOTSTRAP)))
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and isinstance(found.loader, SourceFileLoader):
            found.loader = _Loader(fullname, str(found.loader.path))
        return found


@cache
def _load() -> type[Stack]:
    sys.meta_path.insert(0, _Finder())
    was_on = gc.isenabled()
    gc.disable()  # it would look for garbage among a thousand new classes, again and again
    try:
        made: type[Stack] = import_module(f"{INSIDE}.stack").Stack
    finally:
        if was_on:
            gc.enable()
    return made


def new_stack() -> Stack:
    """Returns an empty Baton. The first one of a process loads it."""
    return _load()()
