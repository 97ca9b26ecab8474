"""What a tracker costs: the calls to the table, and what is asked of Notion. Without a tracker everything costs what
``test_calls`` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.agents.liveness import MARKED_EVERY
from baton.domain.errors import TrackerAway
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import Seen, WorkerCall
from baton.domain.times import seconds
from baton.ports.writes import Save
from baton.services.access.change_settings import change_settings
from baton.services.claims.claim_task import claim_next
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.escalations.release_review import release_review
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.services.tracker.receive_webhook import Received
from baton.services.tracker.sync_tracker import sync_tracker
from baton.steps.claims.take_task import Claimer
from support.worlds.notion_world import NotionWorld
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human, marker_body
from tools.stand_ins.fake_notion import Fault

AUDITOR = agent("auditor")
ENOUGH_SECONDS = 120.0


class CountedNotionWorld(NotionWorld):
    """On the table, with everything counted."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(store=rig.store, clock=rig.clock)
        self.rig = rig
        self.settle()
        self.quiet()

    def quiet(self) -> None:
        self.tracker_queue.notices.clear()
        self.dispatch_queue.notices.clear()
        self.notion.clear_requests()

    def spent(self, act: Callable[[], Any]) -> tuple[list[str], list[str], int]:
        """Calls to the table, requests to Notion, and notices for the tracker."""
        self.quiet()
        self.rig.store.contacts.mark_contact(WORKSPACE, "auditor", self.clock.now(), MARKED_EVERY)
        self.rig.store.agents.roster(WORKSPACE)
        calls = self.rig.count(act)
        return (
            calls,
            [f"{call.method} {kind(call.path)}" for call in self.notion.requests],
            len(self.tracker_queue.notices),
        )

    def sent(self, task_id: str | None) -> Any:
        return sync_tracker(self.deps, WORKSPACE, task_id, lambda: ENOUGH_SECONDS)

    def rested(self) -> None:
        """Nothing is due, and people were just listened to."""
        self.sent(None)
        self.clock.advance(1)


def kind(path: str) -> str:
    """Without ids."""
    return "/".join(part for part in path.removeprefix("/v1/").split("/") if "-" not in part)


@pytest.fixture
def world() -> CountedNotionWorld:
    return CountedNotionWorld(Rig())


def idempotency_key(key: str = "key") -> IdempotencyKey:
    return IdempotencyKey(human(), "/x", key, "hash")


def marked(world: CountedNotionWorld, key: str = "key", **changes: Any) -> Callable[[], Any]:
    def mark() -> Any:
        with world.request():
            return create_handoff_marker(world.deps, human(), marker_body(**changes), idempotency_key(key))

    return mark


MARKER = [
    "get_item",
    "batch_get_item",
    "get_item",
    "put_item",
    "put_item",
    "transact_write_items",
    "transact_write_items",
]


def test_a_marker_with_its_page_takes_two_calls_more_and_one_request(world: CountedNotionWorld) -> None:
    """It reads the circuit, and notes the page. A process's first page needs the database's columns too."""
    calls, asked, notices = world.spent(marked(world))
    assert calls == MARKER
    assert asked == ["GET databases", "GET data_sources", "POST pages"]
    assert notices == 0
    calls, asked, notices = world.spent(marked(world, "key-2", target_agent="runner"))
    assert calls == MARKER
    assert asked == ["POST pages"]
    assert notices == 0


def test_a_marker_behind_an_open_circuit_asks_the_tracker_for_nothing(world: CountedNotionWorld) -> None:
    closed(world)
    assert world.spent(marked(world)) == (MARKER[:-1], [], 1)


def test_a_marker_whose_tracker_fails_notes_that_and_opens_the_circuit(world: CountedNotionWorld) -> None:
    world.notion.fault = lambda _method, _path: Fault(status=429, retry_after=30)
    calls, _, notices = world.spent(marked(world))
    assert calls == [*MARKER[:-1], "get_item", "put_item", "put_item"]
    assert notices == 1


def test_a_repeat_and_a_prevented_duplicate_read_the_page_too(world: CountedNotionWorld) -> None:
    marked(world)()
    assert world.spent(marked(world)) == (["get_item", "batch_get_item", "get_item"], [], 0)
    duplicate = ["get_item", "batch_get_item", "batch_get_item", "get_item", "transact_write_items"]
    assert world.spent(marked(world, "key-2")) == (duplicate, [], 0)


def test_a_text_costs_what_it_costs_without_a_tracker(world: CountedNotionWorld) -> None:
    assert world.spent(marked(world, create_task=False)) == (["get_item", "batch_get_item", "put_item"], [], 0)


