"""72 virtual hours in which Notion is in every kind of trouble, over 1,000 tasks, and then recovers. In ``make test``
each kind of trouble comes once, to one of two databases or to both, with fewer tasks."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import httpx
import pytest

from baton.adapters.notion import NotionTrackers
from baton.domain.errors import StaleClaim
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.trail import replay
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.steps.claims.take_task import Claimed, Claimer
from baton.steps.escalations.open_escalation import AT_ONCE_SECONDS
from support.faults.soak import IS_WHOLE, scaled
from support.worlds.notion_world import NotionWorld
from support.worlds.world import WORKSPACE, agent, human
from tools.stand_ins.fake_notion import SELECT, STATUS, Fault

pytestmark = pytest.mark.slow

UNSHARED = {*range(30, 34)} if IS_WHOLE else {2, 3, 20, 21}
AGENTS = 33
SHOWN = {
    State.NEEDS: "Not started",
    State.DELEGATED: "Not started",
    State.CLAIMED: "In progress",
    State.DONE: "Done",
    State.FAILED: "Failed",
    State.CANCELLED: "Cancelled",
}
OPEN = ("Not started", "In progress")
TROUBLES: list[Callable[[random.Random], Fault | None]] = [
    lambda _: Fault(status=429, retry_after=90),
    lambda _: Fault(status=529, retry_after=40),
    lambda _: Fault(status=500),
    lambda _: Fault(status=500, applied=True),
    lambda _: Fault.timeout_before(),
    lambda _: Fault.timeout_after(),
    lambda _: Fault.refused(),
    lambda _: Fault(status=401, code="unauthorized"),
    lambda _: Fault(status=503),
    lambda chance: chance.choice([None, Fault.timeout_after(), Fault(status=500, applied=True), Fault(status=429)]),
]


class Passing(httpx.BaseTransport):
    """Time passes while an answer is waited for in vain, as long as the errand lets it."""

    def __init__(self, world: NotionWorld) -> None:
        self.world, self.inner = world, world.notion.transport()
        self.written: dict[str, list[str]] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PATCH":
            (value,) = json.loads(request.content)["properties"].values()
            status = next(inner["name"] for inner in value.values())
            self.written.setdefault(request.url.path.rsplit("/", 1)[-1], []).append(status)
        try:
            return self.inner.handle_request(request)
        except httpx.TimeoutException:
            self.world.clock.advance(request.extensions["timeout"]["read"])
            raise


def in_order(statuses: list[str]) -> bool:
    """Never back to an earlier state."""
    ranks = [OPEN.index(each) if each in OPEN else len(OPEN) for each in statuses]
    return ranks == sorted(ranks)


@dataclass
class Drama:
    """Every task is made at a moment of its own, and then goes on step by step until it ends or rests."""

    world: NotionWorld
    chance: random.Random
    start: datetime
    hours: int
    steps: list[tuple[datetime, int, Callable[[], None]]] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    slowest: float = 0.0
    asked: Counter[str] = field(default_factory=Counter)

    def plan(self, count: int) -> None:
        agents = [f"agent-{n:02d}" for n in range(AGENTS)]
        pairs = [(a, b) for a in agents for b in agents if a != b]
        for number in range(count):
            source, target = pairs[number % len(pairs)]
            at = self.start + timedelta(minutes=self.chance.uniform(0, self.hours * 60 - 300))
            self.later(at, partial(self.make, source, target))

    def later(self, at: datetime, step: Callable[[], None]) -> None:
        self.steps.append((at, len(self.steps), step))

    def soon(self, step: Callable[[], None]) -> None:
        self.later(self.world.clock.now() + timedelta(minutes=self.chance.uniform(1, 40)), step)

    def make(self, source: str, target: str) -> None:
        began = self.world.clock.now()
        answer = self.world.mark(agent(source), source_agent=source, target_agent=target)
        self.slowest = max(self.slowest, (self.world.clock.now() - began).total_seconds())
        self.asked[answer.degraded_capabilities[0]["status"] if answer.degraded_capabilities else "ok"] += 1
        if answer.task_id is None:
            return
        task_id = answer.task_id
        self.tasks.append(task_id)
        if self.chance.random() < 0.85:
            self.soon(lambda: self.approve(task_id, target))

    def approve(self, task_id: str, target: str) -> None:
        if self.chance.random() < 0.1:
            cancel_task(self.world.deps, human(), task_id, "not needed")
            return
        approve_task(self.world.deps, human(), task_id, None)
        self.soon(lambda: self.claim(task_id, target))

    def claim(self, task_id: str, target: str) -> None:
        claimer = Claimer(by=agent(target), agent=target, worker="w", lease_seconds=43_200)
        claimed = claim_task(self.world.deps, claimer, task_id)
        if self.chance.random() < 0.9:
            self.soon(lambda: self.end(claimed, target))

    def end(self, claimed: Claimed, target: str) -> None:
        by, task_id = agent(target), claimed.details.task.id
        try:
            if self.chance.random() < 0.8:
                complete_task(
                    self.world.deps,
                    WorkerCall(by, task_id, claimed.claim_id, "h"),
                    CompletedWork(output={"summary": f"did {task_id}"}),
                )
            else:
                failure = {"type": "error", "description": f"could not do {task_id}"}
                fail_task(self.world.deps, WorkerCall(by, task_id, claimed.claim_id, "h"), FailedWork(failure=failure))
        except StaleClaim:
            return

    def play(self) -> None:
        while self.steps and self.world.clock.now() < self.start + timedelta(hours=self.hours):
            self.world.clock.advance(30)
            now = self.world.clock.now()
            due = sorted((step for step in self.steps if step[0] <= now), key=lambda step: step[:2])
            self.steps = [step for step in self.steps if step[0] > now]
            for _, _, step in due:
                step()
            self.world.minutes(1)


@pytest.mark.parametrize(
    ("status_type", "has_task_id", "count", "hours"),
    [
        (STATUS, True, scaled(1_000, 25), range(72) if IS_WHOLE else range(14)),
        (SELECT, False, scaled(250, 8), range(72) if IS_WHOLE else range(14, 26)),
    ],
    ids=["status", "select"],
)
def test_after_days_of_outages_every_task_has_one_page_that_shows_its_last_state(
    status_type: str, has_task_id: bool, count: int, hours: range
) -> None:
    tracker = {} if has_task_id else {"properties": {"task_id": "No such property"}}
    world = NotionWorld(status_type=status_type, tracker=tracker)
    world.notion.recording = False
    world.notion.index_lag = timedelta(seconds=20)
    transport = Passing(world)
    world.deps = world.baton_with(
        NotionTrackers(
            world.deps.secrets,
            "https://notion.example",
            transport=transport,
            clock=world.clock,
            monotonic=lambda: world.clock.now().timestamp(),
        )
    )
    world.settle()
    for number in range(AGENTS):
        register_agent(world.deps, human(), f"agent-{number:02d}", {})
    chance = random.Random(20_261_121)
    start = world.clock.now()

    def trouble(_method: str, _path: str) -> Fault | None:
        hour = hours.start + int((world.clock.now() - start).total_seconds() // 3_600)
        if hour not in hours:
            return None
        if hour in UNSHARED:
            world.notion.unshare(world.tasks.data_source_id)
            return None
        world.notion.share(world.tasks.data_source_id)
        # For a whole hour, then flapping for one.
        return TROUBLES[(hour // 2) % len(TROUBLES)](chance) if hour % 2 or chance.random() < 0.4 else None

    world.notion.fault = trouble
    drama = Drama(world, chance, start, len(hours))
    drama.plan(count)
    drama.play()
    assert len(drama.tasks) == count
    assert drama.slowest <= AT_ONCE_SECONDS + 0.1
    assert set(drama.asked) >= {"ok", "pending", "denied"}

    world.notion.share(world.tasks.data_source_id)
    world.notion.fault = None
    world.minutes(60)

    pages: dict[str, list[str]] = {}
    for page in world.notion.pages.values():
        (named,) = {word for word in page.body.split() if word.startswith("task_")}
        pages.setdefault(named, []).append(page.id)
    assert {task_id for task_id, found in pages.items() if len(found) != 1} == set()
    assert set(pages) == set(drama.tasks)
    assert world.store.tracker.count_waiting_page_syncs(WORKSPACE, 10) == 0
    assert world.store.tracker.dead_page_syncs(WORKSPACE, 10, None).items == ()
    for task_id in drama.tasks:
        task, page = world.task(task_id), world.notion.pages[pages[task_id][0]]
        row = world.row(task_id)
        assert page.status == SHOWN[task.state], task_id
        assert (row.shown, row.page.id if row.page else None) == (task.meta.seq, page.id)
        assert len(page.comment_texts) == task.is_ended, task_id
        assert task.recoveries or in_order(transport.written.get(page.id, []))
        if task.state in {State.DONE, State.FAILED}:
            assert task_id in page.comment_texts[0]
        assert replay(world.store.trail.events(WORKSPACE, task_id, 0, 100)).state is task.state
