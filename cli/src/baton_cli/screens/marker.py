"""The screen of an escalation: its outcome, and the block to paste."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen


def made(screen: Screen, answer: dict[str, Any]) -> None:
    screen.unwrapped(answer["handoff_block"])
    screen.line()
    if answer["task_created"]:
        screen.marked("✓", f"{answer['task_id']} waits for approval: {answer['task_url']}", "green")
    elif answer["duplicate_prevented"]:
        screen.marked("-", f"It was asked for already: {answer['existing_task_url']}", "yellow")
    elif answer["escalation_capped"]:
        screen.marked("-", "Too many in seven days: a person looks at it first (baton reviews list).", "yellow")
    for each in answer["degraded_capabilities"]:
        screen.marked("!", f"{each['capability']}: {each['message']}", "yellow")
