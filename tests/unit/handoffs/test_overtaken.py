"""What nobody has to decide on any more is closed, and says why; what a human has approved goes on
(docs/spec/lifecycle.md §10)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from baton.domain.errors import BatonError
from baton.domain.task_state import State
from baton.domain.tasks.calls import HumanCall
from baton.domain.tasks.task import Policy, Task
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.tasks.approve_task import approve_task, undo_approval
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.put_off_task import defer_task
from baton.services.tasks.sweep import sweep
from support.faults.threads import all_at_once
from support.worlds.team import HeldTask, Team
from support.worlds.world import agent, human

A, B, C, D = "anna", "bert", "carl", "dora"


def crew() -> Team:
    """A approves by hand what comes back to it; B and C take what they get."""
    team = Team(B, C, D, dispatch_delay_seconds=0)
    team.register(A, approval="manual")
    return team


def failed(team: Team, task_id: str) -> tuple[Task, Task]:
    """The task, failed by B, and its rollback, which waits."""
    first = team.fail(team.take(B, task_id)).task
    rollback = next(each for each in team.tasks() if each.parent_id == first.id)
    assert (str(rollback.kind), rollback.state) == ("rollback", State.NEEDS)
    return first, rollback


def begun(team: Team) -> tuple[Task, Task]:
    return failed(team, team.ask(B, by=agent(A)).task.id)


def again(team: Team, first: Task) -> HeldTask:
    retry = retry_handoff(team.deps, human(), first.id).task
    team.later()
    return team.take(B, retry.id)


def closed(team: Team, task: Task) -> dict[str, object]:
    """How the task was closed, which was once and by Baton."""
    assert team.task(task.id).state is State.CANCELLED
    last = team.events(task.id)[-1]
    assert (last.type, last.principal_kind, last.principal_id) == ("cancelled", "service", "sweeper")
    return {name: last.data[name] for name in ("overtaken_by", "reason")}


def is_waiting(team: Team, task: Task) -> bool:
    return team.task(task.id).state is State.NEEDS


def test_a_retry_that_is_done_closes_the_rollback_of_what_it_retried() -> None:
    team = crew()
    first, rollback = begun(team)
    held = again(team, first)
    assert is_waiting(team, rollback), "the retry may fail as well"
    team.complete(held)
    assert closed(team, rollback) == {
        "overtaken_by": held.task.id,
        "reason": f"Overtaken: the work was tried again in {held.task.id}, which was done.",
    }
    (item,) = [each for each in team.inbox(B) if each["task_id"] == rollback.id]
    assert (item["state"], item["overtaken_by"]) == ("cancelled", held.task.id)
    team.check()


def test_so_does_one_that_a_human_resolves() -> None:
    team = crew()
    first, rollback = begun(team)
    retry = retry_handoff(team.deps, human(), first.id).task
    resolve_task(team.deps, HumanCall(human(), retry.id), {"done": "by hand"}, "done by hand")
    assert closed(team, rollback)["overtaken_by"] == retry.id


def test_a_second_rollback_takes_the_place_of_the_first_and_success_closes_all() -> None:
    team = crew()
    first, rollback = begun(team)
    second, newer = failed(team, retry_handoff(team.deps, human(), first.id).task.id)
    how = f"which failed as well, for which {newer.id} waits"
    reason = f"Overtaken: the work was tried again in {second.id}, {how}."
    assert closed(team, rollback) == {"overtaken_by": newer.id, "reason": reason}
    # A third attempt may name any of those before it.
    team.complete(again(team, first))
    assert closed(team, newer)["overtaken_by"] != newer.id
    assert not [task for task in team.tasks() if task.state is State.NEEDS]
    team.check()


@pytest.mark.parametrize("how", ["fails for now", "is cancelled", "is dismissed"])
def test_a_retry_that_comes_to_nothing_leaves_the_rollback_to_a_human(how: str) -> None:
    team = crew()
    first, rollback = begun(team)
    held = again(team, first)
    if how == "fails for now":
        team.fail(held, retryable=True)
    else:
        cancel_task(team.deps, human(), held.task.id, None)
    assert is_waiting(team, rollback)


def test_what_a_human_has_approved_goes_on_and_what_is_put_off_is_closed() -> None:
    team = crew()
    first, rollback = begun(team)
    held = again(team, first)
    approve_task(team.deps, human(), rollback.id, None)
    team.complete(held)
    assert team.task(rollback.id).state is State.DELEGATED
    team.complete(team.take(A, rollback.id))

    first, rollback = begun(team)
    held = again(team, first)
    defer_task(team.deps, HumanCall(human(), rollback.id), team.world.clock.now() + timedelta(days=3))
    team.complete(held)
    assert closed(team, rollback)["overtaken_by"] == held.task.id


def test_what_somebody_had_claimed_stays_for_a_human() -> None:
    """Work may have been handed on from it, which a close would cancel."""
    team = crew()
    first, rollback = begun(team)
    approve_task(team.deps, human(), rollback.id, None)
    for _ in range(3):
        team.later(600)
        team.take(A, rollback.id)
        team.later(3_600)
        sweep(team.deps)
    assert (is_waiting(team, rollback), team.task(rollback.id).fence) == (True, 3)
    team.complete(again(team, first))
    assert is_waiting(team, rollback)
    team.check()


def test_an_approval_that_is_undone_after_the_retry_was_done_waits_again() -> None:
    team = crew()
    first, rollback = begun(team)
    held = again(team, first)
    team.set(dispatch_delay_seconds=60)
    approve_task(team.deps, human(), rollback.id, None)
    team.complete(held)
    undo_approval(team.deps, human(), rollback.id)
    assert is_waiting(team, rollback), "who undoes has it before their eyes"


@pytest.mark.parametrize("_turn", range(25))
def test_of_an_approval_and_the_retrys_end_one_has_the_rollback(_turn: int) -> None:
    team = crew()
    first, rollback = begun(team)
    held = again(team, first)
    still = team.still()

    def approve() -> str:
        try:
            approve_task(still, human(), rollback.id, None)
        except BatonError as refusal:
            return refusal.code
        return "approved"

    answers = all_at_once([approve, lambda: str(team.complete(held).task.state)])
    state = team.task(rollback.id).state
    outcome = (*sorted(map(str, answers)), str(state))
    assert outcome in {("approved", "done", "delegated"), ("done", "task_ended", "cancelled")}
    assert team.task(held.task.id).is_done
    team.check()


def test_the_work_of_others_beside_it_is_left_alone() -> None:
    team = crew()
    team.register(D, approval="manual")
    whole = approve_task(team.deps, human(), team.ask(D, by=agent(A)).task.id, None).task
    parent = team.take(D, whole.id)
    first, rollback = failed(team, team.ask(B, "one", under=parent).task.id)
    _, other = failed(team, team.ask(B, "other", under=parent).task.id)
    team.complete(again(team, first))
    assert closed(team, rollback)
    assert is_waiting(team, other)


def test_the_entry_in_the_place_of_a_rollback_is_closed_as_well() -> None:
    team = crew()
    _, rollback = begun(team)
    approve_task(team.deps, human(), rollback.id, None)
    team.fail(team.take(A, rollback.id))
    (review,) = team.reviews()
    assert (review.is_open, review.rule) == (True, "rollback_to_its_source")
    retry = retry_handoff(team.deps, human(), rollback.id).task
    team.later()
    team.complete(team.take(A, retry.id))
    (review,) = team.reviews()
    assert (review.is_open, review.closed_by) == (False, "service:sweeper")
    assert review.closed_reason == f"Overtaken: the work was tried again in {retry.id}, which was done."


def test_branches_that_nobody_waits_for_any_more_are_closed_and_those_at_work_go_on() -> None:
    team = Team(A, B, C, dispatch_delay_seconds=0)
    team.register(D, approval="manual")
    task = team.delegate(team.begin(A), B, C, D, policy=Policy.ANY).task
    assert task.wait is not None
    first, second, third = (branch.task_id for branch in task.wait.branches)
    busy = team.take(C, second)
    team.complete(team.take(B, first))
    assert sweep(team.deps).failed == 0
    held = team.take(A, task.id)
    assert held.claimed is not None
    results = (held.claimed.details.resume_payload or {})["results"]
    assert [each["state"] for each in results] == ["done", "claimed", "cancelled"]
    assert closed(team, team.task(third)) == {
        "overtaken_by": task.id,
        "reason": f"Overtaken: {task.id}, which had asked for this, has gone on without it.",
    }
    team.complete(busy)
    team.check()


@pytest.mark.parametrize("end", ["resolved", "past its deadline"])
def test_so_are_those_of_a_task_that_has_ended_meanwhile(end: str) -> None:
    team = Team(A, B, dispatch_delay_seconds=0)
    team.register(D, approval="manual")
    deadline = team.world.clock.now() + timedelta(hours=1)
    due = {"deadline": deadline.isoformat(), "fail_on_deadline": True} if end != "resolved" else {}
    task = team.delegate(team.begin(A, expectations=due), B, D).task
    assert task.wait is not None
    at_work, undecided = (branch.task_id for branch in task.wait.branches)
    held = team.take(B, at_work)
    if end == "resolved":
        resolve_task(team.deps, HumanCall(human(), task.id), None)
    else:
        team.later(3_601)
        assert sweep(team.deps).failed == 0
    assert closed(team, team.task(undecided))["reason"] == (
        f"Overtaken: {task.id}, which had asked for this, has ended."
    )
    if end == "resolved":
        team.complete(held)
        assert team.task(at_work).is_done
    assert sweep(team.deps).failed == 0
    team.check()
