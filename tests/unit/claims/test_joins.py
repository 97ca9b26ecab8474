"""A task that waits for its branches goes on exactly once, with what the last task of each came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from baton.domain.errors import InvalidInput
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.tasks.task import MAX_RELEASES, Policy, Task
from baton.ports.details import TaskDetails
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import reject_task
from baton.services.claims.join_branches import join_branches
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.tasks.cancel_descendants import cancel_descendants
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.sweep import sweep
from support.faults.hooked_store import HookedStore
from support.faults.soak import scaled
from support.faults.threads import all_at_once, race
from support.worlds.team import HeldTask, Team
from support.worlds.world import WORKSPACE, World, agent, human

A, B, C, D = "anna", "bert", "carl", "dora"
# How often a race is run.
TIMES = scaled(40, 8)


def waiting(
    team: Team, *targets: str, policy: Policy = Policy.ALL, quorum: int | None = None
) -> tuple[Task, list[HeldTask]]:
    """A task of A's that waits, and its branches, all taken."""
    task = team.delegate(team.begin(A), *targets, policy=policy, quorum=quorum).task
    assert task.wait is not None
    return task, [team.take(slug, branch.task_id) for slug, branch in zip(targets, task.wait.branches, strict=True)]


def state(team: Team, task: Task) -> str:
    assert sweep(team.deps).failed == 0
    return str(team.task(task.id).state)


def resume_payload(team: Team, task: Task) -> list[dict[str, Any]]:
    """What the next claimer gets, after it was seen that the task went on once."""
    assert state(team, task) == "delegated"
    assert team.world.trail(task.id).count("resumed") == 1
    held = team.take(A, task.id)
    found = held.claimed.details.resume_payload if held.claimed else None
    assert found is not None
    assert held.task.attempt == 1, "waiting is no attempt"
    results: list[dict[str, Any]] = found["results"]
    return results


def outcomes_of(results: list[dict[str, Any]]) -> list[tuple[str, str, Any]]:
    return [(each["call_id"], each["state"], each["output"]) for each in results]


# Policies


@pytest.mark.parametrize(
    ("policy", "quorum", "ends", "goes_on_after"),
    [
        (Policy.ALL, None, "dddd", 4),
        (Policy.ALL, None, "fddd", 4),
        (Policy.ALL, None, "ffff", 4),
        (Policy.ANY, None, "dddd", 1),
        (Policy.ANY, None, "ffdd", 3),
        (Policy.ANY, None, "ffff", 4),
        (Policy.QUORUM, 2, "dddd", 2),
        (Policy.QUORUM, 2, "fdfd", 4),
        (Policy.QUORUM, 1, "fffd", 4),
        (Policy.QUORUM, 4, "dddd", 4),
        (Policy.QUORUM, 2, "dfff", 4),
    ],
)
def test_a_policy_says_when_it_goes_on_and_late_finishers_change_nothing(
    policy: Policy, quorum: int | None, ends: str, goes_on_after: int
) -> None:
    team = Team(A, B, C, D)
    task, held_tasks = waiting(team, B, C, D, B, policy=policy, quorum=quorum)
    for number, (held, end) in enumerate(zip(held_tasks, ends, strict=True), 1):
        if end == "d":
            team.complete(held, output={"part": number})
        else:
            team.fail(held)
        assert state(team, task) == ("delegated" if number >= goes_on_after else "waiting")
    results = resume_payload(team, task)
    wanted = {"d": "done", "f": "failed"}
    known = [wanted[end] if number < goes_on_after else "claimed" for number, end in enumerate(ends)]
    assert [each["state"] for each in results] == known
    assert [each["call_id"] for each in results] == ["b0", "b1", "b2", "b3"]
    assert state(team, task) == "claimed"
    team.check()


