"""A workspace to measure in, on any store, and the verbs of the main job as steps in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

from baton.adapters.system import RandomIds, SystemClock
from baton.domain.agent import Approval, Runtime
from baton.domain.idempotency import Once
from baton.domain.principal import ACT_AS, Kind, Principal
from baton.domain.transcript import Usage
from baton.ports import Baton, Store
from baton.run_ports import AgentRunner, Done, Model, Reply, StopReason, Work
from baton.run_ports import Request as Asked
from baton.services.approve_task import approve_task
from baton.services.authenticate import authenticate
from baton.services.change_settings import change_settings
from baton.services.claim_task import Claimer, claim_next
from baton.services.complete_task import complete_task
from baton.services.create_handoff_marker import create_handoff_marker
from baton.services.fail_task import fail_task
from baton.services.issue_token import TokenRequest, issue_token
from baton.services.kill_switch import caller_must_be_on
from baton.services.process_task import Bell, Shift, process_task
from baton.services.register_agent import register_agent
from baton.services.release_task import release_task
from baton.services.renew_claim import renew_claim
from baton.services.run_agent import AgentLoop
from baton.services.sweep import sweep
from baton.services.sync_tracker import sync_tracker
from bench_notion import InstantTrackers
from support.ports import MemoryCallbackKey, MemoryDoorbell, MemorySecrets, MemoryTrackerBell

LEASE_SECONDS = 300
REASON = (
    "CI of the client's main repository has been red for three days: 41 of 320 tests fail since the dependency update. "
    "Please audit the lock file and the last ten merges, and say what to roll back."
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


class InstantRunner:
    def run(self, work: Work) -> Done:  # noqa: ARG002
        return Done(OUTPUT)


@dataclass(frozen=True)
class InstantModel:
    """Says ``OUTPUT``, after ``replies - 1`` calls of a tool that isn't there."""

    replies: int

    def of(self, name: str) -> tuple[str, str, Model]:
        return "instant", name, self

    def converse(self, request: Asked) -> Reply:
        if request.turn < self.replies:
            call = {"toolUse": {"toolUseId": "1", "name": "look_up", "input": {"what": REASON}}}
            return Reply(blocks=(call,), stop_reason=StopReason.TOOL_USE, usage=Usage(0, 900, 60))
        return Reply(blocks=({"text": REASON},), stop_reason=StopReason.END_TURN, usage=Usage(0, 900, 60))


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
    doorbell: MemoryDoorbell = field(default_factory=MemoryDoorbell)
    tracker_bell: MemoryTrackerBell = field(default_factory=MemoryTrackerBell)
    task_id: str = ""
    claim_id: str = ""
    header: str = ""

    def __post_init__(self) -> None:
        self.human = Principal(self.workspace, Kind.HUMAN, "alice", frozenset({ACT_AS}))
        self.service = Principal(self.workspace, Kind.SERVICE, "bench", frozenset({ACT_AS}))
        self.slugs = [f"agent-{number:02d}" for number in range(self.agents)]
        self.source, self.target = self.slugs[:2]
        self.worker = Principal(self.workspace, Kind.AGENT, self.target)
        self.baton = Baton(
            store=self.store,
            doorbell=self.doorbell,
            clock=self.clock,
            ids=RandomIds(),
            trackers=InstantTrackers(),
            tracker_bell=self.tracker_bell,
            secrets=MemorySecrets(),
            callback_key=MemoryCallbackKey(),
            public_url="https://baton.example",
            log=lambda _message, **_fields: None,
        )

    def open(self) -> Office:
        if self.auto:
            change_settings(self.baton, self.human, {"escalation_cap": 20})
        if self.has_tracker:
            change_settings(self.baton, self.human, {"tracker": {"database": "0" * 32}})
        for slug in self.slugs:
            values: dict[str, Any] = {"name": f"Client {slug.title()}", "runtime": self.runtime}
            if self.auto:
                values["approval"] = Approval.AUTO
            register_agent(self.baton, self.human, slug, values)
        return self

    def directions(self) -> Iterator[tuple[str, str]]:
        return permutations(self.slugs, 2)

    def token(self) -> str:
        """Of the service that acts for every agent here."""
        request = TokenRequest(kind=Kind.SERVICE, subject="bench", scopes=frozenset({ACT_AS}))
        return issue_token(self.baton, self.human, request)[1]


Step = Callable[[Office, Once | None], object]


def mark(office: Office, once: Once | None = None) -> None:
    by = Principal(office.workspace, Kind.AGENT, office.source)
    answer = create_handoff_marker(office.baton, by, marker(office.source, office.target), once)
    office.task_id = answer.task_id or office.task_id


def approve(office: Office, once: Once | None = None) -> None:
    approve_task(office.baton, office.human, office.task_id, 1, once)


def wait(office: Office, _once: Once | None = None) -> None:
    """Until the undo window is over."""
    office.clock.ahead += timedelta(seconds=4)


def claim(office: Office, once: Once | None = None) -> None:
    claimer = Claimer(by=office.worker, agent=office.target, worker="worker-1", lease_seconds=LEASE_SECONDS)
    claimed = claim_next(office.baton, claimer, once)
    if claimed is None:
        raise RuntimeError("nothing to claim")
    office.claim_id = claimed.claim_id


def beat(office: Office, _once: Once | None = None) -> None:
    renew_claim(office.baton, office.worker, office.task_id, office.claim_id)


def complete(office: Office, once: Once | None = None) -> None:
    complete_task(office.baton, office.worker, office.task_id, office.claim_id, OUTPUT, "0" * 64, once)


def fail(office: Office, once: Once | None = None) -> None:
    ids = (office.task_id, office.claim_id)
    fail_task(office.baton, office.worker, *ids, FAILURE, "0" * 64, retryable=True, once=once)


