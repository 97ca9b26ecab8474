"""The search by words: what each process finds, whoever posts, changes and deletes meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from baton.adapters.lexical_search import LexicalSearch, SearchLimits, Through
from baton.adapters.prefetch import prefetched
from baton.domain import errors
from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_index import Question
from baton.domain.memory.entry_words import words_of
from baton.ports.memory import LATE_SECONDS
from baton.ports.paging import Page
from support.faults.choke_point import at_call, no_fault
from support.faults.threads import all_at_once
from support.worlds.board import QUEUE, Board
from support.worlds.world import WORKSPACE, human


@pytest.fixture
def board() -> Board:
    return Board()


def test_what_others_post_is_found_at_once(board: Board) -> None:
    first = board.post()
    assert board.found() == {first.id}

    second = board.post()
    assert board.found() == {first.id, second.id}

    board.clock.advance(3_600)
    third = board.post()
    assert board.found() == {first.id, second.id, third.id}


def test_an_empty_board_finds_nothing_and_then_what_is_posted(board: Board) -> None:
    assert board.found() == set()

    posted = board.post()

    assert board.found() == {posted.id}


def test_what_is_withdrawn_or_deleted_is_found_no_more(board: Board) -> None:
    withdrawn, deleted, kept = board.post(), board.post(), board.post()
    assert len(board.found()) == 3

    board.withdraw(withdrawn)
    board.change(deleted.deleted_by(human(), board.clock.now()))

    assert board.found() == {kept.id}
    board.clock.advance(20)
    assert board.found() == {kept.id}


def test_what_was_withdrawn_before_the_process_began_is_never_found(board: Board) -> None:
    board.withdraw(board.post())

    assert board.found() == set()
    board.clock.advance(20)
    assert board.found() == set()


def test_a_decision_that_was_replaced_counts_less_at_once(board: Board) -> None:
    old = board.post("the queue", entry_type=EntryType.DECISION)
    warning = board.post("the queue", entry_type=EntryType.WARNING)
    asked = Question(text="queue", limit=100)
    assert board.search.find(WORKSPACE, asked).items[0].entry_id == old.id

    new = board.post("the stream", entry_type=EntryType.DECISION, supersedes=old.id)
    board.change(old.replaced_by(new, human()))

    order = [each.entry_id for each in board.search.find(WORKSPACE, asked).items]
    assert order.index(warning.id) < order.index(old.id)
    assert new.id in order


@pytest.mark.parametrize("seconds_late", [1, 2, 10, LATE_SECONDS - 16])
def test_a_commit_that_shows_late_is_found_within_fifteen_seconds(board: Board, seconds_late: float) -> None:
    board.post()
    board.found()
    board.clock.advance(seconds_late)
    board.post()
    board.found()

    late = board.post(seconds_ago=seconds_late)
    board.clock.advance(15)

    assert late.id in board.found()


@pytest.mark.parametrize("seconds_late", [1, 10, LATE_SECONDS - 16])
def test_a_withdrawal_that_shows_late_counts_within_fifteen_seconds(board: Board, seconds_late: float) -> None:
    entry = board.post()
    board.found()
    board.clock.advance(seconds_late)
    board.found()

    board.withdraw(entry, seconds_ago=seconds_late)
    board.clock.advance(15)

    assert board.found() == set()


def test_what_a_clock_ahead_has_posted_hides_nothing(board: Board) -> None:
    prefetched = board.post(seconds_ago=-30)
    assert board.found() == {prefetched.id}

    entry = board.post()

    assert board.found() == {prefetched.id, entry.id}


def test_a_process_that_slept_for_hours_finds_all_that_happened(board: Board) -> None:
    gone = board.post()
    board.found()
    board.clock.advance(7_200)
    entries = {board.post(seconds_ago=60 * minute).id for minute in range(100)}
    board.withdraw(gone, seconds_ago=3_600)
    board.clock.advance(7_200)

    assert board.found() == entries


def test_nothing_is_found_in_another_workspace(board: Board) -> None:
    here, there = board.post(), board.post(workspace="other")

    assert board.found() == {here.id}
    assert board.found(workspace="other") == {there.id}
    assert board.found(workspace="third") == set()


def test_only_the_newest_entries_are_searched_and_the_answer_says_so() -> None:
    board = Board(SearchLimits(per_workspace=10))
    entries = [board.post(seconds_ago=100 - number).id for number in range(10)]
    assert (board.found(), told(board.search)) == (set(entries), (10, True))

    entries.append(board.post().id)

    for search in (board.search, board.process()):
        assert told(search) == (10, False)
        assert board.found() == set(entries[1:])


@pytest.mark.parametrize("through", [iter, prefetched])
def test_several_pages_are_read_until_as_many_are_shown_as_are_searched(through: Through) -> None:
    board = Board(SearchLimits(per_workspace=10))
    for number in range(60):
        entry = board.post(seconds_ago=1_000 - number)
        if number % 4:
            board.withdraw(entry)
    board.clock.advance(3_600)

    search = LexicalSearch(board.rig.store, board.clock, board.limits, through)

    assert search.find(WORKSPACE, QUEUE).items == board.truth(QUEUE)
    assert told(search) == (10, False)


def told(search: LexicalSearch) -> tuple[int, bool]:
    answer = search.about(WORKSPACE, "src", frozenset())
    return answer.searched, answer.is_whole


@pytest.mark.parametrize(("posted", "per_pack"), [(15, 2), (60, 2), (15, 100)])
def test_a_process_that_begins_says_whether_it_has_read_everything(posted: int, per_pack: int) -> None:
    board = Board(SearchLimits(per_workspace=10, per_pack=per_pack))
    entries = [board.post(seconds_ago=1_000 - number) for number in range(posted)]
    for _ in range(4):
        search = board.process()
        assert told(search) == (10, False)
        assert {each.entry_id for each in search.find(WORKSPACE, QUEUE).items} == {each.id for each in entries[-10:]}
    board.delete(entries[-10])
    for _ in range(2):
        board.search = board.process()
        assert not told(board.search)[1]
        assert board.found() >= {each.id for each in entries[-9:]}


def test_the_workspace_that_wasnt_asked_for_longest_is_forgotten() -> None:
    board = Board(SearchLimits(kept=25))
    for workspace in ("one", "two", "three"):
        for _ in range(10):
            board.post(workspace=workspace)
    for workspace in ("one", "two", "one", "three"):
        assert len(board.found(workspace=workspace)) == 10

    assert list(board.search._boards) == ["one", "three"]
    assert len(board.found(workspace="two")) == 10


def test_a_large_workspace_is_kept_by_itself() -> None:
    board = Board(SearchLimits(kept=5))
    for _ in range(10):
        board.post()
    board.found()

    assert len(board.calls()) == 5


@pytest.mark.parametrize("number", range(1, 11))
def test_a_reading_that_fails_loses_nothing(board: Board, number: int) -> None:
    entries = {board.post(seconds_ago=10).id for _ in range(20)}
    board.rig.choked.plan = at_call(number, "error_before")
    for _ in range(2):
        with_fault(board)
    board.rig.choked.plan = no_fault
    entries.add(board.post().id)
    gone = board.post()
    board.withdraw(gone)

    assert board.found() == entries


def with_fault(board: Board) -> None:
    try:
        board.found()
    except errors.Busy:
        board.clock.advance(1)


def test_an_older_reading_of_another_thread_brings_nothing_back(board: Board) -> None:
    entry = board.post()
    board.found()
    behind = board.search._boards[WORKSPACE]
    before = behind._entries_from(board.clock.now() - timedelta(seconds=10))
    board.withdraw(entry)
    assert board.found() == set()

    behind._apply(map(words_of, before), {"chg_old": replace(entry, version=1)})

    assert behind.ask(lambda index: len(index)) == 0


def test_many_threads_ask_and_post_at_once(board: Board) -> None:
    entries = {board.post().id for _ in range(50)}

    answers = all_at_once([board.found, lambda: {board.post().id}] * 4)

    sets = [answer for answer in answers if isinstance(answer, set)]
    assert len(sets) == len(answers)
    assert sum(found >= entries for found in sets) == len(sets) / 2
    assert board.found() == entries.union(*sets)


def test_a_question_costs_five_reads_and_as_many_again_for_what_is_new(board: Board) -> None:
    for _ in range(300):
        board.post(seconds_ago=1_000)
    assert board.calls() == ["get_item", *["query"] * 4, "transact_write_items"]

    assert board.calls() == ["query"] * 5
    board.post()
    assert board.calls() == ["query"] * 5

    board.withdraw(board.post())
    assert board.calls() == ["query"] * 5 + ["batch_get_item"]
    assert board.calls() == ["query"] * 5


# In little time


def slowly(board: Board) -> LexicalSearch:
    """Each page takes three seconds."""

    def pages(read: Iterator[Page]) -> Iterator[Page]:
        for page in read:
            board.clock.advance(3)
            yield page

    return LexicalSearch(board.rig.store, board.clock, SearchLimits(), pages)


def test_who_has_too_little_time_is_told_so_and_keeps_nobody_waiting_again(board: Board) -> None:
    board.post()
    search = slowly(board)

    def in_two_seconds() -> int:
        return len(search.find(WORKSPACE, QUEUE, board.clock.now() + timedelta(seconds=2)).items)

    def refused() -> None:
        with pytest.raises(errors.Busy):
            in_two_seconds()

    refused()
    assert board.rig.count(refused) == []
    board.clock.advance(60)
    assert board.rig.count(refused) != []
    assert len(search.find(WORKSPACE, QUEUE).items) == 1
    assert in_two_seconds() == 1


def test_who_has_little_time_packs_nothing() -> None:
    board = Board(SearchLimits(per_pack=2))
    board.found()
    for _ in range(3):
        board.post()
    board.clock.advance(3_600)
    board.search.find(WORKSPACE, QUEUE, board.clock.now() + timedelta(seconds=2))
    assert board.rig.store.memory.packs_before(WORKSPACE, None, 10) == ()
    board.found()
    assert len(board.rig.store.memory.packs_before(WORKSPACE, None, 10)) == 1
