"""Waiting for the outside (docs/spec/lifecycle.md §6): an address that takes one answer, from whoever was given it."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from baton.domain.errors import BatonError, CallbackUsed, InvalidInput, TooManyWaits, Unknown
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import MAX_RELEASES, Task
from baton.domain.tasks.transitions import transition
from baton.domain.tasks.wake import next_look
from baton.services.claims.wait_for_callback import answer_callback, wait_for_callback
from baton.services.tasks.approve_task import approve_task_next
from baton.services.tasks.cancel_descendants import cancel_descendants
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.steps.tasks.change_task import commit
from support.faults.hooked_store import HookedStore
from support.faults.soak import scaled
from support.faults.threads import all_at_once
from support.worlds.team import Team
from support.worlds.world import WORKSPACE, human

A, B = "anna", "bert"


def calling(team: Team | None = None) -> tuple[Team, Task, str]:
    team = team or Team(A, B)
    held = team.begin(A)
    details, token = team.wait(held)
    assert (details.task.state, details.task.claim, details.task.attempt) == ("waiting", None, 0)
    return team, details.task, token


def test_what_is_posted_goes_to_the_next_claimer_with_the_word_for_it() -> None:
    team, task, token = calling()
    answer_callback(team.deps, token, {"answer": 42})
    assert team.task(task.id).state == "delegated"
    held = team.take(A, task.id)
    assert held.claimed is not None
    resume_payload = held.claimed.details.resume_payload or {}
    assert (resume_payload["callback"], resume_payload["interaction_id"], held.task.attempt) == (
        {"answer": 42},
        "interaction",
        1,
    )
    resumed = next(event for event in team.events(task.id) if event.type == "resumed")
    assert (resumed.principal_kind, resumed.principal_id, resumed.data["by"]) == ("service", "callback", "callback")
    team.check()


def test_where_it_came_from_is_where_it_goes_back_to() -> None:
    team = Team(B)
    team.register(A, approval="manual")
    task = team.ask(A, by=team.begin(B).by, under=team.held_by(B, team.tasks()[0].id)).task
    approve_task_next(team.deps, human(), task.id, None)
    _, token = team.wait(team.take(A, task.id))
    answer_callback(team.deps, token, None)
    assert team.task(task.id).state == "next"


def test_a_task_waits_a_hundred_times_and_goes_on_without() -> None:
    team, task, token = calling()
    answer_callback(team.deps, token, "1")
    for number in range(2, 101):
        _, token = team.wait(team.take(A, task.id))
        answer_callback(team.deps, token, str(number))
    held = team.take(A, task.id)
    before = team.task(task.id)
    with pytest.raises(TooManyWaits) as refusal:
        team.wait(held)
    assert (refusal.value.code, refusal.value.fields["limit"]) == ("too_many_waits", 100)
    assert team.task(task.id) == before
    team.complete(held)
    assert team.task(task.id).is_done
    team.check()


@pytest.mark.parametrize("content", [None, {}, [], "", 0, {"a": [1, 2]}])
def test_the_exact_repeat_is_taken_and_another_answer_is_not(content: object) -> None:
    team, task, token = calling()
    answer_callback(team.deps, token, content)
    after = team.task(task.id)
    answer_callback(team.deps, token, content)
    assert team.task(task.id) == after
    with pytest.raises(CallbackUsed):
        answer_callback(team.deps, token, {"another": True})
    held = team.take(A, task.id)
    answer_callback(team.deps, token, content)
    team.complete(held)
    answer_callback(team.deps, token, content)
    with pytest.raises(CallbackUsed):
        answer_callback(team.deps, token, {"another": True})


def test_each_wait_has_an_address_of_its_own() -> None:
    team, task, first = calling()
    answer_callback(team.deps, first, 1)
    _, second = team.wait(team.take(A, task.id))
    assert first != second
    with pytest.raises(CallbackUsed):
        answer_callback(team.deps, first, 2)
    assert team.task(task.id).state == "waiting"
    answer_callback(team.deps, second, 2)
    for content in (1, 2):
        with pytest.raises(CallbackUsed):
            answer_callback(team.deps, first, content)


def test_no_address_is_taken_that_was_not_given_out() -> None:
    team, task, token = calling()
    _, _, others = calling(team)
    name, seal = token.split(".")
    forged_name = base64.urlsafe_b64encode(f"globex.{task.id}.1".encode()).decode().rstrip("=")
    next_wait = base64.urlsafe_b64encode(f"{WORKSPACE}.{task.id}.2".encode()).decode().rstrip("=")
    forged = [
        "",
        ".",
        "no dot",
        name,
        seal,
        f"{name}.",
        f"{name}.{'0' * 64}",
        f"{name}.{seal[:-1]}",
        f"{name}.{seal.upper()}",
        f"{name}.{seal}\u00e9",
        f"\u00e9{name}.{seal}",
        f"{forged_name}.{seal}",
        f"{next_wait}.{seal}",
        f"{name}.{others.split('.')[1]}",
        token[::-1],
        "\x00.\x00",
    ]
    for each in forged:
        with pytest.raises(Unknown):
            answer_callback(team.deps, each, {"forged": True})
    assert team.task(task.id).state == "waiting"


def test_an_address_whose_time_is_over_is_used_and_the_task_goes_on_without() -> None:
    team = Team(A)
    until = team.world.clock.now() + timedelta(minutes=10)
    details, token = team.wait(team.begin(A), until)
    team.world.clock.time = until - timedelta(milliseconds=1)
    sweep(team.deps)
    assert team.task(details.task.id).state == "waiting"
    team.world.clock.time = until
    assert sweep(team.deps).reasons == {"callback_missed": 1}
    held = team.take(A, details.task.id)
    assert held.claimed is not None
    resume_payload = {"agent": "anna", "wait": 1, "callback": None, "interaction_id": "interaction", "timed_out": True}
    assert held.claimed.details.resume_payload == resume_payload
    assert "callback_missed" in held.task.flags
    assert [alert.kind for alert in team.world.store.alerts.newest(WORKSPACE, 10, None).items] == ["callback_missed"]
    with pytest.raises(CallbackUsed):
        answer_callback(team.deps, token, {"late": True})


def test_a_task_that_waits_in_vain_again_and_again_ends_with_a_human() -> None:
    team = Team(A)
    held = team.begin(A)
    for _ in range(MAX_RELEASES):
        assert (held.task.state, held.task.attempt) == ("claimed", 1)
        team.wait(held, team.world.clock.now() + timedelta(minutes=10))
        team.world.clock.advance(600)
        assert sweep(team.deps).reasons == {"callback_missed": 1}
        if team.task(held.task.id).state == "needs":
            break
        held = team.take(A, held.task.id)
    task = team.task(held.task.id)
    assert (task.state, task.waits, task.wait) == ("needs", MAX_RELEASES, None)
    assert {"callback_missed", "released_too_often"} <= task.flags
    team.check()


def test_a_checkpoint_lets_a_task_wait_in_vain_ten_times_more() -> None:
    team = Team(A)
    held = team.begin(A)
    for _ in range(MAX_RELEASES + 1):
        team.checkpoint(held)
        team.wait(held, team.world.clock.now() + timedelta(minutes=10))
        team.world.clock.advance(600)
        sweep(team.deps)
        held = team.take(A, held.task.id)
    assert held.task.state == "claimed"


@pytest.mark.parametrize(
    ("ahead", "is_allowed"), [(0, False), (-1, False), (1, True), (2_592_000, True), (2_592_001, False)]
)
def test_a_wait_ends_in_the_future_and_within_30_days(ahead: int, is_allowed: bool) -> None:
    team = Team(A)
    held = team.begin(A)
    until = team.world.clock.now() + timedelta(seconds=ahead)
    if is_allowed:
        details, _ = team.wait(held, until)
        assert next_look(details.task, team.world.clock.now()) == until
        assert details.task.meta.wake_at is not None
        assert details.task.meta.wake_at <= until
    else:
        with pytest.raises(InvalidInput):
            team.wait(held, until)
        assert team.task(held.task.id) == held.task


def test_the_address_of_a_cancelled_task_is_used() -> None:
    team, task, token = calling()
    cancel_task(team.deps, human(), task.id, None)
    with pytest.raises(CallbackUsed):
        answer_callback(team.deps, token, {})


def test_asking_for_the_address_again_gives_the_same_one() -> None:
    team = Team(A)
    held = team.begin(A)
    answers = {wait_for_callback(team.deps, WorkerCall(*held.where, "h"), "interaction")[1] for _ in range(3)}
    assert len(answers) == 1


@pytest.mark.slow
def test_of_answers_that_come_at_once_with_a_cancel_and_the_sweeper_one_counts() -> None:
    first: Counter[str] = Counter()
    for number in range(40):
        if number >= scaled(40, 4) and len(first) > 1:
            break
        team, task, token = calling()
        team.later(8 * 86_400)
        still = team.still()
        steps: list[Callable[[], object]] = [
            *(partial(answer_callback, still, token, {"from": number}) for number in range(4)),
            partial(cancel_task, still, human(), task.id, None),
            partial(sweep, still),
        ]
        answers = all_at_once(steps)
        assert {type(each) for each in answers if isinstance(each, BatonError)} <= {CallbackUsed}
        trail = team.world.trail(task.id)
        assert trail.count("resumed") <= 1
        assert trail[-1] == "cancelled"
        assert cancel_descendants(team.deps, WORKSPACE, task.id)
        first[trail[4]] += 1
        team.check()
    assert len(first) > 1


def test_an_answer_is_brought_though_the_task_changes_while_it_is_taken() -> None:
    team, task, token = calling()
    store = HookedStore(team.deps.store)

    def flag() -> None:
        flagged = commands.FlagClosedByBot(by=human())
        commit(team.deps, transition(team.task(task.id), flagged, team.deps.clock.now()))

    store.before["commit"] = flag
    answer_callback(replace(team.deps, store=store), token, {"answer": 42})
    assert team.task(task.id).state == "delegated"
    claimed = team.take(A, task.id).claimed
    assert claimed is not None
    assert (claimed.details.resume_payload or {})["callback"] == {"answer": 42}
