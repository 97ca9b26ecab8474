"""Approvals (invariant 8): a human's, or a standing one that a human gave. No path leads round them, and nothing that
comes in meanwhile stands in their way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.agents.agent import Approval
from baton.domain.agents.route import Mode
from baton.domain.errors import HumanNeeded, KeyReused, NotAllowed, RevisionChanged, TaskEnded, Unknown
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import HumanCall, Seen
from baton.domain.tasks.task import Task
from baton.domain.times import rfc3339
from baton.services.access.change_settings import change_settings
from baton.services.agents.change_route import change_route
from baton.services.agents.register_agent import register_agent
from baton.services.escalations.release_review import release_review
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.handoffs.split_task import split_task
from baton.services.tasks.approve_many import ApprovalRequest, ApprovalResult, approve_many
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.put_off_task import defer_task, dismiss_task
from support.worlds.team import HeldTask, StoppedHandoff, Team, as_told
from support.worlds.world import WORKSPACE, World, agent, human, service

A, B, C = "anna", "bert", "carl"
# With every scope there is, and some that there aren't.
ALMIGHTY = Principal(WORKSPACE, PrincipalKind.SERVICE, "alice", frozenset({"act_as", "approve", "human", "*"}))
NOT_HUMAN = [agent(A), agent(B), Principal(WORKSPACE, PrincipalKind.AGENT, "alice"), service(), ALMIGHTY]
FORGED: dict[str, Any] = {
    "state": "delegated",
    "approved": True,
    "approval": "auto",
    "approved_by": "human:alice",
    "principal": {"kind": "human", "id": "alice"},
    "mode": "dispatch",
    "asked_by_human": True,
    "revision": 99,
}


def waiting(**values: Any) -> Team:
    """All want a human's word; nothing has been asked yet."""
    team = Team()
    for slug in (A, B, C):
        team.register(slug, approval=Approval.MANUAL, **values)
    return team


def at_work(team: Team, slug: str = A) -> HeldTask:
    """A human has asked, and the agent works on it."""
    return team.begin(slug)


# Nobody else approves


@pytest.mark.parametrize("by", NOT_HUMAN, ids=lambda by: f"{by.key} {len(by.scopes)}")
def test_no_verb_of_a_humans_is_taken_from_anybody_else(by: Principal) -> None:
    team = waiting()
    task = team.ask(B, by=agent(A)).task
    now = team.world.clock.now()
    acts: list[Callable[[], object]] = [
        lambda: approve_task(team.deps, by, task.id, None),
        lambda: approve_task_next(team.deps, by, task.id, None),
        lambda: approve_many(team.deps, by, [ApprovalRequest(task.id)]),
        lambda: undo_approval(team.deps, by, task.id),
        lambda: defer_task(team.deps, HumanCall(by, task.id), now),
        lambda: dismiss_task(team.deps, by, task.id, "no"),
        lambda: split_task(
            team.deps, HumanCall(by, task.id), list(map(message_from, [{"summary": "1"}, {"summary": "2"}]))
        ),
        lambda: release_review(team.deps, by, "review_x"),
        lambda: change_settings(team.deps, by, {"dispatch_delay_seconds": 0}),
        lambda: change_route(team.deps, by, "audit", {"agent": B}),
        lambda: register_agent(team.deps, by, B, {"approval": Approval.AUTO}),
    ]
    for act in acts:
        with pytest.raises(HumanNeeded):
            act()
    assert team.task(task.id) == task


def test_a_human_of_another_workspace_is_nobody_here() -> None:
    team = waiting()
    task = team.ask(B, by=agent(A)).task
    with pytest.raises(Unknown):
        approve_task(team.deps, human("globex"), task.id, None)
    (answer,) = approve_many(team.deps, human("globex"), [ApprovalRequest(task.id)])
    assert isinstance(answer.refusal, Unknown)


# Whatever an agent, or a service that acts for one, can make a task with.
PATHS: dict[str, Callable[[Team], object]] = {
    "a handoff": lambda team: team.ask(B, by=agent(A)),
    "a handoff that says it is approved": lambda team: team.ask(
        B, by=agent(A), metadata={"labels": {}, **FORGED}, context={"state": FORGED, "variables": FORGED}, **FORGED
    ),
    "a handoff by a service for an agent": lambda team: team.ask(B, by=service(), source=A),
    "a handoff by a service for a human": lambda team: team.ask(B, by=ALMIGHTY, source="alice"),
    "open work": lambda team: team.ask(None, by=agent(A)),
    "a handoff under a claim": lambda team: team.ask(B, under=at_work(team)),
    "a transfer": lambda team: team.transfer(at_work(team), B, metadata=FORGED),
    "a delegation": lambda team: team.delegate(at_work(team), B, C),
    "a continuation": lambda team: team.complete(at_work(team), to=B, **FORGED),
    "a rollback": lambda team: team.fail(at_work(team), back_to=B, **FORGED),
    "a rejection": lambda team: team.reject(team.take(B, approved(team, team.ask(B, under=at_work(team)).task).id)),
    "a retry": lambda team: retry_handoff(team.deps, agent(A), failed_below(team)),
    "a retry by a service": lambda team: retry_handoff(team.deps, service(), failed_below(team)),
    "a route to be dispatched": lambda team: routed(team, Mode.DISPATCH),
    "a route to next": lambda team: routed(team, Mode.NEXT),
    "a route for a human": lambda team: routed(team, Mode.MANUAL),
    "a continuation of what a human works on": lambda team: team.complete(team.take(B, by_hand(team), human()), to=C),
    "a transfer of what a human works on": lambda team: team.transfer(team.take(B, by_hand(team), human()), C),
    "a delegation of what a human works on": lambda team: team.delegate(team.take(B, by_hand(team), human()), C),
    "a split": lambda team: team.split(team.ask(B, by=agent(A)).task.id, {"summary": "1", **FORGED}, {"summary": "2"}),
}


