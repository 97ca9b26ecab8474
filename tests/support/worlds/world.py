"""A workspace with a human, a service and a few agents, and the steps with which most tests begin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from baton.adapters.lexical_search import LexicalSearch
from baton.adapters.system import RandomIds
from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.domain.access.rights import Right
from baton.domain.agents.agent import Approval, Runtime
from baton.domain.escalations.direction import Direction
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import replay
from baton.ports.deps import Deps
from baton.ports.store import Store
from baton.ports.tracker import Trackers
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next
from baton.services.escalations.create_handoff_marker import MarkerAnswer, create_handoff_marker
from baton.services.tasks.approve_task import approve_task
from baton.steps.claims.take_task import Claimed, Claimer
from baton.steps.escalations.look_at_ends import with_ends
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.fake_dynamo.client import Item, Key
from support.fakes.ports import FakeCallbackKey, FakeDispatchQueue, FakeLooks, FakeSecrets, FakeTrackerQueue, NoTrackers
from support.fakes.store import InMemoryStore
from support.faults.call_hooks import CallHooks
from support.values.tokens import is_given

WORKSPACE = "acme"
AGENTS: dict[str, dict[str, Any]] = {
    "scout": {"name": "Scout"},
    "auditor": {"name": "Client Repo Auditor", "aliases": ("Auditor",)},
    "runner": {"name": "Runner", "runtime": Runtime.RUN, "approval": Approval.AUTO},
}


def human(workspace: str = WORKSPACE, name: str = "alice") -> Principal:
    return Principal(workspace, PrincipalKind.HUMAN, name, frozenset({ACT_AS}))


def person(right: Right, name: str = "", workspace: str = WORKSPACE) -> Principal:
    """Returns a human with this right, by default of its name."""
    scopes = frozenset({ACT_AS} if right is Right.ADMINISTRATOR else ())
    return Principal(workspace, PrincipalKind.HUMAN, name or str(right), scopes, right=right)


def agent(slug: str, workspace: str = WORKSPACE) -> Principal:
    return Principal(workspace, PrincipalKind.AGENT, slug)


def service(workspace: str = WORKSPACE, *, act_as: bool = True) -> Principal:
    return Principal(workspace, PrincipalKind.SERVICE, "ci", frozenset({ACT_AS} if act_as else ()))


def marker_body(**changes: Any) -> dict[str, Any]:
    body = {
        "source_agent": "scout",
        "target_agent": "auditor",
        "escalation_reason": "Stale spike in CI failures; needs a repo audit",
        "source_digest_url": "https://notes.example/digest/1",
        "create_task": True,
        "task_priority": "🔴 High",
    }
    return {**body, **changes}


@dataclass
class World:
    """``auditor`` and ``scout`` pull; ``runner`` is run by process-task under a standing approval."""

    store: Store = field(default_factory=InMemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    dispatch_queue: FakeDispatchQueue = field(default_factory=FakeDispatchQueue)
    logged: list[dict[str, Any]] = field(default_factory=list)
    trackers: Trackers = field(default_factory=NoTrackers)
    tracker_queue: FakeTrackerQueue = field(default_factory=FakeTrackerQueue)
    looks: FakeLooks = field(default_factory=FakeLooks)
    deps: Deps = field(init=False)

    def __post_init__(self) -> None:
        self.deps = Deps(
            store=self.store,
            search=LexicalSearch(self.store, self.clock),
            dispatch_queue=self.dispatch_queue,
            clock=self.clock,
            ids=RandomIds(),
            trackers=self.trackers,
            tracker_queue=self.tracker_queue,
            looks=self.looks,
            secrets=FakeSecrets(),
            callback_key=FakeCallbackKey(),
            public_url="https://baton.example",
            log=lambda message, **fields: self.logged.append({"message": message, **fields}),
        )

    def settle(self, workspace: str = WORKSPACE) -> World:
        """Registers the agents. If the world is like many others, copies the table of a world that has them."""
        if table := self.empty_table():
            self.begin_as(table, settled(workspace), workspace)
        else:
            self.register(workspace)
        return self

    def empty_table(self) -> FakeDynamo | None:
        """Returns the world's table if the world is like many others, and nothing has happened in it yet."""
        store = self.store.inner if type(self.store) is CallHooks else self.store
        is_usual = isinstance(self.deps.ids, RandomIds) and self.clock.now() == NOON
        return store.dynamo if is_usual and type(store) is InMemoryStore and store.dynamo.is_new else None

    def begin_as(self, table: FakeDynamo, other: FakeDynamo, workspace: str = WORKSPACE) -> None:
        """Copies another table into ``table``, which is this world's. This process then knows the agents as if it had
        registered them."""
        table.take_over(other)
        self.store.agents.roster(workspace)  # known to this process, as to one that registered them

    @contextmanager
    def request(self) -> Iterator[None]:
        """Within it, this process answers one request: agents and settings are read at one version."""
        process = self.deps
        self.deps = process.at_one_version()
        self.store = self.deps.store
        try:
            yield
        finally:
            self.deps, self.store = process, process.store

    def stored(self) -> dict[Key, Item]:
        """Returns everything that is stored, in the table's form, without the callers' tokens and the counts of their
        requests."""
        assert isinstance(self.store, InMemoryStore)
        return {
            key: item
            for key, item in self.store.dynamo.contents().items()
            if "#USE#" not in key[0] and not is_given(key)
        }

    def register(self, workspace: str, slugs: Iterable[str] = AGENTS) -> None:
        for slug in slugs:
            register_agent(self.deps, human(workspace), slug, AGENTS[slug])

    def mark(self, by: Principal | None = None, **changes: Any) -> MarkerAnswer:
        body = marker_body(**changes)
        return create_handoff_marker(self.deps, by or human(), body)

    def needing(self, by: Principal | None = None, **changes: Any) -> str:
        """Returns a task that waits for approval."""
        answer = self.mark(by or agent("scout"), **changes)
        assert answer.task_id
        return answer.task_id

    def ready(self, **changes: Any) -> str:
        """Returns a task that may be claimed now."""
        task_id = self.needing(**changes)
        if self.task(task_id).state == "needs":
            approve_task(self.deps, human(), task_id, None)
        self.clock.advance(3)
        return task_id

    def claimed(self, slug: str = "auditor", lease_seconds: int = 300, worker: str = "worker-1") -> Claimed:
        """Returns a claim on a new task."""
        self.ready()
        return self.claim(slug, lease_seconds, worker)

    def claim(self, slug: str = "auditor", lease_seconds: int = 300, worker: str = "worker-1") -> Claimed:
        claimer = Claimer(by=agent(slug), agent=slug, worker=worker, lease_seconds=lease_seconds)
        claimed = claim_next(self.deps, claimer)
        assert claimed is not None
        return claimed

    def task(self, task_id: str, workspace: str = WORKSPACE) -> Task:
        return self.store.tasks.load(workspace, task_id)[0]

    def direction(self, source: str = "scout", target: str = "auditor") -> Direction:
        """Returns the direction, as a decision on it reads it now."""
        return direction_now(self.deps, WORKSPACE, source, target)

    def trail(self, task_id: str, workspace: str = WORKSPACE) -> list[str]:
        """Checks that the trail's chain is whole. Returns the types of its events."""
        events = self.store.trail.events(workspace, task_id, 0, 1000)
        replay(events)
        return [event.type for event in events]


def direction_now(deps: Deps, workspace: str, source: str, target: str) -> Direction:
    inputs = deps.store.escalations.marker_inputs(workspace, (source, target), None)
    return with_ends(deps, inputs.direction, inputs.settings, deps.clock.now())


@cache
def settled(workspace: str, slugs: tuple[str, ...] = tuple(AGENTS)) -> FakeDynamo:
    """Returns a table with the agents and nothing else. Callers copy it, and never write to it."""
    store = InMemoryStore()
    World(store).register(workspace, slugs)
    return store.dynamo
