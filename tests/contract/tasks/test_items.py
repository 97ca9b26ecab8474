"""Any task that the domain can hold is the same after a round trip through the table's items."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.agents import route_items
from baton.adapters.dynamodb.alerts import alert_items
from baton.adapters.dynamodb.memory import entry_items
from baton.adapters.dynamodb.table import from_wire, to_wire
from baton.adapters.dynamodb.tracker import tracker_items
from baton.domain.agents.agent import Runtime
from baton.domain.agents.route import Mode, Route
from baton.domain.alerts.alert import MAX_MESSAGE as MAX_ALERT
from baton.domain.alerts.alert import Alert, AlertState, Severity
from baton.domain.canonical_json import canonical_json
from baton.domain.ids import handoff_id_of, sortable_id, workflow_id_of
from baton.domain.memory.entry import SNAPSHOT_TYPES, DecisionStatus, Entry, EntryChange, EntryEvent, EntryType
from baton.domain.memory.scope import line_of
from baton.domain.priority import Priority
from baton.domain.questions.approval import Given, Need, ReadyApproval, TaskApproval
from baton.domain.questions.approvers import Approvers
from baton.domain.questions.question import MAX_OPEN
from baton.domain.task_state import State
from baton.domain.tasks.field_rules import FieldRule, Form
from baton.domain.tasks.task import (
    KEPT,
    MAX_BRANCHES,
    MAX_LEASE_SECONDS,
    MIN_LEASE_SECONDS,
    TOLD,
    Branch,
    Claim,
    Flag,
    OpenQuestion,
    Policy,
    Task,
    TaskMeta,
    Wait,
)
from baton.domain.tasks.trail import from_snapshot, snapshot, state_fields
from baton.domain.tracker.page_sync import MAX_MESSAGE, PageRef, PageSync, Sync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.domain.tracker.webhook import Webhook
from baton.ports.queues import ReadyTask
from support.clock import NOON
from support.fakes.fake_dynamo.rules import check
from support.fakes.fake_dynamo.sizes import item_bytes as size
from support.faults.soak import scaled
from support.values.changes import a_claim
from support.values.records import a_circuit, a_page, a_page_sync, an_alert
from support.values.tasks import a_new_task

ids = st.from_regex(r"\A[A-Za-z0-9_-]{1,64}\Z")
slugs = st.from_regex(r"\A[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1)).map(  # noqa: DTZ001 - made aware right here
    lambda at: at.replace(tzinfo=UTC, microsecond=at.microsecond // 1_000 * 1_000)
)
counts = st.integers(0, 10**9)
claims = st.builds(
    Claim,
    claim_id=ids,
    fence=counts,
    agent=slugs,
    worker=texts,
    principal=texts.map(lambda name: f"agent:{name}"),
    lease_seconds=st.integers(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS),
    claimed_at=moments,
    heartbeat_at=moments,
    expires_at=moments,
    slot=st.none() | st.integers(0, 99),
)
waits = st.builds(
    Wait,
    number=counts,
    since=moments,
    alert_at=moments,
    policy=st.sampled_from(Policy),
    quorum=st.none() | st.integers(1, 10),
    branches=st.lists(st.builds(Branch, call_id=ids, task_id=ids), max_size=MAX_BRANCHES).map(tuple),
    interaction_id=st.none() | texts,
    questions=st.lists(ids, max_size=3).map(tuple),
    until=st.none() | moments,
)
needs = st.builds(
    Need,
    approvers=st.builds(
        Approvers,
        people=st.lists(slugs, max_size=3).map(tuple),
        group=st.none() | slugs,
        wider=st.none() | slugs,
        needed=st.integers(1, 5),
        never=st.lists(texts, max_size=2).map(tuple),
    ),
    remind_at=st.none() | moments,
    then_group=st.none() | slugs,
    then_at=st.none() | moments,
)
approvals = st.builds(
    TaskApproval,
    needs=st.lists(needs, min_size=1, max_size=3).map(tuple),
    given=st.lists(st.builds(Given, slugs, texts), max_size=3).map(tuple),
    since=st.none() | moments,
)
OF_FORM: dict[Form, st.SearchStrategy[Any]] = {
    Form.TEXT: texts,
    Form.TEXTS: st.lists(texts, max_size=5).map(tuple),
    Form.READY_APPROVALS: st.lists(
        st.builds(ReadyApproval, slugs, st.none() | moments, st.integers(0, 10**9)), max_size=3
    ).map(tuple),
    Form.NUMBER: counts,
    Form.TRUTH: st.booleans(),
    Form.TIME: moments,
    Form.DATE: st.dates(),
    Form.STATE: st.sampled_from(State),
    Form.PRIORITY: st.sampled_from(Priority),
    Form.RUNTIME: st.sampled_from(Runtime),
    Form.DIGEST: st.text("0123456789abcdef", min_size=64, max_size=64),
    Form.FLAGS: st.frozensets(st.sampled_from(Flag)),
    Form.CLAIM: claims,
    Form.WAIT: waits,
    Form.QUESTIONS: st.lists(st.builds(OpenQuestion, ids, moments), max_size=MAX_OPEN).map(tuple),
    Form.APPROVAL: approvals,
}


def any_value(rule: FieldRule) -> st.SearchStrategy[Any]:
    """Of the field's form, or None where that may be left out."""
    return st.none() | OF_FORM[rule.form] if rule.unsaid is None else OF_FORM[rule.form]


