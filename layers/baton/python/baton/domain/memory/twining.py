"""The words of ``twining_handoff``: the status of its results, and what it posts (docs/spec/memory.md §5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from baton.domain.handoffs.handoff_message import HandoffMessage
from baton.domain.memory.entry import MAX_SUMMARY, EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.one_line import one_line
from baton.domain.tasks.task import Task

COMPLETED, MIXED = "completed", "mixed"
TAG = "handoff"
ANY_AGENT = "any agent"


def result_status(results: Iterable[Mapping[str, Any]]) -> str:
    """Returns the status that all results share, else ``mixed``; ``completed`` where there are none."""
    found = {each["status"] for each in results}
    if len(found) > 1:
        return MIXED
    return str(next(iter(found), COMPLETED))


def handoff_created(task: Task, message: HandoffMessage) -> EntryDraft:
    """Returns the status entry that the handoff posts. ``message``: its record."""
    summary, results = message.summary or task.title, len(message.results or ())
    return EntryDraft(
        entry_type=EntryType.STATUS,
        scope=message.more["scope"],
        summary=f"Handoff created: {one_line(summary)}"[:MAX_SUMMARY],
        detail=f"From {task.source_agent} to {task.target_agent or ANY_AGENT}. {results} result(s).",
        tags=(TAG,),
        relates_to=(task.handoff_id,),
    )
