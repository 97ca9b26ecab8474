"""A worker's heartbeat."""

from __future__ import annotations

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim
from baton.ports.deps import Deps
from baton.steps.access.read_rights import knows_claim, refused_as_unknown
from baton.steps.agents.kill_switch import must_be_let_act


def renew_claim(deps: Deps, by: Principal, task_id: str, claim_id: str, lease_seconds: int | None = None) -> Claim:
    """Returns the claim with its lease extended to now + lease, never shortened. One write. A principal that acts for
    another agent costs two more reads: that agent may be switched off. Raises ``StaleClaim``, ``InactiveAgent`` and
    ``Unknown``."""
    with refused_as_unknown(deps, by, task_id, unless=knows_claim(claim_id)):
        if by.kind is not PrincipalKind.AGENT and not by.is_own_part:
            task, _ = deps.store.tasks.load(by.workspace, task_id)
            must_be_let_act(deps, by, task.current_claim(claim_id, by).agent)
        return deps.store.claims.renew(WorkerCall(by, task_id, claim_id), deps.clock.now(), lease_seconds)
