"""The blackboard's entries in the store: read back, listed, found by what sees them, and found again when changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import to_wire
from baton.domain.errors import Conflict, Unknown
from baton.domain.memory.entry import DecisionStatus, Entry, EntryChange, EntryEvent, EntryType
from baton.domain.memory.entry_pack import FORM, VOID, EntryPack, PackList
from baton.ports.paging import Page
from baton.ports.store import Store
from baton.ports.writes import Insert, Put, Save
from support.clock import NOON
from support.values.records import a_board_entry, a_changed_board_entry, add_board_entries
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human

DECISION, WARNING, FINDING = EntryType.DECISION, EntryType.WARNING, EntryType.FINDING
MOST = {DECISION: 5, WARNING: 3, FINDING: 3}
SECOND = timedelta(seconds=1)
FULL = a_board_entry(
    scope="src/café/#1",
    entry_type=DECISION,
    summary="Use one table 🔎",
    detail="line\n\tline",
    tags=("storage", "Prüfung"),
    relates_to=("ent_1", "src/a b.py"),
    status=DecisionStatus.OVERRIDDEN,
    supersedes="ent_0",
    changes=(EntryEvent(EntryChange.OVERRIDDEN, "human:alice", NOON + SECOND, "ent_2"),),
)
GONE = a_board_entry(1, entry_type=WARNING).withdrawn_by(human(), NOON, "was wrong").deleted_by(human(), NOON + SECOND)


def seen(store: Store, scope: str, **options: Any) -> dict[EntryType, list[str]]:
    found = store.memory.in_view(WORKSPACE, scope, MOST, **options)
    return {kind: [entry.summary for entry in entries] for kind, entries in found.items()}


def pages(read: Callable[[str | None], Page]) -> Iterable[Page]:
    cursor: str | None = None
    while True:
        page = read(cursor)
        yield page
        cursor = page.cursor
        if cursor is None:
            return


@pytest.mark.parametrize("entry", [FULL, GONE, a_board_entry()])
def test_an_entry_is_read_back_as_it_was_posted(store: Store, entry: Entry) -> None:
    posted = replace(entry, version=1)
    store.commit(WORKSPACE, Insert(posted))
    assert store.memory.entry(WORKSPACE, entry.id) == posted
    assert store.memory.entries(WORKSPACE, [entry.id, "ent_unknown"]) == {entry.id: posted}
    with pytest.raises(Unknown):
        store.memory.entry(WORKSPACE, "ent_unknown")
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, Insert(posted))


def test_an_entry_changes_only_from_the_version_that_was_read(store: Store) -> None:
    add_board_entries(store, a_board_entry())
    gone = a_board_entry().withdrawn_by(agent("scout"), NOON)
    store.commit(WORKSPACE, Save(gone), Insert(a_changed_board_entry(1, gone)))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, Save(gone), Insert(a_changed_board_entry(2, gone)))
    assert store.memory.entry(WORKSPACE, gone.id) == gone
    assert [each.id for each in store.memory.changed_after(WORKSPACE, None, 10)] == [a_changed_board_entry(1, gone).id]


def test_entries_are_listed_newest_first_however_they_are_spread(store: Store) -> None:
    entries = [a_board_entry(number) for number in range(40)]
    add_board_entries(store, *entries)
    for limit in (1, 3, 7, 100):
        read = partial(store.memory.newest_entries, WORKSPACE, None, None, limit)
        found = list(pages(read))
        assert [each for page in found for each in page.items] == entries[::-1]
        assert all(len(page.items) <= limit for page in found)


def test_a_span_of_time_has_its_beginning_and_not_its_end(store: Store) -> None:
    entries = [a_board_entry(number) for number in range(10)]
    add_board_entries(store, *entries)
    read = partial(store.memory.newest_entries, WORKSPACE)
    assert read(NOON + 3 * SECOND, NOON + 6 * SECOND, 10, None).items == tuple(entries[3:6][::-1])
    assert read(NOON + 8 * SECOND, None, 10, None).items == tuple(entries[8:][::-1])
    assert read(None, NOON + 2 * SECOND, 10, None).items == tuple(entries[:2][::-1])
    assert read(NOON + 6 * SECOND, NOON + 3 * SECOND, 10, None) == Page(())


def test_a_reader_goes_on_from_the_last_id_that_it_knows(store: Store) -> None:
    entries = [a_board_entry(number) for number in range(40)]
    add_board_entries(store, *entries)
    for limit in (1, 9, 100):
        read = partial(store.memory.entries_after, WORKSPACE, limit=limit)
        assert [each for page in pages(read) for each in page.items] == entries
    assert store.memory.entries_after(WORKSPACE, entries[36].id, 100) == Page(tuple(entries[37:]))
    assert store.memory.entries_after(WORKSPACE, entries[-1].id, 100) == Page(())


def test_changes_are_read_in_their_order_from_a_mark_on(store: Store) -> None:
    entries = [a_board_entry(number) for number in range(3)]
    add_board_entries(store, *entries)
    marks = [a_changed_board_entry(number, each) for number, each in enumerate(entries)]
    for mark, entry in zip(marks, entries, strict=True):
        store.commit(WORKSPACE, Save(entry.withdrawn_by(human(), NOON)), Insert(mark))
    assert store.memory.changed_after(WORKSPACE, None, 2) == tuple(marks[:2])
    assert store.memory.changed_after(WORKSPACE, marks[1].id, 2) == tuple(marks[2:])


def test_ids_that_were_fenced_off_hide_no_entry_and_end_no_list() -> None:
    """A commit that can't arrive any more leaves an item without content under the id that it would have taken: here as
    many, one after the other, as a page of a shard has."""
    rig = Rig()
    entries = [a_board_entry(number) for number in range(12)]
    add_board_entries(rig.store, *entries)
    for number in range(100, 200):
        key = keys.board_entry(WORKSPACE, a_board_entry(number).id)
        rig.raw.put(to_wire({**key._asdict(), "void": True}))
    for limit in (1, 2, 5):
        read = partial(rig.store.memory.newest_entries, WORKSPACE, None, None, limit)
        listed = [each.id for page in pages(read) for each in page.items]
        assert listed == [each.id for each in reversed(entries)]


def test_a_scope_sees_the_newest_of_each_type_above_and_below_it(store: Store) -> None:
    scopes = ("project", "src", "src/auth", "src/auth/jwt", "src/authz", "docs")
    add_board_entries(store, *(a_board_entry(number, scope=each, summary=each) for number, each in enumerate(scopes)))
    add_board_entries(store, a_board_entry(9, entry_type=EntryType.STATUS, summary="status"))
    assert seen(store, "src/auth")[FINDING] == ["src/auth/jwt", "src/auth", "src"]
    assert seen(store, "src/auth/jwt/keys")[FINDING] == ["src/auth/jwt", "src/auth", "src"]
    assert seen(store, "src/authz")[FINDING] == ["src/authz", "src", "project"]
    assert seen(store, "project")[FINDING] == ["docs", "src/authz", "src/auth/jwt"]
    assert seen(store, "elsewhere") == {DECISION: [], WARNING: [], FINDING: ["project"]}


def test_a_scope_sees_so_many_of_each_type(store: Store) -> None:
    posted = {
        kind: [a_board_entry(100 * turn + number, entry_type=kind, scope="src") for number in range(10)]
        for turn, kind in enumerate(MOST)
    }
    add_board_entries(store, *(entry for entries in posted.values() for entry in entries))
    found = store.memory.in_view(WORKSPACE, "src/auth", MOST)
    assert found == {kind: tuple(entries[::-1][: MOST[kind]]) for kind, entries in posted.items()}


def test_a_view_may_begin_at_a_time(store: Store) -> None:
    add_board_entries(
        store, *(a_board_entry(number, scope=each) for number, each in enumerate(("project", "src", "src/auth")))
    )
    assert seen(store, "src", since=NOON + SECOND)[FINDING] == ["finding 2", "finding 1"]
    assert seen(store, "src", since=NOON + SECOND + timedelta(milliseconds=1))[FINDING] == ["finding 2"]


def by_human(number: int, **values: Any) -> Entry:
    return a_board_entry(number, posted_by="human:alice", entry_type=DECISION, summary=f"human {number}", **values)


def decisions_in_view(store: Store, scope: str, most: int = 5, of_humans: int = 3) -> list[str]:
    found = store.memory.in_view(WORKSPACE, scope, {DECISION: most}, of_humans={DECISION: of_humans})
    return [each.summary for each in found[DECISION]]


@pytest.mark.parametrize("humans", [1, 3, 4, 17, 18, 30])
def test_what_humans_decided_keeps_its_places_and_leaves_the_others_theirs(store: Store, humans: int) -> None:
    add_board_entries(store, *(by_human(number, scope="src") for number in range(humans)))
    noise = (
        a_board_entry(100 + number, entry_type=DECISION, scope="src/auth", summary=str(number)) for number in range(30)
    )
    add_board_entries(store, *noise, a_board_entry(200, entry_type=DECISION, scope="src", summary="beside"))
    kept = [f"human {humans - 1 - number}" for number in range(min(humans, 3))]
    for viewer in ("project", "src", "src/auth"):
        newest = ["beside", "29", "28", "27", "26"]
        assert decisions_in_view(store, viewer) == [*newest[: 5 - len(kept)], *kept], viewer
    assert decisions_in_view(store, "src/auth", of_humans=0) == ["beside", "29", "28", "27", "26"]


def test_a_humans_entry_that_is_over_leaves_its_kept_places(store: Store) -> None:
    for number, scope in enumerate(("project", "src", "src/auth")):
        entry = by_human(number, scope=scope)
        add_board_entries(store, entry)
        over = entry.withdrawn_by(human(), NOON)
        store.commit(WORKSPACE, Save(over), Insert(a_changed_board_entry(number, over)))
    add_board_entries(store, by_human(5, scope="src"))
    for viewer in ("project", "src", "src/auth"):
        assert decisions_in_view(store, viewer) == ["human 5"], viewer


def ended(entry: Entry, status: DecisionStatus) -> Entry:
    by = agent(entry.posted_by.partition(":")[2]) if status is DecisionStatus.SUPERSEDED else human()
    return entry.replaced_by(a_board_entry(99, entry_type=DECISION), by)


@pytest.mark.parametrize("scope", ["project", "src", "src/auth"])
@pytest.mark.parametrize(
    "end",
    [
        partial(ended, status=DecisionStatus.SUPERSEDED),
        partial(ended, status=DecisionStatus.OVERRIDDEN),
        lambda entry: entry.withdrawn_by(human(), NOON),
        lambda entry: entry.deleted_by(human(), NOON),
    ],
)
def test_what_is_over_leaves_every_view_and_the_older_ones_show(
    store: Store, scope: str, end: Callable[[Entry], Entry]
) -> None:
    entries = [a_board_entry(number, entry_type=DECISION, scope=scope, summary=str(number)) for number in range(12)]
    add_board_entries(store, *entries)
    for number in range(2, 12):
        over = end(entries[number])
        store.commit(WORKSPACE, Save(over), Insert(a_changed_board_entry(number, over)))
    for viewer in ("project", "src", "src/auth", "src/auth/jwt"):
        assert seen(store, viewer)[DECISION] == ["1", "0"], viewer


def test_a_provisional_decision_is_in_no_view(store: Store) -> None:
    add_board_entries(store, a_board_entry(entry_type=DECISION, scope="a/b", status=DecisionStatus.PROVISIONAL))
    assert seen(store, "a")[DECISION] == []
    later = replace(a_board_entry(entry_type=DECISION, scope="a/b"), status=DecisionStatus.PROVISIONAL)
    store.commit(WORKSPACE, Save(later.withdrawn_by(human(), NOON)), Insert(a_changed_board_entry(1, later)))
    assert seen(store, "a")[DECISION] == []


def test_packs_are_read_from_the_latest_on_and_found_by_their_entries(store: Store) -> None:
    assert store.memory.pack_list(WORKSPACE) == PackList(workspace=WORKSPACE)
    packs = [EntryPack(WORKSPACE, f"ent_{number}", FORM, b"x") for number in range(5)]
    first = PackList(workspace=WORKSPACE, until="ent_4", merged_at=NOON + SECOND, version=1)
    store.commit(WORKSPACE, Save(first), *map(Put, packs))

    assert store.memory.pack_list(WORKSPACE) == first
    assert store.memory.packs_before(WORKSPACE, None, 3) == tuple(packs[:1:-1])
    assert store.memory.packs_before(WORKSPACE, "ent_2", 3) == (packs[1], packs[0])
    assert [store.memory.pack_of(WORKSPACE, each) for each in ("ent_2", "ent_2a", "ent_5")] == ["ent_2", "ent_3", None]

    store.commit(WORKSPACE, Save(replace(first, version=2)), Put(EntryPack(WORKSPACE, "ent_2")))
    assert store.memory.packs_before(WORKSPACE, "ent_3", 1) == (EntryPack(WORKSPACE, "ent_2", VOID),)
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, Save(replace(first, version=2)), Put(packs[2]))


def test_entries_are_read_up_to_an_id(store: Store) -> None:
    entries = [a_board_entry(number) for number in range(20)]
    add_board_entries(store, *entries)
    for limit in (2, 100):
        found: list[Entry] = []
        cursor: str | None = entries[3].id
        while cursor is not None:
            page = store.memory.entries_after(WORKSPACE, cursor, limit, entries[9].id)
            found, cursor = [*found, *page.items], page.cursor
        assert found == entries[4:10]
    assert store.memory.entries_after(WORKSPACE, entries[3].id, 9, entries[3].id) == Page(())
