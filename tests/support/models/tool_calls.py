"""Calls of the tools: for each route that a tool plays, the tool's arguments for a request to that route. A new pair of
tool and route that is missing here fails a test (tests/functions/mcp/test_tool_matrices.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ids = dict[str, str]
Asked = tuple[str, dict[str, Any]]


def under_claim(tool: str) -> Callable[[Ids, Any], Asked]:
    return lambda ids, body: (tool, {"task_id": ids["task_id"], **body})


def looked_at(ids: Ids) -> dict[str, Any]:
    """To look at a question takes no claim, but the tool has one at hand."""
    return {"task_id": ids["task_id"], "question_id": ids["question_id"], "claim_id": "c"}


def _handoff(_ids: Ids, body: Any) -> Asked:
    target = body["target"]
    return "handoff", {"agent": body["source"]["agent"], "target": target["agent"], "reason": target["reason"]}


def _fail(ids: Ids, body: Any) -> Asked:
    failure = body["failure"]
    return "fail", {"task_id": ids["task_id"], "claim_id": body["claim_id"], **failure}


CALLS: dict[str, Callable[[Ids, Any], Asked]] = {
    "create_a_handoff": _handoff,
    "create_twining_handoff": lambda _, body: ("twining_handoff", body),
    "create_marker": lambda _, body: ("create_handoff_marker", {**body, "task_priority": "P0"}),
    "wait_for_a_claim": lambda ids, _: ("claim_next", {"agent": ids["slug"], "wait_seconds": 1}),
    "claim": lambda ids, _: ("claim_next", {"task_id": ids["task_id"]}),
    "heartbeat": under_claim("heartbeat"),
    "checkpoint": under_claim("checkpoint"),
    "complete": under_claim("complete"),
    "fail": _fail,
    "get_task": lambda ids, _: ("get_task", {"task_id": ids["task_id"]}),
    "get_chain": lambda ids, _: ("get_task", {"task_id": ids["task_id"], "chain": True}),
    "list_held": lambda ids, _: ("list_tasks", {"held": True, "agent": ids["slug"]}),
    "release": under_claim("release"),
    "list_tasks": lambda _ids, _: ("list_tasks", {}),
    "list_all_handoffs": lambda _ids, _: ("list_tasks", {"sent": True}),
    "cancel": lambda ids, _: ("cancel_task", {"task_id": ids["task_id"], "reason": "Not needed"}),
    "withdraw_an_entry": lambda ids, _: ("withdraw_entry", {"entry_id": ids["entry_id"]}),
    "delegate": lambda ids, body: (
        "delegate",
        {
            "task_id": ids["task_id"],
            "claim_id": body["claim_id"],
            "parts": [
                {"target": each["target"]["agent"], "reason": each["target"]["reason"]} for each in body["branches"]
            ],
        },
    ),
    "ask_people": lambda ids, body: (
        "ask_person",
        {"task_id": ids["task_id"], **{name: body[name] for name in ("claim_id", "text")}},
    ),
    "get_question": lambda ids, _: ("ask_person", looked_at(ids)),
    "wait_for_more_events": lambda ids, _: ("ask_person", {**looked_at(ids), "wait_seconds": 1}),
    "wait_answers": lambda ids, body: (
        "ask_person",
        {"task_id": ids["task_id"], "claim_id": body["claim_id"], "text": "Which one?", "give_up_claim": True},
    ),
    "use_an_approval": lambda ids, body: (
        "ask_person",
        {**looked_at(ids), "claim_id": body["claim_id"], "use": body["digest"]},
    ),
    "wait_for_a_callback": under_claim("wait_for_callback"),
    "recall_entries": lambda _ids, _: ("recall", {"query": "zanzibar"}),
    "explain_path": lambda _ids, _: ("recall", {"why": "src/cache.py"}),
    "create_entry": lambda _, body: ("remember", body),
    "await_a_task": lambda ids, _: ("await_task", {"task_id": ids["task_id"], "timeout_seconds": 0}),
}
