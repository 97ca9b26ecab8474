"""What a claimed task asks for, in the words of a tool's answer: what to do comes first, and what Baton keeps for
itself, or shows beside it, isn't told."""

from __future__ import annotations

from typing import Any

from baton.domain.handoffs.rest_of_request import rest_of
from mcp_door.tools import texts


def asked(body: dict[str, Any]) -> dict[str, Any]:
    """Returns what to do, why this agent, and what has to be delivered by which criteria."""
    found = {
        "summary": body.get("summary"),
        "message": (body.get("input") or {}).get("message"),
        "reason": (body.get("target") or {}).get("reason") or body.get("escalation_reason"),
        "deliverables": (body.get("expectations") or {}).get("deliverables"),
    }
    return {name: value for name, value in found.items() if value}


def criteria(body: dict[str, Any]) -> list[str]:
    return [each for part in asked(body).get("deliverables", ()) for each in part.get("acceptance_criteria") or ()]


def lines(author: str, body: dict[str, Any], *, has_snapshot: bool) -> list[str]:
    """Returns what to do, the criteria by their exact texts, then the rest. ``author``: who asks for it."""
    what = asked(body)
    words = [what[name] for name in ("summary", "message") if name in what]
    words += [f"reason: {what['reason']}"] if "reason" in what else []
    told = texts.block(author, "what to do", "\n".join(words)) if words else []
    if texts_of := criteria(body):
        told.append(f"acceptance criteria of {texts.line(author)}, each to be reported by its exact text:")
        told += [f"- {texts.exact(each)}" for each in texts_of]
    deliverables = [
        {name: value for name, value in each.items() if name != "acceptance_criteria"}
        for each in what.get("deliverables", ())
    ]
    left = {**({"deliverables": deliverables} if deliverables else {}), **rest_of(body, has_snapshot=has_snapshot)}
    return [*told, *(texts.block(author, "more of the request", left) if left else [])]
