"""A worker adds a note to the task that it holds, stored next to the task for later readers."""

from __future__ import annotations

from typing import Any

from baton.domain import errors, times
from baton.domain.guardrails.guardrails import checked
from baton.domain.idempotency import SavedResponse
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task_items import Note
from baton.ports.deps import Deps
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.writes import Insert, Require, UnderClaim
from baton.steps import idempotency
from baton.steps.access.read_rights import knows_claim, refused_as_unknown
from baton.steps.agents.kill_switch import must_be_let_act


def add_note(deps: Deps, call: WorkerCall, text: str) -> Note:
    """Saves the note, and extends the claim as a heartbeat does. The content revision stays. Raises ``StaleClaim``,
    ``GuardrailRefused``, ``ClaimFull`` and ``Unknown``."""
    by, task_id, claim_id, idempotency_key = call.by, call.task_id, call.claim_id, call.idempotency_key

    def replay(saved: dict[str, Any]) -> Note:
        return Note(task_id, saved["id"], times.parse_rfc3339(saved["at"]), by.key, saved["content"])

    def read() -> tuple[HandoffInputs, SavedResponse | None]:
        query = HandoffQuery(parent_id=task_id, idempotency_key=idempotency_key)
        return idempotency.with_response(deps.store.handoffs.handoff_inputs(by.workspace, query))

    def decide(inputs: HandoffInputs) -> Note:
        if inputs.parent is None:
            raise errors.Unknown("task")
        task = inputs.parent.task
        claim = task.current_claim(claim_id, by)
        must_be_let_act(deps, by, claim.agent)
        now = deps.clock.now()
        content = checked({"text": text}, inputs.settings.guardrails, "")
        note = Note(task_id, deps.ids.new("note", now), now, by.key, content)
        saved = idempotency.save_response(
            idempotency_key, {"id": note.id, "at": times.rfc3339(now), "content": content}
        )
        size = len(text.encode())
        claim.keeping(size, inputs.settings.kept_bytes_per_claim)
        extended = claim.renewed(now, None, task.hard_deadline)
        under = Require(UnderClaim(task_id, claim_id, size, extended))
        deps.store.commit(by.workspace, Insert(note), under, *saved)
        return note

    with refused_as_unknown(deps, by, task_id, unless=knows_claim(claim_id)):
        return idempotency.run_idempotently(deps, idempotency_key, read, decide, replay)
