"""A worker adds a note to the task that it holds, stored next to the task for later readers."""

from __future__ import annotations

from typing import Any

from baton.domain import times
from baton.domain.guardrails.guardrails import checked
from baton.domain.settings.settings import Settings
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Task
from baton.domain.tasks.task_items import Note
from baton.ports.deps import Deps
from baton.ports.writes import Insert, Require, UnderClaim
from baton.steps import idempotency
from baton.steps.claims.under_claim import run_under_claim


def add_note(deps: Deps, call: WorkerCall, text: str) -> Note:
    """Saves the note, and extends the claim as a heartbeat does. The content revision stays. Raises ``StaleClaim``,
    ``GuardrailRefused``, ``ClaimFull`` and ``Unknown``."""
    by, task_id, claim_id, idempotency_key = call.by, call.task_id, call.claim_id, call.idempotency_key

    def replay(saved: dict[str, Any]) -> Note:
        return Note(task_id, saved["id"], times.parse_rfc3339(saved["at"]), by.key, saved["content"])

    def decide(task: Task, claim: Claim, settings: Settings) -> Note:
        now = deps.clock.now()
        content = checked({"text": text}, settings.guardrails, "")
        note = Note(task_id, deps.ids.new("note", now), now, by.key, content)
        saved = idempotency.save_response(
            idempotency_key, {"id": note.id, "at": times.rfc3339(now), "content": content}
        )
        size = len(text.encode())
        claim.keeping(size, settings.kept_bytes_per_claim)
        extended = claim.renewed(now, None, task.hard_deadline)
        under = Require(UnderClaim(task_id, claim_id, size, extended))
        deps.store.commit(by.workspace, Insert(note), under, *saved)
        return note

    return run_under_claim(deps, call, decide, replay)
