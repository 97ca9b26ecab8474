"""Invariant 6: no two open duplicates in a direction, and no more than the cap in any window
(docs/spec/marker.md §4)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from baton.domain.escalations.direction import CapReached, CountedEscalation, Direction, Duplicate, Free
from baton.domain.settings.settings import Settings
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.tasks.task_items import Note
from baton.ports.writes import CloseEscalation, Insert
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.sweep import sweep
from support.clock import NOON
from support.faults.hooked_store import HookedStore
from support.values.tasks import MS
from support.worlds.world import WORKSPACE, World, agent, human

WEEK = 7 * 86_400


def closed(world: World, **changes: Any) -> str:
    """A task of the direction that is created and closed at once."""
    task_id = world.needing(**changes)
    cancel_task(world.deps, human(), task_id, "closed")
    return task_id


def direction(world: World) -> Direction:
    """As it is stored."""
    return world.store.escalations.marker_inputs(WORKSPACE, ("scout", "auditor"), None).direction


def known(world: World) -> list[bool]:
    """What the direction itself says of its escalations, by id: two of a millisecond have no order."""
    return sorted((entry.closed for entry in direction(world).escalations), reverse=True)


# The breaker


def test_an_open_task_in_the_window_prevents_a_duplicate_and_creates_nothing(world: World) -> None:
    first = world.needing()
    before = direction(world)
    answer = world.mark(agent("scout"))
    assert (answer.duplicate_of, answer.task_id, answer.handoff_id, answer.review_id) == (first, None, None, None)
    assert direction(world) == before
    assert len(world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items) == 1


def test_whatever_its_state_a_task_that_has_not_ended_is_open(world: World) -> None:
    first = world.mark(human()).task_id
    for step in (lambda: None, lambda: world.clock.advance(3), lambda: world.claim()):
        step()
        assert world.mark(agent("scout")).duplicate_of == first


def test_the_new_reason_and_url_are_kept_as_a_note_and_the_task_is_not_touched(world: World) -> None:
    first = world.needing()
    task, trail = world.task(first), world.trail(first)
    world.mark(agent("scout"), escalation_reason="worse now", source_digest_url="https://notes.example/2")
    world.clock.advance(milliseconds=1)
    world.mark(human(), escalation_reason="even worse")
    assert world.task(first) == task
    assert world.trail(first) == trail
    newest, older = world.store.tasks.notes(WORKSPACE, first, 10)
    assert older.content == {"escalation_reason": "worse now", "source_digest_url": "https://notes.example/2"}
    assert (older.by, newest.by) == ("agent:scout", "human:alice")
    assert newest.content["escalation_reason"] == "even worse"
    assert newest.at - older.at == MS


def test_every_way_to_end_a_task_closes_its_entry(world: World) -> None:
    def complete() -> None:
        claimed = world.claimed()
        complete_task(
            world.deps,
            WorkerCall(agent("auditor"), claimed.details.task.id, claimed.claim_id, "h"),
            CompletedWork(output=None),
        )

    def fail() -> None:
        claimed = world.claimed()
        task_id, failure = claimed.details.task.id, {"type": "error", "description": "x"}
        fail_task(world.deps, WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"), FailedWork(failure=failure))

    def resolve() -> None:
        resolve_task(world.deps, HumanCall(human(), world.needing()), None)

    change_settings(world.deps, human(), {"escalation_cap": 20})
    ends: list[Callable[[], object]] = [complete, fail, resolve, lambda: closed(world)]
    for number, end in enumerate(ends, start=1):
        end()
        assert [entry.closed for entry in world.direction().escalations] == [True] * number


def test_a_task_that_comes_back_stays_open(world: World) -> None:
    claimed = world.claimed()
    world.clock.advance(300)
    sweep(world.deps)
    assert world.direction().escalations[0].closed is False
    assert world.mark(agent("scout")).duplicate_of == claimed.details.task.id


def test_an_open_task_older_than_the_window_prevents_nothing_to_the_millisecond(world: World) -> None:
    first = world.needing()
    world.clock.advance(WEEK, milliseconds=-1)
    assert world.mark(agent("scout")).duplicate_of == first
    world.clock.advance(milliseconds=1)
    assert world.mark(agent("scout")).task_id not in (None, first)


def test_with_scope_any_a_closed_task_still_prevents_a_duplicate(world: World) -> None:
    change_settings(world.deps, human(), {"breaker_scope": "any"})
    first = closed(world)
    assert world.mark(agent("scout")).duplicate_of == first
    world.clock.advance(WEEK, milliseconds=-1)
    assert world.mark(agent("scout")).duplicate_of == first
    world.clock.advance(milliseconds=1)
    assert world.mark(agent("scout")).task_id


def test_the_duplicate_that_is_named_is_the_open_one_and_the_newest() -> None:
    held = Direction(
        WORKSPACE,
        "a",
        "b",
        (
            CountedEscalation("task_1", NOON, closed=False),
            CountedEscalation("task_2", NOON + MS, closed=False),
            CountedEscalation("task_3", NOON + 2 * MS, closed=True),
        ),
    )
    for scope in ("open", "any"):
        assert held.decide(NOON + 3 * MS, Settings(breaker_scope=scope)) == Duplicate("task_2")


# The cap


def test_two_in_the_window_and_the_third_goes_to_a_human(world: World) -> None:
    assert closed(world) != closed(world)
    answer = world.mark(agent("scout"))
    assert (answer.task_id, answer.duplicate_of) == (None, None)
    assert answer.review_id


@pytest.mark.parametrize("cap", [1, 3, 20])
def test_the_cap_is_a_setting(world: World, cap: int) -> None:
    change_settings(world.deps, human(), {"escalation_cap": cap})
    for _ in range(cap):
        closed(world)
    assert world.mark(agent("scout")).review_id
    assert len(direction(world).escalations) == cap


def test_the_window_is_a_setting(world: World) -> None:
    change_settings(world.deps, human(), {"handoff_window_days": 1, "escalation_cap": 1})
    closed(world)
    world.clock.advance(86_400, milliseconds=-1)
    assert world.mark(agent("scout")).review_id
    world.clock.advance(milliseconds=1)
    assert world.mark(agent("scout")).task_id


def test_a_window_rolls_to_the_millisecond(world: World) -> None:
    closed(world)
    world.clock.advance(86_400)
    closed(world)
    world.clock.advance(WEEK - 86_400, milliseconds=-1)
    assert world.mark(agent("scout")).review_id
    world.clock.advance(milliseconds=1)
    closed(world)  # the first is exactly seven days old
    assert world.mark(agent("scout")).review_id
    world.clock.advance(86_400)
    assert world.mark(agent("scout")).task_id


def test_in_every_window_of_a_long_time_there_are_at_most_two(world: World) -> None:
    created = []
    for _ in range(400):
        world.clock.advance(43_200, milliseconds=-1)
        answer = world.mark(agent("scout"))
        if answer.task_id:
            created.append(world.clock.now())
            cancel_task(world.deps, human(), answer.task_id, None)
    assert len(created) > 50
    week = timedelta(days=7)
    assert all(later - earlier >= week for earlier, later in zip(created, created[2:], strict=False))
    assert len(direction(world).escalations) < 12, "entries outside of every window are forgotten"


@pytest.mark.parametrize(
    ("age", "verdict"),
    [
        (timedelta(days=7) - MS, CapReached("review_1", 1)),
        (timedelta(days=7), Free()),
        (timedelta(days=7) + MS, Free()),
    ],
)
def test_the_edge_of_the_window(age: timedelta, verdict: object) -> None:
    held = Direction(WORKSPACE, "a", "b", (CountedEscalation("task_1", NOON, closed=True),), "review_1")
    assert held.decide(NOON + age, Settings(escalation_cap=1)) == verdict


def test_an_entry_from_a_clock_that_is_ahead_is_inside_the_window() -> None:
    held = Direction(WORKSPACE, "a", "b", (CountedEscalation("task_1", NOON + timedelta(minutes=5)),))
    assert held.decide(NOON, Settings()) == Duplicate("task_1")


def test_entries_are_forgotten_once_no_window_can_reach_them() -> None:
    held = Direction(WORKSPACE, "a", "b", (CountedEscalation("old", NOON), CountedEscalation("new", NOON + MS)))
    month = timedelta(days=30)
    assert held.forgettable(NOON + month - MS) == ()
    assert held.forgettable(NOON + month) == ("old",)


# What counts, and for whom


def test_directions_are_apart_both_ways_and_by_target(world: World) -> None:
    first = world.needing()
    assert world.mark(agent("auditor"), source_agent="auditor", target_agent="scout").task_id
    assert world.mark(agent("scout"), target_agent="runner").task_id
    assert world.mark(agent("scout")).duplicate_of == first


def test_agents_whose_names_begin_alike_have_windows_of_their_own(world: World) -> None:
    for slug, name in (("client", "Client"), ("client-repo", "Client Repo"), ("client-repo-auditor", "Client Repo A")):
        register_agent(world.deps, human(), slug, {"name": name})
    for target in ("Client", "Client Repo", "Client Repo A", "client-repo-auditor"):
        answers = [world.mark(agent("scout"), target_agent=target) for _ in range(2)]
        if target == "client-repo-auditor":  # another name of the third
            assert all(answer.duplicate_of for answer in answers)
        else:
            assert answers[0].task_id
            assert answers[1].duplicate_of == answers[0].task_id
    for source in ("client", "client-repo"):
        assert world.mark(agent(source), source_agent=source).task_id


def test_other_names_of_the_same_agents_are_the_same_direction(world: World) -> None:
    first = world.needing(target_agent="Client Repo Auditor")
    for name in ("auditor", "Auditor", " Client Repo Auditor "):
        assert world.mark(agent("scout"), source_agent=" Scout ", target_agent=name).duplicate_of == first


def test_a_text_only_call_touches_neither_breaker_nor_cap(world: World) -> None:
    for _ in range(3):
        answer = world.mark(agent("scout"), create_task=False)
        assert (answer.task_id, answer.duplicate_of, answer.review_id, answer.task_url) == (None, None, None, None)
    assert direction(world) == Direction(WORKSPACE, "scout", "auditor")
    first = world.needing()
    before = direction(world)
    assert world.mark(agent("scout"), create_task=False).duplicate_of is None
    assert world.store.tasks.notes(WORKSPACE, first, 10) == ()
    cancel_task(world.deps, human(), first, None)
    closed(world)
    assert world.mark(agent("scout"), create_task=False).review_id is None
    assert len(direction(world).escalations) == len(before.escalations) + 1


def test_a_workspace_knows_nothing_of_anothers_directions(world: World) -> None:
    world.settle("other")
    world.needing()
    assert world.mark(agent("scout", "other")).task_id
    assert len(direction(world).escalations) == 1


def test_a_create_that_lost_its_race_decides_again_on_what_it_finds() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    won: list[str] = []
    store.before["commit"] = lambda: won.append(world.needing())
    answer = world.mark(agent("scout"))
    assert answer.duplicate_of == won[0]
    assert len(world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items) == 1


def test_an_escalation_that_ends_between_reading_and_commit_counts_as_ended_from_then_on() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    old = world.needing()
    world.clock.advance(WEEK)
    store.before["commit"] = lambda: cancel_task(world.deps, human(), old, None)
    new = world.needing()
    change_settings(world.deps, human(), {"handoff_window_days": 30})
    found = {entry.task_id: entry.closed for entry in world.direction().escalations}
    assert found == {old: True, new: False}


# An end is read from the task itself


def test_a_new_escalation_looks_at_each_ended_task_once() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    change_settings(world.deps, human(), {"escalation_cap": 20})
    looked: list[bool] = []
    for number in range(6):
        store.before["many"] = lambda: looked.append(True)
        closed(world)
        assert known(world) == [True] * number + [False], "the latest is known to have ended by the next one"
        store.before.pop("tasks", None)
    assert len(looked) == 5, "the first had nothing to look at"
    assert len(world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items) == 6


def test_a_full_window_looks_at_what_ended_since_the_last_one_and_knows_it_from_the_review_on() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    closed(world)
    closed(world)
    assert world.mark(agent("scout")).review_id
    assert known(world) == [True, True]
    store.before["many"] = lambda: pytest.fail("it was known")
    assert world.mark(agent("scout")).review_id


def test_an_end_is_remembered_until_its_escalation_is_forgotten(world: World) -> None:
    change_settings(world.deps, human(), {"handoff_window_days": 30, "escalation_cap": 20})
    for _ in range(3):
        closed(world)
        world.clock.advance(10 * 86_400)
    assert known(world) == [True, True, False]
    closed(world)  # the first is thirty days old
    assert known(world) == [True, True, False]
    world.clock.advance(31 * 86_400)
    closed(world)
    assert known(world) == [False]


def test_a_task_that_ends_just_after_its_direction_was_read_lets_the_next_one_in() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    old = world.needing()
    store.before["many"] = lambda: cancel_task(world.deps, human(), old, None)
    assert world.mark(agent("scout")).task_id not in (None, old)
    assert known(world) == [True, False]


def test_of_two_that_read_the_same_end_one_opens_the_next() -> None:
    """The other one comes in between its readings: the direction's version tells."""
    store = HookedStore()
    world = World(store=store).settle()
    closed(world)
    won: list[str] = []
    store.after["many"] = lambda: won.append(world.needing())
    change_settings(world.deps, human(), {"escalation_cap": 20})
    assert world.mark(agent("scout")).duplicate_of == won[0]
    assert known(world) == [True, False]


def test_a_page_that_is_closed_meanwhile_is_kept_beside_what_has_ended() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    change_settings(world.deps, human(), {"escalation_cap": 20})
    old = world.needing()
    world.clock.advance(WEEK)
    closed(world)
    note = Insert(Note(old, "note_1", NOON, "system:sync-tracker", {}))
    by_page = CloseEscalation("scout", "auditor", old)
    store.before["commit"] = lambda: world.store.commit(WORKSPACE, by_page, note)
    world.needing()
    assert known(world) == [True, True, False]


@pytest.mark.parametrize("scope", ["open", "any"])
def test_a_decision_looks_only_at_what_its_window_may_hold(scope: str) -> None:
    held = Direction(
        WORKSPACE,
        "a",
        "b",
        (
            CountedEscalation("old", NOON - timedelta(days=7)),
            CountedEscalation("ended", NOON - timedelta(days=7) + MS, closed=True),
            CountedEscalation("open", NOON - timedelta(days=7) + MS),
        ),
    )
    assert held.in_question(NOON, Settings(breaker_scope=scope)) == ("open",)
    assert held.with_closed({"open", "unknown"}).in_question(NOON, Settings(breaker_scope=scope)) == ()
