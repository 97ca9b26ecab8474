"""A worker is alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.domain.task import Claim
    from baton.ports import Baton


def renew_claim(baton: Baton, by: Principal, task_id: str, claim_id: str, lease_seconds: int | None = None) -> Claim:
    """The claim with its lease extended to now + lease, never shortened. One write. Raises ``StaleClaim``."""
    return baton.store.renew(by.workspace, task_id, claim_id, by, baton.clock.now(), lease_seconds)
