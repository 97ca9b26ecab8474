"""A new entry, checked and with its id; not committed yet."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.memory.draft import EntryDraft
from baton.domain.memory.entry import ENTRY, Entry
from baton.ports.deps import Deps
from baton.steps.guardrails.apply_guardrails import apply_guardrails


def new_entry(deps: Deps, by: Principal, draft: EntryDraft) -> Entry:
    """Raises ``InvalidInput`` and ``GuardrailRefused``."""
    now = deps.clock.now()
    return draft.entry(deps.ids.new(ENTRY, now), by, now, apply_guardrails(deps, by.workspace, draft.texts()))
