"""Snapshots of the memory: taken for a handoff, and compared with how things are now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from baton.domain.handoffs.handoff_message import HandoffMessage
from baton.domain.memory.entry import Entry, EntryType
from baton.domain.memory.scope import ROOT, parse_scope
from baton.domain.memory.snapshot import MOST, MOST_ADDED, Drift, EndedDecision, Snapshot, snapshot_of
from baton.domain.memory.taken_along import AUTO_MEMORIES, AUTO_SNAPSHOT, SCOPE, SNAPSHOT, asked_for
from baton.ports.deps import Deps


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
    return snapshot_of(scope, deps.clock.now(), deps.store.in_view(workspace, scope, MOST))


def drift_since(deps: Deps, workspace: str, snapshot: Snapshot) -> Drift:
    """Returns what has changed since the snapshot, at a cost that doesn't depend on how much was posted."""
    decisions = deps.store.entries(workspace, snapshot.decision_ids) if snapshot.decision_ids else {}
    over = [entry for each in snapshot.decision_ids if (entry := decisions.get(each)) and not entry.is_active]
    heirs = _heirs(deps, workspace, over)
    most = {EntryType.WARNING: MOST_ADDED + len(snapshot.warning_ids)}
    found = deps.store.in_view(workspace, snapshot.scope, most, snapshot.warnings_from)[EntryType.WARNING]
    added = [warning for warning in found if snapshot.is_added(warning)]
    return Drift(tuple(_ended(over, heirs)), tuple(added[:MOST_ADDED]))


def _heirs(deps: Deps, workspace: str, over: Sequence[Entry]) -> dict[str, Entry]:
    wanted = [entry.superseded_by for entry in over if entry.superseded_by is not None]
    found = deps.store.entries(workspace, wanted) if wanted else {}
    return {entry_id: entry for entry_id, entry in found.items() if entry.is_shown}


def _ended(over: Sequence[Entry], heirs: dict[str, Entry]) -> Iterator[EndedDecision]:
    for entry in over:
        yield EndedDecision(entry, entry.changes[-1], heirs.get(entry.superseded_by or ""))
