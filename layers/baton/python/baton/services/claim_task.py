"""Exactly one worker takes a task. The condition that makes it so is ``version_unchanged`` on the task's HEAD."""

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
# Less than one page of the queue, so that spreading takes no further reading.
SPREAD_OVER = 20
# Why an agent doesn't get a task, though it may well get another.
NOT_THIS_ONE = (AlreadyClaimed, NotClaimable, TaskEnded, OwnHandoff, NotYourAgent, CapabilityMismatch, Unknown)


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a worker needs in one answer. Only here is the claim's id ever shown."""

    dossier: Dossier
    claim_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimer:
    """``agent``: whom ``by`` claims for; None means itself."""

    by: Principal
    agent: str
    worker: str
    lease_seconds: int = DEFAULT_LEASE_SECONDS


def claim_task(baton: Baton, claimer: Claimer, task_id: str, once: Once | None = None) -> Claimed:
    """One task by its id. Raises ``AlreadyClaimed``, ``NotClaimable``, ``TaskEnded``, ``InactiveAgent``,
    ``AtCapacity``, ``NotYourAgent``, ``OwnHandoff``, ``CapabilityMismatch``, ``Unknown``; ``ClaimOver`` for a repeat of
    a claim that has ended since."""

    def attempt() -> Claimed:
        earlier = _earlier_claim(baton, claimer, once) if once else None
        return earlier or _take(baton, claimer, task_id, once)

    with refused_as_unknown(baton, claimer.by, task_id, unless=is_open_offer):
        claimed = decided_once(baton, once, lambda first: _as_before(baton, claimer, first), attempt)
    mark_contact(baton, claimer.by, claimer.agent)
    return claimed


def claim_next(baton: Baton, claimer: Claimer, once: Once | None = None) -> Claimed | None:
    """The best ready task of the agent, or None. Losing a race for one means trying the next, never an error. A repeat
    with the same key answers with the same claim while it lives. Raises ``Unknown``, ``InactiveAgent`` and
    ``GuardrailRefused``, so that no worker polls for ever under a name that gets no work."""
    claimed = claim_if_any(baton, claimer, once)
    if claimed is None:
        _must_get_work(baton, claimer)
    mark_contact(baton, claimer.by, claimer.agent)
    return claimed


def _must_get_work(baton: Baton, claimer: Claimer) -> None:
    agent = baton.store.agent(claimer.by.workspace, claimer.agent)
    if agent is None:
        raise Unknown("agent")
    agent.must_be_active()
    guarded_name(baton, claimer.by.workspace, "worker", claimer.worker)


def claim_next_waiting(
    baton: Baton, claimer: Claimer, timeout_seconds: float, once: Once | None = None
) -> Claimed | None:
    """The same, waiting up to ``timeout_seconds`` for a task to become ready. Raises ``TooManyPolls``, and
    ``InactiveAgent`` where the agent was switched off meanwhile. Those who wait
    for the same agent's work look at moments of their own, and each begins with another task of the best priority."""

    def again() -> Claimed | None:
        return claim_if_any(baton, claimer, once, is_contended=True)

    found = claim_next(baton, claimer, once)
    claimed = waited(baton, claimer.by, timeout_seconds, found, again, bool, jittered=True)
    if claimed is None and timeout_seconds > 0:
        _must_get_work(baton, claimer)
    return claimed


def claim_if_any(
    baton: Baton, claimer: Claimer, once: Once | None = None, *, is_contended: bool = False
) -> Claimed | None:
    """``is_contended``: others are likely to look for the same work at this moment."""
    claimer.by.acting_for(claimer.agent)
    try:
        claimed = _Search(baton, claimer, once, is_contended=is_contended).claim()
    except (KeyTaken, InactiveAgent, AtCapacity):
        claimed = None
    if claimed is None and once:
        return _earlier_claim(baton, claimer, once)
    return claimed


class _Search:
    """Through the candidates: the agent's own queue first, then open work that it has declared the capabilities for,
    and didn't hand off itself; by priority, then first in, first out. Once a race was lost, those of one priority come
    in any order, so that many who search at once don't meet at each of them in turn."""

    def __init__(self, baton: Baton, claimer: Claimer, once: Once | None, *, is_contended: bool) -> None:
        self._baton, self._claimer, self._once = baton, claimer, once
        self._is_contended = is_contended
        self._lost: list[Ready] = []

    def claim(self) -> Claimed | None:
        """Raises ``KeyTaken``, ``InactiveAgent``, ``AtCapacity``."""
        for ready in islice(self._candidates(), MAX_CANDIDATES):
            if self._lost and self._lost[0].priority != ready.priority:
                claimed = self._look_again()
                if claimed is not None:
                    return claimed
            claimed = self._try(ready)
            if claimed is not None:
                return claimed
        return self._look_again()

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

    def _look_again(self) -> Claimed | None:
        """A lost race may have been against the sweeper's bookkeeping, which leaves the task as ready as it was: looked
        at again, after the others of its priority, it tells."""
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
    """One of its permits, where it has a limit: most of the time it is free, and no reading is needed to know."""
    return None if agent.max_concurrent is None else random.randrange(agent.max_concurrent)  # noqa: S311 - no secret


def _free_slot(baton: Baton, agent: Agent) -> int:
    """Raises ``AtCapacity``."""
    taken = {held.slot for held in baton.store.held(agent.workspace, agent.slug)}
    free = [slot for slot in range(agent.max_concurrent or 0) if slot not in taken]
    if not free:
        raise AtCapacity(agent.slug, agent.max_concurrent or 0)
    return random.choice(free)  # noqa: S311 - no secret


def _claimed(
    baton: Baton, claimer: Claimer, dossier: Dossier, agent: Agent, slot: int | None, once: Once | None
) -> Claimed:
    now, task_id = baton.clock.now(), dossier.task.id
    verb = ClaimTask(
        by=claimer.by,
        agent=claimer.agent,
        worker=guarded_name(baton, claimer.by.workspace, "worker", claimer.worker),
        claim_id=baton.ids.new("clm", now),
        lease_seconds=claimer.lease_seconds,
        skills=agent,
        slot=slot,
    )
    change = transition(dossier.task, verb, now)
    extras: list[Extra] = []
    if once:
        answer: dict[str, Any] = {"task_id": task_id, "claim_id": verb.claim_id, "task": snapshot(change.task)}
        extras.append(Remember(once, answer))
    commit(baton, change, extras)
    return Claimed(replace(dossier, task=change.task, mirror=row_of(baton, change.task)), verb.claim_id)


def _earlier_claim(baton: Baton, claimer: Claimer, once: Once) -> Claimed | None:
    answer = recalled(baton, once)
    return None if answer is None else _as_before(baton, claimer, answer)


def _as_before(baton: Baton, claimer: Claimer, answer: dict[str, Any]) -> Claimed:
    dossier = baton.store.read(claimer.by.workspace, answer["task_id"], with_body=True)
    claim = dossier.task.claim
    if claim is None or claim.claim_id != answer["claim_id"]:
        raise ClaimOver(dossier.task.id)
    return Claimed(dossier, claim.claim_id)
