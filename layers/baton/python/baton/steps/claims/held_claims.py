"""The claims that an agent holds, from the marks in its queue. The index lags by milliseconds; the task confirms what
it says (docs/what-is-stored.md §6)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from baton.domain import errors, times
from baton.domain.handoffs.workflow import HeldClaim
from baton.domain.ids import made_at
from baton.ports.deps import Deps

# The index shows nearly every claim within a few milliseconds. A claim that it doesn't show at this age is over.
SETTLED_SECONDS = 2.0
FIRST_PAUSE_SECONDS = 0.05


def holds_claims(deps: Deps, workspace: str, agent: str, worker: str | None = None) -> bool:
    """True if the agent holds a claim; with ``worker``, one of that worker's. A claim that has ended doesn't count,
    however late the index is. A claim that began within the index's lag may be missed."""
    return any(_is_live(deps, workspace, each, worker) for each in deps.store.claims.held(workspace, agent))


def count_claims_besides(deps: Deps, workspace: str, agent: str, known: Collection[str | None]) -> int:
    """Returns how many claims the agent holds besides the known ones, as ``holds_claims`` looks."""
    others = (each for each in deps.store.claims.held(workspace, agent) if each.claim_id not in known)
    return sum(_is_live(deps, workspace, each) for each in others)


def only_claim(deps: Deps, workspace: str, agent: str, worker: str | None = None) -> str | None:
    """Returns the id of the one claim that the agent holds, or its worker; None if there is none, or several."""
    live = [
        each.claim_id for each in deps.store.claims.held(workspace, agent) if _is_live(deps, workspace, each, worker)
    ]
    return live[0] if len(live) == 1 else None


def find_claim(deps: Deps, workspace: str, agent: str, claim_id: str) -> HeldClaim | None:
    """Returns the agent's claim, or None if the agent doesn't hold it. The claim may have ended since. A claim that is
    younger than ``SETTLED_SECONDS`` and not shown is looked for until it is that old."""
    pause = FIRST_PAUSE_SECONDS
    while True:
        held = deps.store.claims.held(workspace, agent)
        found = next((each for each in held if each.claim_id == claim_id), None)
        seconds_left = unsettled(deps, claim_id).total_seconds()
        if found is not None or seconds_left <= 0:
            return found
        deps.clock.sleep(min(pause, seconds_left))
        pause *= 2


def unsettled(deps: Deps, id_: str) -> timedelta:
    """For how much longer the index may not show what has this id. An id from the future is nobody's."""
    began_at, now = made_at(id_), deps.clock.now()
    if began_at is None or began_at > now:
        return times.seconds(0)
    return began_at + times.seconds(SETTLED_SECONDS) - now


def _is_live(deps: Deps, workspace: str, held: HeldClaim, worker: str | None = None) -> bool:
    try:
        task, _ = deps.store.tasks.load(workspace, held.task_id)
    except errors.Unknown:
        return False
    claim = task.claim
    return claim is not None and claim.claim_id == held.claim_id and worker in {None, claim.worker}
