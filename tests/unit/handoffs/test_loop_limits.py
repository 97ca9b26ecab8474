"""Each limit of the loop guard at its boundary and one step past it: the workspace's settings, the hourly rate of
roots, and budgets."""

from __future__ import annotations

from datetime import timedelta
from itertools import cycle, islice
from typing import Any

import pytest

from baton.domain.agents.route import Mode
from baton.domain.errors import BatonError, ClaimRequired, HumanNeeded, InvalidInput, LoopTripped, StaleClaim
from baton.domain.handoffs.loop_guard import Budget
from baton.domain.tasks.task import Kind, Task
from baton.domain.times import rfc3339
from baton.services.agents.change_route import change_route
from baton.services.agents.register_agent import register_agent
from baton.services.escalations.release_review import release_review
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.tasks.approve_task import approve_task
from support.worlds.team import HeldTask, StoppedHandoff, Team, ring_of
from support.worlds.world import WORKSPACE, agent, human, service

A, B, C = "anna", "bert", "carl"


def refused(team: Team, *args: Any, **values: Any) -> LoopTripped:
    with pytest.raises(LoopTripped) as trip:
        team.ask(*args, **values)
    return trip.value


# The settings


@pytest.mark.parametrize("most", [1, 2, 7, 50])
def test_a_chain_is_as_deep_as_is_allowed(most: int) -> None:
    team = Team(*ring_of(52), max_depth=most, max_handoffs_per_workflow=500)
    hops, halt = team.travel(ring_of(52))
    assert isinstance(halt, StoppedHandoff)
    assert (hops, halt.rule) == (most, "max_depth")


@pytest.mark.parametrize("most", [1, 2, 5])
def test_one_direction_is_taken_in_a_chain_as_often_as_is_allowed(most: int) -> None:
    team = Team(A, B, C, max_same_direction=most, max_depth=50)
    hops, halt = team.travel(islice(cycle((A, B, C)), 60))
    assert isinstance(halt, StoppedHandoff)
    assert (halt.rule, hops) == ("same_direction", 1 + 3 * most)


@pytest.mark.parametrize("window", [4, 5, 20])
def test_two_alone_may_not_fill_the_window(window: int) -> None:
    team = Team(A, B, ping_pong_window=window, max_depth=50, max_same_direction=20)
    hops, halt = team.travel(islice(cycle((A, B)), 60))
    assert isinstance(halt, StoppedHandoff)
    # The human's handoff was the first, and is out of the window with the last one.
    assert (halt.rule, hops) == ("ping_pong", window)


def test_two_alone_fill_the_window_sooner_where_no_human_began() -> None:
    team = Team(A, B)
    held = team.take(A, team.ask(A, by=agent(B)).task.id)
    hops, halt = team.travel(islice(cycle((B, A)), 20), held=held)
    assert isinstance(halt, StoppedHandoff)
    assert (1 + hops, halt.rule) == (5, "ping_pong")


def test_a_third_agent_in_the_window_is_progress() -> None:
    team = Team(A, B, C, max_depth=50, max_same_direction=20)
    hops, held = team.travel([A, B, A, B, A, C, A, B, A, B])
    assert (hops, isinstance(held, HeldTask)) == (10, True)


@pytest.mark.parametrize("most", [1, 4, 50])
def test_a_workflow_has_as_many_handoffs_as_are_allowed_however_they_came_to_be(most: int) -> None:
    team = Team(A, B, max_handoffs_per_workflow=most)
    root = team.begin(A)
    for number in range(most - 1):
        team.ask(B, f"part {number}", under=root)
    trip = refused(team, B, "one too many", under=root)
    assert trip.rule == "max_handoffs_per_workflow"
    assert len(team.tasks()) == most
    assert team.complete(root, to=B).task.state == "done"
    assert len(team.tasks()) == most


