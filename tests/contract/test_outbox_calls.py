"""What a tracker costs: the calls to the table, and what is asked of Notion. Without a tracker everything costs what
``test_calls`` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.errors import TrackerAway
from baton.domain.idempotency import Once
from baton.domain.times import seconds
from baton.ports import GateSaved
from baton.services.approve_task import approve_task
from baton.services.change_settings import change_settings
from baton.services.claim_task import Claimer, claim_next
from baton.services.complete_task import complete_task
from baton.services.create_handoff_marker import create_handoff_marker
from baton.services.end_task import cancel_task
from baton.services.receive_webhook import Received
from baton.services.release_review import release_review
from baton.services.sweep import sweep
from baton.services.sync_tracker import sync_tracker
from fake_notion import Fault
from support.notion import NotionWorld
from support.rig import Rig
from support.world import WORKSPACE, agent, human, marker_body

AUDITOR = agent("auditor")
ENOUGH_SECONDS = 120.0


class Office(NotionWorld):
    """On the table, with everything counted."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(store=rig.store, clock=rig.clock)
        self.rig = rig
        self.settle()
        self.quiet()

    def quiet(self) -> None:
        self.tracker_bell.bells.clear()
        self.doorbell.bells.clear()
        self.notion.clear_requests()

    def spent(self, act: Callable[[], Any]) -> tuple[list[str], list[str], int]:
        """Calls to the table, requests to Notion, and bells for the tracker."""
        self.quiet()
        self.rig.store.mark_contact(WORKSPACE, "auditor", self.clock.now())
        calls = self.rig.count(act)
        return (
            calls,
            [f"{call.method} {kind(call.path)}" for call in self.notion.requests],
            len(self.tracker_bell.bells),
        )

    def sent(self, task_id: str | None) -> Any:
        return sync_tracker(self.baton, WORKSPACE, task_id, lambda: ENOUGH_SECONDS)

    def rested(self) -> None:
        """Nothing is due, and people were just listened to."""
        self.sent(None)
        self.clock.advance(1)


def kind(path: str) -> str:
    """Without ids."""
    return "/".join(part for part in path.removeprefix("/v1/").split("/") if "-" not in part)


@pytest.fixture
def office() -> Office:
    return Office(Rig())


def once(key: str = "key") -> Once:
    return Once(human(), "/x", key, "hash")


def marked(office: Office, key: str = "key", **changes: Any) -> Callable[[], Any]:
    return lambda: create_handoff_marker(office.baton, human(), marker_body(**changes), once(key))


MARKER = ["batch_get_item", "get_item", "transact_write_items", "transact_write_items"]


def test_a_marker_with_its_page_takes_two_calls_more_and_one_request(office: Office) -> None:
    """It reads the gate, and notes the page. A process's first page needs the database's columns too."""
    calls, asked, bells = office.spent(marked(office))
    assert calls == MARKER
    assert asked == ["GET databases", "GET data_sources", "POST pages"]
    assert bells == 0
    calls, asked, bells = office.spent(marked(office, "key-2", target_agent="runner"))
    assert calls == MARKER
    assert asked == ["POST pages"]
    assert bells == 0


def test_a_marker_behind_a_closed_gate_asks_the_tracker_for_nothing(office: Office) -> None:
    closed(office)
    assert office.spent(marked(office)) == (MARKER[:-1], [], 1)


def test_a_marker_whose_tracker_fails_notes_that_and_closes_the_gate(office: Office) -> None:
    office.notion.fault = lambda _method, _path: Fault(status=429, retry_after=30)
    calls, _, bells = office.spent(marked(office))
    assert calls == [*MARKER[:-1], "get_item", "transact_write_items", "transact_write_items"]
    assert bells == 1


def test_a_repeat_and_a_prevented_duplicate_read_the_page_too(office: Office) -> None:
    marked(office)()
    assert office.spent(marked(office)) == (["batch_get_item", "get_item"], [], 0)
    duplicate = ["batch_get_item", "get_item", "transact_write_items"]
    assert office.spent(marked(office, "key-2")) == (duplicate, [], 0)


def test_a_text_costs_what_it_costs_without_a_tracker(office: Office) -> None:
    assert office.spent(marked(office, create_task=False)) == (["batch_get_item", "transact_write_items"], [], 0)


def steps(world: Any) -> dict[str, Callable[[], Any]]:
    """A task's life after the marker."""
    (task,) = world.store.tasks_of_agent(WORKSPACE, "auditor", 1, None).items
    claims: list[Any] = []

    def claim() -> None:
        world.clock.advance(3)
        claims.append(claim_next(world.baton, Claimer(by=AUDITOR, agent="auditor", worker="w")))

    return {
        "approve": lambda: approve_task(world.baton, human(), task.id, 1),
        "claim": claim,
        "complete": lambda: complete_task(world.baton, AUDITOR, task.id, claims[0].claim_id, {"x": 1}, "h"),
    }


def test_a_change_of_a_task_takes_no_write_more_and_a_bell() -> None:
    """What goes to the tracker is in the transaction of the change. The answer tells of the row, so that is read."""
    bare = Rig().settle()
    bare.world.mark(agent("scout"))
    bare.store.mark_contact(WORKSPACE, "auditor", bare.clock.now())
    without = [bare.count(step) for step in steps(bare.world).values()]
    office = Office(Rig())
    office.mark(agent("scout"))
    found = [office.spent(step) for step in steps(office).values()]
    assert found == [([*calls, "get_item"], [], 1) for calls in without]


