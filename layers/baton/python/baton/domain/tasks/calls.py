"""Calls about one task: the values that every such use case takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from baton.domain.access.principal import Principal
from baton.domain.idempotency import IdempotencyKey


@dataclass(frozen=True, slots=True)
class WorkerCall:
    """A worker's call under its claim."""

    by: Principal
    task_id: str
    claim_id: str
    body_hash: str = ""  # tells an exact repeat from a second, different call; of a call that ends the claim
    idempotency_key: IdempotencyKey | None = None

    def saving_refusals(self) -> WorkerCall:
        """Returns the call of a command whose refusal may be saved under its idempotency key."""
        key = self.idempotency_key
        return self if key is None else replace(self, idempotency_key=replace(key, saves_refusals=True))


@dataclass(frozen=True, slots=True)
class Seen:
    """The content of a task that a human had before their eyes. A field of None isn't compared. ``agent_version``: of
    the target, if the human has looked at it since a service or a member changed it. ``agent_versions``: of the agents
    that rules hold back from open work, by slug."""

    revision: int | None = None
    digest: str | None = None
    agent_version: int | None = None
    agent_versions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HumanCall:
    """A human's call about a task."""

    by: Principal
    task_id: str
    seen: Seen | None = None  # None for the present content
    idempotency_key: IdempotencyKey | None = None
