"""Claims tasks: exactly one worker gets a task. The condition behind it is ``version_unchanged`` on the task's HEAD."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count, groupby, islice
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Kind, Principal
from baton.domain.access.read_rights import is_open_offer
from baton.domain.agents.agent import lacking, requirements
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.queues import ReadyTask
from baton.steps import idempotency
from baton.steps.access.read_rights import refused_as_unknown
from baton.steps.agents.mark_contact import mark_contact
from baton.steps.claims.poll_until import Poll, poll_until
from baton.steps.claims.take_task import Claimed, Claimer, claimed_with_memory, take_task
from baton.steps.guardrails.apply_guardrails import apply_guardrails_to_name

MAX_CANDIDATES = 200
LOOKS_AGAIN = 2
# Less than one page of the queue, so that shuffling takes no further read.
SPREAD_OVER = 20
# The most marks that one search looks behind: one page. What is left comes with the next search.
MAX_MARKS = 25
# Of a worker that waits: the pause between two looks at its agent's own queue, and how many such looks come to one that
# also sees open work. Twenty seconds without work cost 48.5 read units (tests/contract/claims/test_waiting_cost.py).
LOOK_SECONDS = 0.24
LOOK_JITTER = 0.2
WHOLE_LOOK_EVERY = 12


def claim_task(deps: Deps, claimer: Claimer, task_id: str, idempotency_key: IdempotencyKey | None = None) -> Claimed:
    """Claims one task by its id. Raises ``AlreadyClaimed``, ``NotClaimable``, ``TaskEnded``, ``InactiveAgent``,
    ``AtCapacity``, ``NotYourAgent``, ``OwnHandoff``, ``CapabilityMismatch``, ``Unknown``, and ``ClaimOver`` for a
    repeat of a claim that has ended since. A claimer that resumes goes on with its own claim under a new one, and gets
    ``NobodyHolds`` or ``ClaimChanged`` unless that claim is the current one: of two who resume it one wins."""

    def read() -> tuple[None, SavedResponse | None]:
        return idempotency.response_alone(deps, idempotency_key)

    def decide(_: None) -> Claimed:
        return take_task(deps, claimer, task_id, idempotency_key)

    with refused_as_unknown(deps, claimer.by, task_id, unless=is_open_offer):
        claimed = idempotency.run_idempotently(
            deps, idempotency_key, read, decide, lambda first: _replayed(deps, claimer, first)
        )
    mark_contact(deps, claimer.by, claimer.agent, has_work=True)
    return claimed


def agent_to_claim_for(deps: Deps, by: Principal, task_id: str) -> str:
    """Returns the agent that a principal claims the task for if it names none: an agent itself, or else the task's
    target. Raises ``Unknown``, and ``InvalidInput`` for open work, which has no target."""
    if by.kind is Kind.AGENT:
        return by.id
    task, _ = deps.store.load(by.workspace, task_id)
    if task.target_agent is None:
        raise errors.InvalidInput("agent", "is required for open work")
    return task.target_agent


def claim_next(deps: Deps, claimer: Claimer, idempotency_key: IdempotencyKey | None = None) -> Claimed | None:
    """Claims the best ready task of the agent, or returns None. A lost race means that the next task is tried, never an
    error. A repeat with the same key returns the same claim while it lives. Raises ``Unknown``, ``InactiveAgent`` and
    ``GuardrailRefused``, so that no worker polls for ever under a name that gets no work."""
    claimed = claim_if_any(deps, claimer, idempotency_key)
    if claimed is None:
        _must_be_eligible(deps, claimer)
    mark_contact(deps, claimer.by, claimer.agent, has_work=claimed is not None)
    return claimed


def _must_be_eligible(deps: Deps, claimer: Claimer) -> None:
    _must_be_active(deps, claimer)
    apply_guardrails_to_name(deps, claimer.by.workspace, "worker", claimer.worker)


def _must_be_active(deps: Deps, claimer: Claimer) -> None:
    agent = deps.store.agent(claimer.by.workspace, claimer.agent)
    if agent is None:
        raise errors.Unknown("agent")
    agent.must_be_active()


def claim_next_waiting(
    deps: Deps, claimer: Claimer, timeout_seconds: float, idempotency_key: IdempotencyKey | None = None
) -> Claimed | None:
    """Claims like ``claim_next``, and waits up to ``timeout_seconds`` for a task to become ready. Also raises
    ``TooManyPolls``, and ``InactiveAgent`` if the agent was switched off meanwhile. Mostly the agent's own queue is
    looked at alone, for half a read unit. Workers that wait for the same agent's work look at jittered moments, and
    each begins with another task of the best priority. A claim that is made after a wait has the claimer's first lease:
    whoever waited may be gone."""
    found = claim_next(deps, replace(claimer, first_lease_seconds=None), idempotency_key)
    wait = _Wait(deps, claimer, idempotency_key)
    poll = Poll(wait.look, bool, timeout_seconds, LOOK_SECONDS, LOOK_JITTER, lambda: wait.due_at)
    claimed = poll_until(deps, claimer.by, found, poll)
    if claimed is None and timeout_seconds > 0:
        if idempotency_key:
            claimed = _earlier_claim(deps, claimer, idempotency_key)
        if claimed is None:
            _must_be_active(deps, claimer)
    return claimed


class _Wait:
    """A worker that waits. ``due_at``: when a task of its agent's is due, as the last look has seen it: the end of an
    undo window, or of a lease."""

    def __init__(self, deps: Deps, claimer: Claimer, idempotency_key: IdempotencyKey | None) -> None:
        self._baton, self._claimer, self._once = deps, claimer, idempotency_key
        self._looks = count(1)
        self.due_at: datetime | None = None

    def look(self) -> Claimed | None:
        """A claim that a repeat of the same call has made since is found by the next whole look."""
        is_whole = next(self._looks) % WHOLE_LOOK_EVERY == 0
        ahead_seconds = LOOK_SECONDS * (1 + LOOK_JITTER)
        look = _Look(is_contended=True, sees_open_work=is_whole, ahead_seconds=ahead_seconds)
        search = _Search(self._baton, self._claimer, self._once, look)
        claimed = search.claim_if_any()
        self.due_at = search.due_at
        if claimed is None and self._once and is_whole:
            return _earlier_claim(self._baton, self._claimer, self._once)
        return claimed


def claim_if_any(
    deps: Deps,
    claimer: Claimer,
    idempotency_key: IdempotencyKey | None = None,
    *,
    is_contended: bool = False,
    known: TaskDetails | None = None,
) -> Claimed | None:
    """Like ``claim_next``, but also returns None for an agent that is unknown, switched off or at its limit.
    ``is_contended``: other workers are likely to look for the same work now. ``known``: a task that was just read for a
    claim, and so isn't read again if it is the best."""
    claimer.by.acting_for(claimer.agent)
    claimed = _Search(deps, claimer, idempotency_key, _Look(is_contended=is_contended, known=known)).claim_if_any()
    if claimed is None and idempotency_key:
        return _earlier_claim(deps, claimer, idempotency_key)
    return claimed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """How one search looks. ``ahead_seconds``: how far it looks for tasks of the agent's that will be due. ``known``: a
    task that was just read for a claim."""

    is_contended: bool = False
    sees_open_work: bool = True
    ahead_seconds: float = 0.0
    known: TaskDetails | None = None