def split_in_two(team: Team) -> Task:
    """A root, as the first of its parts."""
    register_agent(team.deps, human(), A, {"approval": "manual"})
    whole = team.ask(A, "too large", by=agent(B)).task
    parts = team.split(whole.id, {"summary": "one"}, {"summary": "two"})
    register_agent(team.deps, human(), A, {"approval": "auto"})
    return parts[0].task


def retried(team: Team) -> Task:
    first = team.begin(A)
    team.fail(first)
    return retry_handoff(team.deps, human(), first.task.id).task


def second_root(team: Team) -> Task:
    first = team.ask(A, "the first").task
    return team.ask(A, "the second", metadata={"workflow_id": first.workflow_id}).task


@pytest.mark.parametrize(("begun", "handoffs"), [(split_in_two, 3), (retried, 2), (second_root, 2)])
def test_what_a_workflow_began_with_counts_however_it_began(begun: Any, handoffs: int) -> None:
    team = Team(A, B, max_handoffs_per_workflow=5)
    task = begun(team)
    team.later()
    if task.state == "needs":
        approve_task(team.deps, human(), task.id, None)
        team.later()
    held = team.take(A, task.id)
    for number in range(5 - handoffs):
        team.ask(B, f"part {number}", under=held)
    assert refused(team, B, "one too many", under=held).rule == "max_handoffs_per_workflow"
    assert len(team.world.store.workflows.members(WORKSPACE, task.workflow_id)) == 5


def test_delegating_counts_every_branch_and_makes_all_of_them_or_none() -> None:
    team = Team(A, B, C, max_handoffs_per_workflow=4)
    root = team.begin(A)
    halt = team.pass_on(root, B, "handoff", "one")
    assert isinstance(halt, HeldTask)
    with pytest.raises(LoopTripped):
        team.delegate(root, B, C, B)
    assert len(team.tasks()) == 2
    kept = team.task(root.task.id)  # a word under the claim extends it, refused or not
    assert kept.changed(version=root.task.meta.version, claim=root.task.claim) == root.task
    assert team.delegate(root, B, C).task.state == "waiting"


# Roots


def test_who_holds_claims_names_one_and_nothing_is_made_of_a_handoff_that_names_none() -> None:
    team = Team(A, B, C)
    held = team.begin(A)
    for by in (agent(A), service()):
        with pytest.raises(ClaimRequired):
            team.ask(B, by=by, source=A)
    with pytest.raises(StaleClaim):
        team.ask(B, by=agent(A), claim_id="clm_of_nobody")
    others = team.begin(C)
    with pytest.raises(StaleClaim):
        team.ask(B, by=agent(A), claim_id=others.claim_id)
    assert len(team.tasks()) == 2
    assert team.reviews() == []
    assert team.ask(B, under=held).task.parent_id == held.task.id
    # A human answers for what is handed off outside of it.
    assert team.ask(B, by=human(), source=A).task.parent_id is None


def test_an_agent_that_leaves_out_its_parent_after_its_task_is_done_gets_30_an_hour() -> None:
    team = Team(A, B, C, dispatch_delay_seconds=0)
    team.complete(team.begin(A))
    begun = team.world.clock.now()
    for number in range(30):
        team.ask(B, f"root {number}", by=agent(A))
    first = refused(team, B, "root 30", by=agent(A))
    again = refused(team, B, "root 31", by=agent(A))
    assert (first.rule, first.fields["review_id"]) == ("root_rate", again.fields["review_id"])
    (review,) = team.reviews()
    assert (review.count, review.source_agent, review.target_agent) == (2, A, B)
    # By direction: the others have hours of their own.
    team.ask(C, by=agent(A))
    team.ask(B, by=agent(C))
    team.ask(None, by=agent(A))
    # By the hour: the first is an hour ago to the millisecond, and makes room for one.
    hour = begun + timedelta(hours=1)
    team.later((hour - team.world.clock.now()).total_seconds() - 0.001)
    refused(team, B, "too early", by=agent(A))
    team.world.clock.advance(milliseconds=1)
    assert team.ask(B, "in time", by=agent(A)).task.is_ended is False
    team.world.clock.time = hour
    refused(team, B, "room for one", by=agent(A))
    assert team.reviews()[0].count == 4


