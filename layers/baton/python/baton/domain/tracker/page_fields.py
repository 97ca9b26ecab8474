"""The fields of a task's tracker page (docs/spec/marker.md §3), independent of the tracker."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from baton.domain import hidden
from baton.domain.canonical_json import canonical_json
from baton.domain.one_line import one_line
from baton.domain.priority import Priority
from baton.domain.task_state import State
from baton.domain.tasks import trail
from baton.domain.tasks.task import Task

MAX_COMMENT = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFields:
    """The fields of a task's tracker page."""

    task_id: str
    title: str
    state: State
    priority: Priority
    due_date: date | None
    created_at: datetime
    text: str
    url: str  # the task in Baton
    digest_url: str | None
    relations: Mapping[str, tuple[str, ...]]  # ids of related pages by property (``client``, ``project``)


def page_fields_of(task: Task, body: Mapping[str, Any] | None, url: str) -> PageFields:
    message = body or {}
    relations = {name: tuple(message.get(f"{name}_relation_ids", ())) for name in ("client", "project")}
    return PageFields(
        task_id=task.id,
        title=one_line(_title(task, message)),
        state=task.state,
        priority=task.priority,
        due_date=task.due_date,
        created_at=task.created_at,
        text=plain(str(message.get("text", ""))),
        url=url,
        digest_url=message.get("source_digest_url"),
        relations={name: ids for name, ids in relations.items() if ids},
    )


def _title(task: Task, message: Mapping[str, Any]) -> str:
    """Returns an escalation's direction and day, by which an import knows the page; else the task's title."""
    if not task.is_escalation or "escalation_reason" not in message or task.due_date is None:
        return task.title
    return f"Handoff: {message['source_agent']} → {message['target_agent']} — {task.due_date.isoformat()}"


def closing_comment(task: Task, output: Any, failure: Mapping[str, Any] | None, last: trail.Event | None) -> str:
    """Returns the page's comment on the task's end: the state, who ended it, the outcome and the reason."""
    by = f" by {last.principal_kind} {last.principal_id}" if last else ""
    reason = last.data.get("reason") if last else None
    parts = [f"{task.state.value.capitalize()}{by} in Baton."]
    if task.is_done and output is not None:
        parts.append(_quoted(_summary(output)))
    elif failure and task.state in {State.FAILED, State.REJECTED}:
        parts.append(_quoted(f"{failure.get('type', 'error')}: {failure.get('description', '')}"))
    if reason:
        parts.append(_quoted(str(reason)))
    return _cut("\n".join(parts))


def _quoted(text: str) -> str:
    """Returns another author's text with a mark before each line, so that no line looks like Baton's."""
    return "\n".join(f"> {line}" for line in plain(text).split("\n"))


def reopened_comment(task: Task, url: str) -> str:
    return f"This task has ended in Baton ({task.state.value}) and stays ended. To go on, hand it off anew: {url}"


def plain(text: str) -> str:
    """Returns the text without controls, except tabs and line ends, and with hidden characters spelled out."""
    return hidden.spelled_out("".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cs"}))


def _summary(output: Any) -> str:
    if isinstance(output, dict) and isinstance(output.get("summary"), str):
        return str(output["summary"])
    return output if isinstance(output, str) else canonical_json(output)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_COMMENT else text[: MAX_COMMENT - 1] + "…"
