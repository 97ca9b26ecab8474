"""A request's way stays short (docs/decisions/090-the-way-of-a-request-is-bounded.md). Whoever makes it shorter lowers
the bound."""

from __future__ import annotations

import gc
import threading
from functools import cache
from types import FrameType
from typing import Any

import pytest

from baton.adapters.message_depth import handling
from paths.requests import traced_requests
from paths.tracer import Trace, Tracer

NAMES = ("frames to the put", "files to the put", "lines", "of more than one statement", "in adapters/dynamodb", "deep")
BOUNDS: dict[str, tuple[int, ...]] = {
    "marker": (10, 7, 971, 164, 87, 17),
    "approval": (11, 7, 786, 141, 65, 17),
    "claim": (11, 7, 945, 162, 88, 17),
    "completion": (10, 7, 894, 156, 72, 17),
    "tool call": (9, 6, 1_910, 319, 161, 17),
}


@cache
def traces() -> dict[str, Trace]:
    return traced_requests()


@pytest.mark.parametrize("request_", BOUNDS)
def test_a_request_passes_no_more_than_it_did(request_: str) -> None:
    figures = traces()[request_].figures
    found = {name: figures[name] for name in NAMES}
    beyond = {name: found[name] for name, most in zip(NAMES, BOUNDS[request_], strict=True) if found[name] > most}
    assert beyond == {}, f"make paths OF={request_!r} prints the functions"


def test_what_is_traced_is_the_whole_way() -> None:
    """From the entry of the function to the store, and nothing of the tests."""
    put = [each.name for each in traces()["claim"].put]
    assert (put[0], put[-1]) == ("App.__call__", "Table.write")
    assert {"claim_next", "take_task", "commit"} <= {*put}
    assert not any("fake" in each.file for each in traces()["claim"].functions)


def test_generators_of_earlier_calls_are_not_traced() -> None:
    """A cycle that holds a half-read generator is closed at a collection, whenever that comes."""
    cycle: list[Any] = [handling({})]
    cycle[0].__enter__()
    cycle.append(cycle)
    del cycle
    trace = Tracer().run(lambda: [[] for _ in range(200_000)])  # more than a collection waits for
    assert (trace.functions, trace.lines) == (set(), set())
    assert gc.isenabled()


def test_threads_begun_afterwards_have_the_tracer_that_they_had_before() -> None:
    """coverage gives each thread a tracer of its own, in C. Two threads in one of these end the process by a signal."""

    def of_threads(_frame: FrameType, _event: str, _arg: object) -> Any:
        return None

    coverages = threading.gettrace()
    threading.settrace(of_threads)
    try:
        Tracer().run(lambda: None)
        assert threading.gettrace() is of_threads
    finally:
        threading.settrace(coverages)
