"""The store of claims."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from baton.domain.handoffs.workflow import HeldClaim
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Task


class ClaimStore(Protocol):
    """Claims, live and ended."""

    def renew(self, call: WorkerCall, now: datetime, lease_seconds: int | None) -> Claim:
        """Extends the claim's lease by the rule of ``Claim.renewed``, in one write. The task's version rises if the
        claim changed (a repeat within its millisecond may raise it too). Raises ``StaleClaim`` if the claim isn't the
        current one of its worker, and ``Unknown``."""

    def held(self, workspace: str, agent: str) -> tuple[HeldClaim, ...]:
        """Returns the agent's live claims, of every principal, by the end of the lease. Lags: a claim is missing for
        milliseconds after its beginning, and is returned for milliseconds after its end."""

    def move_mark(self, task: Task) -> None:
        """Shows in the queue until when the lease of the task's claim lasts, as ``task`` was read; nothing if the claim
        or its lease is another by now. One write, which decides nothing: the task's version stays."""

    def taken_slots(self, workspace: str, agent: str) -> dict[int, str]:
        """Returns the slots that live claims of the agent hold, with the claims' ids; empty for an agent without a
        limit. Exact."""