def test_the_rate_is_the_setting_and_is_of_agents_and_of_who_acts_for_them() -> None:
    team = Team(A, B, root_handoffs_per_hour=2)
    team.ask(B, "one", by=agent(A))
    team.ask(B, "two", by=service(), source=A)
    refused(team, B, "three", by=service(), source=A)
    for number in range(5):
        team.ask(B, f"by a human {number}", by=human(), source=A)
    team.set(root_handoffs_per_hour=3)
    team.ask(B, "three", by=agent(A))
    team.set(loop_guard=False)
    team.ask(B, "four", by=agent(A))


def test_an_agent_that_begins_many_has_a_number_of_its_own_that_a_human_gave_it() -> None:
    team = Team(A, B, C, root_handoffs_per_hour=2)
    register_agent(team.deps, human(), A, {"root_handoffs_per_hour": 4})
    for number in range(4):
        team.ask(B, f"root {number}", by=agent(A))
    trip = refused(team, B, "one more", by=agent(A))
    assert trip.rule == "root_rate"
    assert f"{A} has begun 4 workflows with {B}" in trip.message
    assert "root_handoffs_per_hour of the agent" in trip.message
    for number in range(2):
        team.ask(B, f"another's {number}", by=agent(C))
    trip = refused(team, B, "another's third", by=agent(C))
    assert "which is the limit (root_handoffs_per_hour of the settings)" in trip.message
    register_agent(team.deps, human(), A, {"root_handoffs_per_hour": None})
    assert "has begun 2 workflows" in refused(team, B, "as everybody", by=agent(A)).message


def test_only_a_human_says_how_many_an_agent_begins() -> None:
    team = Team(A, B)
    for asked in (5, 1_000):
        with pytest.raises(HumanNeeded):
            register_agent(team.deps, service(), A, {"root_handoffs_per_hour": asked})
    register_agent(team.deps, human(), A, {"root_handoffs_per_hour": 40})
    register_agent(team.deps, service(), A, {"description": "It begins many", "root_handoffs_per_hour": 40})
    assert team.deps.store.agents.agent(WORKSPACE, A).root_handoffs_per_hour == 40


def test_an_agents_own_number_of_roots_has_bounds() -> None:
    team = Team(A, B)
    for number in (1, 1_000):
        register_agent(team.deps, human(), A, {"root_handoffs_per_hour": number})
        assert team.deps.store.agents.agent(WORKSPACE, A).root_handoffs_per_hour == number
    for number in (0, 1_001):
        with pytest.raises(InvalidInput, match="root_handoffs_per_hour"):
            register_agent(team.deps, human(), A, {"root_handoffs_per_hour": number})


@pytest.mark.parametrize(
    "setting", ["max_depth", "max_same_direction", "ping_pong_window", "max_handoffs_per_workflow"]
)
def test_a_refusal_names_the_setting_that_is_its_limit(setting: str) -> None:
    lowest = {"max_depth": 2, "max_same_direction": 1, "ping_pong_window": 4, "max_handoffs_per_workflow": 3}[setting]
    ring = cycle((A, B)) if setting == "ping_pong_window" else cycle((A, B, C))
    least: dict[str, Any] = {"max_depth": 50, "max_same_direction": 20, "ping_pong_window": 20}
    team = Team(A, B, C, **{**least, setting: lowest})
    _, halt = team.travel(islice(ring, 30))
    assert isinstance(halt, StoppedHandoff)
    (review,) = team.reviews()
    assert setting in review.request["message"]