def approved(team: Team, task: Task) -> Task:
    if task.state == "needs":
        approve_task(team.deps, human(), task.id, None)
        team.later()
    return team.task(task.id)


def failed_below(team: Team) -> str:
    """By then all that a human had to approve has been."""
    child = approved(team, team.ask(B, under=at_work(team)).task)
    return team.fail(team.take(B, child.id), back_to=B).task.id


def routed(team: Team, mode: Mode) -> object:
    change_route(team.deps, human(), "audit", {"agent": B, "mode": mode})
    return team.ask(None, by=agent(A), work_type="audit", mode="next")


def by_hand(team: Team) -> str:
    return team.ask(B, by=human()).task.id


@pytest.mark.parametrize("path", PATHS)
def test_what_no_human_asked_for_waits_for_one(path: str) -> None:
    team = waiting()
    PATHS[path](team)
    newest = [task for task in team.tasks() if task.created_at == max(each.created_at for each in team.tasks())]
    assert newest
    for task in newest:
        assert task.state == "needs", path
        assert [event.type for event in team.events(task.id)] == ["handoff_initiated"]
    shown = {task.id for task in team.world.store.queues.needs(WORKSPACE, 100, None).items}
    assert {task.id for task in newest} <= shown


@pytest.mark.parametrize(
    "path", [path for path in PATHS if path not in {"open work", "a split", "a route for a human"}]
)
def test_a_standing_approval_is_named_with_its_version_and_who_gave_it(path: str) -> None:
    team = waiting()
    for slug in (A, B, C):
        register_agent(team.deps, human(name="boss"), slug, {"approval": Approval.AUTO})
    PATHS[path](team)
    newest = [task for task in team.tasks() if task.created_at == max(each.created_at for each in team.tasks())]
    for task in newest:
        assert task.state == ("next" if path == "a route to next" else "delegated")
        first, second = team.events(task.id)[:2]
        assert (first.type, second.type) == ("handoff_initiated", "approved")
        standing = second.data["standing_approval"]
        assert standing.pop("given_at") <= rfc3339(second.at)
        assert standing == {"agent": task.target_agent, "version": 2, "given_by": "human:boss"}
        assert second.principal_kind != "human" or "human works on" in path
        assert "asked_by_human" not in second.data


def test_a_services_change_of_an_agent_ends_its_standing_approval() -> None:
    team = Team(A, B)
    register_agent(team.deps, service(), B, {"description": "harmless"})
    assert team.ask(B, by=agent(A)).task.state == "needs"


@pytest.mark.parametrize("mode", Mode)
def test_what_a_human_asks_for_is_approved_by_the_asking(mode: Mode) -> None:
    team = waiting()
    change_route(team.deps, human(), "audit", {"agent": B, "mode": mode})
    task = team.ask(None, work_type="audit").task
    assert task.state == {Mode.DISPATCH: "delegated", Mode.NEXT: "next", Mode.MANUAL: "needs"}[mode]
    if mode is not Mode.MANUAL:
        event = team.events(task.id)[1]
        assert (event.principal_kind, event.principal_id, event.data["asked_by_human"]) == ("human", "alice", True)


def test_releasing_what_the_guard_stopped_is_an_approval_by_who_released_it() -> None:
    team = waiting()
    team.set(max_depth=1)
    halt = team.pass_on(at_work(team), B, "handoff", "on")
    assert isinstance(halt, StoppedHandoff)
    _, details = release_review(team.deps, human(name="boss"), halt.review_id)
    event = team.events(details.task.id)[1]
    assert (details.task.state, event.principal_id, details.task.created_by) == ("delegated", "boss", "agent:anna")


# What was seen


