"""Anything that may be asked, in any order and at any time, against a small model of what must come of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from baton.domain.access.principal import Principal
from baton.domain.errors import (
    AlreadyClaimed,
    NotAllowed,
    NotClaimable,
    StaleClaim,
    TaskEnded,
    UndoWindowOver,
)
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import replay
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.escalations.release_review import release_review
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimer
from support.faults.soak import scaled
from support.ids import CountingIds
from support.worlds.team import as_told
from support.worlds.world import WORKSPACE, World, agent, direction_now, human

pytestmark = pytest.mark.slow

SLUGS = ("scout", "auditor", "runner")
PAIRS = [("scout", "auditor"), ("auditor", "scout"), ("scout", "runner")]
ENDS = {"done", "failed", "cancelled"}
BACKOFF = {1: 5, 2: 20}
RELEASE_PAUSES = (0, 5, 20, 80, 300)
numbers = st.integers(0, 10_000)


@dataclass
class Expected:
    """What the model knows of a task."""

    pair: tuple[str, str]
    created_at: datetime
    state: str
    ready_at: datetime | None = None
    undo_until: datetime | None = None
    origin: str = "delegated"
    claim_id: str | None = None
    lease: int = 0
    expires_at: datetime | None = None
    claims: int = 0
    attempt: int = 0
    releases: int = 0
    ended: Task | None = None

    def is_ready(self, now: datetime) -> bool:
        if self.state != "delegated":
            return False
        assert self.ready_at is not None
        return self.ready_at <= now

    def has_lost_its_lease(self, now: datetime) -> bool:
        if not self.claim_id:
            return False
        assert self.expires_at is not None
        return self.expires_at <= now

    def lost(self, now: datetime) -> None:
        """Its lease was over, and somebody has ended the claim."""
        self.give_back(now)
        if self.attempt >= 3:
            self.state = "needs"

    def give_back(self, now: datetime, after: int = 0) -> None:
        self.state, self.claim_id = self.origin, None
        self.ready_at = now + timedelta(seconds=after)


class TaskMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World().settle()
        # The same ids in every run: hypothesis must be able to repeat what it found.
        self.deps = self.world.deps = replace(self.world.deps, ids=CountingIds())
        self.tasks: dict[str, Expected] = {}
        self.claims: list[tuple[str, str, Principal]] = []
        self.reviews: dict[tuple[str, str], str] = {}
        self.said = 0

    @property
    def now(self) -> datetime:
        return self.world.clock.now()

    def pick(self, number: int) -> tuple[str, Expected]:
        task_id = list(self.tasks)[number % len(self.tasks)]
        return task_id, self.tasks[task_id]

    def body_hash(self) -> str:
        self.said += 1
        return str(self.said)

    @initialize()
    def everybody_has_work(self) -> None:
        for pair in PAIRS:
            self.ask(pair, True)
        self.time_passes(3_000)

    # Asking

    def verdict(self, pair: tuple[str, str]) -> str:
        week = timedelta(days=7)
        recent = [t for t in self.tasks.values() if t.pair == pair and self.now - t.created_at < week]
        if any(t.state not in ENDS for t in recent):
            return "duplicate"
        return "capped" if len(recent) >= 2 else "created"

    def accepted(self, task_id: str, pair: tuple[str, str], by: Principal) -> None:
        task = self.tasks[task_id] = Expected(pair, self.now, "needs")
        if by.is_human:
            task.state, task.ready_at = "delegated", self.now + timedelta(seconds=3)
            task.undo_until = task.ready_at
        elif pair[1] == "runner":
            task.state, task.ready_at = "delegated", self.now

    @rule(pair=st.sampled_from(PAIRS), by_human=st.booleans())
    def ask(self, pair: tuple[str, str], by_human: bool) -> None:
        by = human() if by_human else agent(pair[0])
        expected = self.verdict(pair)
        answer = self.world.mark(by, source_agent=pair[0], target_agent=pair[1])
        got = "created" if answer.task_id else "duplicate" if answer.duplicate_of else "capped"
        assert got == expected
        if answer.task_id:
            self.accepted(answer.task_id, pair, by)
        elif answer.review_id:
            assert self.reviews.setdefault(pair, answer.review_id) == answer.review_id

    @precondition(lambda self: self.reviews)
    @rule(number=numbers)
    def release_a_review(self, number: int) -> None:
        pair = sorted(self.reviews)[number % len(self.reviews)]
        review, details = release_review(self.deps, human(), self.reviews.pop(pair))
        assert not review.is_open
        self.accepted(details.task.id, pair, human())

    # A human's verbs

    @rule(number=numbers, verb=st.sampled_from(["approve", "approve-next", "undo"]))
    def decide(self, number: int, verb: str) -> None:
        task_id, task = self.pick(number)
        undoable = task.state == "delegated" and task.undo_until is not None and self.now < task.undo_until
        fits = undoable if verb == "undo" else task.state == "needs"
        refusal: type[Exception] = TaskEnded if task.state in ENDS else NotAllowed
        if verb == "undo" and task.state == "delegated":
            refusal = UndoWindowOver
        with expecting(None if fits else refusal):
            match verb:
                case "approve":
                    approve_task(self.deps, human(), task_id, None)
                case "approve-next":
                    approve_task_next(self.deps, human(), task_id, None)
                case _:
                    undo_approval(self.deps, human(), task_id)
        if not fits:
            return
        task.state = {"approve": "delegated", "approve-next": "next", "undo": "needs"}[verb]
        task.ready_at = self.now + timedelta(seconds=3 if verb == "approve" else 0)
        task.undo_until = task.ready_at if verb == "approve" else None
        if verb != "undo":
            task.attempt = task.releases = 0

    @rule(number=numbers, end=st.sampled_from(["cancel", "resolve", None, None]))
    def end(self, number: int, end: str | None) -> None:
        if end is None:
            return
        cancel = end == "cancel"
        task_id, task = self.pick(number)
        ended = task.state in ENDS
        with expecting(TaskEnded if ended else None):
            if cancel:
                cancel_task(self.deps, human(), task_id, "no longer needed")
            else:
                resolve_task(self.deps, HumanCall(human(), task_id), {"by": "hand"})
        if not ended:
            task.state, task.claim_id = ("cancelled" if cancel else "done"), None

    # A worker's verbs

    def took(self, task_id: str, claim_id: str, by: Principal, lease: int) -> None:
        task = self.tasks[task_id]
        task.origin, task.state, task.undo_until = task.state, "claimed", None
        task.claim_id, task.lease = claim_id, lease
        task.expires_at = self.now + timedelta(seconds=lease)
        task.claims += 1
        task.attempt += 1
        self.claims.append((task_id, claim_id, by))

    @rule(slug=st.sampled_from(SLUGS), lease=st.sampled_from([15, 300]))
    def claim_the_next(self, slug: str, lease: int) -> None:
        mine = {i: t for i, t in self.tasks.items() if t.pair[1] == slug}
        ready = {i for i, t in mine.items() if t.is_ready(self.now)}
        lapsed = {i: t for i, t in mine.items() if t.has_lost_its_lease(self.now)}
        claimed = claim_next(self.deps, Claimer(by=agent(slug), agent=slug, worker="w", lease_seconds=lease))
        for task_id, task in lapsed.items():  # behind ready work, in the order in which their leases have ended
            claim = self.world.task(task_id).claim
            if claim is None or claim.claim_id != task.claim_id:
                assert not ready
                task.lost(self.now)
        assert claimed or not any(task.claim_id for task in lapsed.values())
        ready = ready or {i for i, t in lapsed.items() if t.is_ready(self.now)}
        assert (claimed is None) == (not ready)
        if claimed:
            assert claimed.details.task.id in ready
            self.took(claimed.details.task.id, claimed.claim_id, agent(slug), lease)

    @rule(number=numbers)
    def claim_by_id(self, number: int) -> None:
        task_id, task = self.pick(number)
        by = agent(task.pair[1])
        refusal: type[Exception] | None = None
        if task.has_lost_its_lease(self.now):
            task.lost(self.now)
        if task.claim_id:
            refusal = AlreadyClaimed
        elif task.state in ENDS:
            refusal = TaskEnded
        elif not (task.state == "next" or task.is_ready(self.now)):
            refusal = NotClaimable
        with expecting(refusal):
            claimed = claim_task(self.deps, Claimer(by=by, agent=by.id, worker="w"), task_id)
        if refusal is None:
            self.took(task_id, claimed.claim_id, by, 300)

    @precondition(lambda self: self.claims)
    @rule(
        number=numbers,
        verb=st.sampled_from(["heartbeat", "complete", "fail", "fail-retry", "release", "release"]),
        stranger=st.sampled_from([False, False, False, True]),
    )
    def work(self, number: int, verb: str, stranger: bool) -> None:
        task_id, claim_id, owner = self.claims[-1 - number % len(self.claims)]
        task = self.tasks[task_id]
        by = human() if stranger else owner
        current = task.claim_id == claim_id and not stranger
        with expecting(None if current else StaleClaim):
            self.send(verb, by, task_id, claim_id)
        if current:
            self.came_of(verb, task)

    @rule(slug=st.sampled_from(SLUGS), verb=st.sampled_from(["complete", "fail-retry", "release", "release"]))
    def claim_and_end_the_claim(self, slug: str, verb: str) -> None:
        before = len(self.claims)
        self.claim_the_next(slug, 15)
        if len(self.claims) > before:
            self.work(0, verb, False)

    def send(self, verb: str, by: Principal, task_id: str, claim_id: str) -> None:
        failure = {"type": "error", "description": "broke"}
        match verb:
            case "heartbeat":
                renew_claim(self.deps, by, task_id, claim_id)
            case "complete":
                complete_task(
                    self.deps, WorkerCall(by, task_id, claim_id, self.body_hash()), CompletedWork(output={"ok": True})
                )
            case "release":
                release_task(self.deps, WorkerCall(by, task_id, claim_id, self.body_hash()), ReleasedWork())
            case _:
                again = verb == "fail-retry"
                fail_task(
                    self.deps,
                    WorkerCall(by, task_id, claim_id, self.body_hash()),
                    FailedWork(failure=failure, retryable=again),
                )

    def came_of(self, verb: str, task: Expected) -> None:
        if verb == "heartbeat":
            task.expires_at = max(task.expires_at or self.now, self.now + timedelta(seconds=task.lease))
        elif verb == "complete":
            task.state, task.claim_id = "done", None
        elif verb == "fail" or (verb == "fail-retry" and task.attempt >= 3):
            task.state, task.claim_id = "failed", None
        elif verb == "fail-retry":
            task.give_back(self.now, BACKOFF[task.attempt])
        else:
            task.releases += 1
            task.attempt -= 1
            task.give_back(self.now, RELEASE_PAUSES[min(task.releases, len(RELEASE_PAUSES)) - 1])
            if task.releases >= 10:
                task.state = "needs"

    # Time, and what the system does by itself

    @rule(ms=st.sampled_from([1, 999, 3_000, 14_999, 15_000, 15_000, 300_000, 300_000, 3_600_000, 302_400_000]))
    def time_passes(self, ms: int) -> None:
        self.world.clock.advance(milliseconds=ms)

    @rule()
    def the_sweeper_comes(self) -> None:
        assert sweep(self.deps).failed == 0
        for task in self.tasks.values():
            if task.has_lost_its_lease(self.now):
                task.lost(self.now)

    # What always holds

    @invariant()
    def every_task_is_as_the_model_says_and_as_its_trail_tells(self) -> None:
        for task_id, expected in self.tasks.items():
            task = self.world.task(task_id)
            assert task.state == expected.state
            assert (task.claim.claim_id if task.claim else None) == expected.claim_id
            assert (task.state == "claimed") == (task.claim is not None)
            assert task.fence == expected.claims
            assert (task.attempt, task.releases) == (expected.attempt, expected.releases)
            events = self.deps.store.trail.events(WORKSPACE, task_id, 0, 10_000)
            assert all(before.fence <= after.fence for before, after in pairwise(events))
            assert as_told(replay(events)) == as_told(task)

    @invariant()
    def what_has_ended_never_changes_again(self) -> None:
        for task_id, expected in self.tasks.items():
            if expected.state in ENDS:
                expected.ended = expected.ended or self.world.task(task_id)
                assert self.world.task(task_id) == expected.ended

    @invariant()
    def directions_know_what_is_closed(self) -> None:
        for source, target in {task.pair for task in self.tasks.values()}:
            direction = direction_now(self.deps, WORKSPACE, source, target)
            window = self.deps.store.settings.of(WORKSPACE).window
            for escalation in direction.escalations:
                is_over = self.tasks[escalation.task_id].state in ENDS
                is_looked_at = self.now - escalation.created_at < window
                assert escalation.closed == is_over or (is_over and not is_looked_at)
            known = {escalation.task_id for escalation in direction.escalations}
            month = timedelta(days=30)
            made = {i for i, t in self.tasks.items() if t.pair == (source, target) and self.now - t.created_at < month}
            assert made <= known

    @invariant()
    def what_waits_for_the_system_will_be_looked_at(self) -> None:
        for task_id, expected in self.tasks.items():
            if expected.claim_id:
                wake_at = self.world.task(task_id).meta.wake_at
                assert wake_at is not None
                assert expected.expires_at is not None
                assert wake_at <= expected.expires_at


class expecting:  # noqa: N801 - reads as a statement
    """``pytest.raises``, or nothing where nothing is expected."""

    def __init__(self, error: type[Exception] | None) -> None:
        self.error = error

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if self.error is None:
            return False
        assert kind is self.error, f"expected {self.error.__name__}, got {kind}"
        return True


TestTasksUnderAnything = TaskMachine.TestCase
TestTasksUnderAnything.settings = settings(
    max_examples=scaled(100, 20),
    stateful_step_count=60,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