def test_a_route_is_counted_by_the_agent_that_it_leads_to() -> None:
    team = Team(A, B, root_handoffs_per_hour=2)
    change_route(team.deps, human(), "audit", {"agent": B, "mode": Mode.DISPATCH})
    team.ask(None, by=agent(A), work_type="audit")
    team.ask(B, "named", by=agent(A))
    assert refused(team, None, "routed", by=agent(A), work_type="audit").rule == "root_rate"
    team.ask(None, "open", by=agent(A))


def test_releasing_a_root_that_came_too_often_lets_that_one_through() -> None:
    team = Team(A, B, root_handoffs_per_hour=1)
    team.ask(B, "one", by=agent(A))
    trip = refused(team, B, "two", by=agent(A))
    _, details = release_review(team.deps, human(), trip.fields["review_id"])
    assert (details.task.state, details.task.title, details.task.created_by) == ("delegated", "two", "agent:anna")
    refused(team, B, "three", by=agent(A))


def ask_beyond_its_own_budget(team: Team, number: int) -> list[LoopTripped]:
    """An agent begins a workflow of one handoff, and asks for one more to each of the others."""
    named = team.ask(B, f"begin {number}", by=agent(A), budget={"max_handoffs": 1}).task.workflow_id
    more = {"metadata": {"workflow_id": named}, "budget": {"max_handoffs": 1}}
    return [refused(team, each, f"more {number}", by=agent(A), **more) for each in (C, None)]


def test_what_an_agent_asks_beyond_its_own_budgets_is_one_entry_an_hour() -> None:
    team = Team(A, B, C, dispatch_delay_seconds=0)
    team.world.clock.time = team.world.clock.now().replace(minute=0, second=0)
    trips = [trip for number in range(5) for trip in ask_beyond_its_own_budget(team, number)]
    assert {trip.rule for trip in trips} == {"budget_max_handoffs"}
    (review,) = team.reviews()
    assert (review.count, {trip.fields["review_id"] for trip in trips}) == (10, {review.id})
    team.later(3_600)
    ask_beyond_its_own_budget(team, 6)
    assert len(team.reviews()) == 2
    # Another agent's, and a human's, are entries of their own.
    named = team.ask(B, "begin", by=agent(C), budget={"max_handoffs": 1}).task.workflow_id
    refused(team, A, "more", by=agent(C), metadata={"workflow_id": named}, budget={"max_handoffs": 1})
    begun = team.ask(B, "begin", budget={"max_handoffs": 1}).task.workflow_id
    refused(team, C, "more", metadata={"workflow_id": begun}, budget={"max_handoffs": 1})
    assert len(team.reviews()) == 4
    # A release lets the latest through.
    _, details = release_review(team.deps, human(), review.id)
    assert details.task.title == "more 4"


# Retries


def test_a_retry_says_the_same_again_and_is_stopped_by_every_other_rule() -> None:
    # The root, and three times the same with a rollback each.
    team = Team(A, B, max_handoffs_per_workflow=6)
    root = team.begin(A)
    task = team.ask(B, "the same", under=root).task
    for _ in range(2):
        team.fail(team.take(B, task.id))
        task = retry_handoff(team.deps, agent(A), task.id).task
        team.later()
        assert (task.kind, task.depth, task.parent_id) == (Kind.RETRY, 2, root.task.id)
    team.fail(team.take(B, task.id))
    with pytest.raises(LoopTripped) as trip:
        retry_handoff(team.deps, agent(A), task.id)
    assert trip.value.rule == "max_handoffs_per_workflow"
    assert len(team.tasks()) == 6
    assert len(team.reviews()) == 2, "the last rollback's and the retry's"


def test_a_retry_under_a_lowered_depth_is_too_deep() -> None:
    team = Team(A, B, C)
    _, held = team.travel([A, B, C])
    assert isinstance(held, HeldTask)
    team.fail(held)
    team.set(max_depth=2)
    with pytest.raises(LoopTripped) as trip:
        retry_handoff(team.deps, human(), held.task.id)
    assert trip.value.rule == "max_depth"


# Budgets