@pytest.mark.parametrize("quorum", [None, 0, 3])
def test_a_quorum_is_of_the_branches_there_are(quorum: int | None) -> None:
    team = Team(A, B, C)
    held = team.begin(A)
    with pytest.raises(InvalidInput):
        team.delegate(held, B, C, policy=Policy.QUORUM, quorum=quorum)
    assert team.task(held.task.id) == held.task


def test_a_late_finisher_of_an_earlier_wait_ends_no_later_one() -> None:
    team = Team(A, B, C, D)
    task, (first, late) = waiting(team, B, C, policy=Policy.ANY)
    team.complete(first)
    resume_payload(team, task)
    team.delegate(team.held_by(A, task.id), D)
    team.complete(late)
    assert state(team, task) == "waiting"
    team.complete(team.take(D))
    assert state(team, task) == "delegated"
    assert team.world.trail(task.id).count("resumed") == 2


# How a branch may end


def test_the_results_are_of_the_last_task_of_each_branch() -> None:
    team = Team(A, B, C, D)
    task, (moved, rolled, went_on) = waiting(team, B, C, D)
    team.transfer(moved, C)
    twice = team.take(C, team.task(moved.task.id).successors[0])
    team.transfer(twice, D)
    team.fail(rolled, back_to=D)
    back = team.take(D, team.task(rolled.task.id).successors[0])
    team.complete(went_on, to=B, output={"asked": "for more"})
    assert state(team, task) == "waiting"
    team.complete(back, output={"mended": True})
    assert state(team, task) == "waiting", "one was handed on, and is not done"
    team.complete(team.take(D, team.task(twice.task.id).successors[0]), output={"moved": "twice"})
    results = resume_payload(team, task)
    assert outcomes_of(results) == [
        ("b0", "done", {"moved": "twice"}),
        ("b1", "done", {"mended": True}),
        ("b2", "done", {"asked": "for more"}),
    ]


def test_failed_rejected_cancelled_and_resolved_branches_are_told_as_what_they_are() -> None:
    team = Team(A, B, C, D)
    task, (failed, rejected, cancelled, resolved) = waiting(team, B, C, D, B)
    record = team.fail(failed, description="no data").failure
    team.reject(rejected, "not mine")
    cancel_task(team.deps, human(), cancelled.task.id, "not needed")
    resolve_task(team.deps, HumanCall(human(), resolved.task.id), {"by": "hand"})
    results = resume_payload(team, task)
    assert outcomes_of(results) == [
        ("b0", "failed", None),
        ("b1", "rejected", None),
        ("b2", "cancelled", None),
        ("b3", "done", {"by": "hand"}),
    ]
    assert results[0]["failure"]["description"] == "no data"
    assert results[1]["failure"]["description"] == "not mine"
    # Who waits is told there, and handed nothing back.
    assert record is not None
    assert record["rollback"] == {"status": "told_to_waiting_task", "task_id": task.id}
    assert [each.kind for each in team.tasks()].count("rollback") == 0


def test_a_split_branch_has_ended_when_its_last_part_has() -> None:
    team = Team(A, C)
    team.register(B, approval="manual")
    task = team.delegate(team.begin(A), B, C).task
    assert task.wait is not None
    team.complete(team.take(C))
    parts = team.split(task.wait.branches[0].task_id, {"summary": "one"}, {"target": {"agent": C}})
    assert state(team, task) == "waiting"
    resolve_task(team.deps, HumanCall(human(), parts[1].task.id), {"part": 2})
    assert state(team, task) == "waiting"
    cancel_task(team.deps, human(), parts[0].task.id, "not needed")
    results = outcomes_of(resume_payload(team, task))
    assert sorted(results[:2]) == [("b0", "cancelled", None), ("b0", "done", {"part": 2})]
    assert results[2:] == [("b1", "done", None)]


def test_a_branch_whose_rollback_is_stopped_has_ended() -> None:
    team = Team(A, B, C, max_depth=2)
    task, (held,) = waiting(team, B)
    team.fail(held, back_to=C)
    assert outcomes_of(resume_payload(team, task)) == [("b0", "failed", None)]
    assert len(team.reviews()) == 1


