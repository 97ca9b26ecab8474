"""Claims tasks: exactly one worker gets a task. The condition behind it is ``version_unchanged`` on the task's HEAD."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from baton.domain.agent import lacking, requirements
from baton.domain.errors import (
    AlreadyClaimed,
    AtCapacity,
    CapabilityMismatch,
    ClaimOver,
    Conflict,
    InactiveAgent,
    KeyTaken,
    NotClaimable,
    NotYourAgent,
    OwnHandoff,
    SlotTaken,
    TaskEnded,
    Unknown,
)
from baton.domain.events import snapshot
from baton.domain.reading import is_open_offer
from baton.domain.task import DEFAULT_LEASE_SECONDS
from baton.domain.transitions import transition
from baton.domain.verbs import ClaimTask
from baton.ports import Dossier, Remember
from baton.services.change_task import commit, row_of
from baton.services.guarded import guarded_name
from baton.services.mark_contact import mark_contact
from baton.services.reading import refused_as_unknown
from baton.services.retrying import decided_once, recalled
from baton.services.waiting import waited

if TYPE_CHECKING:
    from collections.abc import Iterator

    from baton.domain.agent import Agent
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Extra, Ready

MAX_CANDIDATES = 200
LOOKS_AGAIN = 2
# Less than one page of the queue, so that shuffling takes no further read.
SPREAD_OVER = 20
# Errors because of which an agent doesn't get this task, though it may get another.
NOT_THIS_ONE = (AlreadyClaimed, NotClaimable, TaskEnded, OwnHandoff, NotYourAgent, CapabilityMismatch, Unknown)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed task with its items. No other answer shows the claim's id."""

    dossier: Dossier
    claim_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimer:
    """The agent that ``by`` claims for, with the worker's name and the lease."""

    by: Principal
    agent: str
    worker: str
    lease_seconds: int = DEFAULT_LEASE_SECONDS


def claim_task(baton: Baton, claimer: Claimer, task_id: str, once: Once | None = None) -> Claimed:
    """Claims one task by its id. Raises ``AlreadyClaimed``, ``NotClaimable``, ``TaskEnded``, ``InactiveAgent``,
    ``AtCapacity``, ``NotYourAgent``, ``OwnHandoff``, ``CapabilityMismatch``, ``Unknown``, and ``ClaimOver`` for a
    repeat of a claim that has ended since."""

    def attempt() -> Claimed:
        earlier = _earlier_claim(baton, claimer, once) if once else None
        return earlier or _take(baton, claimer, task_id, once)

    with refused_as_unknown(baton, claimer.by, task_id, unless=is_open_offer):
        claimed = decided_once(baton, once, lambda first: _replayed(baton, claimer, first), attempt)
    mark_contact(baton, claimer.by, claimer.agent)
    return claimed


def claim_next(baton: Baton, claimer: Claimer, once: Once | None = None) -> Claimed | None:
    """Claims the best ready task of the agent, or returns None. A lost race means that the next task is tried, never an
    error. A repeat with the same key returns the same claim while it lives. Raises ``Unknown``, ``InactiveAgent`` and
    ``GuardrailRefused``, so that no worker polls for ever under a name that gets no work."""
    claimed = claim_if_any(baton, claimer, once)
    if claimed is None:
        _must_be_eligible(baton, claimer)
    mark_contact(baton, claimer.by, claimer.agent)
    return claimed


def _must_be_eligible(baton: Baton, claimer: Claimer) -> None:
    agent = baton.store.agent(claimer.by.workspace, claimer.agent)
    if agent is None:
        raise Unknown("agent")
    agent.must_be_active()
    guarded_name(baton, claimer.by.workspace, "worker", claimer.worker)


def claim_next_waiting(
    baton: Baton, claimer: Claimer, timeout_seconds: float, once: Once | None = None
) -> Claimed | None:
    """Claims like ``claim_next``, and waits up to ``timeout_seconds`` for a task to become ready. Also raises
    ``TooManyPolls``, and ``InactiveAgent`` if the agent was switched off meanwhile. Workers that wait for the same
    agent's work look at jittered moments, and each begins with another task of the best priority."""

    def poll() -> Claimed | None:
        return claim_if_any(baton, claimer, once, is_contended=True)

    found = claim_next(baton, claimer, once)
    claimed = waited(baton, claimer.by, timeout_seconds, found, poll, bool, jittered=True)
    if claimed is None and timeout_seconds > 0:
        _must_be_eligible(baton, claimer)
    return claimed


def claim_if_any(
    baton: Baton, claimer: Claimer, once: Once | None = None, *, is_contended: bool = False
) -> Claimed | None:
    """Like ``claim_next``, but also returns None for an agent that is unknown, switched off or at its limit.
    ``is_contended``: other workers are likely to look for the same work now."""
    claimer.by.acting_for(claimer.agent)
    try:
        claimed = _Search(baton, claimer, once, is_contended=is_contended).claim()
    except (KeyTaken, InactiveAgent, AtCapacity):
        claimed = None
    if claimed is None and once:
        return _earlier_claim(baton, claimer, once)
    return claimed


