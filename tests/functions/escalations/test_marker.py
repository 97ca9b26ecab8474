"""create-handoff-marker over HTTP (docs/spec/marker.md)."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from baton.bootstrap import logger
from baton.domain.errors import Busy
from baton.domain.escalations.marker import FIELDS
from support.gateway import Gateway, Reply
from support.values.schema import DOCUMENT
from support.worlds.world import World, agent, human, marker_body, service

SCOUT = agent("scout")
NAMES = "Client Repo Auditor, Runner, Scout"
BLOCK = """\
Escalated To: Client Repo Auditor
Escalation Reason: Stale spike in CI failures; needs a repo audit
Escalation Owner: Client Repo Auditor
Handoff Complete: No
Source: https://notes.example/digest/1"""
OUTPUTS = {
    "success",
    "handoff_block",
    "task_created",
    "task_url",
    "task_id",
    "tracker_page_id",
    "duplicate_prevented",
    "existing_task_url",
    "escalation_capped",
    "needs_manual_review",
    "handoff_id",
    "degraded_capabilities",
}


def mark(gateway: Gateway, by: Any = SCOUT, key: str | None = None, **changes: Any) -> Reply:
    headers = {} if key is None else {"idempotency-key": key}
    return gateway.post(by, "/handoff-markers", marker_body(**changes), headers=headers)


def close(world: World, task_id: str) -> None:
    reply = Gateway(world.deps).post(human(), f"/tasks/{task_id}/cancel")
    assert reply.status == 200


def test_task_is_created_and_durable_before_the_answer(world: World, gateway: Gateway) -> None:
    reply = mark(gateway)
    answer = reply.json
    assert (reply.status, set(answer)) == (201, OUTPUTS)
    assert answer["handoff_block"] == BLOCK
    assert answer["task_url"] == f"https://baton.example/tasks/{answer['task_id']}" == reply.headers["Location"]
    assert (answer["success"], answer["task_created"], answer["degraded_capabilities"]) == (True, True, [])
    assert answer["handoff_id"].startswith("ho_")
    task = gateway.get(human(), f"/tasks/{answer['task_id']}").json
    assert (task["title"], task["due_date"]) == (
        "Stale spike in CI failures; needs a repo audit",
        "2026-11-19",
    )
    assert (task["priority"], task["state"], task["handoff_id"]) == ("P0", "needs", answer["handoff_id"])


def test_text_only_call_answers_the_block_and_writes_nothing(world: World, gateway: Gateway) -> None:
    reply = mark(gateway, create_task=False, task_priority=None)
    assert (reply.status, reply.json["handoff_block"]) == (200, BLOCK)
    assert {name for name in OUTPUTS if reply.json[name]} == {"success", "handoff_block"}
    assert gateway.get(human(), "/tasks").json["items"] == []


def test_duplicate_is_prevented_and_what_it_said_is_kept(gateway: Gateway) -> None:
    first = mark(gateway).json
    reply = mark(gateway, escalation_reason="and it got worse")
    assert (reply.status, reply.json["duplicate_prevented"], reply.json["task_created"]) == (200, True, False)
    assert reply.json["existing_task_url"] == first["task_url"]
    assert (reply.json["task_id"], reply.json["task_url"], reply.json["handoff_id"]) == (None, None, None)
    assert "Escalation Reason: and it got worse" in reply.json["handoff_block"]
    (note,) = gateway.get(human(), f"/tasks/{first['task_id']}/notes").json["items"]
    assert (note["by"], note["content"]["escalation_reason"]) == ("agent:scout", "and it got worse")


def test_third_in_the_window_waits_for_a_human(world: World, gateway: Gateway) -> None:
    for _ in range(2):
        close(world, mark(gateway).json["task_id"])
    reply = mark(gateway)
    answer = reply.json
    assert (reply.status, answer["success"], answer["task_created"]) == (200, True, False)
    assert (answer["escalation_capped"], answer["needs_manual_review"], answer["duplicate_prevented"]) == (
        True,
        True,
        False,
    )
    assert answer["handoff_block"] == BLOCK
    (review,) = gateway.get(human(), "/manual-reviews", query="state=open").json["items"]
    assert (review["source_agent"], review["target_agent"], review["count"]) == ("scout", "auditor", 1)