# Fields that take less than their form does, or are kept under other names. Each other field is tried by itself.
NARROW: dict[str, st.SearchStrategy[Any]] = {
    "workspace": ids,
    "id": ids,
    "kind": st.sampled_from(["escalation", "transfer", "delegation"]),
    "source_agent": slugs,
    "target_agent": st.none() | slugs,
    "handoff_id": ids,
    "master_task_id": ids,
    "parent_id": st.none() | ids,
    "workflow_id": ids,
    "meta": st.builds(
        TaskMeta,
        **{name: any_value(rule) for name, rule in KEPT.items()}
        | {
            "version": st.integers(1, 10**9),
            "chain": st.text("0123456789abcdef", min_size=64, max_size=64),
            "wake_at": st.none() | moments,
        },
    ),
}
tasks = st.builds(Task, **{name: any_value(rule) for name, rule in TOLD.items()} | NARROW)
page_syncs = st.builds(
    PageSync,
    workspace=ids,
    task_id=ids,
    wanted=counts,
    shown=counts,
    looks=counts,
    looked=counts,
    page=st.none() | st.builds(PageRef, texts, texts),
    page_status=st.none() | texts,
    shown_state=st.none() | st.sampled_from(State).map(str),
    is_settled=st.booleans(),
    status=st.sampled_from(Sync),
    message=texts,
    sender=st.none() | ids,
    held_until=st.none() | moments,
    attempts=counts,
    failures=counts,
    unclear=st.booleans(),
    happened_by=st.none() | moments,
    due_at=st.none() | moments,
    look_at=st.none() | moments,
    since=moments,
    version=st.integers(1, 10**9),
)
circuits = st.builds(
    TrackerCircuit,
    workspace=ids,
    open_until=st.none() | moments,
    failures=counts,
    status=st.sampled_from(Sync),
    message=texts,
    reconciled_at=st.none() | moments,
    wake_at=st.none() | moments,
    version=st.integers(1, 10**9),
)
webhooks = st.builds(
    Webhook,
    workspace=ids,
    digest=texts,
    opened_at=moments,
    opened_by=texts,
    token=st.none() | texts,
    installed_at=st.none() | moments,
    verified_at=st.none() | moments,
    removed=st.booleans(),
    version=st.integers(1, 10**9),
)
entry_events = st.builds(
    EntryEvent,
    what=st.sampled_from(EntryChange),
    by=texts,
    at=moments,
    entry_id=st.none() | ids,
    reason=st.none() | texts,
)
board_entries = st.builds(
    Entry,
    workspace=ids,
    id=ids,
    scope=st.sampled_from(["project", "src", "src/auth/jwt", "ü/[id]"]),
    entry_type=st.sampled_from(EntryType),
    summary=texts,
    detail=texts,
    tags=st.lists(texts, max_size=3).map(tuple),
    relates_to=st.lists(texts, max_size=3).map(tuple),
    rationale=st.none() | texts,
    status=st.none() | st.sampled_from(DecisionStatus),
    supersedes=st.none() | ids,
    posted_by=texts,
    posted_at=moments,
    changes=st.lists(entry_events, max_size=3).map(tuple),
    version=counts,
)
alerts = st.builds(
    Alert,
    workspace=ids,
    id=ids,
    kind=texts,
    severity=st.sampled_from(Severity),
    message=texts,
    task_id=st.none() | ids,
    raised_by=texts,
    raised_at=moments,
    acknowledged_at=st.none() | moments,
    acknowledged_by=st.none() | texts,
    resolved_at=st.none() | moments,
    resolved_by=st.none() | texts,
    note=st.none() | texts,
    version=st.integers(1, 10**9),
)
routes = st.builds(
    Route,
    workspace=ids,
    work_type=slugs,
    agent=slugs,
    mode=st.sampled_from(Mode),
    dispatch_rank=counts,
    version=st.integers(1, 10**9),
    updated_at=moments,
    updated_by=texts,
    removed=st.booleans(),
)


@settings(max_examples=scaled(300, 20), derandomize=True)
@given(tasks)
def test_a_task_survives_its_item(task: Task) -> None:
    wire = to_wire(items.head_item(task))
    check("transact_write_items", {"TransactItems": [{"Put": {"Item": wire}}], "ClientRequestToken": "x"})
    assert items.task_from(from_wire(wire)) == task


