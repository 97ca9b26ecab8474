"""A worker could not do its task, or won't: tried again with backoff while it may be, else ended for all to see, and
handed back to whoever can do something about it (docs/spec/protocol.md §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.guardrails import checked
from baton.domain.times import rfc3339
from baton.domain.verbs import Fail, Reject
from baton.domain.workflow import Checkpoint
from baton.ports import CheckpointKept
from baton.services.end_claim import Ending, Word, end_claim
from baton.services.envelope import sender
from baton.services.follow_up import FollowUp, rollback

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton, Dossier, Extra, Facts

Message = dict[str, Any]


def fail_task(
    baton: Baton,
    by: Principal,
    task_id: str,
    claim_id: str,
    failure: Message,
    body_hash: str,
    *,
    retryable: bool,
    once: Once | None = None,
    rollback_request: Message | None = None,
    told: tuple[Extra, ...] = (),
    envelope: Message | None = None,
) -> Dossier:
    """Raises ``GuardrailRefused``, ``StaleClaim`` and ``Unknown``. ``failure``: ``{type, description, blockers,
    partial_progress}``; ``rollback_request``: ``{target_agent, reason, questions}``; ``told``: written along;
    ``envelope``: what else its message says of the task and the claim, ``InvalidInput`` where that isn't so. An agent
    that is switched off may fail its task, but not say who goes on: ``InactiveAgent``."""
    said = _said(failure, rollback_request)
    word = Word(
        by=by,
        task_id=task_id,
        claim_id=claim_id,
        verb=Fail.name,
        body_hash=body_hash,
        once=once,
        said=said,
        told=told,
        while_off=True,
    )

    def decide(facts: Facts, now: datetime) -> Ending:
        task = _task(facts)
        told = _told(baton, word, facts, now, "failure")
        told["source"] = sender(baton, by.workspace, facts, envelope or {}, "failed")
        kept = _partial_progress(baton, word, task, told, now)
        told["checkpoint_id"] = kept.id if kept else None
        is_over = not retryable or task.attempt >= task.max_attempts
        back = rollback(baton, by, task, _body(facts), told, now) if is_over else FollowUp()
        record = {**told, **({"rollback": back.outcome} if back.outcome else {})}
        verb = Fail(
            by=by,
            claim_id=claim_id,
            failure=record,
            retryable=retryable,
            failure_id=told["failure_id"],
            checkpoint_id=kept.id if kept else None,
            rollback=_initiated(back),
            successor=_successor(task, back),
        )
        extras = (*([CheckpointKept(kept)] if kept else []), *back.extras)
        return Ending(
            verb=verb,
            failure=record,
            computed={name: value for name, value in record.items() if name not in said},
            children=back.children,
            extras=extras,
        )

    return end_claim(baton, word, decide)


def reject_task(
    baton: Baton,
    by: Principal,
    task_id: str,
    claim_id: str,
    reason: str,
    body_hash: str,
    once: Once | None = None,
    rollback_request: Message | None = None,
) -> Dossier:
    """Raises ``GuardrailRefused``, ``StaleClaim`` and ``Unknown``."""
    failure: Message = {"type": "capability", "description": reason}
    said = _said(failure, rollback_request)
    word = Word(by=by, task_id=task_id, claim_id=claim_id, verb=Reject.name, body_hash=body_hash, once=once, said=said)

    def decide(facts: Facts, now: datetime) -> Ending:
        task = _task(facts)
        told = _told(baton, word, facts, now, "reason")
        back = rollback(baton, by, task, _body(facts), told, now)
        record = {**told, **({"rollback": back.outcome} if back.outcome else {})}
        verb = Reject(
            by=by,
            claim_id=claim_id,
            reason=told["failure"]["description"],
            failure=record,
            failure_id=told["failure_id"],
            rollback=_initiated(back),
            successor=_successor(task, back),
        )
        return Ending(verb=verb, failure=record, children=back.children, extras=back.extras)

    return end_claim(baton, word, decide)


def _said(failure: Message, rollback_request: Message | None) -> Message:
    return {"failure": failure, **({"rollback_request": rollback_request} if rollback_request else {})}


def _told(baton: Baton, word: Word, facts: Facts, now: datetime, at: str) -> Message:
    """The failure's record. ``at``: what the request calls the failure itself."""
    task, rules = _task(facts), facts.settings.guardrails
    asked = word.said.get("rollback_request")
    return {
        "failure_id": baton.ids.new("fail", now),
        "handoff_id": task.handoff_id,
        "timestamp": rfc3339(now),
        "source": {"agent": task.claim.agent if task.claim else word.by.id},
        "failure": checked(word.said["failure"], rules, at),
        **({"rollback_request": checked(asked, rules, "rollback_request")} if asked else {}),
        "checkpoint_id": None,
    }


def _partial_progress(baton: Baton, word: Word, task: Task, told: Message, now: datetime) -> Checkpoint | None:
    """Saved, so that whoever goes on doesn't begin anew."""
    progress = told["failure"].get("partial_progress") or {}
    if not any(progress.values()) or task.claim is None:
        return None
    return Checkpoint(
        id=baton.ids.new("chk", now),
        workflow_id=task.workflow_id,
        task_id=task.id,
        step_name=f"partial_{task.claim.agent}",
        state={"partial_progress": progress},
        at=now,
        by=word.by.key,
    )


def _initiated(back: FollowUp) -> Message | None:
    """For the trail, if there is a handoff."""
    return {name: back.outcome[name] for name in ("target_agent", "handoff_id", "task_id")} if back.child else None


def _successor(task: Task, back: FollowUp) -> str | None:
    """A branch that somebody waits for goes on with its rollback."""
    return back.child.change.task.id if back.child and task.join_parent is not None else None


def _task(facts: Facts) -> Task:
    if facts.parent is None:
        raise ValueError("no task was read")
    return facts.parent.task


def _body(facts: Facts) -> Message | None:
    return facts.parent.body if facts.parent else None
