"""What can be asked of a task: one value per verb of spec/lifecycle.md §1. ``by`` is who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from baton.domain.task import DEFAULT_LEASE_SECONDS

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.agent import Agent
    from baton.domain.principal import Principal
    from baton.domain.settings import Settings
    from baton.domain.task import Wait


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
class Defer(Verb):
    """Out of the queue until then."""

    name: ClassVar[str] = "defer"
    until: datetime
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dismiss(Verb):
    name: ClassVar[str] = "dismiss"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(Verb):
    """``parts``: the tasks that it is split into."""

    name: ClassVar[str] = "split"
    parts: tuple[str, ...]
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTask(Verb):
    """``agent``: whom the claim is for; ``skills``: that agent as it is registered now; ``claim_id``: made by the port
    ``Ids``; ``slot``: the permit that the claim takes, if the agent has a limit."""

    name: ClassVar[str] = "claim"
    agent: str
    worker: str
    claim_id: str
    lease_seconds: int = DEFAULT_LEASE_SECONDS
    skills: Agent | None = None
    slot: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerVerb(Verb):
    claim_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveCheckpoint(WorkerVerb):
    name: ClassVar[str] = "checkpoint"
    checkpoint_id: str
    step_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Complete(WorkerVerb):
    """``criteria``: those of the handoff; ``reports``: what is said of which, and whether it is met."""

    name: ClassVar[str] = "complete"
    has_output: bool = False
    completion_id: str | None = None
    criteria: tuple[str, ...] = ()
    reports: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail(WorkerVerb):
    """``failure``: ``{type, description, …}``, shown to the next claimer; the event keeps its type and description.
    ``checkpoint_id``: of the partial progress, if there is any; ``rollback``: ``{target_agent, handoff_id, task_id}``
    of the handoff that comes of it; ``successor``: that task, where its branch goes on with it."""

    name: ClassVar[str] = "fail"
    failure: dict[str, Any] = field(default_factory=dict)
    retryable: bool = False
    failure_id: str | None = None
    checkpoint_id: str | None = None
    rollback: dict[str, Any] | None = None
    successor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject(WorkerVerb):
    """The claimer won't do it. ``failure``: that, in a failure's shape; ``rollback``, ``successor`` as with a
    failure."""

    name: ClassVar[str] = "reject"
    reason: str
    failure: dict[str, Any] = field(default_factory=dict)
    failure_id: str | None = None
    rollback: dict[str, Any] | None = None
    successor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(WorkerVerb):
    """Another task goes on with it."""

    name: ClassVar[str] = "transfer"
    successor: str
    target: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor(WorkerVerb):
    """The claim is given up until branches have ended or a callback has come."""

    name: ClassVar[str] = "wait"
    wait: Wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Verb):
    """What a task waited for has come. ``brought``: for its next claimer; ``how``: ``joined`` or ``callback``;
    ``wait``: the number of the wait that is over."""

    name: ClassVar[str] = "resume"
    wait: int
    how: str
    brought: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(WorkerVerb):
    """``again_at``: not to be taken up before then; ``has_progressed``: what was done so far is kept, so that it isn't
    given back for nothing."""

    name: ClassVar[str] = "release"
    reason: str | None = None
    again_at: datetime | None = None
    has_progressed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve(Verb):
    """The work turned out to be done elsewhere."""

    name: ClassVar[str] = "resolve"
    reason: str | None = None
    has_output: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(Verb):
    """``ancestor``: the task whose cancel takes this one along, whoever made it."""

    name: ClassVar[str] = "cancel"
    reason: str | None = None
    ancestor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagClosedByBot(Verb):
    """Something that isn't a person has closed the task's page in the tracker."""

    name: ClassVar[str] = "flag-closed-by-bot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Verb):
    """The sweeper looks at a task that asked to be looked at. ``agent`` is the one that holds it, or else the target,
    as it is now, if it exists; ``is_takeable``: for open work, whether any active agent could take it."""

    name: ClassVar[str] = "sweep"
    agent: Agent | None
    is_takeable: bool = True
