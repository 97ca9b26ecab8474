"""The end of an entry: its poster or a human withdraws it, a human deletes it (docs/spec/memory.md §3)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.entry import Entry
from baton.ports.deps import Deps
from baton.ports.writes import Write
from baton.steps import idempotency
from baton.steps.guardrails.apply_guardrails import apply_guardrails_to_reason
from baton.steps.memory.change_entry import changed
from baton.steps.memory.readable_entry import readable_entry

# The entry after its end, and what is written with it.
Ended = tuple[Entry, list[Write]]


def withdraw_entry(
    deps: Deps, by: Principal, entry_id: str, reason: str | None = None, idempotency_key: IdempotencyKey | None = None
) -> Entry:
    """Withdraws the entry: no list, view or search has it any more. An entry that was withdrawn or deleted before stays
    as it is. Raises ``Unknown`` and ``HumanNeeded``."""

    def withdrawn(entry: Entry, now: datetime) -> Ended:
        return entry.withdrawn_by(by, now, apply_guardrails_to_reason(deps, by.workspace, reason)), []

    return _ended(deps, by, entry_id, withdrawn, idempotency_key)


def delete_entry(deps: Deps, by: Principal, entry_id: str) -> Entry:
    """Removes the entry's texts. The rest of the entry stays, and says who deleted it. An entry that was deleted before
    stays as it is. Raises ``HumanNeeded`` and ``Unknown``."""
    by.must_have(Deed.DELETE_ENTRY)

    def deleted(entry: Entry, now: datetime) -> Ended:
        after = entry.deleted_by(by, now)
        return after, [] if after is entry else deps.search.forgetting(by.workspace, entry_id)

    return _ended(deps, by, entry_id, deleted, None)


def _ended(
    deps: Deps,
    by: Principal,
    entry_id: str,
    end: Callable[[Entry, datetime], Ended],
    idempotency_key: IdempotencyKey | None,
) -> Entry:
    """Ends the entry. A repeat is answered with the entry as it is now, as only a deletion can have followed."""

    def decide() -> Entry:
        before, now = readable_entry(deps, by, entry_id), deps.clock.now()
        after, beside = end(before, now)
        writes = [] if after is before else [*changed(deps, after, now), *beside]
        saved = idempotency.save_response(idempotency_key, {})
        if writes or saved:
            deps.store.commit(by.workspace, *saved, *writes)
        if writes:
            deps.log("entry ended", action="entry_ended", entry_id=entry_id, end=str(after.changes[-1].what))
        return after

    def replay(_: dict[str, Any]) -> Entry:
        return readable_entry(deps, by, entry_id)

    return idempotency.run_once(deps, idempotency_key, decide, replay)
