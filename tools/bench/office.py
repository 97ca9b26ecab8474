"""A workspace to measure in, on any store, and the verbs of the main job as steps in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

from baton.adapters.lexical_search import LexicalSearch
from baton.adapters.system import RandomIds, SystemClock
from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.domain.agents.agent import Approval, Runtime
from baton.domain.events.bus_events import OutboxEvent
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.transcript import Usage
from baton.domain.tasks.calls import Seen, WorkerCall
from baton.ports.deps import Deps
from baton.ports.runs import AgentRunner, Model, ModelReply, RunInput, RunSucceeded, StopReason
from baton.ports.runs import ModelRequest as Asked
from baton.ports.store import Store
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.events.publish_events import publish_fresh
from baton.services.runs.process_task import DispatchNotice, TimeBudget, process_task
from baton.services.runs.run_agent import AgentLoop
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.sweep import sweep
from baton.services.tracker.sync_tracker import sync_tracker
from baton.steps.claims.take_task import Claimer
from support.clock import NOON
from support.fakes.ports import FakeBus, FakeCallbackKey, FakeDispatchQueue, FakeLooks, FakeSecrets, FakeTrackerQueue
from tools.bench.notion import InstantTrackers

LEASE_SECONDS = 300
# As long as such names are; an office of more agents numbers them.
WORKSPACE = "acme-engineering"
NAMES = (
    "ci-failure-scout",
    "client-repo-auditor",
    "release-notes-writer",
    "support-triage-agent",
    "invoice-reconciler",
)
ASKED = (
    "CI of the client's main repository has been red for three days: 41 of 320 tests fail since the dependency update. "
    "Please audit the lock file and the last ten merges, and say what to roll back."
)
# With it, a marker is sent as nearly 1 KB of JSON, and kept as nearly 2 KB: its text says it once more.
REASON = (
    f"{ASKED} It began with the merge of the new HTTP client on Monday, and got worse when the certificates of the "
    "test servers were renewed: since then the integration tests of billing, search and the importer time out in about "
    "every second run, and nobody can tell a broken change from a slow one. The release that the client waits for is "
    "planned for Friday. The last good run is linked in the digest, with the two lock files beside each other and the "
    "timings of the slowest forty tests. Start with the importer, as its tests fail most often."
)
OUTPUT = {
    "summary": "Pinned the HTTP client back to its last good version; the tests are green again. Two merges reviewed.",
    "links": ["https://git.example/client/pulls/118"],
}
FAILURE = {"type": "blocker", "description": "The repository could not be read: access was revoked."}


def marker(source: str, target: str) -> dict[str, Any]:
    return {
        "source_agent": source,
        "target_agent": target,
        "escalation_reason": REASON,
        "source_digest_url": "https://notes.example/digests/2026-11-21",
        "create_task": True,
        "task_priority": "high",
    }


class MovableClock(SystemClock):
    """The machine's, so many seconds ahead: a lease runs out without anybody waiting for it."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


class StillClock(MovableClock):
    """Moves only when it is told to."""

    def now(self) -> datetime:
        return NOON + self.ahead


class InstantRunner:
    def run(self, work: RunInput) -> RunSucceeded:  # noqa: ARG002
        return RunSucceeded(OUTPUT)


@dataclass(frozen=True)
class InstantModel:
    """Says ``OUTPUT``, after ``replies - 1`` calls of a tool that isn't there."""

    replies: int

    def of(self, name: str) -> tuple[str, str, Model]:
        return "instant", name, self

    def converse(self, request: Asked) -> ModelReply:
        if request.turn < self.replies:
            call = {"toolUse": {"toolUseId": "1", "name": "look_up", "input": {"what": ASKED}}}
            return ModelReply(blocks=(call,), stop_reason=StopReason.TOOL_USE, usage=Usage(0, 900, 60))
        return ModelReply(blocks=({"text": ASKED},), stop_reason=StopReason.END_TURN, usage=Usage(0, 900, 60))


