"""The store's contract, for engines other than the fake: the same tests, which take a store and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

SUBJECTS = (
    "alerts",
    "around_tasks",
    "commit",
    "contacts",
    "event_outbox",
    "forgetting",
    "isolation",
    "item_sizes",
    "listings",
    "outbox",
    "payloads",
    "permits",
    "polls",
    "queues",
    "registry",
    "renew",
    "routes",
    "shared_commits",
    "threads",
    "tools",
    "transcripts",
    "uses",
)


def contract(without: Iterable[str] = ()) -> dict[str, type]:
    """A class of tests for each subject, under the name that it has in pytest's reports. The ``store`` that they take
    is a fixture of the module that holds the classes. ``without``: names of tests."""
    modules = {subject: import_module(f"contract.test_{subject}") for subject in SUBJECTS}
    return {
        f"Test{subject.title().replace('_', '')}": _class_of(subject, module, set(without))
        for subject, module in modules.items()
    }


def _class_of(subject: str, module: ModuleType, without: set[str]) -> type:
    tests = {
        name: staticmethod(test)
        for name, test in vars(module).items()
        if name.startswith("test_") and name not in without and _takes_a_store_alone(test)
    }
    return type(f"Test{subject.title().replace('_', '')}", (), tests)


def _takes_a_store_alone(test: Callable[..., Any]) -> bool:
    fixtures = set(inspect.signature(test).parameters)
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = mark.args[0]
            fixtures -= {name.strip() for name in names.split(",")} if isinstance(names, str) else set(names)
    return fixtures == {"store"}
