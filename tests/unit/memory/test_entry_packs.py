"""Packs: a process that begins with them answers like one that reads every entry, whatever happened meanwhile; and what
was deleted is in none of them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from itertools import count
from random import Random

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_schema import NUMBER
from baton.adapters.entry_packs import EntryPacks
from baton.adapters.lexical_search import LexicalSearch, SearchLimits
from baton.domain import errors
from baton.domain.ids import RANDOM_BYTES, sortable_id
from baton.domain.memory.entry import Entry, EntryType
from baton.domain.memory.entry_index import Question
from baton.domain.memory.entry_pack import FORM, EntryPack, PackList
from baton.domain.memory.entry_words import MAX_WORDS, words_of
from baton.domain.memory.pack_contents import MAX_PACK_BYTES, entries_of, in_packs
from baton.domain.memory.packing import SETTLED, ReadPacks, merged
from baton.ports.writes import Put, Save
from support.clock import NOON
from support.faults.choke_point import Crash, at_call, no_fault
from support.faults.soak import IS_WHOLE, scaled
from support.values.judged_set import judged_entries
from support.values.records import a_board_entry
from support.worlds.board import Board
from support.worlds.world import WORKSPACE, human

SIZE = 4
SMALL = SearchLimits(per_pack=SIZE)
LONG_AGO = SETTLED.total_seconds() + 100
FAULTS = ("error_before", "timeout_after", "throttle", "crash_before", "crash_after")
WORDS = ("queue", "table", "lease", "fence", "claim", "token")


@pytest.fixture
def board() -> Board:
    return Board(SMALL)


def posted(board: Board, number: int, seconds_ago: float = LONG_AGO) -> list[Entry]:
    return [board.post(f"queue {WORDS[each % 6]}", seconds_ago - each / 10) for each in range(number)]


def packs(board: Board) -> list[EntryPack]:
    """The oldest first."""
    return list(board.rig.other_store.memory.packs_before(WORKSPACE, None, 1_000)[::-1])


def packed_ids(board: Board) -> list[list[str]]:
    return [[each.entry_id for each in entries_of(pack)] for pack in packs(board)]


def answers_truly(board: Board, search: LexicalSearch) -> bool:
    asked = Question(text=" ".join(WORDS), limit=100)
    return search.find(WORKSPACE, asked).items == board.truth(asked)


def test_a_process_begins_with_what_another_one_has_packed(board: Board) -> None:
    entries = [each.id for each in posted(board, 10)]
    board.found()
    assert packed_ids(board) == [entries[:4], entries[4:8]]

    calls = board.rig.count(lambda: board.process().find(WORKSPACE, Question(text="queue")))
    assert calls == ["get_item", *["query"] * 6]  # packs, four shards, changes
    assert answers_truly(board, board.process())


def test_a_process_packs_what_was_posted_since_it_began(board: Board) -> None:
    board.found()
    for turn in range(3):
        entries = [board.post() for _ in range(SIZE)]
        board.found()
        assert len(packs(board)) == turn
        board.clock.advance(LONG_AGO)
        board.found()
        assert packed_ids(board)[turn] == [each.id for each in entries]
    assert answers_truly(board, board.process())


def test_nothing_is_packed_before_it_is_settled(board: Board) -> None:
    """What shows late has an earlier id."""
    board.post(seconds_ago=LONG_AGO)
    posted(board, 10, SETTLED.total_seconds() - 10)
    board.found()
    assert packs(board) == []


@pytest.mark.parametrize("seed", range(scaled(4, 4)))
def test_every_process_answers_at_any_moment_like_one_that_reads_everything(seed: int) -> None:
    random, board = Random(seed), Board(SMALL)
    processes, entries = [board.search], dict[str, Entry]()

    def keep(entry: Entry) -> None:
        entries[entry.id] = entry

    def post() -> None:
        kind = random.choice([EntryType.DECISION, EntryType.FINDING, EntryType.STATUS])
        texts = " ".join(random.choices(WORDS, k=3))
        keep(board.post(texts, random.random(), entry_type=kind, scope=random.choice(["project", "src"])))

    def replace_one() -> None:
        if decisions := [each for each in entries.values() if each.status == "active"]:
            old = random.choice(decisions)
            new = board.post("lease", entry_type=EntryType.DECISION, supersedes=old.id)
            keep(new)
            keep(board.change(old.replaced_by(new, human())))

    def end() -> None:
        if entries:
            entry = entries.pop(random.choice(list(entries)))
            if random.random() < 0.5:
                board.withdraw(entry)
            else:
                board.delete(entry)

    def begin() -> None:
        processes.append(board.process())

    def wait() -> None:
        board.clock.advance(random.choice([1, 20, 900]))

    for step in range(300):
        act: Callable[[], None] = random.choices([post, replace_one, end, begin, wait], [8, 2, 2, 1, 2])[0]
        act()
        if step % 8 == 0:
            assert answers_truly(board, random.choice(processes)), (seed, step)
    assert len(packs(board)) > 5
    assert all(answers_truly(board, each) for each in [*processes, board.process()])


def test_enough_changes_are_merged_by_a_process_that_begins(board: Board) -> None:
    entries = posted(board, 12)
    board.found()
    board.clock.advance(60)
    for each in entries[:SIZE]:
        board.withdraw(each)
    board.clock.advance(LONG_AGO)
    assert answers_truly(board, board.process())
    assert packed_ids(board)[0] == []
    assert [len(each) for each in packed_ids(board)[1:]] == [4, 4]

    calls = board.rig.count(lambda: board.process().find(WORKSPACE, Question(text="queue")))
    assert "batch_get_item" not in calls  # of what was changed
    assert answers_truly(board, board.process())


def test_changes_of_what_is_in_no_pack_are_read_no_more_once_they_are_settled(board: Board) -> None:
    entries = posted(board, 12)
    for each in entries[:SIZE]:
        board.withdraw(each)
    board.found()
    board.clock.advance(LONG_AGO)
    for _ in range(2):
        calls = board.rig.count(lambda: board.process().find(WORKSPACE, Question(text="queue")))

    assert calls == ["get_item", *["query"] * 6]


def test_the_time_until_which_changes_are_merged_never_goes_back() -> None:
    """A process that begins reads changes again that may have shown late."""
    entries = [a_board_entry(number).withdrawn_by(human(), NOON) for number in range(SIZE)]
    marks = [sortable_id("chg", NOON - timedelta(seconds=30), bytes([each] * RANDOM_BYTES)) for each in range(SIZE)]
    read = ReadPacks(PackList(workspace=WORKSPACE, until="ent_z", merged_at=NOON), {"ent_z": []})
    now = NOON + SETTLED - timedelta(seconds=10)
    assert merged(read, dict(zip(marks, entries, strict=True)), SIZE, now) == ({}, NOON)


def test_what_is_deleted_leaves_its_pack_in_the_same_commit(board: Board) -> None:
    entries = posted(board, 8)
    secret = board.post("zanzibar", LONG_AGO - 5)
    posted(board, 3, LONG_AGO - 6)
    board.found()
    assert any(b"zanzibar" in zlib.decompress(each.contents) for each in packs(board))

    board.delete(secret)

    assert [each.is_void for each in packs(board)] == [False, False, True]
    assert answers_truly(board, board.process())  # which makes the pack anew
    assert [len(each) for each in packed_ids(board)] == [4, 4, 3]
    assert not any(b"zanzibar" in zlib.decompress(each.contents) for each in packs(board))
    board.delete(entries[0])
    board.delete(entries[5])
    assert answers_truly(board, board.process())
    assert [len(each) for each in packed_ids(board)] == [3, 3, 3]


def test_what_is_deleted_while_packs_are_made_is_in_none(board: Board) -> None:
    entries = posted(board, 8)
    packs_of = EntryPacks(board.rig.store, WORKSPACE, SIZE)
    read = packs_of.read(1_000)
    board.delete(entries[0])  # after it was read, and before it is packed

    packs_of.complete(read, [words_of(each) for each in entries], {}, board.clock.now())

    assert packs(board) == []
    board.process().find(WORKSPACE, Question(text="queue"))
    assert packed_ids(board) == [[each.id for each in entries[1:5]]]


def test_a_deletion_is_refused_if_packs_were_written_since_it_looked(board: Board) -> None:
    entries = posted(board, 8)
    writes = board.search.forgetting(WORKSPACE, entries[0].id)
    board.found()

    with pytest.raises(errors.Conflict):
        board.rig.store.commit(WORKSPACE, *writes)
    assert [each.is_void for each in packs(board)] == [False, False]


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_fails_while_packs_are_made_nothing_is_lost(fault: str) -> None:
    """``make test`` plays each fault at every fifth call, the next fault at other calls; ``make soak`` at all."""
    every = 1 if IS_WHOLE else len(FAULTS)
    for number in count(1 + FAULTS.index(fault) % every, every):
        board = Board(SMALL)
        entries = posted(board, 50)
        board.rig.choked.plan = at_call(number, fault)
        try:
            board.found()
        except (errors.Busy, Crash):
            board.search = board.process()
        board.rig.choked.plan = no_fault
        calls = len(board.rig.choked.calls)
        board.delete(entries[1])
        assert answers_truly(board, board.search)
        assert answers_truly(board, board.process())
        assert answers_truly(board, board.process())
        assert not any(entries[1].id in each for each in packed_ids(board))
        if calls < number:
            break


def test_packs_of_another_form_are_made_anew(board: Board) -> None:
    posted(board, 12)
    board.found()
    *_, last = packs(board)
    for each in (packs(board)[0], last):
        store, read = board.rig.other_store, board.rig.other_store.memory.pack_list(WORKSPACE)
        after = replace(read, version=read.version + 1)
        store.commit(WORKSPACE, Save(after), Put(replace(each, form=FORM - 1, contents=b"?")))

    assert answers_truly(board, board.process())
    assert [each.form for each in packs(board)] == [FORM] * 3


def test_packs_of_a_newer_form_are_read_as_entries_and_left_to_the_newer_release(board: Board) -> None:
    posted(board, 12)
    board.found()
    newer = replace(packs(board)[0], form=FORM + 1, contents=b"?")
    store, read = board.rig.other_store, board.rig.other_store.memory.pack_list(WORKSPACE)
    store.commit(WORKSPACE, Save(replace(read, version=read.version + 1)), Put(newer))
    assert answers_truly(board, board.process())
    assert sorted(each.form for each in packs(board)) == [FORM, FORM, FORM + 1]


def test_a_newer_versions_packs_are_left_alone(board: Board) -> None:
    posted(board, 12)
    board.found()
    item = board.rig.raw.items[keys.board_packs(WORKSPACE)]["LIST"]
    item[NUMBER] = {"N": "99"}
    before = packs(board)

    process = board.process()
    assert answers_truly(board, process)
    posted(board, 8, seconds_ago=1)
    assert answers_truly(board, process)
    board.clock.advance(LONG_AGO)
    assert answers_truly(board, process)
    assert packs(board) == before


def test_a_pack_holds_what_the_search_keeps_of_entries() -> None:
    entries = [
        a_board_entry(1, summary="Réessai 队列", tags=("a", "b")),
        a_board_entry(2, entry_type=EntryType.DECISION, detail="queue " * 500, scope="src/auth"),
        a_board_entry(3, entry_type=EntryType.DECISION).replaced_by(a_board_entry(4), human()),
    ]
    kept = [words_of(each) for each in entries]
    (pack,) = in_packs(WORKSPACE, entries[-1].id, kept)
    assert entries_of(pack) == kept
    (empty,) = in_packs(WORKSPACE, "ent_9", [])
    assert entries_of(empty) == []


def test_who_changes_the_words_of_entries_raises_the_form_of_packs() -> None:
    """Packs that were written before have words of the old kind: a question of the new kind wouldn't find them. A
    judged set that has changed is another reason for another digest."""
    kept = [sorted(words_of(each).weights.items()) for each in judged_entries()]
    assert (FORM, sha256(json.dumps(kept).encode()).hexdigest()[:16]) == (2, "24e5b3e3ff0a3207")


def test_a_pack_that_is_too_large_is_halved() -> None:
    random = Random(1)
    texts = [" ".join(random.randbytes(15).hex() for _ in range(MAX_WORDS // 3)) for _ in range(150)]
    kept = [words_of(a_board_entry(number, detail=text)) for number, text in enumerate(texts)]
    made = list(in_packs(WORKSPACE, "ent_z", kept))
    assert [entry for pack in made for entry in entries_of(pack)] == kept
    assert len(made) > 1
    assert all(len(each.contents) <= MAX_PACK_BYTES for each in made)
    assert [each.last_id for each in made[:-1]] == [entries_of(each)[-1].entry_id for each in made[:-1]]
    assert made[-1].last_id == "ent_z"
