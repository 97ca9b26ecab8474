"""The approvals that rules of the settings ask for, as lines of a task's screens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baton_cli.screen import Screen
from baton_cli.screens.question import who_may
from baton_cli.state_words import said
from baton_cli.text import one_line

READY = {"delegated", "next"}


def needed(task: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the requirement of each rule, with its label: the approval of a waiting task, and the agents that a
    ready task is held from. Agents may not read these rules."""
    if task["state"] == "needs" and (rule := task.get("approval")):
        yield "Approval", _tally(rule, [each["by"] for each in rule["given"]])
    if task["state"] in READY:
        for held in task.get("held") or []:
            yield f"Held from {_agents(held)}", _tally(held, held["given"])


def drawn(screen: Screen, task: dict[str, Any]) -> None:
    for label, tally in needed(task):
        screen.line(one_line(f"{label}: {tally}"), "yellow", indent=2)


def approved(screen: Screen, task: dict[str, Any]) -> None:
    """Draws a task after a person's approval, and the approvals that are still missing."""
    screen.line(f"{task['id']} is {said(task['state'])}")
    counted(screen, task)


def counted(screen: Screen, task: dict[str, Any]) -> None:
    if task["state"] == "needs":
        screen.line("Your approval counts. More people have to approve.", "yellow", indent=2)
    drawn(screen, task)


def _agents(held: dict[str, Any]) -> str:
    more = held["agent_count"] - len(held["agents"])
    return ", ".join(held["agents"]) + (f" and {more} more" if more else "")


def _tally(rule: dict[str, Any], givers: list[str]) -> str:
    given = list(dict.fromkeys(givers))
    names = ", ".join(f"human:{each}" for each in given) or "nobody yet"
    return one_line(f"{len(given)} of {rule['needed']} approvals by {who_may(rule)}; approved by {names}")
