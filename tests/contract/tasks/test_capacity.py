"""What each verb costs in capacity units, with ordinary names, a payload of 1 KB and a small output, in any size of
workspace. A verb of the API comes as a request: the check of its token and of the kill switch are in its figures. What
a change makes cheaper is changed in ``COSTS``, and nowhere else."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.bootstrap import forget_all
from baton.domain.agents.liveness import MARKED_EVERY
from baton.domain.idempotency import IdempotencyKey
from baton.domain.priority import Priority
from baton.domain.tasks.transitions import Dispatch, create
from baton.domain.tasks.wake import next_look
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.tasks.approve_task import approve_task, undo_approval
from baton.services.tasks.end_task import cancel_task
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import TABLE
from support.faults.soak import crossed, scaled
from support.values.changes import with_body
from support.values.tasks import SETTINGS, a_new_task
from tools.bench.edge import at_the_edge
from tools.bench.meter import Meter, Usage
from tools.bench.office import IN_NOTION, NAMES, SENDS, VERBS, WORKSPACE, Office, StillClock, Verb, approve, mark, send

# Calls that read and calls that write; write units with those of the indexes, and read units.
COSTS: dict[str, tuple[int, int, float, float]] = {
    # name                                    reads, writes,  WU,   RU
    "marker, created":                            (2, 3,     12,   2),
    "marker, duplicate":                          (3, 1,      1,   3),
    "approve":                                    (2, 1,      4,   2),
    "claim-next":                                 (3, 1,      4, 3.5),
    "heartbeat":                                  (1, 1,      2,   1),
    "heartbeat, of a run":                        (0, 1,      2,   0),
    "complete":                                   (2, 1,      6,   3),
    "fail, tried again":                          (2, 1,     10,   3),
    "release":                                    (2, 1,      4,   3),
    "get task":                                   (3, 0,      0,   4),
    "sweep, nothing due":                         (49, 0,      0, 24.5),
    "sweep, a claim is lost":                     (51, 1,     12, 26.5),
    "approve, agent is run":                      (2, 1,      4,   2),
    "process-task, one notice":                   (6, 2,     10,   7),
    "the same, the model replies once":           (12, 5,     13,  13),
    "the same, the model replies twice":          (16, 9,     17,  17),
    "telling the bus: created":                   (1, 1,      2,   1),
    "telling the bus: approved":                  (1, 2,      3,   1),
    "telling the bus: claimed":                   (1, 1,      2,   1),
    "telling the bus: done":                      (4, 2,      4,   5),
    "marker, with its page":                      (3, 4,     19,   3),
    "approve, with its page":                     (3, 1,      4,   3),
    "claim-next, with its page":                  (4, 1,      4, 4.5),
    "complete, with its page":                    (3, 1,      6,   4),
    "sync-tracker, approved: nothing to write":   (4, 1,      1, 4.5),
    "sync-tracker, claimed: the status":          (4, 2,      2, 4.5),
    "sync-tracker, done: status and comment":     (4, 2,      3, 4.5),
}  # fmt: skip
# Of which verbs, write units, read units: a handoff whose worker pulls, one that is run, what the bus adds, and one
# that is a page in Notion, without a heartbeat.
HANDOFFS: dict[str, tuple[tuple[str, ...], float, float]] = {
    "pulled": (("marker, created", "approve", "claim-next", "heartbeat", "complete"), 28, 11.5),
    "run": (("marker, created", "approve, agent is run", "process-task, one notice"), 26, 11),
    "told to the bus": (tuple(name for name in COSTS if name.startswith("telling")), 11, 8),
    "in Notion": (
        (
            *(name for name in COSTS if name.endswith("with its page")),
            *(name for name in COSTS if name.startswith("sync-tracker")),
        ),
        39,
        28,
    ),
}
LIMITS = Path(__file__).resolve().parents[3] / "docs/limits.md"
MANY = {verb.name: verb for verb in (*VERBS, *IN_NOTION, *SENDS)}
# Agents; tasks that are ready for the target, and as many that need a human; events before the approval.
MANY_AGENTS = scaled(500, 5)
SIZES = {
    "small": (5, 10, 0),
    "many tasks": (5, scaled(1_000, 25), 0),
    "many agents": (MANY_AGENTS, 10, 0),
    "a long trail": (5, 10, scaled(1_000)),
}
# What isn't the same. A claim reads the first page of its queue, 25 entries, which are more than 4 KB: half a unit more
# wherever that many wait. In a longer trail one change in four moves what HEAD had before into a chunk: a call and up
# to three units more, and HEAD is the shorter for it.
UNEQUAL: dict[tuple[str, str], tuple[int, int, float, float]] = {
    ("a long trail", "approve"): (2, 2, 7, 2),
    ("many tasks", "claim-next"): (3, 1, 4, 4),
    ("a long trail", "approve, agent is run"): (2, 2, 7, 2),
    ("a long trail", "telling the bus: done"): (5, 2, 4, 13),  # it is read whole, up to 1,000 events
    ("many tasks", "process-task, one notice"): (6, 2, 10, 8),
    ("many tasks", "the same, the model replies once"): (12, 5, 13, 14),
    ("many tasks", "the same, the model replies twice"): (16, 9, 17, 18),
    ("a long trail", "approve, with its page"): (3, 2, 7, 3),
    ("many tasks", "claim-next, with its page"): (4, 1, 4, 5),
}  # fmt: skip


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, scrubbed_environment: None) -> Iterator[None]:
    """What a function's log lines need."""
    monkeypatch.setenv("BATON_TABLE", TABLE)
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test-capacity")
    forget_all()
    yield
    forget_all()
    logging.root.manager.loggerDict.pop("test-capacity", None)