USUAL_ID = sortable_id("task", NOON, bytes(10))
CLAIMED_AT = NOON + timedelta(seconds=9)
# Each of them is unlike what the rest of the task would say of it.
UNUSUAL: list[dict[str, Any]] = [
    {"id": "task_1"},
    {"handoff_id": "ho_1"},
    {"master_task_id": "task_1"},
    {"workflow_id": "wf_mine"},
    {"created_by": "human:alice"},
    {"target_agent": None},
    {"claim": None},
]


def a_usual_task(**unusual: Any) -> Task:
    usual: dict[str, Any] = {
        "id": USUAL_ID,
        "master_task_id": USUAL_ID,
        "handoff_id": handoff_id_of(USUAL_ID),
        "workflow_id": workflow_id_of(USUAL_ID),
        "created_by": "agent:scout",
        "updated_at": CLAIMED_AT,
        "fence": 1,
        "claim": a_claim(at=CLAIMED_AT),
    }
    return a_new_task(**{**usual, **unusual})


def test_a_usual_tasks_item_leaves_out_what_follows_from_its_key() -> None:
    wire = to_wire(items.head_item(a_usual_task()))
    assert {"id", "workspace", "handoff_id", "master_task_id", "workflow_id", "created_by"}.isdisjoint(wire)
    assert items.task_from(from_wire(wire)) == a_usual_task()


@pytest.mark.parametrize("unusual", UNUSUAL)
def test_an_unusual_task_survives_its_item(unusual: dict[str, Any]) -> None:
    task = a_usual_task(**unusual)
    read = items.task_from(from_wire(to_wire(items.head_item(task))))
    assert (read, read.meta.updated_at, read.claim) == (task, task.meta.updated_at, task.claim)


@pytest.mark.parametrize("tail", [(), ({"at": "yesterday"},), ({"at": 7},), ({},), ("damaged",)])
def test_a_task_is_readable_whatever_became_of_its_latest_event(tail: tuple[Any, ...]) -> None:
    wire = to_wire({**items.head_item(a_usual_task()), "events": list(tail)})
    assert items.task_from(from_wire(wire)) == a_usual_task()


@settings(max_examples=scaled(200, 20), derandomize=True)
@given(tasks)
def test_a_tasks_places_tell_who_and_when(task: Task) -> None:
    item = items.head_item(task)
    assert keys.parse_task(item["pk"]) == (task.workspace, task.id)
    if task.meta.wake_at is not None:
        assert item["wake_sk"] <= keys.wake_until(task.meta.wake_at)
        assert item["wake_sk"] > keys.wake_until(task.meta.wake_at - timedelta(milliseconds=1))
    if task.claim is not None:
        assert item["queue_pk"] == keys.ready_queue(task.workspace, task.claim.agent)
        assert keys.parse_claim_mark(item["queue_sk"]) == (task.claim.expires_at, task.claim.claim_id)
        return
    is_queued = task.state is State.DELEGATED and task.ready_at is not None and not task.meta.parked
    if is_queued and task.ready_at is not None:
        assert keys.parse_queue_sort_key(item["queue_sk"]) == (task.priority, ReadyTask(task.id, task.ready_at))
        assert (item["queue_pk"] == keys.open_queue(task.workspace)) == (task.target_agent is None)
    assert (item.get("queue_sk") is not None) == (is_queued or (task.state is State.NEEDS and not task.meta.parked))


@settings(max_examples=scaled(200, 20), derandomize=True)
@given(tasks)
def test_a_task_survives_the_answer_that_is_kept_of_it(task: Task) -> None:
    """Without its hints to the dispatcher and its secrets, which no answer shows."""
    kept = json.loads(canonical_json(snapshot(task)))
    found = from_snapshot(kept)
    assert state_fields(found) == state_fields(task)
    assert (found.meta.version, found.meta.seq, found.meta.mirrored) == (
        task.meta.version,
        task.meta.seq,
        task.meta.mirrored,
    )


def wired(item: dict[str, Any]) -> dict[str, Any]:
    """As it is read again, after a check that it may be written."""
    wire = to_wire(item)
    check("transact_write_items", {"TransactItems": [{"Put": {"Item": wire}}], "ClientRequestToken": "x"})
    assert not any("NULL" in value for value in wire.values())
    return from_wire(wire)


