"""Saves a state from which work can continue: a checkpoint, or a framework's run (docs/spec/protocol.md §6)."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from baton.domain import errors, times
from baton.domain.canonical_json import canonical_json
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs.workflow import Checkpoint, RunState
from baton.domain.settings.settings import Settings
from baton.domain.tasks import commands, trail
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.change import Change
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
    by, idempotency_key = call.by, call.idempotency_key

    def replay(saved: dict[str, Any]) -> tuple[Task, str]:
        return trail.from_snapshot(saved), saved["checkpoint_id"]

    def decide(task: Task, claim: Claim, settings: Settings) -> tuple[Task, str]:
        content = checked({"step_name": step_name, "state": state}, settings.guardrails, "")
        now = deps.clock.now()
        checkpoint_id = deps.ids.new("chk", now)
        command = commands.SaveCheckpoint(
            by=by, claim_id=call.claim_id, checkpoint_id=checkpoint_id, step_name=content["step_name"]
        )
        change = _keeping(content, transition(task, command, now), call, settings)
        checkpoint = Checkpoint(
            id=checkpoint_id,
            workflow_id=change.task.workflow_id,
            task_id=task.id,
            step_name=content["step_name"],
            state=content["state"],
            at=now,
            by=by.key,
            agent=claim.agent,
        )
        answer = {**trail.snapshot(change.task), "checkpoint_id": checkpoint_id}
        commit(deps, change, Put(checkpoint), *idempotency.save_response(idempotency_key, answer))
        return change.task, checkpoint_id

    return run_under_claim(deps, call, decide, replay)


def save_run_state(deps: Deps, call: WorkerCall, state: str, signature: str) -> RunState:
    """Replaces the saved state of the framework's run on this task. The claim continues, extended as by a heartbeat.
    Raises ``StaleClaim``, ``GuardrailRefused``, ``InvalidInput`` for a state that a guardrail would mask, as its
    signature would be wrong then, ``ClaimFull`` and ``Unknown``."""

    def replay(saved: dict[str, Any]) -> RunState:
        return RunState(**{**saved, "state": state, "signature": signature, "at": times.parse_rfc3339(saved["at"])})

    def decide(task: Task, claim: Claim, settings: Settings) -> RunState:
        content = {"state": state, "signature": signature}
        if checked(content, settings.guardrails, "") != content:
            raise errors.InvalidInput("state", "must have nothing that a guardrail masks")
        now = deps.clock.now()
        saved = RunState(
            id=deps.ids.new("chk", now),
            task_id=task.id,
            **content,
            by=call.by.key,
            agent=claim.agent,
            fence=claim.fence,
            at=now,
        )
        command = commands.SaveCheckpoint(
            by=call.by, claim_id=call.claim_id, checkpoint_id=saved.id, step_name="run", is_run_state=True
        )
        change = _keeping(content, transition(task, command, now), call, settings)
        answer = {**asdict(saved), "state": None, "signature": None, "at": times.rfc3339(now)}
        commit(deps, change, Put(saved), *idempotency.save_response(call.idempotency_key, answer))
        return saved

    return run_under_claim(deps, call, decide, replay)


def _keeping(content: dict[str, Any], recorded: Change, call: WorkerCall, settings: Settings) -> Change:
    """Counts the content's bytes on the claim, outside of the trail. Raises ``ClaimFull``."""
    size = len(canonical_json(content).encode())
    claim = recorded.task.current_claim(call.claim_id, call.by)
    kept = claim.keeping(size, settings.kept_bytes_per_claim)
    return replace(recorded, task=recorded.task.changed(claim=kept))
