"""The task: the work that a handoff asks for, and the state of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from baton.domain.agent import Runtime
from baton.domain.errors import AlreadyClaimed, ClaimFull, NotClaimable, StaleClaim, TaskEnded
from baton.domain.marker import Priority
from baton.domain.times import rfc3339, seconds

if TYPE_CHECKING:
    from datetime import date, datetime

    from baton.domain.principal import Principal

MIN_LEASE_SECONDS = 15
DEFAULT_LEASE_SECONDS = 300
MAX_LEASE_SECONDS = 43_200
DEFAULT_MAX_ATTEMPTS = 3
MAX_RELEASES = 10
MAX_BRANCHES = 10
# Of open work, the latest: HEAD is to stay small.
MAX_TAKERS = 20
NEXT_STALE_AFTER = seconds(86_400)


class State(StrEnum):
    NEEDS = "needs"
    DELEGATED = "delegated"
    NEXT = "next"
    CLAIMED = "claimed"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


ENDED = frozenset({State.DONE, State.FAILED, State.REJECTED, State.CANCELLED})


class Kind(StrEnum):
    """Of handoffs."""

    ESCALATION = "escalation"
    TRANSFER = "transfer"
    DELEGATION = "delegation"
    ROLLBACK = "rollback"
    CONTINUATION = "continuation"
    RETRY = "retry"


class Flag(StrEnum):
    """What a human should know about a task. A flag is raised at most once until somebody deals with it."""

    UNDELIVERABLE = "undeliverable"
    UNCLAIMED = "unclaimed_too_long"
    NEXT_STALE = "next_stale"
    DEADLINE_PASSED = "deadline_passed"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    RELEASED_TOO_OFTEN = "released_too_often"
    CLOSED_BY_BOT = "closed_by_bot"
    WAITING = "waiting_too_long"
    CALLBACK_MISSED = "callback_missed"


# Raised because nobody has taken the task yet: a claim, or an approval anew, answers them.
UNTAKEN_FLAGS = frozenset({Flag.UNDELIVERABLE, Flag.UNCLAIMED, Flag.NEXT_STALE, Flag.WAITING})
EXHAUSTED_FLAGS = frozenset({Flag.ATTEMPTS_EXHAUSTED, Flag.RELEASED_TOO_OFTEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A lease on a task. ``claim_id`` is a secret between Baton and the claimer: it is in no event and no listing.
    ``slot``: which of its agent's permits it holds, where the agent has a limit. ``kept_bytes``: what was kept under it
    in checkpoints and notes, without those notes that a change of the task met; in no event either."""

    claim_id: str
    fence: int
    agent: str
    worker: str
    principal: str
    lease_seconds: int
    claimed_at: datetime
    heartbeat_at: datetime
    expires_at: datetime
    slot: int | None = None
    kept_bytes: int = 0

    def keeping(self, size: int, most: int) -> Claim:
        """With so many bytes more. Raises ``ClaimFull``."""
        if self.kept_bytes + size > most:
            raise ClaimFull(most)
        return replace(self, kept_bytes=self.kept_bytes + size)

    def is_over(self, now: datetime) -> bool:
        return self.expires_at <= now

    def renewed(self, now: datetime, lease_seconds: int | None, not_after: datetime | None) -> Claim:
        """Extended to now + lease, never shortened; ``not_after`` is the deadline of a task that fails on it."""
        lease = lease_seconds or self.lease_seconds
        wanted = now + seconds(lease)
        if not_after is not None:
            wanted = min(wanted, not_after)
        if wanted < self.expires_at:
            return self
        return replace(self, lease_seconds=lease, heartbeat_at=now, expires_at=wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Why a task came back (spec/lifecycle.md §4). Shown to the next claimer."""

    number: int
    at: datetime
    reason: str
    prior_agent: str
    prior_worker: str
    prior_fence: int
    last_checkpoint_id: str | None
    action: str


class Policy(StrEnum):
    """When a task that waits for its branches goes on: once all have ended, once one is done, or once some are. It
    goes on in any case when all have ended."""

    ALL = "all"
    ANY = "any"
    QUORUM = "quorum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """``task_id``: the first task of it; the branch has ended when its last one has (``Task.successors``)."""

    call_id: str
    task_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What a task waits for: its branches, or a callback (``interaction_id``, the caller's word for what it waits for),
    until ``until`` at the latest. ``number``: the how manieth wait of the task it is; ``alert_at``: when it is too long
    to stay silent about."""

    number: int
    since: datetime
    alert_at: datetime
    policy: Policy = Policy.ALL
    quorum: int | None = None
    branches: tuple[Branch, ...] = ()
    interaction_id: str | None = None
    until: datetime | None = None

    @property
    def is_for_callback(self) -> bool:
        return self.interaction_id is not None

    def is_met(self, done: int, ended: int) -> bool:
        """``done``, ``ended``: how many of the branches are."""
        if ended == len(self.branches):
            return True
        wanted = {Policy.ALL: len(self.branches), Policy.ANY: 1}.get(self.policy, self.quorum or 1)
        return done >= wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """``version`` rises with every write, heartbeats included; ``revision`` with the content that a human approves.

    ``target_agent`` is None for open work: any agent takes it that declares what it ``requires``. ``source_agent`` is a
    slug, or a principal's key where nobody's agent asked (``human:alice``). ``join_parent``: the waiting task whose
    branch ``call_id`` this belongs to; ``successors``: the tasks that go on with it (a transfer, the parts of a
    split). ``started_at``: its first claim. ``takers``: of open work, the agents that have claimed it, each
    once and the latest one last; all other work is its target's."""

    workspace: str
    id: str
    state: State
    title: str
    kind: str
    source_agent: str
    target_agent: str | None
    priority: Priority
    requires: tuple[str, ...] = ()
    work_type: str | None = None
    dispatch_rank: int | None = None
    effort: str | None = None
    due_date: date | None = None
    deadline: datetime | None = None
    fail_on_deadline: bool = False
    not_before: datetime | None = None
    deferred_until: datetime | None = None
    handoff_id: str
    master_task_id: str
    parent_id: str | None = None
    join_parent: str | None = None
    call_id: str | None = None
    successors: tuple[str, ...] = ()
    retry_of: str | None = None
    workflow_id: str
    depth: int = 0
    revision: int = 1
    created_at: datetime
    created_by: str
    updated_at: datetime
    max_attempts: int = DEFAULT_MAX_ATTEMPTS

    ready_at: datetime | None = None
    undo_until: datetime | None = None
    origin: State | None = None

    started_at: datetime | None = None
    attempt: int = 0
    releases: int = 0
    fence: int = 0
    claim: Claim | None = None
    flags: frozenset[Flag] = frozenset()
    recoveries: int = 0
    checkpoints: int = 0
    last_checkpoint_id: str | None = None
    waits: int = 0
    wait: Wait | None = None
    takers: tuple[str, ...] = ()
    has_output: bool = False
    has_failure: bool = False

    # Bookkeeping, and hints to the dispatcher: moved without an event, and no part of what a replay rebuilds.
    version: int = 0
    seq: int = 0
    chain: str = ""
    rings: int = 0
    wake_at: datetime | None = None
    runtime: Runtime = Runtime.PULL
    alert_after_seconds: int = 3_600
    mirrored: bool = False
    parked: bool = False

    @property
    def is_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_root(self) -> bool:
        """Of a workflow: it doesn't descend from another task, nor stand in for one, nor go on after one."""
        return self.master_task_id == self.id

    @property
    def agent(self) -> str | None:
        """Whose it is: the target, or whoever claimed open work; None for open work that nobody has claimed."""
        return self.target_agent or next(reversed(self.takers), None)

    @property
    def was_approved(self) -> bool:
        """At some time, and not undone: only then may anything have come of it."""
        return self.fence > 0 or self.ready_at is not None

    @property
    def is_escalation(self) -> bool:
        return self.kind == Kind.ESCALATION

    @property
    def has_branch_ended(self) -> bool:
        """Its branch ends with it, as nobody goes on with it."""
        return self.is_ended and self.join_parent is not None and not self.successors

    @property
    def hidden_until(self) -> datetime | None:
        """No queue shows it before: a human put it off, or it was asked for later."""
        if self.state is State.NEEDS:
            return self.deferred_until
        return self.not_before if self.state is State.DELEGATED else None

    def is_ready(self, now: datetime) -> bool:
        """May be taken from its agent's queue now: approved for the dispatcher, and due."""
        return self.state is State.DELEGATED and self.ready_at is not None and self.ready_at <= now

    def is_claimable(self, now: datetime) -> bool:
        """What is for ``next`` may be taken at once; only after a failed attempt it waits for the backoff."""
        if self.state is State.NEXT:
            return self.attempt == 0 or self.ready_at is None or self.ready_at <= now
        return self.is_ready(now)

    def takers_with(self, agent: str) -> tuple[str, ...]:
        """``takers`` once the agent has claimed it too."""
        if self.target_agent is not None:
            return self.takers
        return (*(each for each in self.takers if each != agent), agent)[-MAX_TAKERS:]

    def must_be_claimable(self, now: datetime) -> None:
        """Raises ``AlreadyClaimed``, ``TaskEnded`` or ``NotClaimable``. A lease that has run out still holds the task
        until the sweeper has ended it, so that its worker may yet extend it."""
        if self.claim is not None:
            raise AlreadyClaimed(self.id, self.claim.agent, rfc3339(self.claim.expires_at))
        if self.is_ended:
            raise TaskEnded(self.id, self.state)
        if not self.is_claimable(now):
            due = self.ready_at if self.state in {State.DELEGATED, State.NEXT} else None
            raise NotClaimable(self.id, self.state, rfc3339(due) if due else None)

    def current_claim(self, claim_id: str, by: Principal) -> Claim:
        """Raises ``StaleClaim`` unless ``claim_id`` is the current claim and ``by`` is the one that made it."""
        claim = self.claim
        if claim is None or claim.claim_id != claim_id or claim.principal != by.key:
            raise StaleClaim(self.id)
        return claim

    @property
    def hard_deadline(self) -> datetime | None:
        """No lease goes past it."""
        return self.deadline if self.fail_on_deadline else None

    def changed(self, **values: Any) -> Task:
        return replace(self, **values)
