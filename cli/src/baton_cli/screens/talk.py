"""The screen of a conversation's messages."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen
from baton_client import numbers


def message(screen: Screen, said: dict[str, Any]) -> None:
    """Draws a message."""
    kind, agent, text = said["type"], said["agent"], said["text"]
    if kind in {"assistant_message", "user_message"}:
        screen.marked(f"{agent}:", text, "bold")
    elif kind == "handoff":
        screen.line(f"→ {text}", "cyan")  # Routed to …
    elif kind == "error":
        screen.marked("✗", f"{agent}: {text}", "red")
    elif kind in {"tool_call", "tool_result", "subtask_created"}:
        about = text or numbers.dumps(said["data"], ensure_ascii=False)
        screen.line(f"{kind.replace('_', ' ')}: {about}"[:200], "dim", indent=2)
