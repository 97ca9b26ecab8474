"""Compares a task's questions with the digests in its trail, without asking Baton for its opinion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from baton_cli.trail_hashes import digest_of
from baton_client.caller import Caller

Json = dict[str, Any]
_CONTENT = (
    *("id", "task_id", "kind", "text", "options", "form", "tool", "arguments", "handoff", "asked_by", "agent"),
    *("asked_at", "until", "people", "group", "needed", "never", "by_rule", "further", "asked_digest", "warnings"),
    "decisions",
)
_OUTCOMES = {"question_expired": "expired", "approval_revoked": "revoked"}


def altered(client: Caller, task_id: str, trail: Iterable[Json]) -> str | None:
    """Returns the id of the first question that isn't as the trail states it, None if all are. Questions of
    an earlier release have no digest: their actions and last deciders are compared."""
    told = _last_events(trail)
    if not told:
        return None
    found = {
        each["id"]: each
        for page in client.pages(f"/tasks/{task_id}/questions", {"limit": 25})
        for each in page["items"]
    }
    missing = next((name for name in told if name not in found), None)
    return missing or next((name for name, each in found.items() if not _agrees(told.get(name), each)), None)


def _last_events(trail: Iterable[Json]) -> dict[str, Json]:
    """Returns the last state of each question by its events."""
    told = dict[str, Json]()
    for event in trail:
        data = event["data"]
        if (name := data.get("question_id")) is None:
            continue
        kept = told.setdefault(name, {})
        if event["type"] == "approval_used":
            kept["used_at"] = event["at"]
            continue
        if event["type"] != "question_expired":
            kept["digest"] = data.get("question_digest")
        if event["type"] == "question_asked":
            kept["asked"] = data.get("digest")
        if event["type"] == "question_decided":
            kept["decided"] = (event["principal"]["id"], data.get("digest"))
        kept["outcome"] = _OUTCOMES.get(event["type"]) or data.get("outcome", "open")
    return told


def _agrees(told: Json | None, question: Json) -> bool:
    if told is None or told.get("used_at") != question["used_at"]:
        return False
    is_closed = told["outcome"] == "open" and question["outcome"] in {"withdrawn", "expired"}
    if told["outcome"] != question["outcome"] and not is_closed:
        return False
    if told["digest"] is not None:
        return bool(told["digest"] == digest_of(_content(question)))
    last = question["decisions"][-1] if question["decisions"] and question["outcome"] != "revoked" else None
    decided = None if last is None or "decided" not in told else (last["by"], _approved(question, last))
    return told.get("asked") == _asked(question) and decided in {None, told.get("decided")}


def _content(question: Json) -> Json:
    """Returns the question's fields with a value, and each decision's fields that aren't null."""
    decisions = [{name: value for name, value in each.items() if value is not None} for each in question["decisions"]]
    whole = {**question, "decisions": decisions}
    return {name: whole[name] for name in _CONTENT if whole.get(name)}


def _asked(question: Json, arguments: Json | None = None) -> str | None:
    if question["tool"] is None:
        return None
    return digest_of({"tool": question["tool"], "arguments": question["arguments"] if arguments is None else arguments})


def _approved(question: Json, decision: Json) -> str | None:
    return None if decision["digest"] is None else _asked(question, decision["arguments"])
