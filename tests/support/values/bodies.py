"""A body for every route that wants one, and an id for every thing that a path may name; nothing is there under any of
them."""

from __future__ import annotations

from typing import Any

from support.worlds.world import WORKSPACE, marker_body

SECRET = "0" * 64
IDS = {
    "task_id": "task_unknown",
    "slug": "auditor",
    "review_id": "review_unknown",
    "token_id": "unknown",
    "secret": f"{WORKSPACE}.{SECRET}",
    "alert_id": "alert_unknown",
    "work_type": "nothing",
    "handoff_id": "ho_unknown",
    "workflow_id": "wf_unknown",
    "conversation_id": "wf_unknown",
    "name": "unknown_tool",
    "entry_id": "ent_unknown",
    "proxy": "oauth-protected-resource",
    "token": f"bm90aGluZw.{SECRET}",
}
CLAIM = {"claim_id": "c"}
TARGET = {"agent": "runner", "reason": "somebody has to"}
# What a route can't be asked without.
QUERIES = {
    "recall_entries": "q=cache",
    "explain_path": "path=src/cache.py",
    "get_graph": "node=agent:auditor",
}
BODIES: dict[str, Any] = {
    "create_marker": marker_body(),
    "create_a_handoff": {"source": {"agent": "alice"}, "target": {"agent": "auditor", "reason": "look into it"}},
    "create_twining_handoff": {"source_agent": "alice", "target_agent": "auditor", "summary": "Look", "results": []},
    "answer_a_message": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "heartbeat": CLAIM,
    "complete": CLAIM,
    "fail": {**CLAIM, "failure": {"type": "error", "description": "x"}},
    "reject": {**CLAIM, "reason": "not mine"},
    "release": CLAIM,
    "release_held_claim": {"fence": 1, "reason": "it hangs"},
    "close_manual_review": {"reason": "nobody wants it"},
    "transfer": {**CLAIM, "target": TARGET},
    "delegate": {**CLAIM, "branches": [{"target": TARGET}]},
    "wait_for_a_callback": {**CLAIM, "interaction_id": "job-1"},
    "checkpoint": {**CLAIM, "step_name": "half", "state": {}},
    "note": {**CLAIM, "text": "half of it is done"},
    "defer": {"until": "2026-11-19T12:00:00Z"},
    "dismiss": {"reason": "not needed"},
    "split": {"parts": [{"summary": "one"}, {"summary": "two"}]},
    "approve_several": {"items": [{"task_id": "task_unknown"}]},
    "acknowledge_inbox": {"ids": ["inbox_unknown"]},
    "create_token": {"kind": "human", "subject": "x"},
    "redeem_a_session_code": {"code": SECRET},
    "put_tracker_token": {"token": "ntn_fake"},
    "create_alert": {"kind": "disk-full", "severity": "info", "message": "full"},
    "withdraw_entries": {"posted_by": "agent:scout", "reason": "noise"},
    "create_entry": {"entry_type": "finding", "summary": "The cache is cold"},
    "put_tool": {"description": "Hands over", "config": {"target_agent": "auditor"}},
    "preview_a_tool": {"description": "Hands over", "config": {"target_agent": "auditor"}},
    "create_conversation": {"agent": "auditor", "message": "Hello"},
    "create_message": {"message": "And then?"},
    "put_route": {"agent": "auditor", "mode": "dispatch"},
    "import_capabilities": {"agents": {}},
}
