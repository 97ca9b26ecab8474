"""Where an operator works: a function, class or constant of a module, and what in it mentions some words."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import baton

_WHICH = re.compile(r"(\d+) of (\d+)")
_T = TypeVar("_T")
PRODUCT = Path(baton.__file__).parent
REPOSITORY = Path(__file__).parents[3]
# Where modules are that the simulation has no part of: a place there begins with the folder's name.
FUNCTIONS, PACKAGES, COMMAND = REPOSITORY / "functions", REPOSITORY / "packages", REPOSITORY / "cli/src"
# An annotation isn't looked at: it does nothing.
_UNSEEN = ("annotation", "returns")


class Misplaced(ValueError):
    """The product has changed where a bug is planted: its place isn't there, or is there more than once."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A node where it stands: in a field of what is above it, at ``index`` if that is a list."""

    node: Any
    above: Any = None
    field: str = ""
    index: int | None = None

    @property
    def parent(self) -> Any:
        return None if self.above is None else self.above.node

    def put(self, *nodes: ast.AST) -> None:
        """In a list several may take its place, or none."""
        if self.index is None:
            setattr(self.parent, self.field, *nodes)
        else:
            getattr(self.parent, self.field)[self.index : self.index + 1] = nodes

    def below(self, *, into: Callable[[ast.AST], bool] = lambda _: True) -> Iterator[Spot]:
        """Yields each node under it. ``into``: of which of them those under it, too."""
        for field, value in ast.iter_fields(self.node):
            if field in _UNSEEN:
                continue
            nodes = enumerate(value) if isinstance(value, list) else [(None, value)]
            for spot in [Spot(node, self, field, index) for index, node in nodes if isinstance(node, ast.AST)]:
                yield spot
                if into(spot.node):
                    yield from spot.below(into=into)

    def all_above(self) -> Iterator[Spot]:
        """Yields what it is in, the nearest first."""
        if self.above is not None:
            yield self.above
            yield from self.above.all_above()

    def words(self) -> set[str]:
        """Returns the names and texts that it mentions: variables, attributes, keywords. Its key in a dict counts, and
        to a condition what it guards, except for a condition in it."""
        nodes = [self.node]
        if isinstance(self.parent, ast.Dict) and self.index is not None:
            nodes += [key] if (key := self.parent.keys[self.index]) is not None else []
        if isinstance(self.parent, ast.If) and self.field == "test":
            nodes += [each for each in self.parent.body if not hasattr(each, "body")]
        below = [each for node in nodes for each in ast.walk(node)]
        return {str(getattr(each, field, "")) for each in below for field in ("id", "attr", "arg", "value")}


def file_of(place: str) -> Path:
    """Returns the file of ``place``: the end of a module's path, and the subject there:
    ``tasks/task:Task.is_lapsed``. A place outside of the layer has the whole path in the repository."""
    name = f"{place.partition(':')[0]}.py"
    if name.startswith(("functions/", "packages/", "cli/")):
        return _only([each for each in [REPOSITORY / name] if each.exists()], "such a module")
    return _only([each for each in _modules() if each.as_posix().endswith(f"/{name}")], "such a module")


def root_of(file: Path) -> Path:
    """Returns the folder that has to be copied to change the file: a package, the command, or all functions."""
    if file.is_relative_to(COMMAND):
        return COMMAND
    if file.is_relative_to(PACKAGES):
        return PACKAGES / Path(*file.relative_to(PACKAGES).parts[:2])
    return FUNCTIONS if file.is_relative_to(FUNCTIONS) else PRODUCT.parent


def scope_of(module: ast.Module, place: str) -> Spot:
    """Returns the function, the class or the assignment. A function's name comes before those that are made in it."""
    scope = Spot(module)
    for name in place.partition(":")[2].split("."):
        scope = _only([each for each in scope.below(into=_makes_nothing) if name in _made_by(each.node)], name)
    return scope


def spot_of(scope: Spot, is_meant: Callable[[Spot], bool], words: Sequence[str] = ()) -> Spot:
    """Returns the only one that mentions all words; ``2 of 3`` among these is the second of exactly three. Of two in
    each other the inner is meant."""
    numbers = [match.groups() for each in words if (match := _WHICH.fullmatch(each))]
    asked = {each for each in words if not _WHICH.fullmatch(each)}
    found = [each for each in (scope, *scope.below()) if is_meant(each) and asked <= each.words()]
    outer = {id(above) for each in found for above in each.all_above()}
    inner = [each for each in found if id(each) not in outer]
    for number, most in numbers:
        inner = inner[int(number) - 1 :][:1] if len(inner) == int(most) else inner
    return _only(inner, f"what mentions {words}")


def _makes_nothing(node: ast.AST) -> bool:
    """What a function or a class makes is its own. An expression makes nothing that has a place."""
    return not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.expr)


def _made_by(node: ast.AST) -> set[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()


@cache
def _modules() -> tuple[Path, ...]:
    return tuple(PRODUCT.rglob("*.py"))


def _only(found: list[_T], what: str) -> _T:
    if len(found) != 1:
        raise Misplaced(f"{len(found)} times there: {what}")
    return found[0]
