"""The twin of the DynamoDB store, for tests and benches: the same promises, kept by one lock.

Values are frozen, and what isn't (payloads, answers) is copied on the way in and out, so that nothing is shared by
accident.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from baton.adapters.dynamodb.sizes import must_fit as items_must_fit
from baton.adapters.dynamodb.writes import commit_writes
from baton.adapters.memory_alerts import MemoryAlerts
from baton.adapters.memory_events import MemoryEvents
from baton.adapters.memory_markers import MarkerExtra, MemoryMarkers
from baton.adapters.memory_places import must_fit, steps_of
from baton.adapters.memory_queues import MemoryQueues
from baton.adapters.memory_runs import MemoryRuns, RunExtra
from baton.adapters.memory_tools import MemoryTools
from baton.adapters.memory_workflows import MemoryWorkflows, WorkflowExtra
from baton.domain.change import Change
from baton.domain.errors import BatonError, Conflict, KeyTaken, SlotTaken
from baton.ports import (
    AlertCounted,
    AlertRaised,
    AlertSaved,
    Body,
    ClaimCut,
    EndedClaim,
    ErrandDone,
    Note,
    Output,
    Remember,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from baton.domain.principal import Principal
    from baton.domain.task import Claim
    from baton.ports import Extra

AlertExtra = AlertRaised | AlertCounted | AlertSaved
OfTask = Body | Output | EndedClaim | ClaimCut


class MemoryStore(MemoryQueues, MemoryWorkflows, MemoryMarkers, MemoryAlerts, MemoryTools, MemoryRuns, MemoryEvents):
    def __init__(self) -> None:
        super().__init__()
        self._notes: dict[tuple[str, str], list[Note]] = {}

    def commit(self, workspace: str, change: Change | None, extras: Sequence[Extra] = ()) -> None:
        steps = tuple(steps_of(change, extras))
        must_fit(steps)
        # The very items of the table: what it wouldn't take isn't taken here either.
        writes = commit_writes(workspace, change, [each for each in extras if not isinstance(each, ErrandDone)], "")
        items_must_fit(write.request["Item"] for write in writes if write.kind == "Put")
        with self._lock:
            refusals = [refusal for _, what in steps if (refusal := self._refusal(workspace, what)) is not None]
            if refusals:  # a used key says more than a change that came too late
                raise min(refusals, key=lambda error: error.code != KeyTaken.code)
            for owner, what in steps:
                self._write(workspace, owner, what)

    def renew(
        self, workspace: str, task_id: str, claim_id: str, by: Principal, now: datetime, lease_seconds: int | None
    ) -> Claim:
        with self._lock:
            task = self._task(workspace, task_id)
            before = task.current_claim(claim_id, by)
            claim = before.renewed(now, lease_seconds, task.hard_deadline)
            if claim != before:
                self._tasks[workspace, task_id] = replace(task, claim=claim, version=task.version + 1)
            return claim

    def notes(self, workspace: str, about: str, limit: int, cursor: str | None = None) -> tuple[Note, ...]:
        with self._lock:
            found = sorted(self._notes.get((workspace, about), []), key=lambda note: note.id, reverse=True)
            return tuple(deepcopy([note for note in found if cursor is None or note.id < cursor][:limit]))

    def _refusal(self, workspace: str, what: Change | Extra) -> BatonError | None:
        try:
            self._check(workspace, what)
        except BatonError as refusal:
            return refusal
        return None

    def _check(self, workspace: str, what: Change | Extra) -> None:
        """Raises what the condition of the write would."""
        if isinstance(what, Change):
            self._check_change(workspace, what)
        elif isinstance(what, Remember):
            self._must_be_new(what.once)
        elif isinstance(what, MarkerExtra):
            self._check_marker(workspace, what)
        elif isinstance(what, WorkflowExtra):
            self._check_workflow(workspace, what)
        elif isinstance(what, RunExtra):
            self._check_run(workspace, what)
        elif isinstance(what, AlertExtra):
            self._check_alert(workspace, what)
        else:
            self._check_outbox(workspace, what)

    def _check_change(self, workspace: str, change: Change) -> None:
        task = self._tasks.get((workspace, change.task.id))
        if (task.version if task else None) != (change.before.version if change.before else None):
            raise Conflict("task")
        claim = change.task.claim
        if claim is None or claim.slot is None or (task and task.claim and task.claim.claim_id == claim.claim_id):
            return
        if any(
            held.slot == claim.slot and held.task_id != change.task.id for held in self.held(workspace, claim.agent)
        ):
            raise SlotTaken

    def _write(self, workspace: str, owner: Change | None, what: Change | Extra) -> None:
        if isinstance(what, Change):
            self._apply(workspace, what)
        elif isinstance(what, OfTask):
            self._write_beside(workspace, owner, what)
        elif isinstance(what, Remember):
            remembered = deepcopy(what.once.remember(what.answer))
            self._remembered[what.once.digest] = replace(remembered, forget_at=what.forget_at or remembered.forget_at)
        elif isinstance(what, Note):
            self._notes.setdefault((workspace, what.about), []).append(deepcopy(what))
        elif isinstance(what, MarkerExtra):
            self._write_marker(workspace, what)
        elif isinstance(what, WorkflowExtra):
            self._write_workflow(workspace, what)
        elif isinstance(what, RunExtra):
            self._write_run(workspace, what)
        elif isinstance(what, AlertExtra):
            self._write_alert(workspace, what)
        else:
            self._write_outbox(workspace, owner.task if owner else None, what)

    def _apply(self, workspace: str, change: Change) -> None:
        self._tasks[workspace, change.task.id] = change.task
        beside = self._keep(workspace, change.task.id)
        beside.events += deepcopy(list(change.events))
        self._owe(change)
        if change.recovery is not None:
            beside.recoveries.append(change.recovery)
        if change.failure is not None:
            beside.failure = deepcopy(change.failure)
        if change.brought is not None:
            beside.brought = deepcopy(change.brought)

    def _write_beside(self, workspace: str, owner: Change | None, extra: OfTask) -> None:
        if owner is None:
            raise TypeError(extra)
        beside = self._keep(workspace, owner.task.id)
        match extra:
            case Body(content):
                beside.body = deepcopy(content)
            case Output(content, completion):
                beside.output, beside.completion = deepcopy(content), deepcopy(completion)
            case EndedClaim(claim_id, answer):
                beside.ended_claims[claim_id] = deepcopy(answer)
            case ClaimCut(claim):
                beside.ended_claims[claim.claim_id] = claim


class MemoryDoorbell:
    """Keeps its bells for a test to look at or deliver."""

    def __init__(self) -> None:
        self.bells: list[tuple[str, str, str, int]] = []

    def ring(self, workspace: str, agent: str, task_id: str, delay_seconds: int = 0) -> None:
        self.bells.append((workspace, agent, task_id, delay_seconds))


class MemoryDeadLetters:
    def __init__(self) -> None:
        self.letters: list[tuple[str, str]] = []

    def give_up(self, body: str, reason: str) -> None:
        self.letters.append((body, reason))


class MemoryCallbackKey:
    """Always the same."""

    def get(self) -> bytes:
        return b"callbacks of a deployment that isn't one"
