"""A human withdraws the entries of one poster (docs/spec/memory.md §3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.entry import Entry, is_by_human
from baton.domain.memory.scope import line_of
from baton.ports.deps import Deps
from baton.steps import idempotency
from baton.steps.filtering import MAX_READS
from baton.steps.guardrails.apply_guardrails import apply_guardrails_to_reason
from baton.steps.memory.change_entry import changed

# Entries in one read.
READ_AT_ONCE = 100
# In one commit, which takes a hundred items at most: entries, their rows, the marks of their changes, the saved answer.
MAX_WITHDRAWN, _MAX_ITEMS = 25, 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """The entries to withdraw. ``posted_by``: a principal's key. ``since`` is in the span, ``until`` isn't. ``cursor``:
    where an earlier request has stopped."""

    posted_by: str
    since: datetime | None = None
    until: datetime | None = None
    reason: str | None = None
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class WithdrawnPosted:
    """``cursor``: where to go on; None if nothing older is in the span."""

    ids: tuple[str, ...]
    cursor: str | None


def withdraw_posted(
    deps: Deps, by: Principal, asked: Posted, idempotency_key: IdempotencyKey | None = None
) -> WithdrawnPosted:
    """Withdraws the newest entries of one poster in a span of time, in one commit: at most ``MAX_WITHDRAWN``, fewer in
    deep scopes, or if few of the 500 entries that it looks at are the poster's. Each entry's trail says so. Raises
    ``HumanNeeded`` and ``InvalidInput``."""
    by.must_have(Deed.WITHDRAW_ENTRY)
    if asked.since is not None and asked.until is not None and asked.until <= asked.since:
        raise errors.InvalidInput("until", "must be after since")

    def decide() -> WithdrawnPosted:
        checked = apply_guardrails_to_reason(deps, by.workspace, asked.reason)
        now = deps.clock.now()
        found, cursor = _found(deps, by.workspace, asked)
        writes = [write for each in found for write in changed(deps, each.withdrawn_by(by, now, checked), now)]
        answer = WithdrawnPosted(tuple(each.id for each in found), cursor)
        saved = idempotency.save_response(idempotency_key, {"ids": list(answer.ids), "cursor": cursor})
        if saved or writes:
            deps.store.commit(by.workspace, *saved, *writes)
        deps.log("entries withdrawn", action="entries_withdrawn", posted_by=asked.posted_by, count=len(found))
        return answer

    def replay(saved: dict[str, Any]) -> WithdrawnPosted:
        return WithdrawnPosted(tuple(saved["ids"]), saved["cursor"])

    return idempotency.run_once(deps, idempotency_key, decide, replay)


def _found(deps: Deps, workspace: str, asked: Posted) -> tuple[list[Entry], str | None]:
    """Returns as many of the entries as one commit may change, and where to go on."""
    found, items, cursor = list[Entry](), 0, asked.cursor
    for _ in range(MAX_READS):
        page = deps.store.memory.newest_entries(workspace, asked.since, asked.until, READ_AT_ONCE, cursor)
        for entry in page.items:
            if entry.posted_by == asked.posted_by and entry.is_shown:
                items += _items_of(entry)
                if len(found) == MAX_WITHDRAWN or items > _MAX_ITEMS:
                    return found, cursor
                found.append(entry)
            cursor = entry.id
        cursor = page.cursor
        if cursor is None:
            break
    return found, cursor


def _items_of(entry: Entry) -> int:
    """Returns how many items its withdrawal writes: the entry, the mark of its change, and its rows."""
    line = len(line_of(entry.scope))
    return 1 + line + (line if is_by_human(entry) else 0)
