"""What can be asked of a task: one value per verb of spec/lifecycle.md §1. ``by`` is who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from baton.domain.task import DEFAULT_LEASE_SECONDS

if TYPE_CHECKING:
    from baton.domain.agent import Agent
    from baton.domain.principal import Principal
    from baton.domain.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    name: ClassVar[str]
    by: Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve(Verb):
    """For the dispatcher: taken up once the undo window is over."""

    name: ClassVar[str] = "approve"
    revision: int | None = None
    agent: Agent | None
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproveNext(Verb):
    """For whoever works on it right now: never dispatched, claimed by id only."""

    name: ClassVar[str] = "approve-next"
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo(Verb):
    name: ClassVar[str] = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTask(Verb):
    """``agent``: whom the claim is for; ``claim_id``: made by the port ``Ids``."""

    name: ClassVar[str] = "claim"
    agent: str
    worker: str
    claim_id: str
    lease_seconds: int = DEFAULT_LEASE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerVerb(Verb):
    claim_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Complete(WorkerVerb):
    name: ClassVar[str] = "complete"
    has_output: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail(WorkerVerb):
    """``failure``: ``{type, description}``, shown to the next claimer and kept in the event."""

    name: ClassVar[str] = "fail"
    failure: dict[str, Any] = field(default_factory=dict)
    retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(WorkerVerb):
    name: ClassVar[str] = "release"
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve(Verb):
    """The work turned out to be done elsewhere."""

    name: ClassVar[str] = "resolve"
    reason: str | None = None
    has_output: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(Verb):
    name: ClassVar[str] = "cancel"
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagClosedByBot(Verb):
    """Something that isn't a person has closed the task's page in the tracker."""

    name: ClassVar[str] = "flag-closed-by-bot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Verb):
    """The sweeper looks at a task that asked to be looked at. ``agent`` is the target as it is now, if it exists."""

    name: ClassVar[str] = "sweep"
    agent: Agent | None
