"""Tasks in any state, without a store. The domain makes the steps where it has them."""

from __future__ import annotations

from copy import copy
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from baton.adapters.dynamodb.trail_items import appended
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.agents.agent import Agent
from baton.domain.priority import Priority
from baton.domain.settings.settings import Settings
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks import transitions as domain
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.change import Change
from baton.domain.tasks.task import Task, TaskMeta
from baton.domain.tasks.trail import Event
from support.clock import NOON
from support.worlds.world import WORKSPACE, agent, human, service

MS = timedelta(milliseconds=1)
CLAIM_ID = "clm_current"
SETTINGS = Settings()

TARGET, OTHER, CREATOR = agent("auditor"), agent("runner"), agent("scout")
HUMAN, BARE_HUMAN = human(), Principal(WORKSPACE, PrincipalKind.HUMAN, "bob")
SERVICE, ACTING_SERVICE = service(act_as=False), service()
SWEEPER = Principal(WORKSPACE, PrincipalKind.SERVICE, "sweeper")


def an_agent(slug: str = "auditor", **values: Any) -> Agent:
    values = {"name": slug, "version": 1, "created_at": NOON, "updated_at": NOON, "updated_by": "human:alice", **values}
    return Agent(workspace=WORKSPACE, slug=slug, **values)


def a_new_task(**values: Any) -> Task:
    """Returns a task as a use case gives it to ``create``."""
    usual: dict[str, Any] = {
        "workspace": WORKSPACE,
        "id": "task_1",
        "state": State.NEEDS,
        "title": "Handoff: Scout → auditor — 2026-11-19",
        "kind": "escalation",
        "source_agent": "scout",
        "target_agent": "auditor",
        "priority": Priority.P1,
        "handoff_id": "ho_1",
        "master_task_id": "task_1",
        "workflow_id": "wf_1",
        "created_at": NOON,
        "created_by": CREATOR.key,
        "meta": TaskMeta(updated_at=NOON),
    }
    named = {name: values.pop(name) for name in usual.keys() & values.keys()}
    return Task(**{**usual, **named}).changed(**values)


class Life:
    """The life of one task: its time and its whole trail. ``do`` is ``transition`` without a store."""

    def __init__(self, by: Principal = CREATOR, target: Agent | None = None, **values: Any) -> None:
        self.now: datetime = NOON
        self.agent = target or an_agent()
        self.events: list[Event] = []
        self.last = domain.create(a_new_task(**values), by, self.now, domain.Dispatch(self.agent, SETTINGS))
        self.task = self.last.task
        self.events += self.last.events

    def copy(self) -> Life:
        other = copy(self)
        other.events = [*self.events]
        return other

    def do(self, verb: commands.TaskCommand) -> Change:
        change = domain.transition(self.task, verb, self.now)
        self.task, self.last = appended(change).task, change
        self.events += change.events
        return change

    def later(self, seconds: float = 0, *, ms: int = 0) -> Life:
        self.now += timedelta(seconds=seconds, milliseconds=ms)
        return self

    def approve(
        self,
        by: Principal = HUMAN,
        revision: int | None = None,
        settings: Settings = SETTINGS,
        digest: str | None = None,
    ) -> Change:
        return self.do(commands.Approve(by=by, seen=Seen(revision, digest), agent=self.agent, settings=settings))

    def approve_next(self, by: Principal = HUMAN, revision: int | None = None, digest: str | None = None) -> Change:
        return self.do(commands.ApproveNext(by=by, seen=Seen(revision, digest)))

    def undo(self, by: Principal = HUMAN) -> Change:
        return self.do(commands.Undo(by=by))

    def claim(self, by: Principal = TARGET, claim_id: str = CLAIM_ID, lease_seconds: int = 300) -> Change:
        verb = commands.ClaimTask(by=by, agent="auditor", worker="w", claim_id=claim_id, lease_seconds=lease_seconds)
        return self.do(verb)

    def complete(self, by: Principal = TARGET, claim_id: str = CLAIM_ID) -> Change:
        return self.do(commands.Complete(by=by, claim_id=claim_id))

    def fail(self, *, retryable: bool, by: Principal = TARGET, claim_id: str = CLAIM_ID) -> Change:
        failure = {"type": "error", "description": "broke"}
        return self.do(commands.Fail(by=by, claim_id=claim_id, failure=failure, retryable=retryable))

    def release(self, by: Principal = TARGET, claim_id: str = CLAIM_ID) -> Change:
        return self.do(commands.ReleaseTask(by=by, claim_id=claim_id, reason="not now"))

    def release_claim(self, by: Principal = HUMAN, fence: int = 1) -> Change:
        return self.do(commands.ReleaseClaim(by=by, fence=fence, reason="it hangs"))

    def sweep(self, target: Agent | None = None) -> Change:
        return self.do(commands.Sweep(by=SWEEPER, agent=target or self.agent))

    def sweep_without_agent(self) -> Change:
        return self.do(commands.Sweep(by=SWEEPER, agent=None))

    def cancel(self, by: Principal = HUMAN) -> Change:
        return self.do(commands.Cancel(by=by, reason="no longer needed"))

    def resolve(self, by: Principal = HUMAN) -> Change:
        return self.do(commands.Resolve(by=by, reason="done elsewhere"))


def ready(**values: Any) -> Life:
    """Returns the life of a task that is approved, and whose undo window is just over."""
    life = Life(**values)
    life.approve()
    return life.later(3)


def claimed(**values: Any) -> Life:
    life = ready(**values)
    life.claim()
    return life


def in_state(name: str) -> Life:
    """Returns the life of a task in this state. ``undoable`` is ``delegated`` within its undo window."""
    return _lived(name).copy()


@cache
def _lived(name: str) -> Life:
    if name == "needs":
        return Life()
    if name == "undoable":
        life = Life()
        life.approve()
        return life.later(3, ms=-1)
    if name == "delegated":
        return ready()
    if name == "next":
        life = Life()
        life.approve_next()
        return life
    life = claimed()
    match name:
        case "claimed":
            pass
        case "done":
            life.complete()
        case "failed":
            life.fail(retryable=False)
        case "cancelled":
            life.cancel()
        case _:  # reached by verbs that Baton doesn't have yet
            life.task = life.task.changed(state=State(name), claim=None, wake_at=None)
    return life
