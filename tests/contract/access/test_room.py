"""The polls of a function with a reserve are counted wherever they wait, and a dead one frees its place by itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from baton.domain.times import seconds
from baton.ports.store import Store
from support.clock import NOON
from support.worlds.rig import Rig


def test_each_poll_learns_how_many_wait_with_it(store: Store) -> None:
    assert [store.uses.enter_room("wait", NOON + seconds(each)) for each in (0, 1, 29)] == [1, 2, 3]
    store.uses.leave_room("wait", NOON)
    assert store.uses.enter_room("wait", NOON + seconds(29)) == 3


def test_polls_of_half_a_minute_before_are_counted_too(store: Store) -> None:
    store.uses.enter_room("wait", NOON + seconds(29))
    assert store.uses.enter_room("wait", NOON + seconds(31)) == 2
    store.uses.leave_room("wait", NOON + seconds(29))
    assert store.uses.enter_room("wait", NOON + seconds(32)) == 2


@pytest.mark.parametrize(("after", "counted"), [(30, 2), (59, 2), (60, 1)])
def test_a_poll_whose_process_died_is_counted_for_a_minute_at_most(store: Store, after: int, counted: int) -> None:
    store.uses.enter_room("wait", NOON)
    assert store.uses.enter_room("wait", NOON + seconds(after)) == counted


def test_each_function_has_its_own(store: Store) -> None:
    store.uses.enter_room("wait", NOON)
    assert store.uses.enter_room("mcp_door", NOON) == 1


def test_a_reply_that_is_lost_at_the_end_makes_no_room_for_others(rig: Rig) -> None:
    for _ in range(2):
        rig.store.uses.enter_room("wait", NOON)
    rig.choked.plan = lambda _, operation: "timeout_after" if operation == "update_item" else None
    with pytest.raises(Exception, match=r"[Bb]usy|again"):
        rig.store.uses.leave_room("wait", NOON)
    rig.choked.plan = lambda _number, _operation: None
    assert rig.other_store.uses.enter_room("wait", NOON) == 2


def test_more_ends_than_beginnings_never_make_places(store: Store) -> None:
    store.uses.leave_room("wait", NOON)
    assert store.uses.enter_room("wait", NOON) == 0
    assert store.uses.enter_room("wait", NOON + seconds(30)) == 1


def test_of_eight_that_enter_together_each_is_counted(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        counted = list(pool.map(lambda _: store.uses.enter_room("wait", NOON), range(8)))
    assert sorted(counted) == list(range(1, 9))


def test_it_is_one_write_and_one_read_at_the_beginning_and_one_write_at_the_end(rig: Rig) -> None:
    assert rig.count(lambda: rig.store.uses.enter_room("wait", NOON)) == ["update_item", "get_item"]
    assert rig.count(lambda: rig.store.uses.leave_room("wait", NOON)) == ["update_item"]
