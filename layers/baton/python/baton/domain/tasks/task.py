"""The task: the work that a handoff asks for, and its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent, Runtime
from baton.domain.newer import is_known
from baton.domain.priority import Priority
from baton.domain.questions.approval import ReadyApproval, TaskApproval
from baton.domain.task_state import ENDED, State
from baton.domain.tasks.field_rules import Form, optional, rules_of, stored

MIN_LEASE_SECONDS = 15
DEFAULT_LEASE_SECONDS = 300
MAX_LEASE_SECONDS = 43_200
DEFAULT_MAX_ATTEMPTS = 3
MAX_RELEASES = 10
MAX_BRANCHES = 10
# Bounds `Task.takers`, so that the item HEAD stays small.
MAX_TAKERS = 20
NEXT_STALE_AFTER = times.seconds(86_400)


class Kind(StrEnum):
    """Why a handoff was made."""

    ESCALATION = "escalation"
    TRANSFER = "transfer"
    DELEGATION = "delegation"
    ROLLBACK = "rollback"
    CONTINUATION = "continuation"
    RETRY = "retry"


class Flag(StrEnum):
    """A condition that a human has to know about. A flag is raised at most once until it is cleared."""

    UNDELIVERABLE = "undeliverable"
    UNCLAIMED = "unclaimed_too_long"
    NEXT_STALE = "next_stale"
    DEADLINE_PASSED = "deadline_passed"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    RELEASED_TOO_OFTEN = "released_too_often"
    CLOSED_BY_BOT = "closed_by_bot"
    WAITING = "waiting_too_long"
    CALLBACK_MISSED = "callback_missed"
    APPROVAL_OVERDUE = "approval_overdue"


# Flags of a task that nobody has claimed: a claim or a new approval clears them.
UNTAKEN_FLAGS = frozenset({Flag.UNDELIVERABLE, Flag.UNCLAIMED, Flag.NEXT_STALE, Flag.WAITING, Flag.APPROVAL_OVERDUE})
EXHAUSTED_FLAGS = frozenset({Flag.ATTEMPTS_EXHAUSTED, Flag.RELEASED_TOO_OFTEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A lease on a task."""

    claim_id: str  # a secret between Baton and the worker: in no event and no listing
    fence: int
    agent: str
    worker: str
    principal: str
    lease_seconds: int
    claimed_at: datetime
    heartbeat_at: datetime
    expires_at: datetime
    slot: int | None = None  # the permit that the claim holds; None if its agent has no limit
    # Size of the checkpoints and notes saved under this claim. May lack notes that were saved while the task changed.
    # In no event.
    kept_bytes: int = 0
    # The end of the lease as the claim's mark in the queue says it; None: ``expires_at``. A renewed lease ends later:
    # moving the mark costs, and it stays as long as it is ahead. In no event.
    marked_at: datetime | None = field(default=None, compare=False, repr=False)

    def keeping(self, size: int, most: int) -> Claim:
        """Returns the claim with ``size`` bytes more. Raises ``ClaimFull`` if that is more than ``most`` bytes."""
        if self.kept_bytes + size > most:
            raise errors.ClaimFull(most)
        return replace(self, kept_bytes=self.kept_bytes + size)

    def is_over(self, now: datetime) -> bool:
        return self.expires_at <= now

    @property
    def is_unconfirmed(self) -> bool:
        """True for a claim with a short first lease under which no verb has come: maybe nobody was told of it."""
        is_short = self.expires_at < self.claimed_at + times.seconds(self.lease_seconds)
        return is_short and self.heartbeat_at == self.claimed_at

    def renewed(self, now: datetime, lease_seconds: int | None, not_after: datetime | None) -> Claim:
        """Returns the claim extended to ``now`` + lease. A lease is never shortened, and a longer one ends at
        ``not_after`` at the latest: the deadline of a task that fails on it."""
        lease = lease_seconds or self.lease_seconds
        expires_at = now + times.seconds(lease)
        if not_after is not None:
            expires_at = min(expires_at, not_after)
        if expires_at < self.expires_at:
            return self
        marked_at = self.marked_at if self.marked_at is not None and self.marked_at > now else None
        return replace(self, lease_seconds=lease, heartbeat_at=now, expires_at=expires_at, marked_at=marked_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Why a task was re-queued (docs/spec/lifecycle.md §4). Shown to the next worker."""

    number: int
    at: datetime
    reason: str
    prior_agent: str
    prior_worker: str
    prior_fence: int
    last_checkpoint_id: str | None
    action: str


class Policy(StrEnum):
    """When a task that waits for branches is resumed: once all have ended, one is done, or a number of them is. In any
    case it is resumed once all have ended."""

    ALL = "all"
    ANY = "any"
    QUORUM = "quorum"


@dataclass(frozen=True, slots=True)
class JoinRule:
    """How a task that waits for branches is resumed."""

    policy: Policy
    quorum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A delegated part of the work. It has ended once its last task has (``Task.successors``)."""

    call_id: str
    task_id: str  # the branch's first task


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What a task waits for: its branches or a callback."""

    number: int  # counts the task's waits from 1
    since: datetime
    alert_at: datetime  # when the sweeper raises ``waiting_too_long``
    policy: Policy = Policy.ALL
    quorum: int | None = None
    branches: tuple[Branch, ...] = ()
    interaction_id: str | None = None  # the caller's name for the callback; None for another wait
    questions: tuple[str, ...] = ()  # ids of those that people have to answer
    until: datetime | None = None  # when a wait for a callback times out

    @property
    def what(self) -> str:
        return "answers" if self.questions else "branches" if self.interaction_id is None else "callback"

    def is_met(self, done: int, ended: int) -> bool:
        """True if the task can go on: ``done`` of its branches have succeeded and ``ended`` have ended."""
        if ended == len(self.branches):
            return True
        if not is_known(self.policy):
            return False
        needed = {Policy.ALL: len(self.branches), Policy.ANY: 1}.get(self.policy, self.quorum or 1)
        return done >= needed


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that nobody has answered yet (docs/spec/questions.md)."""

    id: str
    until: datetime  # it expires then


@dataclass(frozen=True, kw_only=True)
class TaskMeta:
    """What the store and the dispatcher keep of a task: no event records it, and no replay rebuilds it."""

    updated_at: datetime = field(metadata=stored(Form.TIME))
    version: int = field(default=0, metadata=stored(Form.NUMBER))  # rises with every write, heartbeats included
    seq: int = field(default=0, metadata=stored(Form.NUMBER))  # of the trail's last event
    chain: str = field(default="", metadata=stored(Form.TEXT))  # the hash of that event
    # Sweeps of ready work since it was last approved, claimed or requeued.
    rings: int = optional(Form.NUMBER, 0)
    runtime: Runtime = optional(Form.RUNTIME, Runtime.PULL)
    alert_after_seconds: int = optional(Form.NUMBER, 3_600)
    labels: tuple[str, ...] = optional(Form.TEXTS, ())  # the message's first ones; none of an earlier release's task
    mirrored: bool = optional(Form.TRUTH, False)  # the tracker shows it on a page
    # Was hidden from its queue at the last write (``hidden_until``).
    parked: bool = optional(Form.TRUTH, False)
    has_chunks: bool = optional(Form.TRUTH, False)  # entries of the trail have left ``tail``
    # HEAD has these under other names.
    wake_at: datetime | None = None  # when the sweeper finds the task: never after something is due
    wakes_first: bool = False  # the sweeper finds it before all other work: a claim, or soon to be one
    # The latest entries of the trail, which are stored with the task. No rule decides by them.
    tail: tuple[Mapping[str, Any], ...] = field(default=(), compare=False, repr=False)
    # Its output and its completion as JSON, where they are small enough to be stored with the task. Searched by words.
    results: tuple[str, ...] = field(default=(), compare=False, repr=False)
    # What a newer version of Baton has stored with the task. Kept as it is; no rule reads it.
    unread: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Task:
    """The work that one handoff asks for. Events tell all of its fields but ``meta``. Each says its form, and the value
    that isn't written (``field_rules``)."""

    workspace: str = field(metadata=stored(Form.TEXT))  # whose it is
    id: str = field(metadata=stored(Form.TEXT))  # ``task_01h…``: sorts by its making
    state: State = field(metadata=stored(Form.STATE))  # set by ``transition`` alone
    title: str = field(metadata=stored(Form.TEXT))  # one line, for humans
    kind: str = field(metadata=stored(Form.TEXT))  # why the handoff was made (``Kind``)
    # A slug, or a principal's key if no agent made the handoff (``human:alice``).
    source_agent: str = field(metadata=stored(Form.TEXT))
    target_agent: str | None = field(metadata=stored(Form.TEXT))  # None for open work
    priority: Priority = field(metadata=stored(Form.PRIORITY))  # queues are in its order
    requires: tuple[str, ...] = optional(Form.TEXTS, ())  # what an agent has to declare to take the task
    work_type: str | None = optional(Form.TEXT, None)  # names the route that gave the target
    dispatch_rank: int | None = optional(Form.NUMBER, None)  # notices of a lower one are sent first; None: the agent's
    effort: str | None = optional(Form.TEXT, None)  # as the message says
    due_date: date | None = optional(Form.DATE, None)  # the day that its page in the tracker shows
    deadline: datetime | None = optional(Form.TIME, None)  # the earlier of the message's and its budget's
    fail_on_deadline: bool = optional(Form.TRUTH, False)  # the deadline ends the task; else it raises a flag
    not_before: datetime | None = optional(Form.TIME, None)  # no claim before it, whoever approves
    deferred_until: datetime | None = optional(Form.TIME, None)  # a human looks at it then
    handoff_id: str = field(metadata=stored(Form.TEXT))  # the handoff that asks for it; mostly follows from ``id``
    master_task_id: str = field(metadata=stored(Form.TEXT))  # the workflow's first task
    parent_id: str | None = optional(Form.TEXT, None)  # the task whose claim the handoff was made under
    join_parent: str | None = optional(Form.TEXT, None)  # the waiting task that this task is a branch of
    call_id: str | None = optional(Form.TEXT, None)  # names the branch in ``join_parent``
    successors: tuple[str, ...] = optional(Form.TEXTS, ())  # they continue this one: a transfer, a rollback, its parts
    retry_of: str | None = optional(Form.TEXT, None)  # the failed task that this one tries again
    workflow_id: str = field(metadata=stored(Form.TEXT))  # of all handoffs that follow from one
    depth: int = optional(Form.NUMBER, 0)  # handoffs from the workflow's first task to this one
    revision: int = optional(Form.NUMBER, 1)  # rises when the content that a human approves changes
    digest: str | None = optional(Form.DIGEST, None)  # of that content (``message_digest``); None in an earlier release
    created_at: datetime = field(metadata=stored(Form.TIME))  # when the handoff was made
    created_by: str = field(metadata=stored(Form.TEXT))  # the principal's key
    # Keys of the other people who count as its authors; none in an earlier release.
    co_authors: tuple[str, ...] = optional(Form.TEXTS, ())
    max_attempts: int = optional(Form.NUMBER, DEFAULT_MAX_ATTEMPTS)  # so many claims may come to nothing
    # The target's ``service_version`` when the task came, then when it was approved. Of open work: the version of the
    # roster when it came.
    approved_as: int = optional(Form.NUMBER, 0)
    # The first of the two, if an approval that stands is for another one.
    came_as: int | None = optional(Form.NUMBER, None)
    approval: TaskApproval | None = optional(Form.APPROVAL, None)  # the approvals by rules; None: any human's
    # Approvals of the ready work that stand. Their name is short, as it is in HEAD.
    ok_by: tuple[ReadyApproval, ...] = optional(Form.READY_APPROVALS, ())
    ready_at: datetime | None = optional(Form.TIME, None)  # claimable from then on; None without an approval
    undo_until: datetime | None = optional(Form.TIME, None)  # until when the approval can be taken back
    origin: State | None = optional(Form.STATE, None)  # what a claimed task was claimed from
    started_at: datetime | None = optional(Form.TIME, None)  # the first claim
    attempt: int = optional(Form.NUMBER, 0)  # claims since the last approval
    releases: int = optional(Form.NUMBER, 0)  # attempts in a row that were given back without a checkpoint
    fence: int = optional(Form.NUMBER, 0)  # counts all claims
    claim: Claim | None = optional(Form.CLAIM, None)  # who has it; None unless claimed
    flags: frozenset[Flag] = optional(Form.FLAGS, frozenset())  # what humans have to know
    recoveries: int = optional(Form.NUMBER, 0)  # how often it was requeued
    checkpoints: int = optional(Form.NUMBER, 0)  # how many were saved
    last_checkpoint_id: str | None = optional(Form.TEXT, None)  # where the next worker goes on
    run_state_id: str | None = optional(Form.TEXT, None)  # the latest saved state of a framework's run
    waits: int = optional(Form.NUMBER, 0)  # how often it has waited
    wait: Wait | None = optional(Form.WAIT, None)  # what it waits for; None unless waiting
    asked: int = optional(Form.NUMBER, 0)  # how many questions its workers have asked people
    questions: tuple[OpenQuestion, ...] = optional(Form.QUESTIONS, ())  # those that are open
    takers: tuple[str, ...] = optional(Form.TEXTS, ())  # agents that have claimed open work, the latest last
    has_output: bool = optional(Form.TRUTH, False)  # of its completion
    has_failure: bool = optional(Form.TRUTH, False)  # of the last attempt that failed
    meta: TaskMeta  # what no event tells

    @property
    def authors(self) -> tuple[str, ...]:
        """The keys of its authors, for rules that exclude them."""
        return (self.created_by, *self.co_authors)

    @property
    def is_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_done(self) -> bool:
        return self.state is State.DONE

    @property
    def is_run(self) -> bool:
        """True if Baton runs the target agent."""
        return self.meta.runtime is Runtime.RUN

    @property
    def is_root(self) -> bool:
        """True for a workflow's first task: it has no parent and replaces or continues no other task."""
        return self.master_task_id == self.id

    @property
    def agent(self) -> str | None:
        """The target; for open work the agent that claimed it last, None before any claim."""
        return self.target_agent or next(reversed(self.takers), None)

    @property
    def shown_as(self) -> int:
        """The version that people know from the task itself: the target's ``service_version`` that it came with, or the
        version of the roster for open work. Another person's approval shows them nothing."""
        return self.approved_as if self.came_as is None else self.came_as

    @property
    def was_approved(self) -> bool:
        """True if an approval stands or the task was ever claimed: only then can there be any outcome."""
        return self.fence > 0 or self.ready_at is not None

    @property
    def is_escalation(self) -> bool:
        return self.kind == Kind.ESCALATION

    @property
    def has_branch_ended(self) -> bool:
        """True if the task has ended as the last one of its branch: it has no successor."""
        return self.is_ended and self.join_parent is not None and not self.successors

    @property
    def hidden_until(self) -> datetime | None:
        """Until when no queue shows the task: a human's deferral, or ``not_before``."""
        if self.state is State.NEEDS:
            return self.deferred_until
        return self.not_before if self.state is State.DELEGATED else None

    def is_ready(self, now: datetime) -> bool:
        """True if a worker can claim the task from its agent's queue: approved for dispatch, and due."""
        return self.state is State.DELEGATED and self.ready_at is not None and self.ready_at <= now

    def is_claimable(self, now: datetime) -> bool:
        """True if a claim is possible. A task approved for ``next`` is claimable at once, and after a failed attempt
        once its backoff is over."""
        if self.state is State.NEXT:
            return self.attempt == 0 or self.ready_at is None or self.ready_at <= now
        return self.is_ready(now)

    @property
    def holds_to_target(self) -> bool:
        """True if the task goes back to people at the claim once its target isn't as approved. A task of a release
        before digests doesn't."""
        return self.state is State.DELEGATED and self.digest is not None and self.target_agent is not None

    def is_approved_for(self, target: Agent) -> bool:
        """False if a service or a member has changed the fields of the target that approvers see since."""
        is_held = self.holds_to_target and self.target_agent == target.slug
        return not is_held or target.service_version <= self.approved_as

    def takers_with(self, agent: str) -> tuple[str, ...]:
        """Returns ``takers`` after a claim by ``agent``."""
        if self.target_agent is not None:
            return self.takers
        return (*(each for each in self.takers if each != agent), agent)[-MAX_TAKERS:]

    def is_lapsed(self, agent: str, now: datetime) -> bool:
        """True if a claim of the agent holds the task though its lease is over: a claimer of the same agent may take
        the task, as the sweeper would end the claim."""
        return self.claim is not None and self.claim.agent == agent and self.claim.is_over(now)

    def must_be_claimable(self, now: datetime) -> None:
        """Raises ``AlreadyClaimed``, ``TaskEnded`` or ``NotClaimable``. An expired lease holds the task until the
        sweeper or a claimer of the same agent ends it: until then its worker can still renew it."""
        if self.claim is not None:
            raise already_claimed(self, self.claim)
        if self.is_ended:
            raise errors.TaskEnded(self.id, self.state)
        if not self.is_claimable(now):
            due = self.ready_at if self.state in {State.DELEGATED, State.NEXT} else None
            raise errors.NotClaimable(self.id, self.state, times.rfc3339(due) if due else None)

    def current_claim(self, claim_id: str, by: Principal) -> Claim:
        """Returns the claim. Raises ``StaleClaim`` unless ``claim_id`` names the current claim and ``by`` made it."""
        claim = self.claim
        if claim is None or claim.claim_id != claim_id or claim.principal != by.key:
            raise errors.StaleClaim(self.id)
        return claim

    @property
    def hard_deadline(self) -> datetime | None:
        """The latest end of a lease; None if the deadline doesn't fail the task."""
        return self.deadline if self.fail_on_deadline else None

    def changed(self, **values: Any) -> Task:
        """As ``dataclasses.replace``, for fields of ``meta`` too. It sets none of so many fields anew, which is a tenth
        of a request's work: that is why a task has no slots."""
        kept = {name: values.pop(name) for name in _KEPT & values.keys()}
        if not values.keys() <= _FIELDS:
            raise TypeError(f"a task has no {', '.join(sorted(values.keys() - _FIELDS))}")
        changed = object.__new__(Task)
        changed.__dict__.update(self.__dict__, **values)
        if kept:
            changed.__dict__["meta"] = replace(self.meta, **kept)
        return changed


def already_claimed(task: Task, claim: Claim) -> errors.AlreadyClaimed:
    """Returns the refusal that tells who holds the task, since when, and until when."""
    since, until = times.rfc3339(claim.claimed_at), times.rfc3339(claim.expires_at)
    return errors.AlreadyClaimed(task.id, errors.Holder(claim.agent, claim.worker, claim.fence, since, until))


_FIELDS = {each.name for each in fields(Task)}
_KEPT = {each.name for each in fields(TaskMeta)}
# The rule of each field that events tell, and of what HEAD alone has.
TOLD, KEPT = rules_of(fields(Task)), rules_of(fields(TaskMeta))
if {"meta", *TOLD} != _FIELDS:
    raise TypeError(f"Task.{', '.join(_FIELDS - TOLD.keys() - {'meta'})} has no rule: say metadata=stored(Form.…)")