class _Search:
    """A search through the candidates: first the agent's own queue, then its tasks whose lease is over, then open work
    within its declared capabilities that it didn't hand off itself; by priority, then first in, first out. After a lost
    race, candidates of one priority come in random order, so that many concurrent searches don't meet at each task in
    turn."""

    def __init__(self, deps: Deps, claimer: Claimer, idempotency_key: IdempotencyKey | None, look: _Look) -> None:
        self._baton, self._claimer, self._once, self._look = deps, claimer, idempotency_key, look
        self._is_contended, self._known = look.is_contended, look.known
        self._lost: list[ReadyTask] = []
        # When the first task of the agent's is due that isn't due yet, as far ahead as it looks.
        self.due_at: datetime | None = None
        self._marks_left = MAX_MARKS

    def claim_if_any(self) -> Claimed | None:
        try:
            return self._claim()
        except (errors.KeyTaken, errors.InactiveAgent, errors.AtCapacity):
            return None

    def _claim(self) -> Claimed | None:
        for ready in islice(self._candidates(), MAX_CANDIDATES):
            if self._lost and self._lost[0].priority != ready.priority:
                claimed = self._retry_lost()
                if claimed is not None:
                    return claimed
            claimed = self._try(ready)
            if claimed is not None:
                return claimed
        return self._retry_lost()

    def _candidates(self) -> Iterator[ReadyTask]:
        workspace, now = self._claimer.by.workspace, self._baton.clock.now()
        soon = now + times.seconds(self._look.ahead_seconds)
        skills, own = self._baton.store.ready(workspace, self._claimer.agent, soon)
        yield from filter(self._is_open, self._spread(ready for ready in own if self._is_due(ready, now)))
        if skills is None or not self._look.sees_open_work:
            return
        offers = frozenset(requirements(skills.accepts, skills.produces))
        for ready in self._spread(self._baton.store.open_work(workspace, now)):
            if ready.source != self._claimer.agent and not lacking(offers, ready.requires):
                yield ready

    def _is_due(self, ready: ReadyTask, now: datetime) -> bool:
        if ready.ready_at > now:
            self.due_at = min(self.due_at or ready.ready_at, ready.ready_at)
        return ready.ready_at <= now

    def _is_open(self, ready: ReadyTask) -> bool:
        """True unless a claim holds the task whose lease isn't over after all: then its mark is moved on, so that it is
        looked at once per lease."""
        if ready.lapsed_claim is None:
            return True
        self._marks_left -= 1
        if self._marks_left < 0:
            return False
        try:
            task, _ = self._baton.store.load(self._claimer.by.workspace, ready.task_id)
        except errors.Unknown:
            return False
        except errors.WrittenByNewer:
            self._log_newer(ready)
            return False
        if task.is_lapsed(self._claimer.agent, self._baton.clock.now()):
            return True
        if task.claim is not None and task.claim.claim_id == ready.lapsed_claim:
            with suppress(errors.Busy):  # the next one who looks moves it
                self._baton.store.move_mark(task)
        return False

    def _log_newer(self, ready: ReadyTask) -> None:
        """One task that only a newer version can read doesn't keep the agent from its other work."""
        self._baton.log("a newer version has written a task", action="task_unreadable", task_id=ready.task_id)

    def _spread(self, queue: Iterator[ReadyTask]) -> Iterator[ReadyTask]:
        for _, alike in groupby(queue, key=lambda ready: ready.priority):
            while some := list(islice(alike, SPREAD_OVER if self._is_contended else 1)):
                random.shuffle(some)
                yield from some

    def _try(self, ready: ReadyTask) -> Claimed | None:
        try:
            known, self._known = self._known, None  # once: what was refused is read again
            return take_task(self._baton, self._claimer, ready, self._once, known)
        except errors.KeyTaken:
            raise
        except (
            errors.AlreadyClaimed,
            errors.NotClaimable,
            errors.TaskEnded,
            errors.OwnHandoff,
            errors.NotYourAgent,
            errors.CapabilityMismatch,
            errors.Unknown,
        ):
            return None
        except errors.WrittenByNewer:
            self._log_newer(ready)
            return None
        except errors.Conflict:
            self._baton.store.read_anew()
            self._is_contended = True
            self._lost.append(ready)
            return None

    def _retry_lost(self) -> Claimed | None:
        """Tries the lost tasks again, after the others of their priority: the race may have been lost to the sweeper's
        bookkeeping, which leaves the task ready."""
        for _ in range(LOOKS_AGAIN):
            lost, self._lost = self._lost, []
            for ready in lost:
                claimed = self._try(ready)
                if claimed is not None:
                    return claimed
        self._lost = []
        return None


def _earlier_claim(deps: Deps, claimer: Claimer, idempotency_key: IdempotencyKey) -> Claimed | None:
    answer = idempotency.saved_so_far(deps, idempotency_key)
    return None if answer is None else _replayed(deps, claimer, answer)


def _replayed(deps: Deps, claimer: Claimer, answer: dict[str, Any]) -> Claimed:
    details = deps.store.read(claimer.by.workspace, answer["task_id"], with_body=True)
    claim = details.task.claim
    if claim is None or claim.claim_id != answer["claim_id"]:
        raise errors.ClaimOver(details.task.id)
    return claimed_with_memory(deps, claimer, details, claim.claim_id)
