"""A member of the workspace posts an entry to the blackboard (docs/spec/memory.md §2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.entry import DecisionStatus, Entry
from baton.domain.memory.entry_draft import EntryDraft
from baton.ports.deps import Deps
from baton.ports.writes import Insert, Write
from baton.steps import idempotency
from baton.steps.memory.change_entry import changed
from baton.steps.memory.new_entry import new_entry


def post_entry(deps: Deps, by: Principal, draft: EntryDraft, idempotency_key: IdempotencyKey | None = None) -> Entry:
    """Posts the entry, in one commit with the end of the decision that it supersedes. For any principal. Raises
    ``InvalidInput``, ``GuardrailRefused``, ``HumanNeeded`` and ``EntryClosed``; nothing was written then. A repeat is
    answered with the entry as it was posted; without its texts if it was deleted since."""
    by.must_have(Deed.POST)

    def decide() -> Entry:
        entry = new_entry(deps, by, draft)
        saved = idempotency.save_response(idempotency_key, _saved(entry))
        deps.store.commit(by.workspace, *saved, Insert(entry), *_end_of_replaced(deps, by, entry))
        deps.log("entry posted", action="entry_posted", entry_id=entry.id)
        return entry

    def replay(saved: dict[str, Any]) -> Entry:
        return _as_posted(deps.store.memory.entry(by.workspace, saved["id"]), saved)

    return idempotency.run_once(deps, idempotency_key, decide, replay)


def _end_of_replaced(deps: Deps, by: Principal, decision: Entry) -> list[Write]:
    if decision.supersedes is None:
        return []
    before = deps.store.memory.entries(by.workspace, [decision.supersedes]).get(decision.supersedes)
    if before is None:
        raise errors.InvalidInput("supersedes", "names no entry of this workspace")
    return changed(deps, before.replaced_by(decision, by), decision.posted_at)


def _saved(entry: Entry) -> dict[str, Any]:
    """Without the texts: a saved response would keep what was deleted."""
    return {"id": entry.id, "status": None if entry.status is None else str(entry.status)}


def _as_posted(entry: Entry, saved: dict[str, Any]) -> Entry:
    if entry.deleted is not None:
        return entry
    status = None if saved["status"] is None else DecisionStatus(saved["status"])
    return replace(entry, changes=(), status=status, version=1)
