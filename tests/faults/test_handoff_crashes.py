"""A process dies before or after any of its calls to the store, while work is handed on, waits, joins or is cancelled.
With the caller asking again, or the sweeper alone, all of it has happened once or none of it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import HumanCall
from baton.domain.tasks.task import JoinRule, Policy
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.delegate_task import branch_from, delegate_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.join_branches import join_branches
from baton.services.claims.transfer_task import transfer_task
from baton.services.claims.wait_for_callback import answer_callback
from baton.services.escalations.release_review import release_review
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.handoffs.split_task import split_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from support.faults.call_hooks import CallHooks, die
from support.faults.choke_point import Crash
from support.faults.soak import crossed, spread
from support.worlds.team import HeldTask, StoppedHandoff, Team
from support.worlds.world import WORKSPACE, World, agent, human

A, B, C = "anna", "bert", "carl"
TO_B = {"target": {"agent": B, "reason": "go on"}}
FAILURE = {"type": "error", "description": "broke", "partial_progress": {"completed": ["half"], "incomplete": []}}


def idempotency_key(by: Principal) -> IdempotencyKey:
    return IdempotencyKey(by, "/route", "key-1", "hash-1")


@dataclass(frozen=True)
class HandoffCase:
    """``act`` takes what ``prepare`` made, and says which task it was about."""

    prepare: Callable[[Team], Any]
    act: Callable[[Team, Any], str]


def begun(team: Team) -> HeldTask:
    return team.begin(A)


def a_family(team: Team) -> HeldTask:
    """Three levels at work, one of them waiting."""
    root = team.begin(A)
    child = team.take(B, team.ask(B, under=root).task.id)
    team.take(C, team.ask(C, under=child).task.id)
    team.delegate(team.take(C, team.ask(C, under=root).task.id), A, B)
    return root


def a_wait(team: Team) -> str:
    task = team.delegate(team.begin(A), B, C).task
    assert task.wait is not None
    for slug, branch in zip((B, C), task.wait.branches, strict=True):
        team.complete(team.take(slug, branch.task_id), output={"by": slug})
    return task.id


def a_failure(team: Team) -> str:
    root = team.begin(A)
    return team.fail(team.take(B, team.ask(B, under=root).task.id)).task.id


def a_retry(team: Team) -> HeldTask:
    """What it retries has a rollback that waits for a human."""
    team.register(A, approval="manual")
    first = team.fail(team.take(B, team.ask(B, by=agent(A)).task.id)).task
    retry = retry_handoff(team.deps, human(), first.id).task
    team.later()
    return team.take(B, retry.id)


def a_wait_for_any(team: Team) -> str:
    """One branch is done, another waits for a human."""
    team.register(C, approval="manual")
    task = team.delegate(team.begin(A), B, C, policy=Policy.ANY).task
    assert task.wait is not None
    team.complete(team.take(B, task.wait.branches[0].task_id))
    return task.id


def too_large(team: Team) -> str:
    team.register(C, approval="manual")
    return team.ask(C, by=agent(A)).task.id


def a_review(team: Team) -> str:
    team.set(max_depth=1)
    halt = team.pass_on(team.begin(A), B, "handoff", "on")
    assert isinstance(halt, StoppedHandoff)
    return halt.review_id


def a_call(team: Team) -> str:
    return team.wait(team.begin(A))[1]


def hand_off(team: Team, held: HeldTask) -> str:
    asked = CreateHandoff(message=message_from({"source": {"agent": A}, **TO_B}), claim_id=held.claim_id)
    return create_handoff(team.deps, held.by, asked, idempotency_key(held.by)).task.id


def complete(team: Team, held: HeldTask) -> str:
    going_on = {"continuation": {"suggested_next": B, "reason": "go on"}}
    return complete_task(
        team.deps,
        held.call("h", idempotency_key(held.by)),
        CompletedWork(output={"ok": 1}, completion=going_on),
    ).task.id


def fail(team: Team, held: HeldTask) -> str:
    back = {"target_agent": B}
    return fail_task(
        team.deps,
        held.call("h", idempotency_key(held.by)),
        FailedWork(failure=FAILURE, rollback_request=back),
    ).task.id


def delegate(team: Team, held: HeldTask) -> str:
    branches = [{"call_id": "b", **TO_B}, {"call_id": "c", "target": {"agent": C, "reason": "go on"}}]
    return delegate_task(
        team.deps,
        held.call("h", idempotency_key(held.by)),
        list(map(branch_from, branches)),
        JoinRule(Policy.ALL),
    ).task.id


def join(team: Team, task_id: str) -> str:
    join_branches(team.deps, WORKSPACE, task_id)
    return task_id


def call_back(team: Team, token: str) -> str:
    answer_callback(team.deps, token, {"answer": 42})
    return ""


HANDOFF_CASES = {
    "a handoff": HandoffCase(begun, hand_off),
    "a completion with a continuation": HandoffCase(begun, complete),
    "a failure with a rollback": HandoffCase(begun, fail),
    "a transfer": HandoffCase(
        begun,
        lambda team, held: (
            transfer_task(team.deps, held.call("h", idempotency_key(held.by)), message_from(TO_B)).task.id
        ),
    ),
    "a delegation": HandoffCase(begun, delegate),
    "a cancel of three levels": HandoffCase(
        a_family,
        lambda team, root: cancel_task(team.deps, human(), root.task.id, "stop", idempotency_key(human())).task.id,
    ),
    "a join": HandoffCase(a_wait, join),
    "a retry": HandoffCase(
        a_failure, lambda team, id_: retry_handoff(team.deps, agent(A), id_, idempotency_key(agent(A))).task.id
    ),
    "an end that overtakes a rollback": HandoffCase(
        a_retry,
        lambda team, held: (
            complete_task(team.deps, held.call("h", idempotency_key(held.by)), CompletedWork(output={"ok": 1})).task.id
        ),
    ),
    "a join that overtakes a branch": HandoffCase(a_wait_for_any, join),
    "a split": HandoffCase(
        too_large,
        lambda team, id_: (
            split_task(
                team.deps,
                HumanCall(human(), id_, idempotency_key=idempotency_key(human())),
                list(map(message_from, [{"summary": "1"}, {"summary": "2"}])),
            )[0].task.id
        ),
    ),
    "a release": HandoffCase(
        a_review, lambda team, id_: release_review(team.deps, human(), id_, idempotency_key(human()))[1].task.id
    ),
    "a callback": HandoffCase(a_call, call_back),
}


class RepeatableHandoff:
    """A case up to the moment before its act; ``again`` goes back there, in a process that knows the agents."""

    def __init__(self, case: HandoffCase) -> None:
        self.case, self.store = case, CallHooks()
        self.team = Team(A, B, C, world=World(store=self.store))
        self.made = case.prepare(self.team)
        self._restore_table, self._now = self.store.inner.dynamo.snapshot(), self.team.world.clock.time
        self.again()

    def again(self) -> None:
        self._restore_table()
        self.team.world.clock.time = self._now
        for queue in (self.team.world.dispatch_queue, self.team.world.tracker_queue):
            queue.notices.clear()
        self.store.inner.forget_all()
        self.store.inner.agents.roster(WORKSPACE)
        self.store.begin()

    def act(self) -> str:
        return self.case.act(self.team, self.made)


def shape(team: Team) -> list[Any]:
    """Everything that there is, without what is chance."""
    tasks = sorted(
        (
            task.kind,
            task.source_agent,
            str(task.target_agent),
            task.title,
            task.attempt,
            tuple(team.world.trail(task.id)),
        )
        for task in team.tasks()
    )
    inboxes = [(slug, sorted(item["type"] for item in team.inbox(slug))) for slug in (A, B, C)]
    reviews = [(review.rule, review.is_open, review.count) for review in team.reviews()]
    claims = [len(team.world.store.claims.held(WORKSPACE, slug)) for slug in (A, B, C)]
    return [tasks, inboxes, reviews, claims]


def quiet(team: Team) -> list[Any]:
    for _ in range(3):
        assert sweep(team.deps).failed == 0
    team.check()
    return shape(team)


def swept_then_asked(repeatable: RepeatableHandoff) -> list[str]:
    assert quiet(repeatable.team)
    return [repeatable.act()]


AFTERWARDS: dict[str, Callable[[RepeatableHandoff], list[str]]] = {
    "nobody asks again": lambda _repeatable: [],
    "asked again": lambda repeatable: [repeatable.act()],
    "asked twice": lambda repeatable: [repeatable.act(), repeatable.act()],
    "the sweeper comes first": swept_then_asked,
}


@pytest.mark.parametrize(("name", "afterwards"), crossed(list(HANDOFF_CASES), list(AFTERWARDS)))
def test_it_dies_anywhere(name: str, afterwards: str) -> None:
    repeatable = RepeatableHandoff(HANDOFF_CASES[name])
    team, store = repeatable.team, repeatable.store
    before = quiet(team) if "join" not in name else []  # the sweeper joins, whoever died
    repeatable.again()
    repeatable.act()
    calls = list(store.calls)
    wanted = quiet(team)
    assert wanted != before
    # To die before any other call is to die after the one before it.
    points = [(1, "before"), *((number, "after") for number in range(1, len(calls) + 1))]
    for number, when in spread(points, 2):
        where = f"{when} call {number}, {calls[number - 1]}"
        repeatable.again()
        store.begin_at(number, die, when=when)
        with pytest.raises(Crash):
            repeatable.act()
        store.begin()
        answers = AFTERWARDS[afterwards](repeatable)
        came = quiet(team)
        assert came == wanted or (not answers and came == before), where
        assert len(set(answers)) <= 1, where


def test_the_points_are_where_something_is_read_or_written() -> None:
    repeatable = RepeatableHandoff(HANDOFF_CASES["a delegation"])
    delegate(repeatable.team, repeatable.made)
    reads = [
        "handoff_inputs",
        "receipt",
        "handoff_inputs",
        "roster",
        "person",
        "person",
    ]  # each target's standing approval
    assert repeatable.store.calls == [*reads, "commit"]
