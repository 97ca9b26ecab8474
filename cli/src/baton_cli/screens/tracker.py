"""The screen of the tracker's check."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen


def checked(screen: Screen, answer: dict[str, Any]) -> None:
    screen.marked("✓" if answer["ok"] else "✗", "It can be used." if answer["ok"] else "It can't be used yet.")
    for problem in answer["problems"]:
        screen.marked("✗" if problem["severity"] == "error" else "!", f"{problem['about']}: {problem['problem']}")
        screen.line(problem["what_to_do"], "dim", indent=2)