def steps(world: Any) -> dict[str, Callable[[], Any]]:
    """A task's life after the marker."""
    (task,) = world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 1, None).items
    claims: list[Any] = []

    def claim() -> None:
        world.clock.advance(3)
        claims.append(claim_next(world.deps, Claimer(by=AUDITOR, agent="auditor", worker="w")))

    return {
        "approve": lambda: approve_task(world.deps, human(), task.id, Seen(1)),
        "claim": claim,
        "complete": lambda: complete_task(
            world.deps, WorkerCall(AUDITOR, task.id, claims[0].claim_id, "h"), CompletedWork(output={"x": 1})
        ),
    }


def test_a_change_of_a_task_takes_no_write_more_and_a_notice() -> None:
    """What the page has to show follows from HEAD. The answer tells of the row, so that is read."""
    bare = Rig().settle()
    bare.world.mark(agent("scout"))
    bare.store.contacts.mark_contact(WORKSPACE, "auditor", bare.clock.now(), MARKED_EVERY)
    without = [bare.count(step) for step in steps(bare.world).values()]
    world = CountedNotionWorld(Rig())
    world.mark(agent("scout"))
    found = [world.spent(step) for step in steps(world).values()]
    assert found == [([*calls, "get_item"], [], 1) for calls in without]


def test_a_sweep_of_a_task_takes_no_call_more() -> None:
    def spent(world: Any, rig: Rig) -> list[str]:
        world.ready(target_agent="runner")
        assert claim_next(world.deps, Claimer(by=agent("runner"), agent="runner", worker="w", lease_seconds=60))
        world.clock.advance(61)
        return sorted(rig.count(lambda: sweep(world.deps)))  # its shard, and so the order, is a matter of chance

    bare = Rig().settle()
    without = spent(bare.world, bare)
    world = CountedNotionWorld(Rig())
    assert spent(world, world.rig) == without


def test_sending_a_changed_row_takes_three_calls_and_two_requests(world: CountedNotionWorld) -> None:
    """Reads it, holds it, notes it; looks before it writes. The other three are a sync's own: settings, circuit, and
    what else is due. (A process's first request asks who it is, too.)"""
    task_id = world.needing()
    world.rested()
    approve_task(world.deps, human(), task_id, None)
    world.clock.advance(3)
    world.claim()
    calls, asked, _ = world.spent(lambda: world.sent(task_id))
    send = ["query", "put_item", "put_item"]
    assert calls == ["get_item", "get_item", *send, "query"]
    assert asked == ["GET pages", "PATCH pages"]


def test_telling_the_end_takes_two_requests_more(world: CountedNotionWorld) -> None:
    task_id = world.needing()
    world.rested()
    cancel_task(world.deps, human(), task_id, "not needed")
    calls, asked, _ = world.spent(lambda: world.sent(task_id))
    # HEAD tells who ended it: for whether the page is theirs, and for what is said of it.
    send = ["query", "put_item", "put_item"]
    assert calls == ["get_item", "get_item", *send, "query"]
    assert asked == ["GET pages", "PATCH pages", "GET comments", "POST comments"]


def test_a_change_that_the_page_need_not_show_asks_for_nothing(world: CountedNotionWorld) -> None:
    task_id = world.needing()
    world.rested()
    approve_task(world.deps, human(), task_id, None)
    calls, asked, _ = world.spent(lambda: world.sent(task_id))
    assert len(calls) == 5
    assert asked == []


@pytest.mark.parametrize("status", ["Done", "Cancelled"])
def test_a_page_that_a_person_closed_takes_no_transaction_that_is_refused(
    world: CountedNotionWorld, status: str
) -> None:
    """The person's change is read, the task ends, and the row that its end has changed is read before it is noted."""
    task_id = world.needing()
    world.hook()
    world.rested()
    world.notion.edit(world.page(task_id).id, status=status)
    calls, asked, _ = world.spent(lambda: world.sent(task_id))
    held = ["get_item", "get_item", "query", "put_item"]
    ended = ["get_item", "get_item", "put_item", "get_item", "query"]  # the person's right is in the settings
    # Its end's event shows that the task ended on this page, so that the person's status stays.
    assert calls == [*held, *ended, "put_item", "query"]
    assert asked == ["GET pages", "GET users"]


def test_a_sync_with_an_open_circuit_reads_twice_and_asks_for_nothing(world: CountedNotionWorld) -> None:
    task_id = world.needing()
    cancel_task(world.deps, human(), task_id, None)
    closed(world)
    assert world.spent(lambda: world.sent(None)) == (["get_item"] * 2, [], 0)


