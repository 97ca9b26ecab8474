"""Claims tasks: exactly one worker gets a task. The condition behind it is ``version_unchanged`` on the task's HEAD."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.rights.read_rights import is_open_offer
from baton.ports.deps import Deps
from baton.services.claims.candidates import Look, candidates, log_unreadable
from baton.steps import idempotency
from baton.steps.access.read_rights import refused_as_unknown
from baton.steps.agents.mark_contact import mark_contact
from baton.steps.agents.resolve_agents import no_such_agent
from baton.steps.claims.poll_until import Poll, poll_until
from baton.steps.claims.take_task import NOT_FOR_THE_CLAIMER, Claimed, Claimer, claimed_with_memory, take_task
from baton.steps.guardrails.apply_guardrails import apply_guardrails_to_name

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


def next_due(deps: Deps, workspace: str, agent: str) -> datetime | None:
    """Returns when the next of the agent's own tasks is due; None if none is known. Lags."""
    return deps.store.queues.next_due(workspace, agent)


def agent_to_claim_for(deps: Deps, by: Principal, task_id: str) -> str:
    """Returns the agent that a principal claims the task for if it names none: an agent itself, or else the task's
    target. Raises ``Unknown``, and ``InvalidInput`` for open work, which has no target."""
    if by.kind is PrincipalKind.AGENT:
        return by.id
    task, _ = deps.store.tasks.load(by.workspace, task_id)
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
    must_be_active(deps, claimer.by.workspace, claimer.agent)
    apply_guardrails_to_name(deps, claimer.by.workspace, "worker", claimer.worker)


def must_be_active(deps: Deps, workspace: str, slug: str) -> None:
    """Raises ``Unknown`` and ``InactiveAgent``."""
    agent = deps.store.agents.agent(workspace, slug)
    if agent is None:
        raise no_such_agent(deps, workspace, slug)
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
            must_be_active(deps, claimer.by.workspace, claimer.agent)
    return claimed


class _Wait:
    """A worker that waits. ``due_at``: when a task of its agent's is due, as the last look has seen it."""

    def __init__(self, deps: Deps, claimer: Claimer, idempotency_key: IdempotencyKey | None) -> None:
        self._baton, self._claimer, self._once = deps, claimer, idempotency_key
        self._looks = count(1)
        self.due_at: datetime | None = None

    def look(self) -> Claimed | None:
        """A claim that a repeat of the same call has made since is found by the next whole look."""
        is_whole, ahead = next(self._looks) % WHOLE_LOOK_EVERY == 0, LOOK_SECONDS * (1 + LOOK_JITTER)
        look = Look(is_contended=True, sees_open_work=is_whole, ahead_seconds=ahead)
        claimed = claim_if_any(self._baton, self._claimer, self._once, look)
        self.due_at = look.due_at
        return claimed


def claim_if_any(
    deps: Deps, claimer: Claimer, idempotency_key: IdempotencyKey | None = None, look: Look | None = None
) -> Claimed | None:
    """Like ``claim_next``, but also returns None for an agent that is unknown, switched off or at its limit."""
    claimer.by.acting_for(claimer.agent)
    look = look or Look()
    for ready in candidates(deps, claimer, look):
        known, look.known = look.known, None  # once: what was refused is read again
        try:
            return take_task(deps, claimer, ready, idempotency_key, known)
        except (errors.KeyTaken, errors.InactiveAgent, errors.AtCapacity):
            break
        except (*NOT_FOR_THE_CLAIMER, errors.Unknown):
            continue
        except errors.WrittenByNewer:
            log_unreadable(deps, ready)
        except errors.Conflict:
            deps.store.read_anew()
            look.is_contended = True
            look.lost.append(ready)
    return _earlier_claim(deps, claimer, idempotency_key) if idempotency_key and look.sees_open_work else None


def _earlier_claim(deps: Deps, claimer: Claimer, idempotency_key: IdempotencyKey) -> Claimed | None:
    answer = idempotency.saved_so_far(deps, idempotency_key)
    return None if answer is None else _replayed(deps, claimer, answer)


def _replayed(deps: Deps, claimer: Claimer, answer: dict[str, Any]) -> Claimed:
    details = deps.store.tasks.read(claimer.by.workspace, answer["task_id"], with_body=True)
    claim = details.task.claim
    if claim is None or claim.claim_id != answer["claim_id"]:
        raise errors.ClaimOver(details.task.id)
    return claimed_with_memory(deps, claimer, details, claim.claim_id)