class _Search:
    """A search through the candidates: first the agent's own queue, then open work within its declared capabilities
    that it didn't hand off itself; by priority, then first in, first out. After a lost race, candidates of one priority
    come in random order, so that many concurrent searches don't meet at each task in turn."""

    def __init__(self, baton: Baton, claimer: Claimer, once: Once | None, *, is_contended: bool) -> None:
        self._baton, self._claimer, self._once = baton, claimer, once
        self._is_contended = is_contended
        self._lost: list[Ready] = []

    def claim(self) -> Claimed | None:
        """Raises ``KeyTaken``, ``InactiveAgent``, ``AtCapacity``."""
        for ready in islice(self._candidates(), MAX_CANDIDATES):
            if self._lost and self._lost[0].priority != ready.priority:
                claimed = self._retry_lost()
                if claimed is not None:
                    return claimed
            claimed = self._try(ready)
            if claimed is not None:
                return claimed
        return self._retry_lost()

    def _candidates(self) -> Iterator[Ready]:
        workspace, now = self._claimer.by.workspace, self._baton.clock.now()
        skills, own = self._baton.store.ready(workspace, self._claimer.agent, now)
        yield from self._spread(own)
        if skills is None:
            return
        offers = frozenset(requirements(skills.accepts, skills.produces))
        for ready in self._spread(self._baton.store.open_work(workspace, now)):
            if ready.source != self._claimer.agent and not lacking(offers, ready.requires):
                yield ready

    def _spread(self, queue: Iterator[Ready]) -> Iterator[Ready]:
        for _, alike in groupby(queue, key=lambda ready: ready.priority):
            while some := list(islice(alike, SPREAD_OVER if self._is_contended else 1)):
                random.shuffle(some)
                yield from some

    def _try(self, ready: Ready) -> Claimed | None:
        try:
            return _take(self._baton, self._claimer, ready.task_id, self._once)
        except KeyTaken:
            raise
        except NOT_THIS_ONE:
            return None
        except Conflict:
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


def _take(baton: Baton, claimer: Claimer, task_id: str, once: Once | None) -> Claimed:
    dossier, agent = baton.store.read_for_claim(claimer.by.workspace, task_id, claimer.agent)
    if agent is None or not agent.active:
        raise InactiveAgent(claimer.agent)
    try:
        return _claimed(baton, claimer, dossier, agent, _any_slot(agent), once)
    except SlotTaken:
        return _claimed(baton, claimer, dossier, agent, _free_slot(baton, agent), once)


def _any_slot(agent: Agent) -> int | None:
    """A random slot if the agent has a limit: it is mostly free, and needs no read."""
    return None if agent.max_concurrent is None else random.randrange(agent.max_concurrent)  # noqa: S311 - no secret


def _free_slot(baton: Baton, agent: Agent) -> int:
    """A slot that no live claim holds. Raises ``AtCapacity``."""
    taken = {held.slot for held in baton.store.held(agent.workspace, agent.slug)}
    free = [slot for slot in range(agent.max_concurrent or 0) if slot not in taken]
    if not free:
        raise AtCapacity(agent.slug, agent.max_concurrent or 0)
    return random.choice(free)  # noqa: S311 - no secret


def _claimed(
    baton: Baton, claimer: Claimer, dossier: Dossier, agent: Agent, slot: int | None, once: Once | None
) -> Claimed:
    now, task_id = baton.clock.now(), dossier.task.id
    command = ClaimTask(
        by=claimer.by,
        agent=claimer.agent,
        worker=guarded_name(baton, claimer.by.workspace, "worker", claimer.worker),
        claim_id=baton.ids.new("clm", now),
        lease_seconds=claimer.lease_seconds,
        skills=agent,
        slot=slot,
    )
    change = transition(dossier.task, command, now)
    extras: list[Extra] = []
    if once:
        answer: dict[str, Any] = {"task_id": task_id, "claim_id": command.claim_id, "task": snapshot(change.task)}
        extras.append(Remember(once, answer))
    commit(baton, change, extras)
    return Claimed(replace(dossier, task=change.task, mirror=row_of(baton, change.task)), command.claim_id)


def _earlier_claim(baton: Baton, claimer: Claimer, once: Once) -> Claimed | None:
    answer = recalled(baton, once)
    return None if answer is None else _replayed(baton, claimer, answer)


def _replayed(baton: Baton, claimer: Claimer, answer: dict[str, Any]) -> Claimed:
    dossier = baton.store.read(claimer.by.workspace, answer["task_id"], with_body=True)
    claim = dossier.task.claim
    if claim is None or claim.claim_id != answer["claim_id"]:
        raise ClaimOver(dossier.task.id)
    return Claimed(dossier, claim.claim_id)
