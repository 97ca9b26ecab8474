"""Exactly one worker takes a task. The condition that makes it so is ``version_unchanged`` on the task's HEAD."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import (
    AlreadyClaimed,
    ClaimOver,
    Conflict,
    InactiveAgent,
    KeyTaken,
    NotClaimable,
    TaskEnded,
    Unknown,
)
from baton.domain.events import snapshot
from baton.domain.task import DEFAULT_LEASE_SECONDS
from baton.domain.transitions import transition
from baton.domain.verbs import ClaimTask
from baton.ports import Dossier, Remember
from baton.services.change_task import commit, row_of
from baton.services.retrying import decided_again
from baton.services.waiting import polled

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Extra

MAX_CANDIDATES = 200
LOOKS_AGAIN = 2


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
    ``NotYourAgent``, ``Unknown``; ``ClaimOver`` for a repeat of a claim that has ended since."""

    def attempt() -> Claimed:
        earlier = _earlier_claim(baton, claimer, once) if once else None
        return earlier or _take(baton, claimer, task_id, once)

    return decided_again(baton.clock, attempt)


def claim_next(baton: Baton, claimer: Claimer, once: Once | None = None) -> Claimed | None:
    """The best ready task of the agent, or None. Losing a race for one means trying the next, never an error. A repeat
    with the same key answers with the same claim while it lives. Raises ``Unknown`` and ``InactiveAgent``, so that no
    worker polls for ever under a name that gets no work."""
    claimed = claim_if_any(baton, claimer, once)
    if claimed is None:
        agent = baton.store.agent(claimer.by.workspace, claimer.agent)
        if agent is None:
            raise Unknown("agent")
        agent.must_be_active()
    return claimed


def claim_next_waiting(
    baton: Baton, claimer: Claimer, timeout_seconds: float, once: Once | None = None
) -> Claimed | None:
    """The same, waiting up to ``timeout_seconds`` for a task to become ready."""

    def again() -> Claimed | None:
        return claim_if_any(baton, claimer, once)

    return polled(baton.clock, timeout_seconds, claim_next(baton, claimer, once), again, bool)


def claim_if_any(baton: Baton, claimer: Claimer, once: Once | None = None) -> Claimed | None:
    claimer.by.acting_for(claimer.agent)
    for tried, ready in enumerate(baton.store.ready(claimer.by.workspace, claimer.agent, baton.clock.now())):
        try:
            return _take_if_still_there(baton, claimer, ready.task_id, once)
        except (KeyTaken, InactiveAgent):
            break
        except (AlreadyClaimed, NotClaimable, TaskEnded, Unknown, Conflict):
            if tried >= MAX_CANDIDATES:
                break
    if once:
        return _earlier_claim(baton, claimer, once)
    return None


def _take_if_still_there(baton: Baton, claimer: Claimer, task_id: str, once: Once | None) -> Claimed:
    """A lost race may have been against the sweeper's bookkeeping, which leaves the task as ready as it was: looked at
    again, it tells. Raises what ``_take`` does."""
    for _ in range(LOOKS_AGAIN):
        try:
            return _take(baton, claimer, task_id, once)
        except KeyTaken:
            raise
        except Conflict:
            continue
    return _take(baton, claimer, task_id, once)


def _take(baton: Baton, claimer: Claimer, task_id: str, once: Once | None) -> Claimed:
    dossier, agent = baton.store.read_for_claim(claimer.by.workspace, task_id, claimer.agent)
    if agent is None or not agent.active:
        raise InactiveAgent(claimer.agent)
    now = baton.clock.now()
    verb = ClaimTask(
        by=claimer.by,
        agent=claimer.agent,
        worker=claimer.worker,
        claim_id=baton.ids.new("clm", now),
        lease_seconds=claimer.lease_seconds,
    )
    change = transition(dossier.task, verb, now)
    extras: list[Extra] = []
    if once:
        answer: dict[str, Any] = {"task_id": task_id, "claim_id": verb.claim_id, "task": snapshot(change.task)}
        extras.append(Remember(once, answer))
    commit(baton, change, extras)
    return Claimed(replace(dossier, task=change.task, mirror=row_of(baton, change.task)), verb.claim_id)


def _earlier_claim(baton: Baton, claimer: Claimer, once: Once) -> Claimed | None:
    answer = once.recall(baton.store.remembered(once))
    if answer is None:
        return None
    dossier = baton.store.read(claimer.by.workspace, answer["task_id"], with_body=True)
    claim = dossier.task.claim
    if claim is None or claim.claim_id != answer["claim_id"]:
        raise ClaimOver(dossier.task.id)
    return Claimed(dossier, claim.claim_id)
