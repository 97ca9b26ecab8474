"""The screens of questions to people. Each text stands beside a label, and JSON is drawn with its own escapes, so that
no text of a worker's looks like a line of Baton's."""

from __future__ import annotations

import json
from typing import Any

from baton_cli.screen import Screen
from baton_cli.text import json_text

Question = dict[str, Any]
STYLES = {"answered": "green", "approved": "green", "refused": "red", "revoked": "red"}


def outcome(screen: Screen, question: Question) -> None:
    """Draws what has become of a question, for who has asked it."""
    deciders = ", ".join(f"human:{each['by']}" for each in question["decisions"])
    screen.line(f"{question['id']} is {question['outcome']}{f' by {deciders}' if deciders else ''}", _style(question))
    if question["answer"] is not None:
        document(screen, "Answer:", question["answer"])
    if question["reason"]:
        screen.marked("Reason:", question["reason"])
    if question["approved_arguments"] is not None:
        document(screen, f"{'Begun:' if question['used_at'] else 'Approved:'}", question["approved_arguments"])


def document(screen: Screen, label: str, value: Any) -> None:
    """Draws a text as it is, and anything else whole, as JSON with indents under its label."""
    text = value if isinstance(value, str) else pretty(value)
    screen.marked(label, text)


def pretty(value: Any) -> str:
    """Returns a document as JSON, with hidden characters as its own escapes: its meaning stays."""
    return json_text(json.dumps(value, ensure_ascii=False, indent=2))


def _style(question: Question) -> str:
    return STYLES.get(question["outcome"], "yellow")
