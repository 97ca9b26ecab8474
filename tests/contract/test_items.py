"""Any task that the domain can hold is the same after a round trip through the table's items."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.table import from_wire, to_wire
from baton.domain.agent import Runtime
from baton.domain.marker import Priority
from baton.domain.task import MAX_LEASE_SECONDS, MIN_LEASE_SECONDS, Claim, Flag, State, Task
from baton.ports import Ready
from support.changes import a_claim
from support.clock import NOON
from support.lawful import check, size
from support.tasks import a_new_task

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
)
tasks = st.builds(
    Task,
    workspace=ids,
    id=ids,
    state=st.sampled_from(State),
    title=texts,
    kind=st.sampled_from(["escalation", "transfer", "delegation"]),
    source_agent=slugs,
    target_agent=slugs,
    priority=st.sampled_from(Priority),
    effort=st.none() | texts,
    due_date=st.none() | st.dates(),
    deadline=st.none() | moments,
    fail_on_deadline=st.booleans(),
    handoff_id=ids,
    master_task_id=ids,
    parent_id=st.none() | ids,
    workflow_id=ids,
    depth=counts,
    revision=counts,
    created_at=moments,
    created_by=texts,
    updated_at=moments,
    max_attempts=counts,
    ready_at=st.none() | moments,
    undo_until=st.none() | moments,
    origin=st.none() | st.sampled_from(State),
    attempt=counts,
    releases=counts,
    fence=counts,
    claim=st.none() | claims,
    flags=st.frozensets(st.sampled_from(Flag)),
    recoveries=counts,
    has_output=st.booleans(),
    has_failure=st.booleans(),
    version=st.integers(1, 10**9),
    seq=counts,
    chain=st.text("0123456789abcdef", min_size=64, max_size=64),
    rings=counts,
    wake_at=st.none() | moments,
    runtime=st.sampled_from(Runtime),
    alert_after_seconds=counts,
)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(tasks)
def test_a_task_survives_its_item(task: Task) -> None:
    wire = to_wire(items.head_item(task))
    check("transact_write_items", {"TransactItems": [{"Put": {"Item": wire}}], "ClientRequestToken": "x"})
    assert items.task_from(from_wire(wire)) == task


@settings(max_examples=200, derandomize=True, deadline=None)
@given(tasks)
def test_a_tasks_places_tell_who_and_when(task: Task) -> None:
    item = items.head_item(task)
    assert keys.parse_task(item["pk"]) == (task.workspace, task.id)
    if task.wake_at is not None:
        assert item["wake_sk"] <= keys.wake_until(task.wake_at)
        assert item["wake_sk"] > keys.wake_until(task.wake_at - timedelta(milliseconds=1))
    if task.state is State.DELEGATED and task.ready_at is not None:
        assert keys.parse_place(item["queue_sk"]) == (task.priority, Ready(task.id, task.ready_at))
    assert (item["queue_sk"] is None) == (
        task.state is not State.NEEDS and (task.state is not State.DELEGATED or task.ready_at is None)
    )


@settings(max_examples=100, derandomize=True, deadline=None)
@given(slugs, slugs, slugs, slugs)
def test_no_two_directions_share_a_key(a: str, b: str, c: str, d: str) -> None:
    assert (keys.direction("w", a, b) == keys.direction("w", c, d)) == ((a, b) == (c, d))


def test_a_head_stays_small_enough_to_be_written_with_every_commit() -> None:
    long: dict[str, Any] = {"title": "Handoff: " + "x" * 240, "created_by": "agent:" + "x" * 63}
    task = a_new_task(**long, claim=a_claim(), flags=frozenset(Flag), deadline=NOON, chain="0" * 64)
    assert size(to_wire(items.head_item(task))) < 2_000