def test_a_sweep_of_a_task_takes_no_call_more() -> None:
    def spent(world: Any, rig: Rig) -> list[str]:
        world.ready(target_agent="runner")
        assert claim_next(world.baton, Claimer(by=agent("runner"), agent="runner", worker="w", lease_seconds=60))
        world.clock.advance(61)
        return sorted(rig.count(lambda: sweep(world.baton)))  # its shard, and so the order, is a matter of chance

    bare = Rig().settle()
    without = spent(bare.world, bare)
    office = Office(Rig())
    assert spent(office, office.rig) == without


def test_sending_a_changed_row_takes_three_calls_and_two_requests(office: Office) -> None:
    """Reads it, holds it, notes it; looks before it writes. The other three are a sync's own: settings, gate, and what
    else is due. (A process's first request asks who it is, too.)"""
    task_id = office.needing()
    office.rested()
    approve_task(office.baton, human(), task_id, None)
    office.clock.advance(3)
    office.claim()
    calls, asked, _ = office.spent(lambda: office.sent(task_id))
    send = ["query", "transact_write_items", "transact_write_items"]
    assert calls == ["get_item", "get_item", *send, "query"]
    assert asked == ["GET pages", "PATCH pages"]


def test_telling_the_end_takes_a_reading_and_two_requests_more(office: Office) -> None:
    task_id = office.needing()
    office.rested()
    cancel_task(office.baton, human(), task_id, "not needed")
    calls, asked, _ = office.spent(lambda: office.sent(task_id))
    # Who ended it is read once: for whether the page is theirs, and for what is said of it.
    send = ["query", "transact_write_items", "query", "transact_write_items"]
    assert calls == ["get_item", "get_item", *send, "query"]
    assert asked == ["GET pages", "PATCH pages", "GET comments", "POST comments"]


def test_a_change_that_the_page_need_not_show_asks_for_nothing(office: Office) -> None:
    task_id = office.needing()
    office.rested()
    approve_task(office.baton, human(), task_id, None)
    calls, asked, _ = office.spent(lambda: office.sent(task_id))
    assert len(calls) == 5
    assert asked == []


@pytest.mark.parametrize("named", [True, False])
def test_a_sync_with_a_closed_gate_reads_twice_and_asks_for_nothing(office: Office, named: bool) -> None:
    task_id = office.needing()
    cancel_task(office.baton, human(), task_id, None)
    closed(office)
    assert office.spent(lambda: office.sent(task_id if named else None)) == (["get_item"] * 2, [], 0)


def test_a_sync_with_nothing_to_send_reads_three_times(office: Office) -> None:
    office.rested()
    assert office.spent(lambda: office.sent(None)) == (["get_item", "get_item", "query"], [], 0)


def test_a_bell_for_a_row_that_was_sent_reads_it_and_leaves_it(office: Office) -> None:
    task_id = office.needing()
    office.rested()
    assert office.spent(lambda: office.sent(task_id)) == (["get_item", "get_item", "query", "query"], [], 0)


def test_a_sync_where_no_tracker_is_reads_twice() -> None:
    rig = Rig().settle()
    assert rig.count(lambda: sync_tracker(rig.world.baton, WORKSPACE, None, lambda: ENOUGH_SECONDS)) == ["get_item"] * 2


def test_listening_to_people_costs_two_gates_and_one_report_each(office: Office) -> None:
    """Besides one reading of whose pages they are. After ten minutes the database's columns are read again."""
    task_id = office.needing()
    office.rested()
    base = office.spent(lambda: office.sent(None))[0]
    office.clock.advance(601)
    quiet = office.spent(lambda: office.sent(None))
    reconciled, rest = ["get_item", "transact_write_items"], ["query", "get_item", "transact_write_items"]
    assert quiet == ([*base, *reconciled, *rest], ["GET databases", "GET data_sources", "POST data_sources/query"], 0)
    office.clock.advance(601)
    office.notion.edit(office.page(task_id).id, status="Blocked")
    heard = office.spent(lambda: office.sent(None))
    assert heard[0] == [*base, "batch_get_item", "transact_write_items", *reconciled, *rest]
    assert (heard[1], heard[2]) == (quiet[1], 1)


def test_a_sweep_rings_for_three_trackers_without_a_call_more() -> None:
    rig = Rig().settle()
    without = rig.count(lambda: sweep(rig.world.baton))
    office = Office(Rig())
    for workspace in ("acme", "beta", "gamma"):
        change_settings(office.baton, human(workspace), {"tracker": {"database": office.tasks.id}})
    office.clock.advance(1)
    assert office.spent(lambda: sweep(office.baton)) == (without, [], 3)


def test_a_delivery_of_the_webhook_takes_three_calls_and_a_bell(office: Office) -> None:
    """The webhook, whose page it is, and the report. The first one is noted besides."""
    task_id = office.needing()
    hook = office.hook()
    office.notion.edit(office.page(task_id).id, title="first")
    calls, _, bells = office.spent(lambda: office.notion.edit(office.page(task_id).id, status="Blocked"))
    assert calls == ["get_item", "batch_get_item", "transact_write_items"]
    assert bells == 1
    assert hook.received[-1] is Received.REPORTED


def test_no_transaction_comes_near_the_limit(office: Office) -> None:
    """The longest: a human releases a capped escalation. Its row comes along."""
    office.rig.raw.largest_transaction = 0
    for number in range(2):
        task_id = office.mark(human()).task_id
        assert task_id
        cancel_task(office.baton, human(), task_id, f"{number}")
    review_id = office.mark(human()).review_id
    assert review_id
    release_review(office.baton, human(), review_id, once())
    assert office.rig.raw.largest_transaction == 11


def closed(office: Office) -> None:
    gate = office.store.gate(WORKSPACE).closed(TrackerAway("silence", retry_after=300), office.clock.now())
    office.store.commit(WORKSPACE, None, [GateSaved(gate)])
    assert not gate.is_open(office.clock.now() + seconds(299))