def test_a_retried_branch_is_its_parents_business_no_more() -> None:
    team = Team(A, B, C)
    task, (failed, other) = waiting(team, B, C)
    team.fail(failed)
    again = retry_handoff(team.deps, human(), failed.task.id).task
    assert (again.join_parent, again.parent_id) == (None, task.id)
    team.complete(other)
    assert outcomes_of(resume_payload(team, task))[0] == ("b0", "failed", None)


def test_results_that_are_too_large_together_are_left_to_their_tasks() -> None:
    team = Team(A, B)
    task, held_tasks = waiting(team, *[B] * 10)
    for held in held_tasks:
        team.complete(held, output={"text": "x" * 100_000})
    results = resume_payload(team, task)
    assert [each["left_out"] for each in results] == [["output"]] * 10
    assert team.world.store.tasks.read(WORKSPACE, results[0]["task_id"]).output == {"text": "x" * 100_000}


# At once


@pytest.mark.slow
def test_two_last_children_that_end_at_once_let_the_parent_go_on_exactly_once() -> None:
    """Each then does what its notice says; no sweeper is needed."""
    for _ in range(scaled(60)):
        team = Team(A, B, C)
        task, held_tasks = waiting(team, B, C)
        still = team.still()

        def end(_: int, runner: int, b: Any = still, each: list[HeldTask] = held_tasks, parent: Task = task) -> bool:
            complete_task(b, WorkerCall(*each[runner].where, "h"), CompletedWork(output={"by": runner}))
            return join_branches(b, WORKSPACE, parent.id)

        (answers,) = race(2, 1, end)
        assert sorted(answers, key=str) == [False, True]
        assert team.task(task.id).state == "delegated"
        assert outcomes_of(resume_payload(team, task)) == [("b0", "done", {"by": 0}), ("b1", "done", {"by": 1})]


@pytest.mark.slow
def test_children_that_transfer_retry_reject_and_complete_at_once_lose_nothing() -> None:
    ends: Counter[str] = Counter()
    for _ in range(TIMES):
        team = Team(A, B, C, D)
        task, held_tasks = waiting(team, B, C, D)
        still = team.still()
        steps: list[Callable[[], object]] = [
            partial(complete_task, still, WorkerCall(*held_tasks[0].where, "h"), CompletedWork(output={"ok": 1})),
            partial(team.transfer, held_tasks[1], D),
            partial(reject_task, still, WorkerCall(*held_tasks[2].where, "h"), "no"),
            partial(join_branches, still, WORKSPACE, task.id),
            partial(sweep, still),
        ]
        answers = all_at_once(steps)
        assert not [each for each in answers if isinstance(each, Exception)]
        ends[state(team, task)] += 1
        team.complete(team.take(D, team.task(held_tasks[1].task.id).successors[0]), output={"last": True})
        results = resume_payload(team, task)
        assert outcomes_of(results) == [
            ("b0", "done", {"ok": 1}),
            ("b1", "done", {"last": True}),
            ("b2", "rejected", None),
        ]
    assert ends == {"waiting": TIMES}


def test_a_join_waits_for_a_successor_that_is_not_readable_yet() -> None:
    class Torn(HookedStore):
        def many(self, workspace: str, task_ids: Any) -> dict[str, Task]:
            found: dict[str, Task] = self.inner.tasks.many(workspace, task_ids)
            for each in unreadable & found.keys():
                unreadable.remove(each)
                del found[each]
            return found

    unreadable: set[str] = set()
    team = Team(A, B, C, world=World(store=Torn()))
    task, (held,) = waiting(team, B)
    team.transfer(held, C)
    (successor,) = team.task(held.task.id).successors
    unreadable.add(successor)
    assert not join_branches(team.still(), WORKSPACE, task.id)
    assert unreadable == set()
    team.complete(team.take(C, successor), output={"last": True})
    assert outcomes_of(resume_payload(team, task)) == [("b0", "done", {"last": True})]


