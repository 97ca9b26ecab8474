"""The outbox to the tracker: its rows, whose page is whose, circuits and webhooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from baton.adapters.dynamodb.table import from_wire
from baton.adapters.dynamodb.tracker.tracker_reads import OPEN_AT_ONCE, ROWS_PAGE
from baton.domain.access.principal import SYNC_TRACKER, system
from baton.domain.errors import Conflict, KeyTaken, NoRoom, PageHeld
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.task import Task
from baton.domain.times import from_ms, seconds, to_ms
from baton.domain.tracker.page_changes import MAX_REPORTS
from baton.domain.tracker.page_sync import MAX_MESSAGE, PageLink, PageSync, Sync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.ports.store import Store
from baton.ports.writes import Insert, KeepReports, MakePageDue, Save, SaveResponse, Write
from support.clock import NOON
from support.fakes.fake_dynamo import refusal
from support.fakes.fake_dynamo.sizes import item_bytes as size
from support.faults.choke_point import at_call, comes_first
from support.values.changes import new, then, with_body
from support.values.records import PAGE_ID, a_circuit, a_page, a_page_sync, a_webhook, add_page_syncs
from support.values.tasks import MS
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

LATER = NOON + seconds(60)
UNDASHED = PAGE_ID.replace("-", "")
OTHER_PAGE = "0" * 32
REPORT = IdempotencyKey(system(WORKSPACE, SYNC_TRACKER), "edits of pages", "edit-1", "")


def opened(store: Store, task_id: str = "task_1", **values: Any) -> tuple[Task, PageSync]:
    """A task and its row, as one commit."""
    change, row = new(task_id, mirrored=True), a_page_sync(task_id, **values)
    store.commit(WORKSPACE, with_body(change, {"text": "x"}), Save(row))
    return change.task, row


def save(store: Store, row: PageSync, *extras: Write, **changes: Any) -> PageSync:
    after = replace(row, version=row.version + 1, **changes)
    store.commit(WORKSPACE, Save(after), *extras)
    return after


def report(
    store: Store,
    task_id: str = "task_1",
    key: str = "edit-1",
    forget_at: Any = None,
    reports: frozenset[str] = frozenset(),
) -> None:
    due = MakePageDue(task_id, LATER, reports)
    store.commit(WORKSPACE, due, SaveResponse(replace(REPORT, key=key), {}, forget_at))


def put_back(store: Store, task: Task, row: PageSync, at: Any = LATER) -> None:
    """By a process that finds the task changed, and the row not to be sent now."""
    after = row.put_back(then(task, title="y").task, at)
    assert after is not None
    save(store, after)


# Reports of changes and their authors


def test_reports_are_kept_until_they_are_handled(store: Store) -> None:
    _, row = opened(store)
    for number in (1, 2):
        report(store, key=f"edit-{number}", reports=frozenset({f"u1 status event{number}"}))
    found = store.tracker.page_sync(WORKSPACE, "task_1")
    assert found is not None
    assert found == replace(
        row, looks=2, due_at=LATER, version=3, reports=frozenset({"u1 status event1", "u1 status event2"})
    )
    after = save(store, found.without_reports(frozenset({"u1 status event1"})))
    assert store.tracker.page_sync(WORKSPACE, "task_1") == after
    assert after.reports == frozenset({"u1 status event2"})
    cleared = save(store, after.without_reports(after.reports))
    assert store.tracker.page_sync(WORKSPACE, "task_1") == cleared


def test_a_page_without_room_refuses_reports_and_is_due_without_them(store: Store) -> None:
    _, row = opened(store)
    kept = frozenset(f"u1 status event{number}" for number in range(MAX_REPORTS))
    save(store, replace(row, reports=kept))
    with pytest.raises(NoRoom):
        report(store, reports=frozenset({"u2 status event"}))
    report(store)
    found = store.tracker.page_sync(WORKSPACE, "task_1")
    assert found is not None
    assert (found.looks, found.due_at, found.reports) == (1, LATER, kept)


def test_reports_of_bots_are_kept_without_a_look(store: Store) -> None:
    _, row = opened(store)
    kept = KeepReports("task_1", frozenset({"bot status event"}))
    store.commit(WORKSPACE, kept, SaveResponse(REPORT, {}, None))
    assert store.tracker.page_sync(WORKSPACE, "task_1") == replace(row, version=2, reports=kept.reports)
    save(store, replace(row, version=2, reports=frozenset(f"u1 status event{each}" for each in range(MAX_REPORTS))))
    for task_id in ("task_1", "task_2"):  # the one has no room, the other no page
        other = replace(kept, task_id=task_id, reports=frozenset({"bot status other"}))
        with pytest.raises(NoRoom):
            store.commit(WORKSPACE, other, SaveResponse(replace(REPORT, key=task_id), {}, None))


# Rows


def test_a_row_opens_with_its_task(store: Store) -> None:
    task, row = opened(store)
    assert store.tasks.load(WORKSPACE, "task_1")[0] == task
    assert store.tracker.page_sync(WORKSPACE, "task_1") == row
    assert store.tasks.read(WORKSPACE, "task_1").page_sync == row
    assert store.tasks.read(WORKSPACE, "task_1", with_body=True).page_sync == row


def test_a_task_without_a_tracker_has_no_row(store: Store) -> None:
    store.commit(WORKSPACE, new())
    assert store.tracker.page_sync(WORKSPACE, "task_1") is None
    assert store.tasks.read(WORKSPACE, "task_1").page_sync is None
    assert store.tracker.page_sync(WORKSPACE, "unknown") is None


def test_the_rows_of_many_tasks_are_read_at_once(store: Store) -> None:
    ids = [f"task_{n:03d}" for n in range(100)]
    rows = list(map(a_page_sync, ids[::2]))
    add_page_syncs(store, *rows)
    assert store.tracker.page_syncs(WORKSPACE, ids) == {row.task_id: row for row in rows}
    assert store.tracker.page_syncs(WORKSPACE, ["task_000", "task_000", "unknown"]) == {"task_000": rows[0]}
    assert store.tracker.page_syncs(WORKSPACE, []) == {}


def test_a_claimer_is_told_nothing_of_the_row(store: Store) -> None:
    """It is read with the answer, where it may have changed again."""
    opened(store)
    assert store.tasks.read_for_claim(WORKSPACE, "task_1").page_sync is None


def test_a_task_that_isnt_made_opens_no_row(store: Store) -> None:
    opened(store)
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, new(), Save(a_page_sync(message="second")))
    assert store.tracker.page_sync(WORKSPACE, "task_1") == a_page_sync()


FULL: dict[str, Any] = {
    "shown": 3,
    "looks": 2,
    "looked": 1,
    "page": a_page(),
    "page_status": "Not started",
    "shown_state": "delegated",
    "is_settled": True,
    "status": Sync.DENIED,
    "message": "ä" * MAX_MESSAGE,
    "sender": "send_1",
    "held_until": LATER,
    "attempts": 4,
    "failures": 3,
    "unclear": True,
    "happened_by": LATER,
    "look_at": LATER,
}


def test_everything_of_a_row_is_kept(store: Store) -> None:
    _, row = opened(store)
    after = save(store, row, **FULL)
    assert store.tracker.page_sync(WORKSPACE, "task_1") == after
    emptied = save(store, after, **{f: getattr(a_page_sync(), f) for f in FULL}, due_at=None)
    assert store.tracker.page_sync(WORKSPACE, "task_1") == emptied


def test_a_change_of_the_task_writes_nothing_of_its_row(store: Store) -> None:
    """The row is behind all the same: what it has to show follows from the task."""
    task, row = opened(store, due_at=None)
    assert not row.is_overtaken(task)
    change = then(task, title="y")
    store.commit(WORKSPACE, change)
    found = store.tasks.read(WORKSPACE, "task_1")
    assert found.page_sync == row
    assert row.is_overtaken(found.task)
    assert row.is_due(found.task, NOON)


def test_a_reported_page_is_to_be_looked_at(store: Store) -> None:
    _, row = opened(store, **FULL, due_at=None)
    report(store)
    assert store.tracker.page_sync(WORKSPACE, "task_1") == replace(row, looks=3, due_at=LATER, version=2)


def test_the_same_report_counts_once(store: Store) -> None:
    _, row = opened(store)
    report(store)
    with pytest.raises(KeyTaken):
        report(store)
    report(store, key="edit-2")
    assert store.tracker.page_sync(WORKSPACE, "task_1") == replace(row, looks=2, due_at=LATER, version=3)


def test_of_two_savers_the_second_is_refused_and_writes_nothing(store: Store) -> None:
    _, row = opened(store)
    first = save(store, row, sender="one")
    with pytest.raises(Conflict):
        save(store, row, Insert(PageLink(PAGE_ID, "task_1"), PageHeld), Save(a_circuit()), sender="two")
    assert store.tracker.page_sync(WORKSPACE, "task_1") == first
    assert store.tracker.page_holders(WORKSPACE, [PAGE_ID]) == {}
    assert store.tracker.circuit(WORKSPACE) == TrackerCircuit(workspace=WORKSPACE)


def test_a_row_that_isnt_there_has_no_next_version(store: Store) -> None:
    with pytest.raises(Conflict):
        save(store, a_page_sync("unknown"))
    assert store.tracker.page_sync(WORKSPACE, "unknown") is None


@pytest.mark.parametrize("kind", ["behind", "reported"])
def test_whoever_saves_learns_what_was_written_beside_them(store: Store, kind: str) -> None:
    task, row = opened(store)
    held = save(store, row, sender="one", held_until=LATER)
    if kind == "behind":
        put_back(store, task, held)
    else:
        report(store)
    with pytest.raises(Conflict):
        save(store, held, sender=None, shown=1)
    found = store.tracker.page_sync(WORKSPACE, "task_1")
    assert found is not None
    assert (found.sender, found.held_until, found.shown) == ("one", LATER, 0)
    assert (found.wanted, found.looks) == ((2, 0) if kind == "behind" else (1, 1))
    assert save(store, found, sender=None, shown=1) == store.tracker.page_sync(WORKSPACE, "task_1")


def test_who_only_tells_of_a_page_is_never_refused_for_a_saver(store: Store) -> None:
    """Decided before the row was saved, written after."""
    _, row = opened(store)
    held = save(store, row, sender="one", held_until=LATER)
    report(store)
    found = store.tracker.page_sync(WORKSPACE, "task_1")
    assert found is not None
    assert (found.sender, found.version) == ("one", held.version + 1)


# Whose page is whose


def test_a_page_is_one_tasks_and_no_others(store: Store) -> None:
    _, one = opened(store, "task_1")
    _, two = opened(store, "task_2")
    one = save(store, one, Insert(PageLink(PAGE_ID, "task_1"), PageHeld), page=a_page())
    with pytest.raises(PageHeld):
        save(store, two, Insert(PageLink(PAGE_ID, "task_2"), PageHeld), page=a_page())
    assert store.tracker.page_sync(WORKSPACE, "task_2") == two
    assert store.tracker.page_holders(WORKSPACE, [PAGE_ID]) == {PAGE_ID: "task_1"}
    save(store, one, Insert(PageLink(PAGE_ID, "task_1"), PageHeld))
    save(store, two, Insert(PageLink(OTHER_PAGE, "task_2"), PageHeld))


@pytest.mark.parametrize("again", [UNDASHED, UNDASHED.upper(), PAGE_ID.upper()])
def test_a_page_is_the_same_however_its_id_is_written(store: Store, again: str) -> None:
    _, one = opened(store, "task_1")
    _, two = opened(store, "task_2")
    one = save(store, one, Insert(PageLink(PAGE_ID, "task_1"), PageHeld))
    with pytest.raises(PageHeld):
        save(store, two, Insert(PageLink(again, "task_2"), PageHeld))
    save(store, one, Insert(PageLink(again, "task_1"), PageHeld))
    assert store.tracker.page_holders(WORKSPACE, [again]) == {again: "task_1"}
    assert store.tracker.page_holders(WORKSPACE, [PAGE_ID, again]) == {PAGE_ID: "task_1", again: "task_1"}


def test_holders_are_asked_for_a_hundred_pages_at_once(store: Store) -> None:
    _, row = opened(store)
    asked = [PAGE_ID, *(f"{n:032x}" for n in range(1, 100))]
    save(store, row, Insert(PageLink(PAGE_ID, "task_1"), PageHeld))
    assert store.tracker.page_holders(WORKSPACE, asked) == {PAGE_ID: "task_1"}
    assert store.tracker.page_holders(WORKSPACE, []) == {}


# What is due


def due(store: Store, at: Any = NOON) -> list[str]:
    return list(store.tracker.page_syncs_due(WORKSPACE, at))


def test_due_rows_come_the_longest_due_first_and_none_early(store: Store) -> None:
    number = ROWS_PAGE + 5
    ids = [f"task_{n:03d}" for n in range(number)]
    # The ids run against the times, so that neither stands in for the other.
    add_page_syncs(store, *(a_page_sync(ids[number - 1 - n], due_at=NOON + n * MS) for n in range(number)))
    assert due(store, NOON - MS) == []
    assert due(store) == [ids[-1]]
    assert due(store, NOON + (number - 2) * MS) == ids[:0:-1]
    assert due(store, NOON + (number - 1) * MS) == ids[::-1]
    assert store.tracker.count_waiting_page_syncs(WORKSPACE, number) == number
    assert store.tracker.count_waiting_page_syncs(WORKSPACE, 70) == 70


def test_due_rows_of_one_moment_are_all_found_at_the_end_of_a_page(store: Store) -> None:
    ids = [f"task_{n:03d}" for n in range(ROWS_PAGE)]
    add_page_syncs(store, *map(a_page_sync, ids))
    assert due(store) == ids


def test_rows_may_be_let_go_while_due_ones_are_read(store: Store) -> None:
    ids = [f"task_{n:03d}" for n in range(ROWS_PAGE + 10)]
    add_page_syncs(store, *map(a_page_sync, ids))
    sent = []
    for task_id in store.tracker.page_syncs_due(WORKSPACE, NOON):
        sent.append(task_id)
        if len(sent) <= 10:
            row = store.tracker.page_sync(WORKSPACE, task_id)
            assert row is not None
            save(store, row, due_at=None, status=Sync.OK)
    assert sent == ids
    assert due(store) == ids[10:]


def test_a_row_is_due_again_once_its_hold_is_over(store: Store) -> None:
    task, row = opened(store)
    held = save(store, row, sender="one", held_until=LATER, due_at=LATER)
    assert due(store) == []
    assert due(store, LATER) == ["task_1"]
    assert store.tracker.count_waiting_page_syncs(WORKSPACE, 10) == 1
    rested = save(store, held, sender=None, held_until=None, due_at=None, status=Sync.OK)
    assert due(store, LATER) == []
    assert store.tracker.count_waiting_page_syncs(WORKSPACE, 10) == 0
    assert not rested.is_due(task, LATER)


def test_a_row_that_is_held_may_be_named_and_says_so(store: Store) -> None:
    task, row = opened(store)
    put_back(store, task, save(store, row, sender="one", held_until=LATER, due_at=LATER), NOON)
    assert due(store) == ["task_1"]
    found = store.tracker.page_sync(WORKSPACE, "task_1")
    assert found is not None
    assert not found.is_due(task, NOON)


# Pages of tasks that go on


def looks(store: Store, at: Any = NOON) -> list[list[str]]:
    """Page by page."""
    return [[task.id for task, _ in page] for page in store.tracker.open_pages(WORKSPACE, at)]


def test_open_pages_come_with_their_tasks_and_none_early(store: Store) -> None:
    assert looks(store) == []
    task, row = opened(store, look_at=NOON, due_at=None)
    opened(store, "task_2", look_at=LATER)
    opened(store, "task_3")
    assert looks(store, NOON - MS) == []
    assert [list(page) for page in store.tracker.open_pages(WORKSPACE, NOON)] == [[(task, row)]]
    assert looks(store, LATER) == [["task_1", "task_2"]]
    assert due(store, LATER) == ["task_2", "task_3"]


def test_an_open_page_stays_listed_whatever_else_becomes_of_it(store: Store) -> None:
    _, row = opened(store, look_at=NOON, due_at=None)
    row = save(store, row, sender="one", held_until=LATER)
    row = save(store, row, sender=None, held_until=None, due_at=LATER, status=Sync.ERROR)
    report(store)
    row = save(store, row_of(store), due_at=None, status=Sync.DEAD)
    assert looks(store) == [["task_1"]]
    assert dead(store) == [["task_1"]]
    save(store, row, look_at=LATER)
    assert looks(store) == []
    assert looks(store, LATER) == [["task_1"]]


def test_a_page_that_nobody_has_to_look_at_any_more_is_left_out(store: Store) -> None:
    _, row = opened(store, look_at=NOON)
    pages = store.tracker.open_pages(WORKSPACE, NOON)
    save(store, row, look_at=None)
    assert [page for page in pages if page] == []
    assert looks(store, LATER) == []


def test_many_open_pages_come_page_by_page_each_once_though_they_move(store: Store) -> None:
    ids = [f"task_{n:03d}" for n in range(OPEN_AT_ONCE + 5)]
    for number, task_id in enumerate(ids):
        opened(store, task_id, look_at=NOON + number * MS)
    found = []
    for page in store.tracker.open_pages(WORKSPACE, LATER):
        assert len(page) <= OPEN_AT_ONCE
        for task, row in page:
            found.append(task.id)
            save(store, row, look_at=LATER + MS)
    assert found == ids
    assert looks(store, LATER) == []


# What was given up


def dead(store: Store, limit: int = 10) -> list[list[str]]:
    """Page by page."""
    pages, cursor = [], None
    while True:
        page = store.tracker.dead_page_syncs(WORKSPACE, limit, cursor)
        pages.append([row.task_id for row in page.items])
        cursor = page.cursor
        if cursor is None:
            return pages


def test_rows_that_were_given_up_are_listed_whole_page_by_page(store: Store) -> None:
    assert dead(store) == [[]]
    rows = [a_page_sync(f"task_{n}", due_at=None, status=Sync.DEAD, since=NOON + (9 - n) * MS) for n in range(5)]
    add_page_syncs(store, *rows, a_page_sync("task_5"), a_page_sync("task_6", due_at=None, status=Sync.OK))
    assert dead(store) == [["task_4", "task_3", "task_2", "task_1", "task_0"]]
    assert dead(store, 2) == [["task_4", "task_3"], ["task_2", "task_1"], ["task_0"]]
    assert dead(store, 5) == [["task_4", "task_3", "task_2", "task_1", "task_0"]]
    assert store.tracker.dead_page_syncs(WORKSPACE, 10, None).items == tuple(rows[::-1])
    assert store.tracker.count_waiting_page_syncs(WORKSPACE, 10) == 1


@pytest.mark.parametrize("kind", ["revived", "behind", "reported"])
def test_a_row_that_is_tried_again_leaves_the_list(store: Store, kind: str) -> None:
    task, row = opened(store)
    row = save(store, row, due_at=None, status=Sync.DEAD)
    assert dead(store) == [["task_1"]]
    if kind == "revived":
        save(store, row, status=Sync.PENDING, due_at=LATER)
    elif kind == "behind":
        put_back(store, task, row)
    else:
        report(store)
    assert dead(store) == [[]]
    assert due(store, LATER) == ["task_1"]
    found = store.tracker.page_sync(WORKSPACE, "task_1")
    assert found is not None
    save(store, found, due_at=None, status=Sync.DEAD)
    assert dead(store) == [["task_1"]]


# Circuits and webhooks


def test_a_circuit_that_nobody_saved_is_closed(store: Store) -> None:
    assert store.tracker.circuit(WORKSPACE) == TrackerCircuit(workspace=WORKSPACE)
    assert list(store.tracker.tracker_circuits_due(NOON)) == []


def test_a_circuit_is_saved_by_version(store: Store) -> None:
    full = a_circuit(open_until=LATER, failures=2, status=Sync.DENIED, message="no", reconciled_at=NOON, wake_at=LATER)
    store.commit(WORKSPACE, Save(full))
    assert store.tracker.circuit(WORKSPACE) == full
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, Save(a_circuit()))
    assert store.tracker.circuit(WORKSPACE) == full
    after = replace(a_circuit(version=2), wake_at=None)
    store.commit(WORKSPACE, Save(after))
    assert store.tracker.circuit(WORKSPACE) == after


def test_circuits_are_due_by_their_times_and_without_one_never(store: Store) -> None:
    for n, workspace in enumerate(["w-c", "w-b", "w-a"]):
        store.commit(workspace, Save(a_circuit(workspace=workspace, wake_at=NOON + n * MS)))
    assert list(store.tracker.tracker_circuits_due(NOON - MS)) == []
    assert list(store.tracker.tracker_circuits_due(NOON + MS)) == ["w-c", "w-b"]
    assert list(store.tracker.tracker_circuits_due(LATER)) == ["w-c", "w-b", "w-a"]
    store.commit("w-b", Save(store.tracker.circuit("w-b").waking(None)))
    assert list(store.tracker.tracker_circuits_due(LATER)) == ["w-c", "w-a"]
    store.commit("w-b", Save(store.tracker.circuit("w-b").waking(NOON)))
    assert list(store.tracker.tracker_circuits_due(LATER)) == ["w-b", "w-c", "w-a"]


def test_a_webhook_is_saved_by_version_and_stays_when_it_is_taken_down(store: Store) -> None:
    assert store.tracker.webhook(WORKSPACE) is None
    first = a_webhook()
    store.commit(WORKSPACE, Save(first))
    assert store.tracker.webhook(WORKSPACE) == first
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, Save(a_webhook(digest="e" * 64)))
    full = first.installed("secret_1", NOON).verified(NOON + MS)
    store.commit(WORKSPACE, Save(replace(full, version=2)))
    assert store.tracker.webhook(WORKSPACE) == replace(full, version=2)
    gone = replace(full, version=2).taken_down()
    store.commit(WORKSPACE, Save(gone))
    assert store.tracker.webhook(WORKSPACE) == gone


# What only the table has


@pytest.fixture
def rig() -> Rig:
    """On an empty table: nothing here needs an agent."""
    return Rig()


def test_what_may_be_forgotten_is_so_in_whole_seconds(rig: Rig) -> None:
    opened(rig.store)
    forget_at = NOON + seconds(5) + 999 * MS
    report(rig.store, forget_at=forget_at)
    report(rig.store, key="edit-2")
    items = [item for item in rig.items() if item["sk"] == {"S": "ONCE"}]
    assert len(items) == 2
    (ttl,) = [item["ttl"] for item in items if "ttl" in item]
    assert ttl == {"N": str(to_ms(NOON) // 1_000 + 5)}
    assert not [item for item in rig.items() if "ttl" in item and item["sk"] != {"S": "ONCE"}]


def test_no_item_of_the_outbox_holds_a_none_and_all_are_small(rig: Rig) -> None:
    task, row = opened(rig.store)
    save(rig.store, row, Insert(PageLink(PAGE_ID, "task_1"), PageHeld), Save(a_circuit()), Save(a_webhook()))
    rig.store.commit(WORKSPACE, then(task, title="y"), MakePageDue(task.id, LATER))
    about = [item for item in rig.items() if item["sk"]["S"] in {"MIRROR", "PAGE", "GATE", "WEBHOOK"}]
    assert len(about) == 4
    for item in about:
        assert not any("NULL" in value for value in item.values()), item
        assert size(item) < 800
        assert "workspace" not in from_wire(item) or item["sk"]["S"] == "WEBHOOK"


# A reply is lost, or a call fails: one success, and one effect


def row_of(store: Store) -> PageSync:
    row = store.tracker.page_sync(WORKSPACE, "task_1")
    assert row is not None
    return row


COMMITS: dict[str, Callable[[Store], Any]] = {
    "opened": lambda store: opened(store, "task_2"),
    "reported": report,
    "saved": lambda store: save(store, row_of(store), sender="one"),
    "saved with its page": lambda store: save(
        store, row_of(store), Insert(PageLink(PAGE_ID, "task_1"), PageHeld), page=a_page()
    ),
    "circuit": lambda store: store.commit(WORKSPACE, Save(store.tracker.circuit(WORKSPACE).waking(NOON))),
    "webhook": lambda store: store.commit(WORKSPACE, Save(a_webhook())),
}


def everything(store: Store) -> list[Any]:
    rows = [store.tracker.page_sync(WORKSPACE, task_id) for task_id in ("task_1", "task_2", "task_3")]
    heads = [row and store.tasks.load(WORKSPACE, row.task_id)[0] for row in rows]
    known = (
        store.tracker.page_holders(WORKSPACE, [PAGE_ID]),
        store.tracker.circuit(WORKSPACE),
        store.tracker.webhook(WORKSPACE),
    )
    return [
        rows,
        heads,
        known,
        due(store, LATER),
        list(store.tracker.tracker_circuits_due(LATER)),
        store.saved_response(REPORT),
    ]


@pytest.mark.parametrize("fault", ["timeout_after", "timeout_before"])
@pytest.mark.parametrize("name", COMMITS)
def test_one_fault_at_any_call_is_not_noticed(rig: Rig, name: str, fault: str) -> None:
    opened(rig.store)
    again = rig.keep()
    again()
    COMMITS[name](rig.store)
    calls, expected = list(rig.choked.calls), everything(rig.other_store)
    for number in range(1, len(calls) + 1):
        again()
        rig.choked.plan = at_call(number, fault)
        COMMITS[name](rig.store)
        assert everything(rig.other_store) == expected, f"{fault} at call {number}, {calls[number - 1]}"


class After:
    """Wraps a client: after its first write, before anybody hears of it, somebody else does something."""

    def __init__(self, client: Any, act: Callable[[], Any]) -> None:
        self.client, self.act = client, act

    def __getattr__(self, operation: str) -> Any:
        return getattr(self.client, operation)

    def put_item(self, **request: Any) -> Any:
        answer = self.client.put_item(**request)
        return answer if comes_first("put_item", request) else self._then(answer)

    def transact_write_items(self, **request: Any) -> Any:
        return self._then(self.client.transact_write_items(**request))

    def _then(self, answer: Any) -> Any:
        act, self.act = self.act, lambda: None
        act()
        return answer


def first_reply_lost(rig: Rig) -> Callable[[int, str], str | None]:
    def plan(_number: int, operation: str) -> str | None:
        is_first = operation in ("put_item", "transact_write_items") and rig.choked.calls.count(operation) == 1
        return "timeout_after" if is_first else None

    return plan


@pytest.mark.parametrize("name", ["saved", "saved with its page", "reported", "opened"])
def test_a_lost_reply_is_a_success_though_the_row_has_moved_on(rig: Rig, name: str) -> None:
    """What others write beside a row leaves its last saver's token there."""
    opened(rig.store)

    def meanwhile() -> None:
        for task_id in ("task_1", "task_2"):
            if rig.other_store.tracker.page_sync(WORKSPACE, task_id) is not None:
                report(rig.other_store, task_id, "meanwhile-" + task_id)

    again = rig.keep()
    again()
    COMMITS[name](rig.store)
    meanwhile()
    expected = everything(rig.other_store)
    again()
    rig.choked.client, client = After(rig.choked.client, meanwhile), rig.choked.client
    rig.choked.plan = first_reply_lost(rig)
    COMMITS[name](rig.store)
    rig.choked.client = client
    assert everything(rig.other_store) == expected


