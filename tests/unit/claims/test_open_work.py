"""Open work is for any agent that declares what it takes, and for no other (docs/spec/protocol.md §1 and §2)."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent
from baton.domain.priority import Priority
from baton.domain.tasks import commands
from baton.services.agents.register_agent import register_agent
from baton.services.claims.candidates import MAX_CANDIDATES
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.sweep import sweep
from support.values.changes import queued
from support.values.tasks import ACTING_SERVICE, BARE_HUMAN, HUMAN, SERVICE, Life, an_agent
from support.worlds.team import Team
from support.worlds.world import agent, human

A, B, C = "anna", "bert", "carl"

# The work requires that its taker accepts code.
OPEN = """
state     says-nothing   accepts-code   accepts-text       produces-code      the-source
needs     NotClaimable   NotClaimable   NotClaimable       NotClaimable       OwnHandoff
undoable  NotClaimable   NotClaimable   NotClaimable       NotClaimable       OwnHandoff
delegated claimed        claimed        CapabilityMismatch CapabilityMismatch OwnHandoff
next      claimed        claimed        CapabilityMismatch CapabilityMismatch OwnHandoff
claimed   AlreadyClaimed AlreadyClaimed AlreadyClaimed     AlreadyClaimed     OwnHandoff
done      TaskEnded      TaskEnded      TaskEnded          TaskEnded          OwnHandoff
"""
TAKERS: dict[str, Agent] = {
    "says-nothing": an_agent("auditor"),
    "accepts-code": an_agent("auditor", accepts=("text", "code")),
    "accepts-text": an_agent("auditor", accepts=("text",)),
    "produces-code": an_agent("auditor", produces=("code",)),
    "the-source": an_agent("scout", accepts=("code",)),
}


def open_life(state: str) -> Life:
    life = Life(target_agent=None, requires=("accepts:code",))
    if state in {"undoable", "delegated", "claimed", "done"}:
        life.approve()
        life.later(0 if state == "undoable" else 3)
    if state == "next":
        life.approve_next()
    if state in {"claimed", "done"}:
        life.claim()
    if state == "done":
        life.complete()
    return life


def _grid(text: str) -> dict[str, dict[str, str]]:
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


@pytest.mark.parametrize(("state", "taker"), [(state, each) for state, row in _grid(OPEN).items() for each in row])
def test_open_work_is_taken_by_whoever_declares_what_it_takes(state: str, taker: str) -> None:
    expected, skills = _grid(OPEN)[state][taker], TAKERS[taker]

    def take(by: Principal) -> Life:
        life = open_life(state)
        life.do(commands.ClaimTask(by=by, agent=skills.slug, worker="w", claim_id="clm_x", skills=skills))
        return life

    for by, refusal in (
        (agent("qa"), errors.NotYourAgent),
        (SERVICE, errors.ScopeNeeded),
        (BARE_HUMAN, errors.ScopeNeeded),
    ):
        with pytest.raises(refusal):
            take(by)
    for by in (agent(skills.slug), ACTING_SERVICE, HUMAN):
        if expected == "claimed":
            claim = take(by).task.claim
            assert claim is not None
            assert (claim.agent, claim.principal) == (skills.slug, by.key)
        else:
            with pytest.raises(getattr(errors, expected)):
                take(by)


# In the queues


def crew() -> Team:
    team = Team()
    team.register(A, accepts=("code",))
    team.register(B, accepts=("code", "text"), produces=("report",))
    team.register(C, accepts=("text",))
    return team


CODE: dict[str, Any] = {"context": {"artifacts": [{"type": "code", "path": "/src"}]}}
REPORT: dict[str, Any] = {"expectations": {"deliverables": [{"type": "report", "description": "what is wrong"}]}}


def test_claiming_the_next_finds_open_work_that_the_agent_can_do() -> None:
    for said, takers in ((CODE, [A, B]), (REPORT, [B]), (CODE | REPORT, [B]), ({}, [A, B, C])):
        for slug in (A, B, C):
            team = crew()
            task = team.ask(None, **said).task
            found = team.taken(slug)
            assert (found is not None) == (slug in takers)
            if found is None:
                with pytest.raises(errors.CapabilityMismatch):
                    team.taken(slug, task.id)


def test_what_is_its_own_comes_first_whatever_the_priority() -> None:
    team = crew()
    opened = team.ask(None, metadata={"priority": "P0"}).task
    own = team.ask(A, metadata={"priority": "P2"}).task
    assert [team.take(A).task.id for _ in range(2)] == [own.id, opened.id]


def test_what_an_agent_has_handed_off_is_not_for_itself() -> None:
    team = crew()
    task = team.ask(None, by=agent(B), **CODE).task
    approve_task(team.deps, human(), task.id, None)
    team.later()
    assert team.taken(B) is None
    with pytest.raises(errors.OwnHandoff):
        team.taken(B, task.id)
    assert team.take(A).task.id == task.id


def test_an_agents_own_offers_however_many_hide_no_work_of_others() -> None:
    """A search tries 200 candidates at most, and its own offers are none of them."""
    team = crew()
    for number in range(MAX_CANDIDATES):
        queued(team.world.store, f"task_{number:03d}", target_agent=None, source_agent=A, priority=Priority.P0)
    queued(team.world.store, "task_of_another", target_agent=None, priority=Priority.P2)
    assert team.take(A).task.id == "task_of_another"


def test_work_that_nobody_could_take_is_refused_and_nobody_else_than_its_source_is_nobody() -> None:
    team = crew()
    with pytest.raises(errors.CapabilityMismatch):
        team.ask(None, by=agent(B), **REPORT)
    assert team.tasks() == []


def test_work_whose_last_taker_has_gone_is_flagged_and_taken_once_somebody_can() -> None:
    team = crew()
    task = team.ask(None, **REPORT).task
    register_agent(team.deps, human(), B, {"active": False})
    team.later(3_600)
    sweep(team.deps)
    assert "undeliverable" in team.task(task.id).flags
    alerts = team.world.store.alerts.alerts_of_task("acme", task.id, 10, None).items
    assert [alert.kind for alert in alerts].count("undeliverable") == 1
    register_agent(team.deps, human(), C, {"produces": ("report",)})
    assert team.take(C).task.flags == frozenset()


def test_open_work_is_never_announced() -> None:
    team = Team()
    team.register(A, runtime="run")
    team.ask(None)
    team.later(3_600)
    sweep(team.deps)
    assert team.world.dispatch_queue.notices == []
