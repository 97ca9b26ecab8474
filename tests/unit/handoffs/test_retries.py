"""Trying anew what has failed (docs/spec/protocol.md §6 and §7): one at a time, by who may, and out of no cancelled
tree."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.errors import AlreadyRetried, HumanNeeded, LoopTripped, NotAllowed, NotYourAgent, Unknown
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Task
from baton.domain.times import rfc3339
from baton.ports.details import TaskDetails
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.escalations.release_review import release_review
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from support.faults.call_hooks import CallHooks, die
from support.faults.hooked_store import HookedStore
from support.faults.soak import scaled
from support.faults.threads import all_at_once
from support.worlds.team import BROKE, HeldTask, Team
from support.worlds.world import WORKSPACE, World, agent, human, service

A, B, C = "anna", "bert", "carl"


def failed(team: Team, held: HeldTask, target: str = B, reason: str = "try") -> Task:
    """What the holder of ``held`` handed off, and came to nothing."""
    return team.fail(team.take(target, team.ask(target, reason, under=held).task.id)).task


def test_a_retry_takes_the_place_of_what_failed_with_its_context_and_beside_it_the_last_checkpoint() -> None:
    team = Team(A, B)
    root = team.begin(A)
    child = team.take(B, team.ask(B, under=root, context={"state": {"a": 1}, "variables": {"v": 2}}).task.id)
    team.checkpoint(child, a=2, b=3)
    first = team.fail(child).task
    again = retry_handoff(team.deps, agent(A), first.id)
    assert (again.task.kind, again.task.retry_of, again.task.parent_id) == ("retry", first.id, root.task.id)
    assert again.body is not None
    assert again.body["context"] == {"state": {"a": 1}, "variables": {"v": 2}}
    assert again.body["retries"]["checkpoint"]["state"] == {"a": 2, "b": 3}
    assert again.body["retries"]["failure"]["description"] == "broke"
    assert again.body["rollback"]["checkpoint_id"] == first.last_checkpoint_id


@pytest.mark.parametrize("end", ["done", "open"])
def test_only_what_ended_without_success_is_retried(end: str) -> None:
    team = Team(A, B)
    held = team.begin(B)
    if end == "done":
        team.complete(held)
    with pytest.raises(NotAllowed):
        retry_handoff(team.deps, human(), held.task.id)


def test_one_retry_is_under_way_whichever_of_them_is_named() -> None:
    team = Team(A, B)
    root = team.begin(A)
    first = failed(team, root)
    second = retry_handoff(team.deps, agent(A), first.id).task
    team.later()
    with pytest.raises(AlreadyRetried) as refused:
        retry_handoff(team.deps, agent(A), first.id)
    assert refused.value.fields["task_id"] == second.id
    team.fail(team.take(B, second.id))
    third = retry_handoff(team.deps, agent(A), second.id).task
    for each in (first, second):
        with pytest.raises(AlreadyRetried) as refused:
            retry_handoff(team.deps, agent(A), each.id)
        assert refused.value.fields["task_id"] == third.id
    team.later()
    team.fail(team.take(B, third.id))
    assert retry_handoff(team.deps, agent(A), first.id).task.retry_of == first.id


@pytest.mark.slow
def test_of_retries_at_once_of_any_of_them_one_is_made() -> None:
    for _ in range(scaled(20, 5)):
        team = Team(A, B)
        root = team.begin(A)
        first = failed(team, root)
        second = retry_handoff(team.deps, agent(A), first.id).task
        team.later()
        team.fail(team.take(B, second.id))
        still = team.still()
        names = [first.id, second.id] * 4
        answers = all_at_once([partial(retry_handoff, still, agent(A), name) for name in names])
        made = [each for each in answers if isinstance(each, TaskDetails)]
        assert len(made) == 1
        assert {type(each) for each in answers} == {TaskDetails, AlreadyRetried}
        assert [task.id for task in team.open() if task.target_agent == B] == [made[0].task.id]


def test_it_is_for_humans_and_for_the_agent_that_handed_it_off() -> None:
    team = Team(A, B)
    first = failed(team, team.begin(A))
    namesake = Principal(WORKSPACE, PrincipalKind.SERVICE, A)
    for by, refusal in (
        (agent(B), NotYourAgent),
        (agent("stranger"), Unknown),
        (service(act_as=False), Unknown),
        (namesake, Unknown),
    ):
        with pytest.raises(refusal):
            retry_handoff(team.deps, by, first.id)
    assert retry_handoff(team.deps, service(), first.id).task.source_agent == A


def test_a_service_retries_what_it_asked_for_under_its_own_name() -> None:
    team = Team(B)
    ci = service(act_as=False)
    task = team.ask(B, by=ci).task
    team.fail(team.take(B, task.id))
    assert retry_handoff(team.deps, ci, task.id).task.source_agent == "service:ci"


# Cancelled trees


def three_levels(team: Team) -> tuple[HeldTask, HeldTask, Task]:
    """A root, what came of it and is done, and below that what has failed."""
    root = team.begin(A)
    child = team.take(B, team.ask(B, under=root).task.id)
    grandchild = failed(team, child, C)
    team.complete(child)
    return root, child, grandchild


@pytest.mark.parametrize("level", ["parent", "grandparent"])
def test_out_of_a_cancelled_tree_only_a_human_retries(level: str) -> None:
    team = Team(A, B, C)
    if level == "parent":
        top = team.begin(A)
        first, by = failed(team, top), agent(A)
    else:
        top, _, first = three_levels(team)
        by = agent(B)
    cancel_task(team.deps, human(), top.task.id, "stop")
    for each in (by, service()):
        with pytest.raises(HumanNeeded):
            retry_handoff(team.deps, each, first.id)
    assert team.open() == []
    assert retry_handoff(team.deps, human(), first.id).task.state == "delegated"


def test_a_retry_that_meets_a_cancel_at_any_moment_never_escapes_it() -> None:
    """Before each of the retry's calls to the store, and after the last, all of the cancel happens."""
    moment, was_over = 0, False
    while not was_over:
        moment += 1
        store = CallHooks()
        team = Team(A, B, C, world=World(store=store))
        top, _, first = three_levels(team)
        store.begin(before={moment: partial(cancel_task, team.deps, human(), top.task.id, "stop")})
        with suppress(HumanNeeded):
            retry_handoff(team.deps, agent(B), first.id)
        calls = store.calls
        was_over = len(calls) < moment
        store.begin()
        if was_over:
            cancel_task(team.deps, human(), top.task.id, "stop")
        assert team.task(top.task.id).state == "cancelled"
        assert team.open() == [], f"before call {moment} of {calls}"
    assert moment > 4