@dataclass
class Office:
    """``auto``: its agents have a standing approval, and its directions the largest cap. ``last`` is what the newest
    step was about."""

    store: Store
    workspace: str
    agents: int = 5
    auto: bool = False
    runtime: Runtime = Runtime.PULL
    has_tracker: bool = False
    runner: AgentRunner = field(default_factory=InstantRunner)
    clock: MovableClock = field(default_factory=MovableClock)
    dispatch_queue: FakeDispatchQueue = field(default_factory=FakeDispatchQueue)
    tracker_queue: FakeTrackerQueue = field(default_factory=FakeTrackerQueue)
    bus: FakeBus = field(default_factory=FakeBus)
    task_id: str = ""
    claim_id: str = ""
    untold: list[OutboxEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.human = Principal(self.workspace, PrincipalKind.HUMAN, "alice", frozenset({ACT_AS}))
        self.service = Principal(self.workspace, PrincipalKind.SERVICE, "bench", frozenset({ACT_AS}))
        more = (f"{NAMES[1]}-{number:03d}" for number in range(len(NAMES), self.agents))
        self.slugs = [*NAMES[: self.agents], *more]
        self.source, self.target = self.slugs[:2]
        self.worker = Principal(self.workspace, PrincipalKind.AGENT, self.target)
        self.deps = Deps(
            store=self.store,
            search=LexicalSearch(self.store, self.clock),
            dispatch_queue=self.dispatch_queue,
            clock=self.clock,
            ids=RandomIds(),
            trackers=InstantTrackers(),
            tracker_queue=self.tracker_queue,
            looks=FakeLooks(),
            secrets=FakeSecrets(),
            callback_key=FakeCallbackKey(),
            public_url="https://baton.example",
            log=lambda _message, **_fields: None,
        )

    def open(self) -> Office:
        if self.auto:
            change_settings(self.deps, self.human, {"escalation_cap": 20})
        if self.has_tracker:
            change_settings(self.deps, self.human, {"tracker": {"database": "0" * 32}})
        for slug in self.slugs:
            values: dict[str, Any] = {"name": slug.replace("-", " ").title(), "runtime": self.runtime}
            if self.auto:
                values["approval"] = Approval.AUTO
            register_agent(self.deps, self.human, slug, values)
        return self

    def directions(self) -> Iterator[tuple[str, str]]:
        return permutations(self.slugs, 2)

    def token(self) -> str:
        """Of the service that acts for every agent here."""
        request = TokenRequest(kind=PrincipalKind.SERVICE, subject="bench", scopes=frozenset({ACT_AS}))
        return issue_token(self.deps, self.human, request)[1]


Step = Callable[[Office, IdempotencyKey | None], object]


def mark(processes: Office, idempotency_key: IdempotencyKey | None = None) -> None:
    by = Principal(processes.workspace, PrincipalKind.AGENT, processes.source)
    answer = create_handoff_marker(processes.deps, by, marker(processes.source, processes.target), idempotency_key)
    processes.task_id = answer.task_id or processes.task_id


def approve(processes: Office, idempotency_key: IdempotencyKey | None = None) -> None:
    approve_task(processes.deps, processes.human, processes.task_id, Seen(1), idempotency_key)


def wait(processes: Office, _once: IdempotencyKey | None = None) -> None:
    """Until the undo window is over."""
    processes.clock.ahead += timedelta(seconds=4)


def claim(processes: Office, idempotency_key: IdempotencyKey | None = None) -> None:
    claimer = Claimer(by=processes.worker, agent=processes.target, worker="worker-1", lease_seconds=LEASE_SECONDS)
    claimed = claim_next(processes.deps, claimer, idempotency_key)
    if claimed is None:
        raise RuntimeError("nothing to claim")
    processes.task_id, processes.claim_id = claimed.details.task.id, claimed.claim_id


def beat(processes: Office, _once: IdempotencyKey | None = None) -> None:
    renew_claim(processes.deps, processes.worker, processes.task_id, processes.claim_id)


def complete(processes: Office, idempotency_key: IdempotencyKey | None = None) -> None:
    complete_task(
        processes.deps,
        WorkerCall(processes.worker, processes.task_id, processes.claim_id, "0" * 64, idempotency_key),
        CompletedWork(output=OUTPUT),
    )


def fail(processes: Office, idempotency_key: IdempotencyKey | None = None) -> None:
    fail_task(
        processes.deps,
        WorkerCall(processes.worker, processes.task_id, processes.claim_id, "0" * 64, idempotency_key),
        FailedWork(failure=FAILURE, retryable=True),
    )


def release(processes: Office, idempotency_key: IdempotencyKey | None = None) -> None:
    release_task(
        processes.deps,
        WorkerCall(processes.worker, processes.task_id, processes.claim_id, "0" * 64, idempotency_key),
        ReleasedWork(reason="out of budget"),
    )


def outlive(processes: Office, _once: IdempotencyKey | None = None) -> None:
    processes.clock.ahead += timedelta(seconds=LEASE_SECONDS + 1)


def look(processes: Office, _once: IdempotencyKey | None = None) -> None:
    sweep(processes.deps)


def send(processes: Office, _once: IdempotencyKey | None = None) -> None:
    sync_tracker(processes.deps, processes.workspace, processes.task_id, lambda: 100.0)


def tell(processes: Office, _once: IdempotencyKey | None = None) -> None:
    publish_fresh(processes.deps, processes.bus, processes.untold)
    processes.untold = []


def gather(processes: Office, _once: IdempotencyKey | None = None) -> None:
    """Brings the task's newest event to the publisher."""
    end_of_time = processes.clock.now().replace(year=9999)
    pages = processes.store.outbox.pending_tasks(end_of_time)
    of_task = [event for page in pages for each in page if each.task_id == processes.task_id for event in each.events]
    *earlier, newest = of_task
    if earlier:
        publish_fresh(processes.deps, processes.bus, earlier)
    processes.untold = [newest]


def get_task(processes: Office, _once: IdempotencyKey | None = None) -> None:
    processes.store.tasks.read(processes.workspace, processes.task_id)


def answer_notice(processes: Office, _once: IdempotencyKey | None = None) -> None:
    notice = DispatchNotice(workspace=processes.workspace, agent=processes.target, task_id=processes.task_id)
    process_task(processes.deps, processes.runner, notice, TimeBudget(lease_seconds=150, time_left=lambda: 100.0))


def think_once(processes: Office, _once: IdempotencyKey | None) -> None:
    """From here on its agents think with a model that answers at once, in one reply."""
    processes.runner = AgentLoop(processes.deps, InstantModel(1))


def think_twice(processes: Office, _once: IdempotencyKey | None) -> None:
    """The same in two: the first calls a tool."""
    processes.runner = AgentLoop(processes.deps, InstantModel(2))


# What the edge gets for a verb: who sends what.
Request = Callable[[Office], tuple[Principal, str, str, Any]]


def _of_task(verb: str, body: Callable[[Office], Any]) -> Request:
    return lambda processes: (processes.worker, "POST", f"/tasks/{processes.task_id}/{verb}", body(processes))


def _mark_request(processes: Office) -> tuple[Principal, str, str, Any]:
    by = Principal(processes.workspace, PrincipalKind.AGENT, processes.source)
    return by, "POST", "/handoff-markers", marker(processes.source, processes.target)


@dataclass(frozen=True)
class Verb:
    """``before``: the steps that bring an office to where ``act`` can be done."""

    name: str
    before: tuple[Step, ...]
    act: Step
    request: Request | None = None
    takes_key: bool = False
    runtime: Runtime = Runtime.PULL
    has_tracker: bool = False


CLAIMED = (mark, approve, wait, claim)
MARK = Verb("marker, created", (), mark, _mark_request, takes_key=True)
APPROVE = Verb(
    "approve",
    (mark,),
    approve,
    lambda processes: (processes.human, "POST", f"/tasks/{processes.task_id}/approve", {"revision": 1}),
    takes_key=True,
)
CLAIM = Verb(
    "claim-next",
    (mark, approve, wait),
    claim,
    lambda processes: (processes.worker, "POST", f"/agents/{processes.target}/claims", {"worker": "worker-1"}),
    takes_key=True,
)
BEAT = Verb("heartbeat", CLAIMED, beat, _of_task("heartbeat", lambda processes: {"claim_id": processes.claim_id}))
OWN_BEAT = Verb("heartbeat, of a run", CLAIMED, beat)
COMPLETE = Verb(
    "complete",
    CLAIMED,
    complete,
    _of_task("complete", lambda processes: {"claim_id": processes.claim_id, "output": OUTPUT}),
    takes_key=True,
)
IDLE_SWEEP = Verb("sweep, nothing due", CLAIMED, look)
SWEEP = Verb("sweep, a claim is lost", (*CLAIMED, outlive), look)
NOTICE = Verb("process-task, one notice", (mark, approve, wait), answer_notice, runtime=Runtime.RUN)
THOUGHT = tuple(
    Verb(f"the same, the model replies {often}", (mark, approve, wait, think), answer_notice, runtime=Runtime.RUN)
    for often, think in (("once", think_once), ("twice", think_twice))
)
RUN_APPROVE = replace(APPROVE, name="approve, agent is run", takes_key=False, runtime=Runtime.RUN)
IN_NOTION = (
    replace(MARK, name="marker, with its page", has_tracker=True),
    replace(APPROVE, name="approve, with its page", has_tracker=True),
    replace(CLAIM, name="claim-next, with its page", before=(mark, approve, wait, send), has_tracker=True),
    replace(COMPLETE, name="complete, with its page", before=(*CLAIMED, send), has_tracker=True),
)
SENDS = (
    Verb("sync-tracker, approved: nothing to write", (mark, send, approve), send, has_tracker=True),
    Verb("sync-tracker, claimed: the status", (mark, send, approve, wait, send, claim), send, has_tracker=True),
    Verb("sync-tracker, done: status and comment", (mark, *CLAIMED[1:], send, complete), send, has_tracker=True),
)
TELLS = (
    Verb("telling the bus: created", (mark, gather), tell),
    Verb("telling the bus: approved", (mark, gather, tell, approve, gather), tell),
    Verb("telling the bus: claimed", (mark, approve, wait, gather, tell, claim, gather), tell),
    Verb("telling the bus: done", (*CLAIMED, gather, tell, complete, gather), tell),
)
RELEASE = Verb(
    "release",
    CLAIMED,
    release,
    _of_task("release", lambda processes: {"claim_id": processes.claim_id, "reason": "out of budget"}),
    takes_key=True,
)
FAIL = Verb(
    "fail, tried again",
    CLAIMED,
    fail,
    _of_task("fail", lambda o: {"claim_id": o.claim_id, "failure": FAILURE, "retryable": True}),
    takes_key=True,
)
VERBS = (
    MARK,
    Verb("marker, duplicate", (mark,), mark, _mark_request, takes_key=True),
    APPROVE,
    CLAIM,
    BEAT,
    OWN_BEAT,
    COMPLETE,
    FAIL,
    RELEASE,
    Verb(
        "get task",
        (mark,),
        get_task,
        lambda processes: (processes.human, "GET", f"/tasks/{processes.task_id}", None),
    ),
    IDLE_SWEEP,
    SWEEP,
    RUN_APPROVE,
    NOTICE,
    *THOUGHT,
    *TELLS,
)


def brought_to(verb: Verb, store: Store) -> Office:
    """A new office where the verb can be done."""
    processes = Office(store, WORKSPACE, runtime=verb.runtime, has_tracker=verb.has_tracker).open()
    for step in verb.before:
        step(processes, None)
    processes.dispatch_queue.notices.clear()
    processes.tracker_queue.notices.clear()
    return processes