class Colliding:
    """Refuses the first transactions as DynamoDB does when another is just writing one of their items."""

    def __init__(self, client: Any, times: int = 1) -> None:
        self.client, self.left = client, times

    def __getattr__(self, operation: str) -> Any:
        return getattr(self.client, operation)

    def put_item(self, **request: Any) -> Any:
        if self.left == 0 or comes_first("put_item", request):
            return self.client.put_item(**request)
        self.left -= 1
        raise refusal("TransactionConflictException", "PutItem")

    def transact_write_items(self, **request: Any) -> Any:
        if self.left == 0:
            return self.client.transact_write_items(**request)
        self.left -= 1
        codes = ["None"] * (len(request["TransactItems"]) - 1) + ["TransactionConflict"]
        reasons = [{"Code": code} for code in codes]
        raise refusal("TransactionCanceledException", "TransactWriteItems", CancellationReasons=reasons)


@pytest.mark.parametrize("name", COMMITS)
def test_a_write_that_meets_another_one_is_a_conflict_and_leaves_nothing(rig: Rig, name: str) -> None:
    opened(rig.store)
    before = everything(rig.other_store)
    rig.choked.client = Colliding(rig.choked.client)
    with pytest.raises(Conflict):
        COMMITS[name](rig.store)
    assert everything(rig.other_store) == before
    if name == "opened":  # whoever decides again makes a task with another id
        opened(rig.store, "task_3")
    else:
        COMMITS[name](rig.store)
    assert everything(rig.other_store) != before


def test_a_saver_that_loses_its_reply_and_then_its_row_is_told_of_a_conflict(rig: Rig) -> None:
    """Its token is gone with its saving: it must read again, and finds another holder."""
    _, row = opened(rig.store)

    def taken_over() -> None:
        save(rig.other_store, row_of(rig.other_store), sender="two")

    rig.choked.client = After(rig.choked.client, taken_over)
    rig.choked.calls.clear()
    rig.choked.plan = first_reply_lost(rig)
    with pytest.raises(Conflict):
        save(rig.store, row, sender="one")
    assert row_of(rig.store).sender == "two"


def test_times_are_kept_to_the_millisecond(store: Store) -> None:
    _, row = opened(store)
    odd = from_ms(to_ms(NOON) + 1)
    after = save(store, row, held_until=odd, due_at=odd)
    assert store.tracker.page_sync(WORKSPACE, "task_1") == after
    assert due(store, NOON) == []
    assert due(store, odd) == ["task_1"]
