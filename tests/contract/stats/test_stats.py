"""Counters and the record of decisions: what is put is read, a repeat changes nothing, and an item costs one unit."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from baton.adapters.dynamodb.sizes import size_of
from baton.domain.errors import Conflict
from baton.domain.stats.day_counts import DAYS_OF_BEGINNINGS, ONE_UNIT_BYTES, OUTCOMES
from baton.domain.stats.decision import cut
from baton.ports.store import Store
from support.clock import NOON
from support.values.stats import a_decision, an_end, no_counts, some_counts
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

KB = 1_024
LONGEST = "x" * 63


def test_counts_are_read_as_they_were_put(store: Store) -> None:
    counts = some_counts()
    assert store.stats.day_counts(counts.place) == no_counts()
    store.stats.put_counts(counts)
    assert store.stats.day_counts(counts.place) == counts
    assert store.stats.of_days(WORKSPACE, [NOON.date()], 10) == {NOON.date(): [counts]}


def test_counts_are_put_into_their_next_version_alone(store: Store) -> None:
    first = some_counts()
    store.stats.put_counts(first)
    for late in (first, first.with_ended([an_end(3)]).with_ended([an_end(4)])):
        with pytest.raises(Conflict):
            store.stats.put_counts(late)
    second = first.with_ended([an_end(3)])
    store.stats.put_counts(second)
    assert store.stats.day_counts(first.place) == second


def test_a_day_gives_so_many_directions_by_target(store: Store) -> None:
    for target in ("b", "a", "c"):
        store.stats.put_counts(no_counts(target=target, source="human:a#b").with_ended([an_end()]))
    (found,) = store.stats.of_days(WORKSPACE, [NOON.date()], 2).values()
    assert [(each.place.source, each.place.target) for each in found] == [("human:a#b", "a"), ("human:a#b", "b")]


def test_a_decision_that_is_told_again_is_on_record_once(store: Store) -> None:
    for _ in range(2):
        store.stats.put_decision(a_decision(reason="good"))
    page = store.stats.decisions(WORKSPACE, NOON.date(), 10, None)
    assert (page.items, page.cursor) == ((a_decision(reason="good"),), None)


def test_decisions_of_a_day_are_paged_from_the_newest_on(store: Store) -> None:
    made = [a_decision(at=NOON + timedelta(seconds=number)) for number in range(3)]
    for each in made:
        store.stats.put_decision(each)
    first = store.stats.decisions(WORKSPACE, NOON.date(), 2, None)
    second = store.stats.decisions(WORKSPACE, NOON.date(), 2, first.cursor)
    assert [*first.items, *second.items] == made[::-1]
    assert store.stats.decisions(WORKSPACE, NOON.date() - timedelta(days=1), 2, None).items == ()


def _stored_size(rig: Rig, kind: str) -> int:
    (size,) = (size_of(item) for (pk, _), item in rig.raw.contents().items() if f"#{kind}#" in pk)
    return size


def test_counts_of_a_busy_day_with_the_longest_names_take_one_unit() -> None:
    """1,000 tasks in twelve hours, most of them done, with times between a second and a day."""
    rig, random = Rig(), Random(1)
    counts = no_counts(WORKSPACE, f"human:{LONGEST}", LONGEST)
    for number in range(1_000):
        seconds = {phase: 10 ** random.uniform(0, 4) for phase in ("person", "worker", "work")}
        at = NOON + timedelta(minutes=random.randint(0, 700))
        outcome = OUTCOMES[0] if random.random() < 0.9 else OUTCOMES[1]
        began_at = at - timedelta(minutes=random.randint(0, 600))
        end = an_end(number, seconds=seconds, began_at=began_at, ended_at=at, outcome=outcome)
        is_full = counts.with_ended([end]).size > ONE_UNIT_BYTES
        counts = counts.with_ended([end], forgotten=counts.latest if is_full else ())
    rig.store.stats.put_counts(replace(counts, version=1))
    assert _stored_size(rig, "STATS") <= KB


def test_counts_that_are_as_wide_as_can_be_take_three_units() -> None:
    rig = Rig()
    hours = {hour: [4_000] * len(OUTCOMES) for hour in range(24)}
    phases = {phase: dict.fromkeys(range(38), 4000) for phase in ("person", "worker", "work")}
    begun = dict.fromkeys(range(-24 * DAYS_OF_BEGINNINGS, 24), 4_000)
    direction = no_counts(WORKSPACE, f"human:{LONGEST}", LONGEST)
    widest = replace(direction, hours=hours, begun=begun, phases=phases, version=1)
    rig.store.stats.put_counts(widest)
    assert 2 * KB < _stored_size(rig, "STATS") <= 3 * KB


def test_the_longest_decision_takes_one_unit() -> None:
    rig = Rig()
    long = cut("ä" * 10_000)
    names = {"source_agent": f"human:{LONGEST}", "target_agent": LONGEST, "by": LONGEST}
    rig.store.stats.put_decision(a_decision(title=long, reason=long, about=f"task_{'x' * 26}", **names))
    assert _stored_size(rig, "DECISIONS") <= KB