def office_of(verb: Verb, meter: Meter, agents: int = 5) -> Office:
    store = DynamoStore(Table(meter, TABLE, Patience(StillClock())))
    return Office(store, WORKSPACE, agents, runtime=verb.runtime, has_tracker=verb.has_tracker, clock=StillClock())


@cache
def opened(verb_runtime: str, has_tracker: bool, agents: int, tasks: int) -> FakeDynamo:
    """A table with a workspace of that size. Nobody may write to it."""
    dynamo = FakeDynamo()
    dynamo.take_over(bystanders(agents))
    verb = next(each for each in MANY.values() if (each.runtime, each.has_tracker) == (verb_runtime, has_tracker))
    fill(office_of(verb, Meter(dynamo)).open(), tasks)
    return dynamo


@cache
def bystanders(agents: int) -> FakeDynamo:
    """A table with the agents of a workspace of that size that no verb names. Nobody may write to it."""
    dynamo = FakeDynamo()
    office = office_of(MANY["approve"], Meter(dynamo), agents)
    for slug in office.slugs[len(NAMES) :]:
        register_agent(office.deps, office.human, slug, {"name": slug})
    return dynamo


def fill(office: Office, tasks: int) -> None:
    """So many wait for a human, and as many for the target's workers, all of them less urgent than what comes."""
    at = office.clock.now() - timedelta(minutes=1)
    agent = office.store.agents.agent(WORKSPACE, office.target)
    for number in range(tasks):
        for state, by in (("needs", office.worker), ("ready", office.human)):
            new = a_new_task(
                workspace=WORKSPACE,
                id=f"task_{state}_{number:06d}",
                kind="transfer",
                source_agent=NAMES[2],
                target_agent=office.target,
                priority=Priority.P2,
                created_at=at,
                created_by=by.key,
            )
            change = create(new, by, at, Dispatch(agent, SETTINGS))
            # As a sweeper that came early has left it.
            change = replace(change, task=change.task.changed(wake_at=next_look(change.task, at), wakes_first=False))
            office.store.commit(WORKSPACE, with_body(change, {}))


