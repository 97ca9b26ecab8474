"""Snapshots of the memory: taken for a handoff, and compared with how things are now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from baton.domain import ids
from baton.domain.handoffs.handoff_message import HandoffMessage
from baton.domain.memory.entry import CHANGE, Entry, EntryType
from baton.domain.memory.packing import SETTLED
from baton.domain.memory.scope import ROOT, parse_scope
from baton.domain.memory.snapshot import MOST, MOST_ADDED, OF_HUMANS, Drift, EndedDecision, Snapshot, snapshot_of
from baton.domain.memory.taken_along import AUTO_MEMORIES, AUTO_SNAPSHOT, SCOPE, SNAPSHOT, asked_for
from baton.ports.deps import Deps

# Of a workspace, since a snapshot: beyond so many, one read unit's worth, all entries of the snapshot are read.
MOST_CHANGES = 40


def with_snapshot(deps: Deps, workspace: str, message: HandoffMessage, at: str = "") -> HandoffMessage:
    """Returns the message with the snapshot that it asks for, and with its scope in the one form. Nothing is read for a
    message that asks for none. ``at``: the message's field in the request. Raises ``InvalidInput`` for what is no
    scope."""
    asked = asked_for(message.more)
    if not asked:
        return message
    scope = parse_scope(asked.get(SCOPE, ROOT), f"{at}.{SCOPE}" if at else SCOPE)
    kept = {name: value for name, value in message.more.items() if name not in asked}
    if SCOPE in asked or asked.get(AUTO_SNAPSHOT):
        kept[SCOPE] = scope
    if asked.get(AUTO_MEMORIES):
        kept[AUTO_MEMORIES] = asked[AUTO_MEMORIES]
    if asked.get(AUTO_SNAPSHOT):
        kept[SNAPSHOT] = take_snapshot(deps, workspace, scope).plain()
    return replace(message, more=kept)


def take_snapshot(deps: Deps, workspace: str, scope: str) -> Snapshot:
    return snapshot_of(scope, deps.clock.now(), deps.store.memory.in_view(workspace, scope, MOST, of_humans=OF_HUMANS))


def drift_since(deps: Deps, workspace: str, snapshot: Snapshot) -> Drift:
    """Returns what has changed since the snapshot, at a cost that doesn't depend on how much was posted."""
    over = _over(deps, workspace, snapshot)
    decisions = [entry for entry in over if entry.entry_type is EntryType.DECISION]
    heirs = _heirs(deps, workspace, decisions)
    most = {EntryType.WARNING: MOST_ADDED + len(snapshot.warning_ids)}
    found = deps.store.memory.in_view(workspace, snapshot.scope, most, snapshot.warnings_from)[EntryType.WARNING]
    added = [warning for warning in found if snapshot.is_added(warning)]
    taken_back = tuple(entry for entry in over if entry.entry_type is not EntryType.DECISION)
    return Drift(tuple(_ended(decisions, heirs)), tuple(added[:MOST_ADDED]), taken_back)


def _over(deps: Deps, workspace: str, snapshot: Snapshot) -> list[Entry]:
    """Returns the snapshot's entries that hold no more. The list of changes says which ones to read: mostly none."""
    if not snapshot.entry_ids:
        return []
    marks = deps.store.memory.changed_after(
        workspace, ids.beginning_at(CHANGE, snapshot.taken_at - SETTLED), MOST_CHANGES
    )
    changed = {each.entry_id for each in marks}
    is_whole = len(marks) < MOST_CHANGES
    wanted = [each for each in snapshot.entry_ids if each in changed or not is_whole]
    found = deps.store.memory.entries(workspace, wanted) if wanted else {}
    return [found[each] for each in wanted if each in found and not found[each].is_active]


def _heirs(deps: Deps, workspace: str, over: Sequence[Entry]) -> dict[str, Entry]:
    wanted = [entry.superseded_by for entry in over if entry.superseded_by is not None]
    found = deps.store.memory.entries(workspace, wanted) if wanted else {}
    return {entry_id: entry for entry_id, entry in found.items() if entry.is_shown}


def _ended(over: Sequence[Entry], heirs: dict[str, Entry]) -> Iterator[EndedDecision]:
    for entry in over:
        yield EndedDecision(entry, entry.changes[-1], heirs.get(entry.superseded_by or ""))
