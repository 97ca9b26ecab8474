"""The store's contract for engines other than the fake: the same tests, which take a store, or the wire to its table,
and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from support.faults.soak import spread, thins

CONTRACT = Path(__file__).parents[1] / "contract"
SUBJECTS = (
    "accounts",
    "alerts",
    "around_tasks",
    "client_calls",
    "commit",
    "contacts",
    "entries",
    "event_outbox",
    "forgetting",
    "isolation",
    "item_sizes",
    "listeners",
    "listings",
    "marks",
    "outputs",
    "payloads",
    "people",
    "permits",
    "polls",
    "queues",
    "registry",
    "renew",
    "routes",
    "sessions",
    "stats",
    "shared_commits",
    "taken_transcripts",
    "threads",
    "tools",
    "tracker_outbox",
    "transcripts",
    "uses",
    "watches",
)


@thins
def contract(most_cases: int, without: Iterable[str] = (), every: int = 1) -> dict[str, type]:
    """Returns a class of tests for each subject, by its name in pytest's reports. The module with the classes has the
    fixtures ``store`` and ``wire``. ``most_cases``: the most cases of one parameter, spread over those that the fake
    gets. ``without``: names of tests to leave out. ``every``: of how many tests of a subject one is taken, except under
    ``make soak``: such an engine takes ten times as long as the fake, which is held to all of them every time."""
    return {
        _title(subject): _class_of(subject, _module(subject), most_cases, set(without), every) for subject in SUBJECTS
    }


def _module(subject: str) -> ModuleType:
    """Returns the module with the tests of a subject."""
    (path,) = CONTRACT.rglob(f"test_{subject}.py")
    return import_module(".".join(path.relative_to(CONTRACT.parent).with_suffix("").parts))


def _title(subject: str) -> str:
    return f"Test{subject.title().replace('_', '')}"


def _class_of(subject: str, module: ModuleType, most_cases: int, without: set[str], every: int) -> type:
    fitting = {
        name: staticmethod(_with_fewer_cases(test, most_cases))
        for name, test in vars(module).items()
        if name.startswith("test_") and name not in without and _takes_one_thing(test)
    }
    return type(_title(subject), (), dict(spread(list(fitting.items()), every)))


def _takes_one_thing(test: FunctionType) -> bool:
    fixtures = set(inspect.signature(test).parameters)
    for mark in _parameters(test):
        names = mark.args[0]
        fixtures -= {name.strip() for name in names.split(",")} if isinstance(names, str) else set(names)
    return fixtures in ({"store"}, {"wire"})


def _parameters(test: FunctionType) -> list[pytest.Mark]:
    return [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]


def _with_fewer_cases(test: FunctionType, most: int) -> Callable[..., object]:
    """Returns a copy of the test with fewer cases. The fake's tests keep all of them."""
    if not (marks := _parameters(test)):
        return test
    copy = FunctionType(test.__code__, test.__globals__, test.__name__, test.__defaults__, test.__closure__)
    copy.__annotations__ = test.__annotations__
    for mark in reversed(marks):
        names, values = mark.args
        cases = list(values)
        kept = cases[:: -(-len(cases) // most)]
        ids = mark.kwargs.get("ids")
        if ids is not None and not callable(ids):
            ids = list(ids)[:: -(-len(cases) // most)]
        pytest.mark.parametrize(names, kept, ids=ids)(copy)
    return copy