def budget(held: HeldTask) -> dict[str, Any]:
    return dict(held.body.get("budget", {}))


@pytest.mark.parametrize("way", ["handoff", "transfer", "delegation", "continuation", "rollback"])
def test_a_budget_goes_down_the_chain_and_only_shrinks(way: str) -> None:
    team = Team(A, B, C)
    whole = {
        "max_handoffs": 9,
        "max_model_calls": 100,
        "deadline": rfc3339(team.world.clock.now() + timedelta(hours=2)),
    }
    root = team.begin(A, budget=whole)
    assert budget(root) == whole
    child = team.pass_on(root, B, way, "on")
    assert isinstance(child, HeldTask)
    assert budget(child) == whole
    wishes = {"max_handoffs": 50, "max_model_calls": 7, "max_tokens": 5, "deadline": "2099-01-01T00:00:00.000Z"}
    shrunk = team.take(C, team.ask(C, "less", under=child, budget=wishes).task.id)
    assert budget(shrunk) == {**whole, "max_model_calls": 7, "max_tokens": 5}
    assert shrunk.task.deadline == root.task.deadline


@pytest.mark.parametrize("guarded", [True, False])
def test_a_budget_of_handoffs_holds_to_the_last_one_with_and_without_the_guard(guarded: bool) -> None:
    team = Team(A, B, loop_guard=guarded)
    root = team.begin(A, budget={"max_handoffs": 3})
    team.ask(B, "one", under=root)
    team.ask(B, "two", under=root)
    trip = refused(team, B, "three", under=root)
    assert trip.rule == "budget_max_handoffs"
    _, details = release_review(team.deps, human(), trip.fields["review_id"])
    assert details.task.state == "delegated"
    refused(team, B, "four", under=root)


def test_a_human_splits_what_the_budget_would_not_let_an_agent_do() -> None:
    team = Team(B)
    team.register(A, approval="manual")
    whole = team.ask(A, by=agent(B), budget={"max_handoffs": 2}).task
    parts = team.split(whole.id, *({"summary": str(number)} for number in range(10)))
    assert len(parts) == 10


def test_a_budgets_deadline_is_over_to_the_millisecond() -> None:
    team = Team(A, B)
    deadline = team.world.clock.now() + timedelta(minutes=4)
    root = team.begin(A, budget={"deadline": rfc3339(deadline)})
    team.world.clock.time = deadline - timedelta(milliseconds=1)
    team.ask(B, "in time", under=root)
    team.world.clock.time = deadline
    assert refused(team, B, "too late", under=root).rule == "budget_deadline"
    assert team.complete(root, to=B).task.state == "done"


def test_narrowing_takes_the_least_of_each() -> None:
    assert Budget(max_tokens=5).narrowed(Budget(max_tokens=9, max_handoffs=1)) == Budget(max_tokens=5, max_handoffs=1)


# What is refused before the guard is asked


def test_what_is_no_handoff_leaves_no_entry() -> None:
    team = Team(A, B, max_depth=1)
    held = team.begin(A)
    with pytest.raises(BatonError) as refusal:
        team.ask("nobody", under=held)
    assert not isinstance(refusal.value, LoopTripped)
    assert team.reviews() == []


def test_nobody_leaves_a_workflow_by_naming_another_one() -> None:
    team = Team(A, B)
    held = team.begin(A)
    with pytest.raises(InvalidInput, match=r"metadata\.workflow_id"):
        team.ask(B, under=held, metadata={"workflow_id": "wf_another"})
    assert team.ask(B, under=held, metadata={"workflow_id": held.task.workflow_id}).task.parent_id == held.task.id


def test_open_work_counts_in_the_direction_of_whoever_took_it() -> None:
    team = Team(A, B, max_same_direction=1)
    _, held = team.travel([A, None, A])
    assert isinstance(held, HeldTask)
    assert refused(team, B, "another reason", under=held).rule == "same_direction"
