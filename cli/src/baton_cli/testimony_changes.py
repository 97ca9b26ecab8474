"""Changes of a workspace as entries of a Testimony Record: who changed settings, tokens, agents, tools, routes and the
tracker, and who approved or refused it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baton_cli.testimony_decisions import Entry, actor
from baton_client.caller import Caller

Change = dict[str, Any]


def changes_between(client: Caller, since: str, until: str) -> Iterator[Change]:
    """Yields the changes that were asked for in a span of time, newest first."""
    for page in client.pages("/workspace/changes", {"limit": 100}):
        for change in page["items"]:
            if change["at"] < since:
                return
            if change["at"] <= until:
                yield change


def entries_of_changes(client: Caller, since: str, until: str) -> Iterator[Entry]:
    """Yields a decision for each change that was applied or refused by ``until``, and the approval of a second
    administrator."""
    for change in changes_between(client, since, until):
        for entry in _entries(change, until):
            yield {name: value for name, value in entry.items() if value is not None}


def _entries(change: Change, until: str) -> Iterator[Entry]:
    is_refused = change["state"] == "refused"
    at = change["decided_at"] if is_refused else change["applied_at"]
    if at is None or at > until:
        return
    approver = None if is_refused else change["decided_by"]
    yield {
        "type": "decision",
        "id": f"decision-{change['id']}",
        "at": at,
        "action_type": f"workspace:{change['subject']}",
        "risk_class": "high" if change["decided_by"] else "low",
        "risk_source": "policy",
        "proposed_by": actor(change["by"]),
        "verdict": "refused" if is_refused else "permitted",
        "executed": not is_refused,
        "reason": (change["reason"] or "no reason was given") if is_refused else None,
        "approval": f"approval-{change['id']}-1" if approver else None,
        "x-baton-outcome": "refused" if is_refused else "applied",
        "x-baton-digest": change["digest"],
        "x-baton-change": {name: change[name] for name in ("names", "before", "after", "credential", "is_alone")},
    }
    if approver:
        yield {
            "type": "approval",
            "id": f"approval-{change['id']}-1",
            "at": change["decided_at"],
            "decision": f"decision-{change['id']}",
            "approver": actor(approver),
            "identity_source": "api-key",
            "x-baton-decided": "approved",
            "x-baton-digest": change["digest"],
            "x-baton-token": change["decided_credential"].get("token"),
        }
