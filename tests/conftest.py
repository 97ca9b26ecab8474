from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from _pytest.assertion import rewrite
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadGroupScheduling

from support.fakes.fake_dynamo.client import UNLAWFUL
from support.faults.soak import has_sizes
from support.worlds.world import World

HERE = Path(__file__).parent
# Among several workers the longest come first, and each test is given out by itself; of the others, whole modules.
LONGEST_FIRST = ("stack", "simulation", "fuzz")
TURNS = {tier: turn for turn, tier in enumerate(LONGEST_FIRST)}


def pytest_configure(config: pytest.Config) -> None:
    """Costs that every test would pay once more. botocore reads megabytes of descriptions anew for each session, and
    there are as many sessions as tests of moto."""
    if config.getoption("numprocesses", None) and not sys.dont_write_bytecode:
        compile_once(config)
    botocore.session.create_loader = cache(botocore.session.create_loader)
    gc.set_threshold(100_000, 20, 20)
    gc.disable()  # until all tests are there
    hear_interrupts()
    measure_no_property()


def compile_once(config: pytest.Config) -> None:
    """Of a fresh clone each worker would compile every test, with what it asserts spelled out, at the same time."""
    state = config.stash[rewrite.assertstate_key]
    for path in [*HERE.rglob("test_*.py"), *HERE.rglob("conftest.py")]:
        folder = rewrite.get_cache_dir(path)
        compiled = folder / f"{path.stem}{rewrite.PYC_TAIL}"
        if not compiled.exists() and rewrite.try_makedirs(folder):
            found, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(state, code, found, compiled)


def measure_no_property() -> None:
    """Hypothesis fails an example that takes 200 ms, and one that is made slowly: on a busy machine any does."""
    settings.register_profile("baton", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("baton")


def hear_interrupts() -> None:
    """What a shell starts in the background, and what that starts, ignores interrupts: tests send them to programs."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """12,000 tests stay until the end: the collector needn't walk over them again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


class Numbered(list[str]):
    """Knows each test's place. A list looks through its 12,000 each time."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names)
        self._places = {name: place for place, name in enumerate(self)}

    def index(self, name: str, *_: Any) -> int:
        return self._places[name]


class Scheduling(LoadGroupScheduling):  # type: ignore[misc] # it has no types
    """Where each of 12,000 tests is a piece of work of its own, giving them out takes half a minute. What is over is
    forgotten: it would be counted again after each test."""

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = Numbered(collection)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node].get(scope, {}).values()):
            self.assigned_work[node].pop(scope, None)

    def _split_scope(self, nodeid: str) -> str:
        scope = str(super()._split_scope(nodeid))
        is_given_out_alone = scope != nodeid or nodeid.split("/")[1] in LONGEST_FIRST
        return scope if is_given_out_alone else nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    if config.getvalue("dist") != "loadgroup":
        return None
    config.option.loadscopereorder = False
    return Scheduling(config, log)


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks each test with its tier, the folder that it is in. A test whose module has sizes of ``make soak`` belongs
    to that, too."""
    for item in items:
        item.add_marker(tier_of(item))
        if isinstance(item, pytest.Function) and _has_sizes(item.module):
            item.add_marker("soak")
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: TURNS.get(tier_of(item), len(TURNS)))


_has_sizes = cache(has_sizes)


def tier_of(item: pytest.Item) -> str:
    return item.nodeid.split("/", 2)[1]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker tells of a test once, not five times, unless something went wrong: of 17,000 that took 20 s."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The tests of a stack take longest, and most of that they wait: what they wait for comes before other tests."""
    if hasattr(item.config, "workerinput") and tier_of(item) != "stack":
        step_back()


@cache
def step_back() -> None:
    """Once, and for good: a worker that has left the stack's tests gets no more of them."""
    os.nice(5)


@pytest.fixture(autouse=True)
def scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the credentials, regions or endpoints of whoever runs it."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "BATON_", "POWERTOOLS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture
def world() -> World:
    return World().settle()


@pytest.fixture(autouse=True)
def lawful_requests() -> Iterator[None]:
    """Nothing is asked of the table that DynamoDB would refuse, even where somebody catches that error."""
    UNLAWFUL.clear()
    yield
    assert UNLAWFUL == []
