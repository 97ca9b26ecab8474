"""The commands that a task takes: one class per verb of docs/spec/lifecycle.md §1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent
from baton.domain.questions.approvers import Approvers, Groups
from baton.domain.settings.settings import Settings
from baton.domain.tasks.approval_rules import ClaimRules
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.task import DEFAULT_LEASE_SECONDS, OpenQuestion, Wait


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCommand:
    name: ClassVar[str]
    by: Principal  # who sends the command


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve(TaskCommand):
    """Approves for dispatch: the task is ready once the undo window is over."""

    name: ClassVar[str] = "approve"
    seen: Seen | None = None
    agent: Agent | None
    settings: Settings
    held: Mapping[str, tuple[Approvers, ...]] = field(default_factory=dict)  # agents that rules hold back from it
    former: frozenset[str] = frozenset()  # people with earlier approvals that end
    changed: tuple[Agent, ...] = ()  # guarded agents of open work that have changed since the approver could read them
    roster: int = 0  # the version of the roster that the approval is compared with


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproveNext(TaskCommand):
    """Approves for an agent that is at work already: never dispatched, claimed by id only."""

    name: ClassVar[str] = "approve-next"
    seen: Seen | None = None
    agent: Agent | None = None  # None for open work
    settings: Settings | None = None  # where a rule of theirs says who has to approve
    held: Mapping[str, tuple[Approvers, ...]] = field(default_factory=dict)  # as of ``Approve``
    former: frozenset[str] = frozenset()  # as in ``Approve``
    changed: tuple[Agent, ...] = ()  # as in ``Approve``
    roster: int = 0  # as in ``Approve``


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo(TaskCommand):
    name: ClassVar[str] = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class SendBack(TaskCommand):
    """Takes an approval back that was given for the target as it was: a service or a member has changed it since."""

    name: ClassVar[str] = "send-back"
    target: Agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Defer(TaskCommand):
    """Hides the task from the queue until a time. ``groups``: of the settings, for a task that rules guard."""

    name: ClassVar[str] = "defer"
    until: datetime
    seen: Seen | None = None
    groups: Groups = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dismiss(TaskCommand):
    name: ClassVar[str] = "dismiss"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(TaskCommand):
    name: ClassVar[str] = "split"
    parts: tuple[str, ...]  # ids of the tasks that replace this one
    seen: Seen | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTask(TaskCommand):
    name: ClassVar[str] = "claim"
    agent: str  # the agent that the claim is for
    worker: str
    claim_id: str  # made by the port ``Ids``
    lease_seconds: int = DEFAULT_LEASE_SECONDS
    skills: Agent | None = None  # the agent as it is registered now; None skips the capability check
    slot: int | None = None  # the permit that the claim takes; None if the agent has no limit
    # Until the first verb under the claim; None for the lease itself. For a claimer that may not be there any more.
    first_lease_seconds: int | None = None
    resumes: int | None = None  # the fence of the same principal's claim that this one takes the place of
    rules: ClaimRules | None = None  # the current requirements of the settings' rules; None skips them


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCommand(TaskCommand):
    """A command that only the current claim may send."""

    claim_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveCheckpoint(WorkerCommand):
    name: ClassVar[str] = "checkpoint"
    checkpoint_id: str
    step_name: str
    is_run_state: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Complete(WorkerCommand):
    name: ClassVar[str] = "complete"
    has_output: bool = False
    output_digest: str | None = None  # of output and completion message (``outcome_digest``)
    completion_id: str | None = None
    criteria: tuple[str, ...] = ()  # the handoff's acceptance criteria
    reports: tuple[tuple[str, bool], ...] = ()  # criterion, and whether it is met


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail(WorkerCommand):
    name: ClassVar[str] = "fail"
    # ``{type, description, …}``: shown to the next worker; the event keeps type and description only.
    failure: dict[str, Any] = field(default_factory=dict)
    retryable: bool = False
    failure_id: str | None = None
    checkpoint_id: str | None = None  # of the partial progress, if any
    rollback: dict[str, Any] | None = None  # ``{target_agent, handoff_id, task_id}`` of the rollback handoff
    successor: str | None = None  # the rollback's task, if it continues this task's branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject(WorkerCommand):
    """The worker refuses the task."""

    name: ClassVar[str] = "reject"
    reason: str
    failure: dict[str, Any] = field(default_factory=dict)  # the refusal, in the shape of a failure
    failure_id: str | None = None
    # As in ``Fail``.
    rollback: dict[str, Any] | None = None
    successor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(WorkerCommand):
    """Ends the task; another task continues it."""

    name: ClassVar[str] = "transfer"
    output_digest: str | None = None
    successor: str
    target: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor(WorkerCommand):
    """Ends the claim; the task waits for branches or for a callback."""

    name: ClassVar[str] = "wait"
    wait: Wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(TaskCommand):
    """Ends a wait."""

    name: ClassVar[str] = "resume"
    wait: int  # the number of the wait (``Wait.number``)
    how: str  # ``joined`` or ``callback``
    resume_payload: dict[str, Any]  # the resume payload for the next worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(WorkerCommand):
    """Asks people. The claim goes on."""

    name: ClassVar[str] = "ask"
    question: OpenQuestion | None  # None: standing answers have approved it at once
    told: dict[str, Any]  # what the event says of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide(TaskCommand):
    """One person's decision on a question. ``outcome``: what becomes of it; ``open`` while more have to decide."""

    name: ClassVar[str] = "decide"
    question_id: str
    told: dict[str, Any]
    outcome: str
    resume_payload: dict[str, Any]  # for a task that waits for it, and for no other question any more


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeApproval(TaskCommand):
    """Takes the approval of an action back."""

    name: ClassVar[str] = "revoke-approval"
    told: dict[str, Any]  # the event's content


@dataclass(frozen=True, slots=True, kw_only=True)
class UseApproval(WorkerCommand):
    """Begins the action that was approved."""

    name: ClassVar[str] = "use-approval"
    question_id: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTask(WorkerCommand):
    name: ClassVar[str] = "release"
    reason: str | None = None
    again_at: datetime | None = None  # not claimable before then
    has_progressed: bool = False  # progress was saved: the count of releases starts again at 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseClaim(TaskCommand):
    """Takes the task back from the worker that holds it: a human saw that it doesn't get on."""

    name: ClassVar[str] = "release-claim"
    fence: int  # of the claim that was seen
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve(TaskCommand):
    """Ends the task as done: a human found the work done elsewhere."""

    name: ClassVar[str] = "resolve"
    output_digest: str | None = None
    reason: str | None = None
    has_output: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(TaskCommand):
    name: ClassVar[str] = "cancel"
    reason: str | None = None
    ancestor: str | None = None  # the cancelled task that this one descends from: its cancel covers every descendant


@dataclass(frozen=True, slots=True, kw_only=True)
class Overtake(TaskCommand):
    """Closes a task that nobody has to decide on any more. Sent by Baton itself."""

    name: ClassVar[str] = "overtake"
    overtaken_by: str  # the task or manual review by which it came so
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagClosedByBot(TaskCommand):
    """Raises the flag for a tracker page that an automation closed."""

    name: ClassVar[str] = "flag-closed-by-bot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(TaskCommand):
    """Applies what is due on a task; sent by the sweeper once ``Task.wake_at`` has passed."""

    name: ClassVar[str] = "sweep"
    agent: Agent | None  # the claim's agent, else the target, as registered now; None if there is none
    is_takeable: bool = True  # for open work: an active agent is able to take it
    answers: dict[str, Any] = field(default_factory=dict)  # for a task that waits for people