@pytest.mark.slow
def test_a_parent_that_is_cancelled_while_its_last_child_ends_is_cancelled_once() -> None:
    first: Counter[str] = Counter()
    for _ in range(TIMES):
        team = Team(A, B)
        task, (held,) = waiting(team, B)
        still = team.still()

        def end(b: Any = still, each: HeldTask = held, parent: Task = task) -> None:
            complete_task(b, WorkerCall(*each.where, "h"), CompletedWork(output=None))
            join_branches(b, WORKSPACE, parent.id)

        steps: list[Callable[[], object]] = [
            end,
            partial(cancel_task, still, human(), task.id, "stop"),
            partial(sweep, still),
        ]
        all_at_once(steps)
        assert state(team, task) == "cancelled"
        assert cancel_descendants(team.deps, WORKSPACE, task.id)
        assert team.open() == []
        first[str(team.task(held.task.id).state)] += 1
    assert set(first) <= {"done", "cancelled"}


def test_a_child_may_hand_off_beside_its_branch_without_being_waited_for() -> None:
    team = Team(A, B, C)
    task, (held,) = waiting(team, B)
    message = {"source": {"agent": B}, "target": {"agent": C, "reason": "by the way"}}
    aside = create_handoff(team.deps, agent(B), CreateHandoff(message=message_from(message), claim_id=held.claim_id))
    assert isinstance(aside, TaskDetails)
    team.complete(held)
    assert outcomes_of(resume_payload(team, task)) == [("b0", "done", None)]
    assert not team.task(aside.task.id).is_ended


def test_a_failure_of_a_branch_that_was_handed_on_goes_back_to_whoever_handed_it_on() -> None:
    team = Team(A, B, C)
    task, (held,) = waiting(team, B)
    passed_on = team.take(C, team.transfer(held, C).task.successors[0])
    record = team.fail(passed_on).failure
    assert record is not None
    assert (record["rollback"]["status"], record["rollback"]["target_agent"]) == ("created", B)
    assert state(team, task) == "waiting"
    team.complete(team.take(B, record["rollback"]["task_id"]), output="mended")
    assert outcomes_of(resume_payload(team, task)) == [("b0", "done", "mended")]


def test_a_branch_that_was_handed_on_for_ever_so_long_is_joined_all_the_same() -> None:
    team = Team(*(f"agent-{number:02d}" for number in range(66)), A, loop_guard=False)
    task, (held,) = waiting(team, "agent-00")
    for number in range(1, 66):
        slug = f"agent-{number:02d}"
        held = team.take(slug, team.transfer(held, slug).task.successors[0])
    team.complete(held, output="at last")
    assert outcomes_of(resume_payload(team, task)) == [("b0", "done", "at last")]


def test_a_branch_that_was_split_is_done_once_all_its_parts_are() -> None:
    team = Team(A, C)
    team.register(B, approval="manual")
    task = team.delegate(team.begin(A), B, C, policy=Policy.ANY).task
    assert task.wait is not None
    parts = team.split(task.wait.branches[0].task_id, {"summary": "one"}, {"summary": "two"})
    resolve_task(team.deps, HumanCall(human(), parts[0].task.id), None)
    cancel_task(team.deps, human(), parts[1].task.id, "not needed")
    assert state(team, task) == "waiting"
    team.complete(team.take(C))
    assert outcomes_of(resume_payload(team, task))[-1] == ("b1", "done", None)


def test_a_split_cancels_nothing_but_the_whole() -> None:
    """What came of it under an earlier claim is at work on its own account."""
    team = Team(A, C)
    held = team.begin(A)
    child = team.ask(C, under=held).task
    for _ in range(MAX_RELEASES):
        team.release(held)
        team.later(300)
        if team.task(held.task.id).state == "delegated":
            held = team.take(A, held.task.id)
    team.split(held.task.id, {"summary": "one"}, {"summary": "two"})
    assert state(team, child) == "delegated"
