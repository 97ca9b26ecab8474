"""A body for every route that takes one, and an id for everything that a path may name. Nothing exists under these ids.
A body is the smallest that docs/openapi.json allows, unless ``support/models/expected.py`` has one."""

from __future__ import annotations

from typing import Any

from support.models.expected import EXPECTED
from support.values.samples import least
from support.values.schema import DOCUMENT
from support.worlds.world import WORKSPACE

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
    "question_id": "qst_unknown",
    "standing_id": "sta_unknown",
    "view": "nothing",
    "change_id": "chg_unknown",
    "person": "nobody",
    "version": "999",
    "proxy": "oauth-protected-resource",
    "token": f"bm90aGluZw.{SECRET}",
}
# The values of fields with these names, at any depth.
KNOWN = {"agent": "auditor"}


def _body(operation: dict[str, Any]) -> Any:
    expected = EXPECTED.get(operation["operationId"])
    if expected is not None and expected.body is not None:
        return expected.body
    request = operation.get("requestBody", {"required": False})
    return least(request["content"]["application/json"]["schema"], KNOWN) if request["required"] else None


_ALL = [operation for methods in DOCUMENT["paths"].values() for operation in methods.values()]
BODIES: dict[str, Any] = {each["operationId"]: body for each in _ALL if (body := _body(each)) is not None}
# The query parameters that a route requires.
QUERIES = {name: each.query for name, each in EXPECTED.items() if each.query}
