"""A worker saves a state from which work can continue (docs/spec/protocol.md §6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton.domain.canonical_json import canonical_json
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs.workflow import Checkpoint
from baton.domain.settings.settings import Settings
from baton.domain.tasks import commands, trail
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Task
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.writes import Put
from baton.steps import idempotency
from baton.steps.claims.under_claim import run_under_claim
from baton.steps.tasks.change_task import commit


def save_checkpoint(deps: Deps, call: WorkerCall, step_name: str, state: dict[str, Any]) -> tuple[Task, str]:
    """Returns the task, and the checkpoint's id. The claim continues, extended as by a
    heartbeat. Raises ``StaleClaim``, ``GuardrailRefused``,
    ``ClaimFull`` and ``Unknown``."""
    by, task_id, claim_id, idempotency_key = call.by, call.task_id, call.claim_id, call.idempotency_key

    def replay(saved: dict[str, Any]) -> tuple[Task, str]:
        return trail.from_snapshot(saved), saved["checkpoint_id"]

    def decide(task: Task, _: Claim, settings: Settings) -> tuple[Task, str]:
        content = checked({"step_name": step_name, "state": state}, settings.guardrails, "")
        now = deps.clock.now()
        checkpoint_id = deps.ids.new("chk", now)
        command = commands.SaveCheckpoint(
            by=by, claim_id=claim_id, checkpoint_id=checkpoint_id, step_name=content["step_name"]
        )
        recorded = transition(task, command, now)
        # Counted on the claim, outside of the trail.
        size = len(canonical_json(content).encode())
        extended = recorded.task.current_claim(claim_id, by)
        keeping = extended.keeping(size, settings.kept_bytes_per_claim)
        change = replace(recorded, task=recorded.task.changed(claim=keeping))
        checkpoint = Checkpoint(
            id=checkpoint_id,
            workflow_id=change.task.workflow_id,
            task_id=task_id,
            step_name=content["step_name"],
            state=content["state"],
            at=now,
            by=by.key,
        )
        answer = {**trail.snapshot(change.task), "checkpoint_id": checkpoint_id}
        commit(deps, change, Put(checkpoint), *idempotency.save_response(idempotency_key, answer))
        return change.task, checkpoint_id

    return run_under_claim(deps, call, decide, replay)
