"""What the memory costs, in a workspace of any size: a handoff or an escalation with a snapshot, and the claim, by a
worker or by process-task, that compares it with how things are now. A handoff that asks for nothing costs what it did
(``test_capacity.py``)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.memory.entry import DecisionStatus, EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.memory.scope import MAX_DEPTH
from baton.ports.runs import RunInput, RunSucceeded
from baton.services.claims.claim_task import claim_next
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.memory.post_entry import post_entry
from baton.services.runs.process_task import DispatchNotice, TimeBudget, process_task
from baton.steps.claims.take_task import Claimer
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import TABLE, InMemoryStore
from support.faults.soak import scaled
from support.values.records import a_board_entry, add_board_entries
from support.worlds.world import World, agent, human
from tools.bench.meter import Meter, Usage

SCOPE = "src/auth"
DEEPEST = "/".join("abcdefgh"[:MAX_DEPTH])
LATER = timedelta(days=1)
KINDS = (EntryType.DECISION, EntryType.WARNING, EntryType.FINDING)
SCOPES = ("project", "src", "src/auth", "src/auth/jwt", "src/authz", "docs", "a/b/c")
# Reads, writes, write units with those of the indexes, read units.
Cost = tuple[int, int, float, float]
HANDOFFS: dict[str, Cost] = {
    # asks for              reads, writes, WU,   RU
    "nothing":              (2, 3,      12,     2),
    "a snapshot":           (15, 3,     13,    19),
    "the deepest snapshot": (33, 3,     13,    28),
}  # fmt: skip
CLAIMS: dict[str, Cost] = {
    "nothing":              (3, 1,       4,   3.5),
    "a snapshot":           (8, 1,       4,   6.5),
    "the deepest snapshot": (14, 1,      4,   9.5),
}  # fmt: skip
POSTS: dict[str, Cost] = {
    # a status; a finding of the project; one of src/auth; a decision of src/auth that replaces another one
    "status":    (0, 1,  1, 0),
    "finding":   (0, 1,  2, 0),
    "in scope":  (0, 1,  9, 0),
    "replacing": (1, 1, 20, 1),
}  # fmt: skip
ASKED = {"nothing": {}, "a snapshot": {"scope": SCOPE}, "the deepest snapshot": {"scope": DEEPEST}}


def filled(entries: int) -> FakeDynamo:
    """A table with a settled workspace and so many entries of the three types. One decision in three was replaced."""
    dynamo = FakeDynamo()
    world = World(store=InMemoryStore(dynamo)).settle()
    for number in range(entries):
        kind = KINDS[number % 3]
        is_over = kind is EntryType.DECISION and number % 9 == 0
        status = {"status": DecisionStatus.SUPERSEDED} if is_over else {}
        entry = a_board_entry(number, scope=SCOPES[number % len(SCOPES)], entry_type=kind, **status)
        add_board_entries(world.store, entry)
    return dynamo


@pytest.fixture(scope="module", params=[100, 10_000], ids=["100 entries", "10,000 entries"])
def table(request: pytest.FixtureRequest) -> FakeDynamo:
    return filled(request.param if request.param == 100 else scaled(request.param))


def metered(table: FakeDynamo) -> tuple[World, Meter]:
    dynamo = FakeDynamo()
    dynamo.take_over(table)
    meter, clock = Meter(dynamo), FakeClock(NOON + LATER)
    world = World(store=DynamoStore(Table(meter, TABLE, Patience(clock))), clock=clock)
    world.store.agents.roster("acme")
    meter.taken()
    return world, meter


def cost(usage: Usage) -> Cost:
    return usage.reads, usage.writes, usage.all_write_units, usage.read_units


def handed_off(world: World, asked: dict[str, str], target: str = "auditor") -> str:
    wants = {**asked, "auto_snapshot": True} if asked else {}
    said = {"source": {"agent": "alice"}, "target": {"agent": target, "reason": "x"}, **wants}
    with world.request():
        return create_handoff(world.deps, human(), CreateHandoff(message=message_from(said))).task.id


@dataclass
class Begun:
    """A runner that asks what it cost to come to it."""

    meter: Meter
    cost: Cost | None = None

    def run(self, _work: RunInput) -> RunSucceeded:
        self.cost = cost(self.meter.taken())
        return RunSucceeded({})


@pytest.mark.parametrize("name", ASKED)
def test_a_handoff_costs_the_same_in_a_workspace_of_any_size(table: FakeDynamo, name: str) -> None:
    world, meter = metered(table)
    handed_off(world, ASKED[name])
    assert cost(meter.taken()) == HANDOFFS[name]


@pytest.mark.parametrize("name", ASKED)
def test_and_so_does_its_claim(table: FakeDynamo, name: str) -> None:
    world, meter = metered(table)
    handed_off(world, ASKED[name])
    world.clock.advance(5)
    world.store.contacts.mark_contact("acme", "auditor", world.clock.now(), timedelta())
    meter.taken()
    with world.request():
        claim_next(world.deps, Claimer(by=agent("auditor"), agent="auditor", worker="w"))
    assert cost(meter.taken()) == CLAIMS[name]


@pytest.mark.parametrize("name", ASKED)
def test_an_escalation_costs_what_a_handoff_does(table: FakeDynamo, name: str) -> None:
    world, meter = metered(table)
    wants: dict[str, Any] = {**ASKED[name], "auto_snapshot": True} if ASKED[name] else {}
    with world.request():
        world.mark(**wants)
    assert cost(meter.taken()) == HANDOFFS[name]


@pytest.mark.parametrize("name", ASKED)
def test_and_so_does_a_run(table: FakeDynamo, name: str) -> None:
    """Up to the moment in which the agent begins: what a worker's claim costs."""
    world, meter = metered(table)
    task_id = handed_off(world, ASKED[name], "runner")
    world.clock.advance(5)
    meter.taken()
    begun = Begun(meter)
    notice = DispatchNotice(workspace="acme", agent="runner", task_id=task_id)
    process_task(world.deps, begun, notice, TimeBudget(lease_seconds=150, time_left=lambda: 100.0))
    assert begun.cost == CLAIMS[name]


def test_posting_costs_the_same(table: FakeDynamo) -> None:
    world, meter = metered(table)
    decision = EntryDraft(entry_type=EntryType.DECISION, summary="One table", scope=SCOPE)
    before = post_entry(world.deps, agent("scout"), decision)
    drafts = {
        "status": EntryDraft(entry_type=EntryType.STATUS, summary="x"),
        "finding": EntryDraft(entry_type=EntryType.FINDING, summary="x"),
        "in scope": decision,
        "replacing": EntryDraft(entry_type=EntryType.DECISION, summary="x", scope=SCOPE, supersedes=before.id),
    }
    for name, draft in drafts.items():
        meter.taken()
        with world.request():
            world.store.settings.of("acme")
            meter.taken()
            post_entry(world.deps, agent("scout"), draft)
        assert cost(meter.taken()) == POSTS[name], name