def test_a_retry_that_meets_a_cancel_and_dies_right_after_its_write_does_not_escape_either() -> None:
    store = CallHooks()
    team = Team(A, B, C, world=World(store=store))
    _, _, first = three_levels(team)
    store.begin()
    retry_handoff(team.deps, agent(B), first.id)
    write = store.calls.index("commit") + 1
    store = CallHooks()
    team = Team(A, B, C, world=World(store=store))
    top, _, first = three_levels(team)
    stop = partial(cancel_task, team.deps, human(), top.task.id, "stop")
    store.begin(before={write: stop}, after={write: die})
    with pytest.raises(HumanNeeded):  # its write holds on its ancestors, and it looks again
        retry_handoff(team.deps, agent(B), first.id)
    store.begin()
    sweep(team.deps)
    assert team.open() == []


def test_what_a_human_retries_out_of_a_cancelled_tree_is_not_cancelled_again_by_what_was_left_of_the_cancel() -> None:
    team = Team(A, B, C)
    root = team.begin(A)
    child = team.take(B, team.ask(B, under=root).task.id)
    gone = failed(team, child, C)
    cancel_task(team.deps, human(), root.task.id, "stop")
    again = retry_handoff(team.deps, human(), gone.id).task
    for _ in range(3):
        sweep(team.deps)
    assert team.task(again.id).state == "delegated"
    assert [task.id for task in team.open()] == [again.id]


