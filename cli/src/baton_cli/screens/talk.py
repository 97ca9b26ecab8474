"""The screen of a conversation's messages."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen
from baton_client import numbers

_TOOLS = {"tool_call", "tool_result", "subtask_created"}
_DRAWN = {"assistant_message", "user_message", "handoff", "error"} | _TOOLS


def drawn(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the messages that the screen shows: all but a model's thoughts, loaded skills, and changes of a task's
    state."""
    return [each for each in items if each["type"] in _DRAWN]


def message(screen: Screen, said: dict[str, Any]) -> None:
    """Draws a message whole."""
    kind, agent, text = said["type"], said["agent"], said["text"]
    if kind in {"assistant_message", "user_message"}:
        screen.marked(f"{agent}:", text, "bold")
    elif kind == "handoff":
        screen.line(f"→ {text}", "cyan")  # Routed to …
    elif kind == "error":
        screen.marked("✗", f"{agent}: {text}", "red")
    elif kind in _TOOLS:
        about = text or numbers.dumps(said["data"], ensure_ascii=False)
        screen.marked(f"{kind.replace('_', ' ')}:", about, "dim", indent=2)
