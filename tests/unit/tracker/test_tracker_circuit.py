"""Whether a tracker may be asked at all: for how long it is left alone after which trouble."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from baton.domain.errors import PageRefused, TrackerAway, TrackerDenies, TrackerTrouble
from baton.domain.times import seconds
from baton.domain.tracker.page_sync import MAX_MESSAGE, Sync
from baton.domain.tracker.tracker_circuit import RECONCILE_SECONDS, TrackerCircuit
from support.clock import NOON
from support.values.tasks import MS
from support.worlds.world import WORKSPACE

CLOSED = TrackerCircuit(workspace=WORKSPACE)


def pause(circuit: TrackerCircuit, trouble: TrackerTrouble) -> float:
    after = circuit.opened(trouble, NOON)
    assert after.open_until is not None
    assert after.wake_at == after.open_until, "the sweeper notifies when it may be tried again"
    return (after.open_until - NOON).total_seconds()


def test_a_new_circuit_is_closed_and_wakes_nobody() -> None:
    assert not CLOSED.is_open(NOON)
    assert (CLOSED.version, CLOSED.wake_at, CLOSED.status) == (0, None, Sync.OK)


def test_an_open_circuit_lets_calls_through_at_its_time() -> None:
    circuit = CLOSED.opened(TrackerAway("silence"), NOON)
    until = circuit.open_until
    assert until is not None
    assert circuit.is_open(NOON)
    assert circuit.is_open(until - MS)
    assert not circuit.is_open(until)


@pytest.mark.parametrize(
    ("failures", "away", "denied"),
    [
        (0, 5, 30),
        (1, 10, 60),
        (2, 20, 120),
        (4, 80, 480),
        (5, 160, 900),
        (6, 300, 900),
        (10, 300, 900),
        (999, 300, 900),
    ],
)
def test_each_trouble_is_waited_out_longer_and_a_denial_longest(failures: int, away: int, denied: int) -> None:
    circuit = replace(CLOSED, failures=failures)
    assert pause(circuit, TrackerAway("silence")) == away
    assert pause(circuit, TrackerDenies("no")) == denied
    assert pause(circuit, PageRefused("odd")) == away
    assert circuit.opened(TrackerAway("silence"), NOON).failures == failures + 1


@pytest.mark.parametrize(("asked", "waited"), [(0, 1), (0.2, 1), (1, 1), (42, 42), (3_600, 3_600), (86_400, 3_600)])
@pytest.mark.parametrize("failures", [0, 7])
def test_the_tracker_is_left_alone_for_as_long_as_it_asks_within_bounds(
    asked: float, waited: float, failures: int
) -> None:
    assert pause(replace(CLOSED, failures=failures), TrackerAway("slower", retry_after=asked)) == waited


@pytest.mark.parametrize(
    ("trouble", "status"),
    [
        (TrackerAway("x"), Sync.PENDING),
        (TrackerDenies("x"), Sync.DENIED),
        (PageRefused("x"), Sync.ERROR),
    ],
)
def test_an_open_circuit_says_why(trouble: TrackerTrouble, status: Sync) -> None:
    circuit = CLOSED.opened(trouble, NOON)
    assert (circuit.status, circuit.message, circuit.version) == (status, "x", 1)
    assert len(CLOSED.opened(TrackerAway("x" * 2_000), NOON).message) == MAX_MESSAGE


def test_an_answer_ends_the_trouble_and_the_next_one_starts_anew() -> None:
    opened = replace(CLOSED, failures=6, reconciled_at=NOON).opened(TrackerDenies("no"), NOON)
    circuit = opened.answered()
    assert (circuit.failures, circuit.status, circuit.message, circuit.open_until) == (0, Sync.OK, "", None)
    assert (circuit.reconciled_at, circuit.wake_at) == (NOON, opened.wake_at)
    assert pause(circuit, TrackerAway("silence")) == 5


def test_a_circuit_that_somebody_closes_is_seen_to_at_once() -> None:
    circuit = CLOSED.opened(TrackerDenies("no"), NOON).closed(NOON + MS)
    assert not circuit.is_open(NOON + MS)
    assert (circuit.failures, circuit.status, circuit.message, circuit.wake_at) == (0, Sync.OK, "", NOON + MS)


@pytest.mark.parametrize(
    ("reconciled_at", "is_due"),
    [(None, True), (NOON, True), (NOON + MS, False)],
)
def test_people_are_listened_to_every_ten_minutes(reconciled_at: datetime | None, is_due: bool) -> None:
    now = NOON + seconds(RECONCILE_SECONDS)
    assert replace(CLOSED, reconciled_at=reconciled_at).is_reconcile_due(now) is is_due


def test_every_change_is_a_version() -> None:
    opened = CLOSED.opened(TrackerAway("x"), NOON)
    steps = [opened, opened.answered(), opened.closed(NOON), opened.reconciled(NOON), opened.waking(None)]
    assert [circuit.version for circuit in steps] == [1, 2, 2, 2, 2]
    assert opened.reconciled(NOON).open_until == opened.open_until
    assert opened.waking(None).wake_at is None