def test_what_a_human_has_split_goes_on_in_its_parts_and_only_a_human_retries_the_whole() -> None:
    team = Team(A)
    team.register(B, approval="manual")
    whole = team.ask(B, under=team.begin(A)).task
    team.split(whole.id, {"summary": "one"}, {"summary": "two"})
    with pytest.raises(HumanNeeded):
        retry_handoff(team.deps, agent(A), whole.id)
    assert retry_handoff(team.deps, human(), whole.id).task.retry_of == whole.id


def test_an_escalation_is_retried_by_a_human_so_that_no_agent_gets_round_its_cap() -> None:
    world = World().settle()
    claimed = world.claimed()
    task = claimed.details.task
    fail_task(world.deps, WorkerCall(agent("auditor"), task.id, claimed.claim_id, "h"), FailedWork(failure=BROKE))
    for by in (agent("scout"), service()):
        with pytest.raises(HumanNeeded):
            retry_handoff(world.deps, by, task.id)
    again = retry_handoff(world.deps, human(), task.id).task
    cancel_task(world.deps, human(), again.id, None)
    with pytest.raises(HumanNeeded):
        retry_handoff(world.deps, agent("scout"), again.id)


@pytest.mark.parametrize(("late", "keeps"), [(0, False), (-1, True)])
def test_a_deadline_that_is_over_is_not_the_retrys(late: int, keeps: bool) -> None:
    team = Team(A)
    deadline = team.world.clock.now() + timedelta(seconds=600)
    asked = {"deadline": rfc3339(deadline), "fail_on_deadline": True}
    held = team.begin(A, expectations=asked)
    team.later((deadline - team.world.clock.now()).total_seconds() - 3 + late)
    team.fail(held)
    again = retry_handoff(team.deps, human(), held.task.id).task
    assert (again.deadline, again.fail_on_deadline) == ((deadline, True) if keeps else (None, False))


def stopped(team: Team, task: Task) -> str:
    """The review of a retry that the loop guard has stopped."""
    with pytest.raises(LoopTripped) as trip:
        retry_handoff(team.deps, human(), task.id)
    review_id: str = trip.value.fields["review_id"]
    return review_id


def test_a_retry_that_a_human_released_is_the_latest_one() -> None:
    team = Team(A, max_handoffs_per_workflow=2)
    first = team.fail(team.begin(A)).task
    cancel_task(team.deps, human(), retry_handoff(team.deps, human(), first.id).task.id, None)
    review, released = release_review(team.deps, human(), stopped(team, first))
    assert released.task.retry_of == first.id
    assert team.world.store.workflows.retry_of(WORKSPACE, first.id) == released.task.id
    with pytest.raises(AlreadyRetried):
        retry_handoff(team.deps, human(), first.id)
    assert [task.id for task in team.open()] == [released.task.id]
    cancel_task(team.deps, human(), released.task.id, None)
    assert release_review(team.deps, human(), stopped(team, first))[0].id == review.id


def test_a_retry_is_not_released_beside_one_that_is_under_way() -> None:
    team = Team(A, max_handoffs_per_workflow=2)
    first = team.fail(team.begin(A)).task
    cancel_task(team.deps, human(), retry_handoff(team.deps, human(), first.id).task.id, None)
    review_id = stopped(team, first)
    team.set(max_handoffs_per_workflow=10)
    under_way = retry_handoff(team.deps, human(), first.id).task
    with pytest.raises(AlreadyRetried):
        release_review(team.deps, human(), review_id)
    assert team.world.store.escalations.review(WORKSPACE, review_id).is_open
    cancel_task(team.deps, human(), under_way.id, None)
    assert release_review(team.deps, human(), review_id)[1].task.retry_of == first.id


def test_of_two_that_let_a_retry_through_at_once_one_wins() -> None:
    store = HookedStore()
    team = Team(A, world=World(store=store), max_handoffs_per_workflow=2)
    first = team.fail(team.begin(A)).task
    cancel_task(team.deps, human(), retry_handoff(team.deps, human(), first.id).task.id, None)
    review_id = stopped(team, first)
    team.set(max_handoffs_per_workflow=10)
    store.before["commit"] = lambda: retry_handoff(team.deps, human(), first.id)
    with pytest.raises(AlreadyRetried):
        release_review(team.deps, human(), review_id)
    assert len(team.open()) == 1
