"""The queue only says that there is work: notices are doubled, shuffled, malformed or lost, and each task runs once."""

from __future__ import annotations

import json

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_schema import NUMBER
from baton.adapters.dynamodb.table import to_wire
from baton.domain.priority import Priority
from support.worlds.deployed import Deployed, until
from support.worlds.tenant import Tenant, Workspaces

ONCE = ["handoff_initiated", "approved", "handoff_received", "handoff_completed"]


def test_twenty_notices_in_any_order_and_doubled_run_twenty_tasks_once(deployed: Deployed, tenant: Tenant) -> None:
    task_ids = tenant.unrung(20, "runner")
    deployed.ring_often([tenant.notice(task_id) for task_id in task_ids])
    for task_id in task_ids:
        assert tenant.awaited(task_id)["state"] == "done"
    deployed.await_silence()
    assert [tenant.trail(task_id) for task_id in task_ids] == [ONCE] * 20
    assert [tenant.replayed(task_id)["fence"] for task_id in task_ids] == [1] * 20


def test_two_notices_run_both_tasks_when_the_second_is_more_urgent(deployed: Deployed, tenant: Tenant) -> None:
    """The first notice takes the urgent task; the second finds it done, and must not end without the other one."""
    (usual,), (urgent,) = tenant.unrung(1, "runner", Priority.P2), tenant.unrung(1, "runner", Priority.P0)
    deployed.notify(tenant.notice(usual), tenant.notice(urgent))
    assert {tenant.awaited(task_id)["state"] for task_id in (usual, urgent)} == {"done"}
    received = [next(e["at"] for e in tenant.events(t) if e["type"] == "handoff_received") for t in (urgent, usual)]
    assert received == sorted(received)
    assert [tenant.trail(task_id) for task_id in (usual, urgent)] == [ONCE] * 2


def test_a_lost_notice_is_sent_again_by_the_sweeper(deployed: Deployed, workspace: Workspaces) -> None:
    tenant = workspace(dispatch_delay_seconds=600)  # so long is the notice on its way
    deployed.await_silence()
    task_id = tenant.approved("runner")
    assert deployed.notices() == 1
    deployed.lose_notices()
    assert deployed.notices() == 0
    tenant.age(task_id, 661)
    deployed.sweep()
    assert tenant.awaited(task_id)["state"] == "done"
    assert tenant.trail(task_id) == ONCE


def test_a_notice_that_met_a_busy_moment_comes_again_in_seconds(deployed: Deployed, tenant: Tenant) -> None:
    """The task was written by a newer version, as while a deployment runs. The queue hides a notice for 12 minutes."""
    (task_id,) = tenant.unrung(1, "runner")
    head = {"TableName": deployed.stack.table, "Key": to_wire(keys.head(tenant.name, task_id)._asdict())}
    number = deployed.dynamo.get_item(**head)["Item"][NUMBER]

    def numbered(value: dict[str, str]) -> None:
        names, values = {"#number": NUMBER}, {":number": value}
        update = {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}
        deployed.dynamo.update_item(**head, UpdateExpression="SET #number = :number", **update)

    def failures() -> int:
        return sum('"WrittenByNewer"' in line and "bell_failed" in line for line in deployed.logs("ProcessTask"))

    before = failures()
    numbered({"N": "999"})
    deployed.notify(tenant.notice(task_id))
    until(lambda: failures() > before)
    numbered(number)
    until(lambda: tenant.task(task_id)["state"] == "done", seconds=60)
    assert tenant.trail(task_id) == ONCE
    deployed.await_silence()


def test_a_notice_for_work_that_nobody_may_take_yet_does_no_harm(deployed: Deployed, tenant: Tenant) -> None:
    task_id = tenant.needing("runner")
    pulled = tenant.approved("reviewer")
    deployed.notify(tenant.notice(task_id), tenant.notice(pulled, "reviewer"), tenant.notice("task_none"))
    deployed.notify(tenant.notice(task_id, "nobody"), {**tenant.notice(task_id), "workspace": "elsewhere"})
    deployed.await_silence()
    assert [tenant.task(each)["state"] for each in (task_id, pulled)] == ["needs", "delegated"]


@pytest.mark.parametrize(
    "bodies",
    [
        ["not a bell", "[]", '"text"', "null", "[" * 20_000],
        ['{"workspace": "w"}', '{"workspace": "w", "agent": "a", "task_id": 1}'],
        [json.dumps({"workspace": "w", "agent": "A b", "task_id": "t"}), json.dumps(dict.fromkeys("abc", "x"))],
    ],
)
def test_malformed_messages_are_given_up_with_their_reason(deployed: Deployed, bodies: list[str]) -> None:
    deployed.notify(*bodies)
    given_up = deployed.take_dead_letters(len(bodies))
    assert sorted(body for body, _ in given_up) == sorted(bodies)
    assert {reason.split()[0] for _, reason in given_up} <= {"not", "without"}
    deployed.await_silence()