def test_a_notice_that_meets_an_open_circuit_is_kept_with_one_call_more(world: CountedNotionWorld) -> None:
    task_id = world.needing()
    cancel_task(world.deps, human(), task_id, None)
    closed(world)
    assert world.spent(lambda: world.sent(task_id)) == (["get_item", "get_item", "query", "put_item"], [], 0)
    assert world.row(task_id).due_at == world.clock.now()
    assert world.spent(lambda: world.sent(task_id)) == (["get_item", "get_item", "query"], [], 0)


def test_a_sync_with_nothing_to_send_reads_four_times_and_the_open_pages(world: CountedNotionWorld) -> None:
    world.rested()
    nothing = ["get_item", "get_item", "query", "query"]
    assert world.spent(lambda: world.sent(None)) == (nothing, [], 0)
    world.needing()
    assert world.spent(lambda: world.sent(None)) == ([*nothing, "batch_get_item"], [], 0)


def test_a_notice_for_a_row_that_was_sent_reads_it_and_leaves_it(world: CountedNotionWorld) -> None:
    task_id = world.needing()
    world.rested()
    assert world.spent(lambda: world.sent(task_id)) == (["get_item", "get_item", "query", "query"], [], 0)


def test_a_sync_where_no_tracker_is_reads_twice() -> None:
    rig = Rig().settle()
    rig.store.agents.roster(WORKSPACE)
    assert rig.count(lambda: sync_tracker(rig.world.deps, WORKSPACE, None, lambda: ENOUGH_SECONDS)) == ["get_item"] * 2


def test_listening_to_people_costs_two_circuits_and_one_report_each(world: CountedNotionWorld) -> None:
    """Besides one reading of whose pages they are. After ten minutes the database's columns are read again."""
    task_id = world.needing()
    world.rested()
    base = world.spent(lambda: world.sent(None))[0]
    world.clock.advance(601)
    quiet = world.spent(lambda: world.sent(None))
    reconciled, rest = ["get_item", "put_item"], ["query", "get_item", "put_item"]
    asked = ["GET databases", "GET data_sources", "POST data_sources/query"]
    assert quiet == ([*base, *reconciled, *rest], asked, 0)
    world.clock.advance(601)
    world.notion.edit(world.page(task_id).id, status="Blocked")
    heard = world.spent(lambda: world.sent(None))
    assert heard[0] == [*base, "batch_get_item", "transact_write_items", *reconciled, *rest]
    assert (heard[1], heard[2]) == (quiet[1], 1)


def test_a_sweep_rings_for_three_trackers_without_a_call_more() -> None:
    rig = Rig().settle()
    without = rig.count(lambda: sweep(rig.world.deps))
    world = CountedNotionWorld(Rig())
    for workspace in ("acme", "beta", "gamma"):
        change_settings(world.deps, human(workspace), {"tracker": {"database": world.tasks.id}})
    world.clock.advance(1)
    assert world.spent(lambda: sweep(world.deps)) == (without, [], 3)


def test_a_delivery_of_the_webhook_takes_three_calls_and_a_notice(world: CountedNotionWorld) -> None:
    """The webhook, whose page it is, and the report. The first one is noted besides."""
    task_id = world.needing()
    hook = world.hook()
    world.notion.edit(world.page(task_id).id, title="first")
    calls, _, notices = world.spent(lambda: world.notion.edit(world.page(task_id).id, status="Blocked"))
    assert calls == ["get_item", "batch_get_item", "transact_write_items"]
    assert notices == 1
    assert hook.received[-1] is Received.REPORTED


def test_no_transaction_comes_near_the_limit(world: CountedNotionWorld) -> None:
    """The longest: a human releases a capped escalation. Its row comes along."""
    world.rig.raw.largest_transaction = 0
    for number in range(2):
        task_id = world.mark(human()).task_id
        assert task_id
        cancel_task(world.deps, human(), task_id, f"{number}")
    review_id = world.mark(human()).review_id
    assert review_id
    release_review(world.deps, human(), review_id, idempotency_key())
    assert world.rig.raw.largest_transaction == 6


def closed(world: CountedNotionWorld) -> None:
    circuit = world.store.tracker.circuit(WORKSPACE).opened(TrackerAway("silence", retry_after=300), world.clock.now())
    world.store.commit(WORKSPACE, Save(circuit))
    assert circuit.is_open(world.clock.now() + seconds(299))
