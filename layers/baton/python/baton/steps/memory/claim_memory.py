"""What a claimer gets of the memory with its claim, so that it needs no second call (docs/spec/memory.md §4)."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from itertools import chain

from baton.domain import errors, times
from baton.domain.handoffs.handoff_message import HandoffMessage
from baton.domain.memory.entry import Entry
from baton.domain.memory.entry_index import Question
from baton.domain.memory.scope import ROOT
from baton.domain.memory.snapshot import ClaimMemory, Drift, snapshot_from
from baton.domain.memory.taken_along import AUTO_MEMORIES, SCOPE, SNAPSHOT
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.memory.snapshots import drift_since

# Of the work's texts, which may be long.
MAX_QUESTION = 2_000
# For all of it. Nothing is an answer, too: the claim has happened, and its lease runs.
MEMORY_SECONDS = 2.0


def claim_memory(deps: Deps, details: TaskDetails, most_memories: int) -> ClaimMemory | None:
    """Returns what the handoff's snapshot holds, what has changed since, and the entries that fit the work best: so
    many at most, or as many as the handoff asks for. None, without a read, if there is no snapshot and nothing else is
    asked for. What can't be read now, or not in time, is left out: the claim has happened."""
    message = details.message
    kept, most_memories = message.more.get(SNAPSHOT), max(most_memories, message.more.get(AUTO_MEMORIES, 0))
    if kept is None and most_memories == 0:
        return None
    workspace, until = details.task.workspace, deps.clock.now() + times.seconds(MEMORY_SECONDS)
    snapshot, drift = None if kept is None else snapshot_from(kept), None
    with suppress(errors.Busy):
        drift = Drift() if snapshot is None else drift_since(deps, workspace, snapshot)
    memories: tuple[Entry, ...] = ()
    with suppress(errors.Busy):
        memories = _memories(deps, workspace, message, most_memories, until) if most_memories else ()
    return ClaimMemory(snapshot, drift, memories)


def _memories(deps: Deps, workspace: str, message: HandoffMessage, most: int, until: datetime) -> tuple[Entry, ...]:
    question = Question(text=_about(message), scope=message.more.get(SCOPE, ROOT), limit=most)
    found = [each.entry_id for each in deps.search.find(workspace, question, until).items]
    entries = deps.store.memory.entries(workspace, found) if found else {}
    return tuple(entries[each] for each in found if each in entries and entries[each].is_shown)


def _about(message: HandoffMessage) -> str:
    """The texts that say what the work is: summary, reason, deliverables with their files."""
    deliverables = message.expectations.deliverables
    files = chain.from_iterable(each.get("files", ()) for each in deliverables)
    said = (each["description"] for each in deliverables if "description" in each)
    texts = (message.summary, message.target.reason, message.escalation_reason, *said, *files)
    return " ".join(filter(None, texts))[:MAX_QUESTION]
