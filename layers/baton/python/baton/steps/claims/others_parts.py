"""The parts that attempts of other agents left on open work. People approve a handoff for an agent, and not what
another agent adds to it afterwards: an agent that rules guard gets none of these parts with its claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton.ports.details import TaskDetails

_BROUGHT = ("answers", "callback", "results")


def without_others(details: TaskDetails, agent: str) -> tuple[TaskDetails, tuple[str, ...]]:
    """Returns the details with the agent's own parts alone, and the names of the others, as in the answer to a claim.
    A part of an earlier release doesn't name its agent, and counts as another's."""
    left: dict[str, Any] = {}
    withheld: list[str] = []
    checkpoint, brought, failure = details.checkpoint, details.resume_payload, details.failure
    if checkpoint is not None and checkpoint.agent != agent:
        left["checkpoint"] = None
        withheld.append("checkpoint")
    if brought is not None and brought.get("agent") != agent:
        left["resume_payload"] = None
        withheld += [each for each in _BROUGHT if brought.get(each)]
    if failure is not None and (failure.get("source") or {}).get("agent") != agent:
        left["failure"] = None
        withheld.append("failure")
    own = tuple(each for each in details.recoveries if each.prior_agent == agent)
    if own != details.recoveries:
        left["recoveries"] = own
        withheld.append("recoveries")
    return replace(details, **left), tuple(sorted(withheld))
