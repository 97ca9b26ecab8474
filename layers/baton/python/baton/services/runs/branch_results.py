"""What became of a reply's delegations, as the results of their calls (docs/spec/tools.md §4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from baton.domain.runs.transcript import Block, Transcript, TranscriptEntry, result


def branch_results(
    reply: TranscriptEntry, transcript: Transcript, resume_payload: Mapping[str, Any]
) -> dict[str, Block]:
    """Returns the results of delegations that the task has waited for, by call."""
    calls = {call["toolUseId"] for call in reply.calls}
    notes = {
        each.data.get("call_id"): each.data["note"]
        for entry in transcript.entries
        for each in entry.more_messages
        if "note" in each.data
    }
    found: dict[str, list[dict[str, Any]]] = {}
    for each in resume_payload.get("results", ()):
        if each.get("call_id") in calls:
            found.setdefault(each["call_id"], []).append(each)
    return {call_id: _branch_result(call_id, outcomes, notes.get(call_id)) for call_id, outcomes in found.items()}


def _branch_result(call_id: str, branch: Sequence[Mapping[str, Any]], note: str | None) -> Block:
    """The outcome of a branch, as the result of its call; also for a branch that failed, or still runs."""
    outcomes = [
        {
            "agent": each.get("agent"),
            "task_id": each.get("task_id"),
            "state": each.get("state"),
            **{name: each[name] for name in ("output", "failure") if each.get(name) is not None},
        }
        for each in branch
    ]
    told = outcomes[0] if len(outcomes) == 1 else {"results": outcomes}
    is_error = not any(each.get("state") == "done" for each in branch)
    return result(call_id, {**told, **({"note": note} if note else {})}, is_error=is_error)
