"""The screens of `baton agents`: the list, and one agent."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen
from baton_cli.screens.plain import cell, fields


def listed(screen: Screen, page: dict[str, Any]) -> None:
    rows = [
        (
            each["slug"],
            each["name"],
            asked_for_work(screen, each),
            each["approval"],
            cell(screen, "active", each["active"]),
            cell(screen, "accepts", each["accepts"]),
            cell(screen, "produces", each["produces"]),
        )
        for each in page["items"]
    ]
    if rows:
        screen.table(("Agent", "Name", "Asked for work", "Approval", "On", "Accepts", "Produces"), rows)
    else:
        screen.line("none", "dim")


def shown(screen: Screen, agent: dict[str, Any]) -> None:
    known = {name: value for name, value in agent.items() if name != "liveness"}
    fields(screen, {**known, "asked_for_work": asked_for_work(screen, agent)})


def asked_for_work(screen: Screen, agent: dict[str, Any]) -> str:
    """Returns when the agent has asked for work last. An agent that Baton runs doesn't ask, and an agent that only
    hands over never has: neither is a fault."""
    if agent["runtime"] == "run":
        return "Baton runs it"
    if agent["liveness"]["status"] == "active":
        return "now"
    return screen.ago(agent["liveness"]["last_contact_at"]) or "never"
