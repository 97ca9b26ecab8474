"""A new entry, checked and with its id; not committed yet."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.memory.entry import ENTRY, Entry
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.memory.poster_use import PosterUse
from baton.ports.deps import Deps
from baton.steps.guardrails.apply_guardrails import apply_guardrails


def new_entry(deps: Deps, by: Principal, draft: EntryDraft) -> Entry:
    """Raises ``InvalidInput``, ``GuardrailRefused``, and ``BoardRateLimited`` for a poster who has posted too much to
    this process within an hour."""
    now = deps.clock.now()
    entry = draft.entry(deps.ids.new(ENTRY, now), by, now, apply_guardrails(deps, by.workspace, draft.texts()))
    poster = by.workspace, by.key
    use = deps.posters.get(poster) or PosterUse(now)
    use.take(by, draft.size, now)
    deps.posters.keep(poster, use)
    return entry