REFUSALS: list[tuple[dict[str, Any], str, str]] = [
    ({"source_agent": "nobody"}, "source_agent", f"Invalid source_agent: nobody. Valid names: {NAMES}"),
    ({"source_agent": None, "target_agent": "x"}, "source_agent", f"Invalid source_agent: . Valid names: {NAMES}"),
    ({"target_agent": "Client", "escalation_reason": ""}, "target_agent", "Invalid target_agent: Client. Valid"),
    ({"escalation_reason": " \n"}, "escalation_reason", "escalation_reason and source_digest_url are required"),
    ({"source_digest_url": None}, "source_digest_url", "escalation_reason and source_digest_url are required"),
    ({"task_priority": None, "x": 1}, "task_priority", "task_priority is required when create_task is true"),
    ({"target_agent": "Scout"}, "target_agent", "source_agent and target_agent must differ"),
    ({"task_priority": "urgent"}, "task_priority", "task_priority must be one of"),
    ({"source_digest_url": "ftp://x/y"}, "source_digest_url", "source_digest_url must be an http or https URL"),
    ({"create_task": "yes"}, "create_task", "create_task must be true or false"),
    ({"client_relation_ids": ["zz"]}, "client_relation_ids", "client_relation_ids must hold Notion page ids"),
    ({"escalation_reason": "x" * 2_001}, "escalation_reason", "escalation_reason must be at most 2000 characters"),
    ({"colour": "red"}, "colour", "colour is not a field of a handoff marker"),
]


@pytest.mark.parametrize(("changes", "field", "sentence"), REFUSALS)
def test_refusal_has_the_exact_sentence_and_names_the_field(
    gateway: Gateway, changes: dict[str, Any], field: str, sentence: str
) -> None:
    reply = mark(gateway, **changes)
    assert (reply.status, reply.fields, reply.json["success"]) == (422, [field], False)
    assert reply.json["error"].startswith(sentence)
    assert reply.json["detail"] == reply.json["error"]
    assert gateway.get(human(), "/tasks").json["items"] == []


@pytest.mark.parametrize(
    ("by", "body", "status"),
    [
        (SCOUT, "[1]", 400),
        (SCOUT, "{", 400),
        (SCOUT, '{"escalation_reason": "' + "x" * 300_000 + '"}', 413),
        (agent("auditor"), marker_body(), 403),
        (service(act_as=False), marker_body(), 403),
    ],
)
def test_every_refusal_carries_success_and_error(gateway: Gateway, by: Any, body: Any, status: int) -> None:
    reply = gateway.post(by, "/handoff-markers", body)
    assert (reply.status, reply.json["success"], reply.json["error"]) == (status, False, reply.json["detail"])


class BusyStore:
    def __getattr__(self, name: str) -> Any:
        raise Busy


class BrokenStore:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("the secret of the store")


def test_busy_store_is_503_with_retry_after(world: World) -> None:
    reply = mark(Gateway(_with_store(world, BusyStore())))
    assert (reply.status, reply.code, reply.headers["Retry-After"]) == (503, "busy", "1")
    assert reply.json["success"] is False


def test_fault_of_ours_is_500_without_details(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    reply = mark(Gateway(_with_store(world, BrokenStore())))
    assert (reply.status, reply.code, reply.json["success"]) == (500, "internal", False)
    assert "secret" not in reply.text
    logged = capsys.readouterr().out
    assert '"error":"RuntimeError"' in logged
    assert "secret of the store" not in logged


def _with_store(world: World, store: Any) -> Any:
    return replace(world.deps, store=store)


def test_repeat_with_the_same_key_gets_the_first_answer_whatever_happened(world: World, gateway: Gateway) -> None:
    first = mark(gateway, key="k-1")
    close(world, first.json["task_id"])
    gateway.put(human(), "/agents/auditor", {"active": False})
    again = mark(gateway, key="k-1")
    assert (again.status, again.json) == (201, first.json)


def test_same_key_with_another_body_is_refused(gateway: Gateway) -> None:
    mark(gateway, key="k-1")
    reply = mark(gateway, key="k-1", escalation_reason="another")
    assert (reply.status, reply.code, reply.fields) == (422, "idempotency_key_reused", ["Idempotency-Key"])
    assert reply.json["success"] is False


def test_key_belongs_to_its_principal(gateway: Gateway) -> None:
    mark(gateway, key="k-1")
    assert mark(gateway, by=human(), key="k-1", escalation_reason="another").status == 200


def test_64_at_once_in_one_direction_create_one(world: World) -> None:
    statuses: list[int] = []
    barrier = threading.Barrier(64)
    logger()  # a function makes it before it has any thread; two that make it at the same time get half of one

    def call() -> None:
        gateway = Gateway(world.deps)
        barrier.wait()
        statuses.append(mark(gateway).status)

    threads = [threading.Thread(target=call) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] * 63 + [201]


def test_documented_request_has_exactly_the_fields_that_the_domain_takes() -> None:
    assert tuple(DOCUMENT["components"]["schemas"]["MarkerRequest"]["properties"]) == FIELDS