def release(office: Office, once: Once | None = None) -> None:
    release_task(office.baton, office.worker, office.task_id, office.claim_id, "out of budget", "0" * 64, once)


def outlive(office: Office, _once: Once | None = None) -> None:
    office.clock.ahead += timedelta(seconds=LEASE_SECONDS + 1)


def look(office: Office, _once: Once | None = None) -> None:
    sweep(office.baton)


def send(office: Office, _once: Once | None = None) -> None:
    sync_tracker(office.baton, office.workspace, office.task_id, lambda: 100.0)


def get_token(office: Office, _once: Once | None = None) -> None:
    office.header = f"Bearer {office.token()}"


def authorize(office: Office, _once: Once | None = None) -> None:
    if authenticate(office.store, office.clock, office.header) is None:
        raise RuntimeError("the token is refused")


def ask_switch(office: Office, _once: Once | None = None) -> None:
    caller_must_be_on(office.baton, office.worker)


def get_task(office: Office, _once: Once | None = None) -> None:
    office.store.read(office.workspace, office.task_id)


def answer_bell(office: Office, _once: Once | None = None) -> None:
    bell = Bell(workspace=office.workspace, agent=office.target, task_id=office.task_id)
    process_task(office.baton, office.runner, bell, Shift(lease_seconds=150, time_left=lambda: 100.0))


def think_once(office: Office, _once: Once | None) -> None:
    """From here on its agents think with a model that answers at once, in one reply."""
    office.runner = AgentLoop(office.baton, InstantModel(1))


def think_twice(office: Office, _once: Once | None) -> None:
    """The same in two: the first calls a tool."""
    office.runner = AgentLoop(office.baton, InstantModel(2))


# What the edge gets for a verb: who sends what.
Request = Callable[[Office], tuple[Principal, str, str, Any]]


def _of_task(verb: str, body: Callable[[Office], Any]) -> Request:
    return lambda office: (office.worker, "POST", f"/tasks/{office.task_id}/{verb}", body(office))


def _mark_request(office: Office) -> tuple[Principal, str, str, Any]:
    by = Principal(office.workspace, Kind.AGENT, office.source)
    return by, "POST", "/handoff-markers", marker(office.source, office.target)


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
    lambda office: (office.human, "POST", f"/tasks/{office.task_id}/approve", {"revision": 1}),
    takes_key=True,
)
CLAIM = Verb(
    "claim-next",
    (mark, approve, wait),
    claim,
    lambda office: (office.worker, "POST", f"/agents/{office.target}/claims", {"worker": "worker-1"}),
    takes_key=True,
)
BEAT = Verb("heartbeat", CLAIMED, beat, _of_task("heartbeat", lambda office: {"claim_id": office.claim_id}))
COMPLETE = Verb(
    "complete",
    CLAIMED,
    complete,
    _of_task("complete", lambda office: {"claim_id": office.claim_id, "output": OUTPUT}),
    takes_key=True,
)
AUTHORIZE = Verb("authorizer", (get_token,), authorize)
SWITCH = Verb("kill switch, of an agent's request", (), ask_switch)
IDLE_SWEEP = Verb("sweep, nothing due", CLAIMED, look)
SWEEP = Verb("sweep, a claim is lost", (*CLAIMED, outlive), look)
BELL = Verb("process-task, one bell", (mark, approve, wait), answer_bell, runtime=Runtime.RUN)
THOUGHT = tuple(
    Verb(f"the same, the model replies {often}", (mark, approve, wait, think), answer_bell, runtime=Runtime.RUN)
    for often, think in (("once", think_once), ("twice", think_twice))
)
RUN_APPROVE = Verb("approve, agent is run", (mark,), approve, runtime=Runtime.RUN)
IN_NOTION = (
    replace(MARK, name="marker, with its page", has_tracker=True),
    replace(APPROVE, has_tracker=True),
    replace(CLAIM, before=(mark, approve, wait, send), has_tracker=True),
    replace(COMPLETE, before=(*CLAIMED, send), has_tracker=True),
)
SENDS = (
    Verb("sync-tracker, approved: nothing to write", (mark, send, approve), send, has_tracker=True),
    Verb("sync-tracker, claimed: the status", (mark, send, approve, wait, send, claim), send, has_tracker=True),
    Verb("sync-tracker, done: status and comment", (mark, *CLAIMED[1:], send, complete), send, has_tracker=True),
)
VERBS = (
    MARK,
    Verb("marker, duplicate", (mark,), mark, _mark_request, takes_key=True),
    APPROVE,
    CLAIM,
    BEAT,
    COMPLETE,
    Verb(
        "fail, tried again",
        CLAIMED,
        fail,
        _of_task("fail", lambda o: {"claim_id": o.claim_id, "failure": FAILURE, "retryable": True}),
        takes_key=True,
    ),
    Verb(
        "release",
        CLAIMED,
        release,
        _of_task("release", lambda office: {"claim_id": office.claim_id, "reason": "out of budget"}),
        takes_key=True,
    ),
    Verb(
        "get task",
        (mark,),
        get_task,
        lambda office: (office.human, "GET", f"/tasks/{office.task_id}", None),
    ),
    AUTHORIZE,
    SWITCH,
    IDLE_SWEEP,
    SWEEP,
    RUN_APPROVE,
    BELL,
    *THOUGHT,
)


def brought_to(verb: Verb, store: Store, workspace: str) -> Office:
    """A new office where the verb can be done."""
    office = Office(store, workspace, runtime=verb.runtime, has_tracker=verb.has_tracker).open()
    for step in verb.before:
        step(office, None)
    office.doorbell.bells.clear()
    office.tracker_bell.bells.clear()
    return office
