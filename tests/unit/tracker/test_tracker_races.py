"""Invariant 11 under threads: senders, workers, people and imports at the same page at once, and the winners
counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Condition

import pytest

from baton.domain.access.principal import SYNC_TRACKER, system
from baton.domain.errors import Conflict, HandshakeClosed, Refused
from baton.domain.idempotency import IdempotencyKey
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.transitions import Dispatch, create
from baton.domain.tracker.page_sync import INDEX_SECONDS, UNCLEAR_SECONDS, Sync, opened
from baton.ports.deps import Deps
from baton.ports.writes import MakePageDue, Save
from baton.services.claims.claim_task import claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.escalations.create_handoff_marker import MarkerAnswer, create_handoff_marker
from baton.services.tasks.end_task import cancel_task
from baton.services.tracker.import_tracker import Imported, import_tracker
from baton.services.tracker.open_webhook import open_webhook, webhook_of
from baton.services.tracker.receive_webhook import Received, receive_webhook
from baton.steps.claims.take_task import Claimed, Claimer
from baton.steps.idempotency import apply_once
from baton.steps.tracker.page_delivery import PageResult
from baton.steps.tracker.send_page import send_page
from notion_webhook.delivery import NotionEvent
from support.faults.soak import scaled
from support.faults.threads import StillClock, at_once, race
from support.values.changes import with_body
from support.values.tasks import SETTINGS, a_new_task, an_agent
from support.worlds.notion_world import NotionWorld
from support.worlds.world import WORKSPACE, agent, human, marker_body
from tools.stand_ins.fake_notion import Fault

pytestmark = pytest.mark.slow

AUDITOR = agent("auditor")
TIMES = scaled(3, 3)
SHOWN = {State.NEEDS: "Not started", State.DONE: "Done", State.CANCELLED: "Cancelled"}
ENDS = {"handoff_completed", "resolved", "cancelled"}


class Turnstile:
    """Lets whoever waits through once it was passed ``count`` times."""

    def __init__(self, count: int) -> None:
        self.left, self.changed = count, Condition()

    def passed(self) -> None:
        with self.changed:
            self.left -= 1
            self.changed.notify_all()

    def wait(self) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.left <= 0, timeout=30)


@pytest.fixture
def world() -> NotionWorld:
    world = NotionWorld().settle()
    world.notion.recording = False
    return world


def still(world: NotionWorld) -> Deps:
    """The world's Baton for many threads."""
    return replace(world.deps, clock=StillClock(world.clock.now()), log=lambda *_, **__: None)


def mirrored_tasks(world: NotionWorld, many: int) -> list[str]:
    """Approved long ago, each with a row that nobody has sent yet; put in without the direction's limits."""
    asked_at = world.clock.now() - timedelta(seconds=10)
    for number in range(many):
        new = a_new_task(
            id=f"task_{number:026d}", kind="transfer", created_at=asked_at, created_by="human:alice", mirrored=True
        )
        change = create(new, human(), asked_at, Dispatch(an_agent(), SETTINGS))
        row = opened(change.task, None, 3.0)
        world.store.commit(WORKSPACE, with_body(change, {"text": f"Do {number}"}), Save(row))
    return [f"task_{number:026d}" for number in range(many)]


def claimed(deps: Deps, task_id: str) -> Claimed:
    return claim_task(deps, Claimer(by=AUDITOR, agent="auditor", worker="w"), task_id)


def held_creations(world: NotionWorld, circuit: Callable[[], None]) -> list[str]:
    """Every creation waits for ``circuit`` while it is under way."""
    created: list[str] = []

    def fault(method: str, path: str) -> Fault | None:
        if (method, path) == ("POST", "/v1/pages"):
            created.append(path)
            circuit()
        return None

    world.notion.fault = fault
    return created


@pytest.mark.parametrize("first", [Fault(status=500), Fault.timeout_after(), Fault.refused()])
def test_16_senders_of_one_row_make_one_page(world: NotionWorld, first: Fault) -> None:
    """After a creation that ended unclear, and after one that never began: while the one that holds the row is at it,
    everybody else goes away."""
    world.notion.fault = lambda method, _path: first if method == "POST" else None
    task_id = world.needing()
    was_made = len(world.notion.pages)
    world.clock.advance(UNCLEAR_SECONDS + INDEX_SECONDS)
    deps, settings, others = still(world), world.tracker_settings, Turnstile(15)
    created = held_creations(world, others.wait)

    def step() -> PageResult | None:
        sent = send_page(deps, settings, WORKSPACE, task_id)
        if sent is None:
            others.passed()
        return sent

    answers = at_once(16, step)
    sent = [answer for answer in answers if isinstance(answer, PageResult)]
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert [each.status for each in sent] == [Sync.OK]
    assert len(created) == 1 - was_made
    (page,) = world.notion.pages
    assert world.store.tracker.page_holders(WORKSPACE, [page]) == {page: task_id}


def test_64_markers_in_one_direction_make_one_task_and_one_page_and_63_do_not_wait_for_it(world: NotionWorld) -> None:
    others = Turnstile(63)
    created = held_creations(world, others.wait)
    deps = still(world)

    def step() -> MarkerAnswer:
        answer = create_handoff_marker(deps, agent("scout"), marker_body())
        if answer.duplicate_of:
            others.passed()
        return answer

    answers = [answer for answer in at_once(64, step) if isinstance(answer, MarkerAnswer)]
    (made,) = [answer for answer in answers if answer.task_id]
    assert Counter(answer.duplicate_of for answer in answers) == {None: 1, made.task_id: 63}
    assert len(created) == 1
    assert list(world.notion.pages) == [made.tracker_page_id]