@settings(max_examples=scaled(200), derandomize=True)
@given(page_syncs)
def test_a_row_of_the_outbox_survives_its_item_and_is_where_it_is_looked_for(page_sync: PageSync) -> None:
    item = wired(tracker_items.page_sync_item(page_sync))
    assert tracker_items.page_sync_from(item) == page_sync
    if page_sync.due_at is not None:
        assert item["queue_pk"] == keys.page_sync_queue(page_sync.workspace)
        assert keys.parse_due(item["queue_sk"]) == page_sync.task_id
        assert item["queue_sk"] <= keys.wake_until(page_sync.due_at)
        assert item["queue_sk"] > keys.wake_until(page_sync.due_at - timedelta(milliseconds=1))
    elif page_sync.status is Sync.DEAD:
        assert item["queue_pk"] == keys.dead_page_syncs(page_sync.workspace)
    else:
        assert "queue_pk" not in item


@settings(max_examples=scaled(100), derandomize=True)
@given(circuits)
def test_a_circuit_survives_its_item_and_is_woken_in_time(circuit: TrackerCircuit) -> None:
    item = wired(tracker_items.tracker_circuit_item(circuit))
    assert tracker_items.tracker_circuit_from(circuit.workspace, item) == circuit
    assert ("wake_pk" in item) == (circuit.wake_at is not None)
    if circuit.wake_at is not None:
        assert keys.parse_due(item["wake_sk"]) == circuit.workspace
        assert item["wake_sk"] <= keys.wake_until(circuit.wake_at)
        assert item["wake_sk"] > keys.wake_until(circuit.wake_at - timedelta(milliseconds=1))


@settings(max_examples=scaled(100), derandomize=True)
@given(webhooks)
def test_a_webhook_survives_its_item(webhook: Webhook) -> None:
    assert tracker_items.webhook_from(wired(tracker_items.webhook_item(webhook))) == webhook


@settings(max_examples=scaled(200), derandomize=True)
@given(board_entries)
def test_an_entry_survives_its_item_and_is_where_it_is_looked_for(entry: Entry) -> None:
    item = wired(entry_items.entry_item(entry))
    assert entry_items.entry_from(entry.workspace, item) == entry
    is_in_view = entry.is_active and entry.entry_type in SNAPSHOT_TYPES
    assert ("queue_pk" in item) == is_in_view
    assert not is_in_view or item["queue_sk"] == ("HERE#" if entry.scope == "project" else "BELOW#") + entry.id
    rows = list(map(wired, entry_items.row_items(entry)))
    line = list(line_of(entry.scope)) if is_in_view else []
    assert [row["queue_pk"].rpartition("#")[2] for row in rows if "queue_pk" in row] == (
        line[1:] + (line if entry.posted_by.startswith("human:") else [])
    )


@settings(max_examples=scaled(100), derandomize=True)
@given(alerts)
def test_an_alert_survives_its_item_and_is_where_it_is_looked_for(alert: Alert) -> None:
    item = wired(alert_items.alert_item(alert))
    assert alert_items.alert_from(item) == alert
    assert ("queue_pk" in item) == (alert.state is not AlertState.RESOLVED)
    if alert.state is not AlertState.RESOLVED:
        assert item["queue_pk"] == keys.unresolved_alerts(alert.workspace, alert.state)
        assert item["queue_sk"] == item["sk"] == alert.id


@settings(max_examples=scaled(100), derandomize=True)
@given(routes)
def test_a_route_survives_its_item_and_a_removed_one_is_none(route: Route) -> None:
    item = wired(route_items.route_item(route))
    assert route_items.last_route_from(item) == route
    assert route_items.route_from(item) == (None if route.removed else route)


@settings(max_examples=scaled(100), derandomize=True)
@given(slugs, slugs, slugs, slugs)
def test_no_two_directions_share_a_key(a: str, b: str, c: str, d: str) -> None:
    assert (keys.direction("w", a, b) == keys.direction("w", c, d)) == ((a, b) == (c, d))


def test_a_head_stays_small_enough_to_be_written_with_every_commit() -> None:
    long: dict[str, Any] = {"title": "Handoff: " + "x" * 240, "created_by": "agent:" + "x" * 63}
    task = a_new_task(**long, claim=a_claim(), flags=frozenset(Flag), deadline=NOON, chain="0" * 64)
    assert size(to_wire(items.head_item(task))) < 2_000


def test_a_row_and_a_circuit_stay_small_whatever_the_tracker_said() -> None:
    said = "\N{ROCKET}" * MAX_MESSAGE
    row = a_page_sync(page=a_page(), page_status="x" * 100, message=said, sender="send_" + "0" * 26, held_until=NOON)
    assert size(to_wire(tracker_items.page_sync_item(row))) < 3_000
    assert size(to_wire(tracker_items.tracker_circuit_item(a_circuit(message=said, open_until=NOON)))) < 3_000


def test_an_alert_stays_small_whatever_was_said() -> None:
    said = "\N{ROCKET}" * MAX_ALERT
    assert size(to_wire(alert_items.alert_item(an_alert(message=said, note=said)))) < 17_000
