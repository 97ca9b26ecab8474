"""Along what a conversation's holder is found: pure, so that every shape can be tried."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.conversations.conversation_thread import thread_from
from baton.domain.task_state import State
from baton.domain.tasks.task import Task
from support.clock import NOON
from support.values.tasks import a_new_task

DONE: dict[str, Any] = {"state": State.DONE, "fence": 1}
OPEN: dict[str, Any] = {"state": State.DELEGATED, "ready_at": NOON}
PENDING: dict[str, Any] = {"state": State.NEEDS}
DROPPED: dict[str, Any] = {"state": State.CANCELLED}
CANCELLED: dict[str, Any] = {"state": State.CANCELLED, "ready_at": NOON}


def task(id_: str, **values: Any) -> Task:
    return a_new_task(id=id_, master_task_id="root", **values)


def held(*others: Task, followed: dict[str, str] | None = None, **root: Any) -> tuple[str, list[str], bool]:
    first = task("root", **{**DONE, **root})
    thread = thread_from(first, {each.id: each for each in (first, *others)}, followed or {})
    return thread.holder.id, [each.id for each in thread.passed_over], thread.is_torn


def test_alone_the_root_holds_it() -> None:
    assert held() == ("root", [], False)
    assert held(**PENDING) == ("root", [], False)


@pytest.mark.parametrize("ids", [("a", "b", "c"), ("z", "b", "a")])
def test_each_message_goes_on_from_the_one_before_whatever_their_ids(ids: tuple[str, ...]) -> None:
    one, two, three = ids
    followed = {"root": one, one: two, two: three}
    assert held(task(one, **DONE), task(two, **DONE), task(three, **OPEN), followed=followed) == (three, [], False)


def test_to_whom_it_was_transferred_holds_it_and_who_got_a_part_doesnt() -> None:
    others = task("on", **DONE), task("part", **OPEN, parent_id="root", join_parent="root")
    assert held(*others, successors=("on",)) == ("on", [], False)
    assert held(*others) == ("root", [], False)


def test_only_what_is_done_was_transferred() -> None:
    for state in (State.CANCELLED, State.FAILED, State.REJECTED):
        assert held(task("part", **OPEN), state=state, successors=("part",)) == ("root", [], False)


@pytest.mark.parametrize(("values", "passed_over"), [(PENDING, ["on"]), (DROPPED, [])])
def test_what_was_never_approved_holds_nothing(values: dict[str, Any], passed_over: list[str]) -> None:
    assert held(task("on", **values), successors=("on",)) == ("root", passed_over, False)
    assert held(task("on", **values), followed={"root": "on"}) == ("root", passed_over, False)


def test_what_was_approved_holds_it_also_when_it_was_cancelled_or_is_back_with_a_human() -> None:
    assert held(task("on", **CANCELLED), successors=("on",))[0] == "on"
    assert held(task("on", state=State.NEEDS, fence=3), successors=("on",))[0] == "on"


def test_what_the_user_said_comes_before_what_was_approved_later() -> None:
    on, said = task("on", **DONE), task("said", **DONE)
    assert held(on, said, successors=("on",), followed={"root": "said"})[0] == "said"
    unheard = task("said", **PENDING)
    assert held(on, unheard, successors=("on",), followed={"root": "said"}) == ("on", ["said"], False)


def test_open_work_is_held_by_whoever_took_it() -> None:
    nobodys: dict[str, Any] = {"target_agent": None}
    assert held(task("on", **nobodys, **OPEN), successors=("on",))[0] == "on"
    assert held(task("on", **nobodys, **CANCELLED), successors=("on",))[0] == "root"
    taken = task("on", **nobodys, **DONE, takers=("runner",))
    assert (held(taken, successors=("on",))[0], taken.agent) == ("on", "runner")


def test_what_is_tried_anew_takes_its_place_until_the_user_goes_on() -> None:
    one, two = task("one", **DROPPED, retry_of="root"), task("two", **CANCELLED, retry_of="root")
    assert held(one, two, state=State.FAILED)[0] == "two"
    three = task("three", **DONE)
    assert held(one, two, three, state=State.FAILED, followed={"two": "three"})[0] == "three"


def test_what_isnt_among_what_was_read_is_told() -> None:
    assert held(followed={"root": "late"}) == ("root", [], True)
    assert held(successors=("late",)) == ("root", [], True)


def test_a_ring_comes_to_an_end() -> None:
    assert held(task("a", **DONE), followed={"root": "a", "a": "root"})[0] == "a"