def test_whatever_senders_and_workers_do_at_once_one_page_ends_with_the_last_state(world: NotionWorld) -> None:
    rounds = scaled(200)
    tasks, settings = mirrored_tasks(world, rounds), world.tracker_settings
    deps = still(world)
    turn = Barrier(4)

    def step(number: int, runner: int) -> None:
        task_id = tasks[number]
        turn.wait(timeout=30)
        if runner == 0:
            claim = claimed(deps, task_id)
            complete_task(
                deps, WorkerCall(AUDITOR, task_id, claim.claim_id, "h"), CompletedWork(output={"summary": "did it"})
            )
        elif runner == 1 and number % 2:
            cancel_task(deps, human(), task_id, None)
        else:
            send_page(deps, settings, WORKSPACE, task_id)

    answers = race(4, rounds, step)
    assert {type(a) for each in answers for a in each if isinstance(a, Exception) and not isinstance(a, Refused)} <= {
        Conflict
    }
    world.tracker_queue.notify(WORKSPACE)
    world.minutes(2)
    assert Counter(page.task_id for page in world.notion.pages.values()) == dict.fromkeys(tasks, 1)
    for page in world.notion.pages.values():
        task, row = world.task(page.task_id or ""), world.row(page.task_id or "")
        assert task.is_ended
        assert (page.status, len(page.comment_texts)) == (SHOWN[task.state], 1)
        assert (row.status, row.shown, row.sender, row.due_at) == (Sync.OK, task.meta.seq, None, None)
        assert world.store.tracker.page_holders(WORKSPACE, [page.id]) == {page.id: task.id}


def test_of_32_handshakes_at_once_one_is_taken(world: NotionWorld) -> None:
    _, address = open_webhook(world.deps, human())
    deps = still(world)

    def step(_number: int, runner: int) -> tuple[Received, str]:
        token = f"secret_{runner}"
        content = {"verification_token": token}
        return receive_webhook(deps, address, NotionEvent(b"", content, None)), token

    (answers,) = race(32, 1, step)
    (taken,) = [answer for answer in answers if isinstance(answer, tuple)]
    assert taken == (Received.INSTALLED, webhook_of(deps, human()).token)
    assert Counter(type(answer) for answer in answers if isinstance(answer, Exception)) == {HandshakeClosed: 31}


def test_16_imports_at_once_bring_each_page_over_once(world: NotionWorld) -> None:
    names = ("Scout", "Client Repo Auditor", "Runner")
    pairs = [(source, target) for source in names for target in names if source != target]
    for source, target in pairs * TIMES:
        title = f"Handoff: {source} → {target} — 2026-11-16"
        at = world.clock.now() - timedelta(days=2)
        world.notion.add_page(world.tasks.data_source_id, title=title, created_at=at)
    deps = still(world)
    answers = at_once(16, lambda: import_tracker(deps, human(), lambda: True))
    done = [answer for answer in answers if isinstance(answer, Imported)]
    rest = import_tracker(world.deps, human(), lambda: True)
    assert sum(each.opened for each in done) + rest.opened == len(pairs) * TIMES
    holders = world.store.tracker.page_holders(WORKSPACE, list(world.notion.pages))
    assert len(set(holders.values())) == len(holders) == len(pairs) * TIMES
    slugs = ("scout", "auditor", "runner")
    made = [task for slug in slugs for task in world.store.lists.tasks_of_agent(WORKSPACE, slug, 100, None).items]
    assert {task.id for task in made} == set(holders.values())


@pytest.mark.parametrize("who_goes_first", ["nobody", "worker", "sender"])
def test_closed_in_notion_and_completed_at_once_a_task_ends_once_and_its_page_says_so(
    world: NotionWorld, who_goes_first: str
) -> None:
    rounds = scaled(30, 5)
    tasks, settings = mirrored_tasks(world, rounds), world.tracker_settings
    deps = still(world)
    claims = {task_id: claimed(deps, task_id) for task_id in tasks}
    for task_id in tasks:
        send_page(deps, settings, WORKSPACE, task_id)
        world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Cancelled")
        delivery = IdempotencyKey(system(WORKSPACE, SYNC_TRACKER), "deliveries", task_id, "")
        assert apply_once(deps, delivery, [MakePageDue(task_id, deps.clock.now())])
    looked, ended = [Turnstile(1) for _ in tasks], [Turnstile(1) for _ in tasks]

    def step(number: int, runner: int) -> None:
        task_id = tasks[number]
        if runner == 0:
            if who_goes_first == "sender":
                looked[number].wait()
            try:
                complete_task(
                    deps,
                    WorkerCall(AUDITOR, task_id, claims[task_id].claim_id, "h"),
                    CompletedWork(output={"summary": "did it"}),
                )
            finally:
                ended[number].passed()
        else:
            if who_goes_first == "worker":  # it has read the task, and now comes to read the page
                world.notion.fault = lambda _method, path: (
                    ended[number].wait() if path.startswith("/v1/pages/") else None
                )
            try:
                send_page(deps, settings, WORKSPACE, task_id)
            finally:
                looked[number].passed()

    race(2, rounds, step)
    world.notion.fault = None
    world.tracker_queue.notify(WORKSPACE)
    world.minutes(2)
    first: Counter[str] = Counter()
    for task_id in tasks:
        task, page = world.task(task_id), world.page(task_id)
        (end,) = [kind for kind in world.trail(task_id) if kind in ENDS]
        first[end] += 1
        is_theirs = end == "cancelled"
        assert task.state is (State.CANCELLED if is_theirs else State.DONE)
        assert (page.status, len(page.comment_texts)) == (SHOWN[task.state], 0 if is_theirs else 1)
    assert who_goes_first == "nobody" or set(first) == {
        {"worker": "handoff_completed", "sender": "cancelled"}[who_goes_first]
    }