@pytest.mark.parametrize("verb", ["approve", "approve-next", "defer", "split"])
def test_the_content_seen_is_told_and_another_is_refused(verb: str) -> None:
    team = waiting()
    task = team.ask(B, by=agent(A)).task
    later = team.world.clock.now().replace(year=2027)
    acts: dict[str, Callable[[Seen], object]] = {
        "approve": lambda seen: approve_task(team.deps, human(), task.id, seen),
        "approve-next": lambda seen: approve_task_next(team.deps, human(), task.id, seen),
        "defer": lambda seen: defer_task(team.deps, HumanCall(human(), task.id, seen), later),
        "split": lambda seen: split_task(
            team.deps, HumanCall(human(), task.id, seen), list(map(message_from, [{"summary": "1"}, {"summary": "2"}]))
        ),
    }
    for wrong in (Seen(0), Seen(2), Seen(1, "0" * 64), Seen(digest="0" * 64)):
        with pytest.raises(RevisionChanged):
            acts[verb](wrong)
    assert team.task(task.id) == task
    acts[verb](Seen(1, task.digest))
    event = team.events(task.id)[-1]
    assert (event.data["revision"], event.data["seen"]) == (1, task.digest)
    assert (event.principal_kind, event.principal_id) == ("human", "alice")


def test_notes_and_duplicates_that_arrive_meanwhile_are_in_nobodys_way(world: World) -> None:
    task_id = world.needing()
    task = world.task(task_id)
    seen = Seen(task.revision, task.digest)
    for number in range(5):
        answer = world.mark(agent("scout"), escalation_reason=f"again {number}")
        assert answer.duplicate_of == task_id
    assert len(world.store.tasks.notes(WORKSPACE, task_id, 10)) == 5
    defer_task(world.deps, HumanCall(human(), task_id, seen), world.clock.now().replace(year=2027))
    assert approve_task(world.deps, human(), task_id, seen).task.state == "delegated"


# Many at once


def test_each_of_many_has_an_answer_of_its_own_and_a_repeat_gets_the_same_ones() -> None:
    team = waiting()
    tasks = [team.ask(B, f"work {number}", by=agent(A)).task.id for number in range(4)]
    dismiss_task(team.deps, human(), tasks[3], "no")
    asked = [
        ApprovalRequest(tasks[0], seen=Seen(1)),
        ApprovalRequest(tasks[1], seen=Seen(7)),
        ApprovalRequest(tasks[2], is_for_next=True),
        ApprovalRequest(tasks[3]),
        ApprovalRequest("task_of_nobody"),
        ApprovalRequest(tasks[0]),
    ]
    idempotency_key = IdempotencyKey(human(), "/tasks/approve", "key-1", "h")
    first = approve_many(team.deps, human(), asked, idempotency_key)
    refusals = [None, RevisionChanged, None, TaskEnded, Unknown, NotAllowed]
    assert [each.refusal and type(each.refusal) for each in first] == refusals
    assert [each.details and str(each.details.task.state) for each in first[:3]] == ["delegated", None, "next"]
    assert [each.task_id for each in first] == [each.task_id for each in asked]
    team.later()
    team.complete(team.take(B, tasks[0]))
    again = approve_many(team.deps, human(), asked, idempotency_key)
    assert [each.refusal and type(each.refusal) for each in again][:5] == refusals[:5]
    assert [told(each) for each in again[:3]] == [told(each) for each in first[:3]]
    assert team.world.trail(tasks[0]).count("approved") == 1


def told(answer: ApprovalResult) -> Any:
    return answer.details and as_told(answer.details.task)


def test_what_the_first_call_did_not_get_to_is_done_by_its_repeat() -> None:
    team = waiting()
    tasks = [team.ask(B, f"work {number}", by=agent(A)).task.id for number in range(3)]
    idempotency_key = IdempotencyKey(human(), "/tasks/approve", "key-1", "h")
    approve_many(team.deps, human(), [ApprovalRequest(each) for each in tasks[:1]], idempotency_key)
    answers = approve_many(team.deps, human(), [ApprovalRequest(each) for each in tasks], idempotency_key)
    assert all(each.details for each in answers)
    assert [team.world.trail(each).count("approved") for each in tasks] == [1, 1, 1]


def test_a_key_that_comes_with_another_list_approves_nothing() -> None:
    team = waiting()
    one, other = (team.ask(B, f"work {number}", by=agent(A)).task.id for number in range(2))
    approve_many(team.deps, human(), [ApprovalRequest(one)], IdempotencyKey(human(), "/approvals", "key-1", "one"))
    both = [ApprovalRequest(one), ApprovalRequest(other)]
    with pytest.raises(KeyReused):
        approve_many(team.deps, human(), both, IdempotencyKey(human(), "/approvals", "key-1", "both"))
    assert team.task(other).state == "needs"


def test_what_was_refused_is_refused_to_the_exact_repeat_whatever_has_changed() -> None:
    team = waiting()
    task = team.ask(B, "work", by=agent(A)).task
    idempotency_key = IdempotencyKey(human(), "/approvals", "key-1", "h")
    asked = [ApprovalRequest(task.id, seen=Seen(7)), ApprovalRequest("task_of_nobody")]
    first = approve_many(team.deps, human(), asked, idempotency_key)
    approve_task(team.deps, human(), task.id, None)
    team.later()
    team.complete(team.take(B, task.id))
    again = approve_many(team.deps, human(), asked, idempotency_key)
    for one, other in zip(first, again, strict=True):
        assert one.refusal is not None
        assert other.refusal is not None
        assert type(one.refusal) is type(other.refusal)
        assert (one.refusal.message, one.refusal.fields) == (other.refusal.message, other.refusal.fields)