def lengthen(office: Office, events: int) -> None:
    """Approved and taken back, again and again, and all of it shown on the page if there is one."""
    for _ in range(events // 2):
        approve_task(office.deps, office.human, office.task_id, None)
        undo_approval(office.deps, office.human, office.task_id)
    if events and office.has_tracker:
        send(office)


def usage(verb: Verb, agents: int = 5, tasks: int = 0, events: int = 0) -> Usage:
    dynamo = FakeDynamo()
    dynamo.take_over(opened(verb.runtime, verb.has_tracker, agents, tasks))
    meter = Meter(dynamo)
    office = office_of(verb, meter, agents)
    office.store.agents.roster(WORKSPACE)  # known to this process, as to one that has handled a request before
    office.store.contacts.mark_contact(
        WORKSPACE, office.target, office.clock.now(), MARKED_EVERY
    )  # it polled a moment ago
    for step in verb.before:
        if step is approve:
            lengthen(office, events)
        step(office, None)
    if verb.act is approve:
        lengthen(office, events)
    act = at_the_edge(verb, office) if verb.request is not None else lambda: verb.act(office, None)
    meter.taken()
    act()
    return meter.taken()


DEARER = """Calls that read, calls that write, write units, read units. A write costs a unit for each KB begun: a new
field of a task is in HEAD, and in each event that tells it. Make it smaller, or keep it in ``TaskMeta``, which no event
tells. If it is worth its units: COSTS, HANDOFFS and docs/cost.md."""


def account(spent: Usage) -> tuple[int, int, float, float]:
    return spent.reads, spent.writes, spent.all_write_units, spent.read_units


def test_the_table_has_every_verb() -> None:
    assert COSTS.keys() == MANY.keys()


@pytest.mark.parametrize("name", COSTS)
def test_a_verb_costs_this_many_calls_and_units(name: str) -> None:
    assert account(usage(MANY[name])) == COSTS[name], DEARER


@pytest.mark.parametrize("name", ["approve", "complete", "fail, tried again", "release"])
def test_a_key_costs_a_verb_that_changes_one_task_nothing(name: str) -> None:
    """Its receipt is in HEAD, and nothing is looked for besides."""
    assert account(acted(MANY[name], is_keyed=True)) == account(acted(MANY[name], is_keyed=False)), DEARER


def acted(verb: Verb, *, is_keyed: bool) -> Usage:
    """Without the edge, whose requests bring no key."""
    dynamo = FakeDynamo()
    dynamo.take_over(opened(verb.runtime, verb.has_tracker, 5, 10))
    meter = Meter(dynamo)
    office = office_of(verb, meter)
    office.store.agents.roster(WORKSPACE)
    for step in verb.before:
        step(office, None)
    by = office.human if verb.act is approve else office.worker
    path = f"POST /tasks/{office.task_id}/verb"
    key = IdempotencyKey(by, path, "0f3c9a52-71b7-4a3c-9d0b-6f7d3a1c2b4e", "0" * 64, office.clock.now())
    meter.taken()
    verb.act(office, key if is_keyed else None)
    return meter.taken()


def allow_twenty(office: Office, _once: IdempotencyKey | None) -> None:
    change_settings(office.deps, office.human, {"escalation_cap": 20})


def ended(office: Office, _once: IdempotencyKey | None) -> None:
    mark(office)
    cancel_task(office.deps, office.human, office.task_id, None)


@pytest.mark.parametrize("agents", [5, MANY_AGENTS])
@pytest.mark.parametrize(("earlier", "write_units"), [(1, 12), (10, 12), (19, 14)])
def test_a_marker_looks_at_the_latest_end_whatever_there_is_in_its_window(
    agents: int, earlier: int, write_units: int
) -> None:
    """Of those before it the direction knows, and grows with them."""
    verb = replace(MANY["marker, created"], before=(allow_twenty, *(ended,) * earlier))
    assert account(usage(verb, agents)) == (3, 3, write_units, 3)


@pytest.mark.parametrize("name", HANDOFFS)
def test_a_handoff_costs_this_many_units(name: str) -> None:
    verbs, write_units, read_units = HANDOFFS[name]
    assert sum(COSTS[verb][2] for verb in verbs) == write_units
    assert sum(COSTS[verb][3] for verb in verbs) == read_units


def test_what_the_table_gives_a_handoff_is_told_in_the_limits() -> None:
    """A handoff that is pulled, and told to the bus: by what the table and each index take of it."""
    spent = [usage(MANY[name]) for of in ("pulled", "told to the bus") for name in HANDOFFS[of][0]]
    taken = {
        "writes of the table": sum(each.write_units for each in spent),
        "writes of the index `queue`": sum(each.units_of("queue") for each in spent),
        "writes of the index `wake`": sum(each.units_of("wake") for each in spent),
        "reads of the table": sum(each.read_units for each in spent),
    }
    text = LIMITS.read_text(encoding="utf-8")
    for what, units in taken.items():
        (row,) = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith(f"| {what}")]
        new = 12_000 if "reads" in what else 4_000
        assert [cell.strip() for cell in row[1:4]] == [
            f"{units:g}",
            f"{new:,}: {new // units:,.0f}",
            f"40,000: {40_000 // units:,.0f}",
        ]


def test_a_page_adds_nothing_to_a_verb_but_the_first() -> None:
    pairs = [(COSTS[f"{name}, with its page"], COSTS[name]) for name in ("approve", "claim-next", "complete")]
    assert [with_page[1:3] for with_page, without in pairs] == [without[1:3] for _, without in pairs]


def test_a_page_adds_at_most_fourteen_write_units_to_a_handoff() -> None:
    heartbeat = COSTS["heartbeat"][2]
    assert HANDOFFS["in Notion"][1] <= HANDOFFS["pulled"][1] - heartbeat + 14


# Under ``make soak`` each verb in each size; else each in one of them, and those that are unequal.
SIZED = list(dict.fromkeys([*crossed(list(COSTS), list(SIZES)), *((name, size) for size, name in UNEQUAL)]))


@pytest.mark.parametrize(("name", "size"), SIZED)
def test_a_verb_costs_the_same_in_any_size_of_workspace(name: str, size: str) -> None:
    assert account(usage(MANY[name], *SIZES[size])) == UNEQUAL.get((size, name), COSTS[name]), DEARER
