"""A worker adds a note to the task that it holds, stored next to the task for later readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import Unknown
from baton.domain.guardrails import checked
from baton.domain.times import parse_rfc3339, rfc3339
from baton.ports import Note, Remember, UnderClaim, Wanted
from baton.services.kill_switch import must_be_let_act
from baton.services.reading import knows_claim, refused_as_unknown
from baton.services.retrying import decided_once

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton


def add_note(baton: Baton, by: Principal, task_id: str, claim_id: str, text: str, once: Once | None = None) -> Note:
    """Saves the note. The task's version and content revision stay. Raises ``StaleClaim``, ``GuardrailRefused``,
    ``ClaimFull`` and ``Unknown``."""

    def replay(saved: dict[str, Any]) -> Note:
        return Note(task_id, saved["id"], parse_rfc3339(saved["at"]), by.key, saved["content"])

    def attempt() -> Note:
        inputs = baton.store.handoff_facts(by.workspace, Wanted(parent_id=task_id, once=once))
        saved = once.recall(inputs.remembered) if once else None
        if saved is not None:
            return replay(saved)
        if inputs.parent is None:
            raise Unknown("task")
        claim = inputs.parent.task.current_claim(claim_id, by)
        must_be_let_act(baton, by, claim.agent)
        now = baton.clock.now()
        content = checked({"text": text}, inputs.settings.guardrails, "")
        note = Note(task_id, baton.ids.new("note", now), now, by.key, content)
        save_response = [Remember(once, {"id": note.id, "at": rfc3339(now), "content": content})] if once else []
        size = len(text.encode())
        claim.keeping(size, inputs.settings.kept_bytes_per_claim)
        baton.store.commit(by.workspace, None, [note, UnderClaim(task_id, claim_id, size), *save_response])
        return note

    with refused_as_unknown(baton, by, task_id, unless=knows_claim(claim_id)):
        return decided_once(baton, once, replay, attempt)
