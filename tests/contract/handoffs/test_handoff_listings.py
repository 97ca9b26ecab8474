"""What is found of handoffs: lists, the chain, checkpoints; and what finding them takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from baton.adapters.dynamodb.concurrent_calls import Calls, run_in_turn
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.errors import InvalidInput, Unknown
from baton.domain.times import seconds
from baton.ports.paging import Page
from baton.ports.store import Store
from baton.services.handoffs.find_handoff import find_handoff
from baton.services.handoffs.list_checkpoints import checkpoints_of_task, checkpoints_of_workflow
from baton.services.handoffs.list_handoffs import MAX_READS, Filter, list_handoffs
from baton.services.handoffs.read_inbox import acknowledge, read_inbox
from baton.services.handoffs.workflow_chain import workflow_chain
from support.fakes.store import TABLE
from support.faults.hooked_store import HookedStore
from support.worlds.rig import Rig
from support.worlds.team import Team
from support.worlds.world import World, agent, human

A, B, C = "anna", "bert", "carl"
DAY = 86_400


@pytest.fixture
def team(store: Store) -> Team:
    return Team(A, B, C, world=World(store=store))


def found(team: Team, limit: int = 100, **wanted: Any) -> list[str]:
    """Titles, page by page."""
    titles: list[str] = []
    cursor = None
    while True:
        page = list_handoffs(team.deps, human(), Filter(**wanted), limit, cursor)
        assert len(page.items) <= limit
        titles += [task.title for task in page.items]
        if page.cursor is None:
            return titles
        cursor = page.cursor


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_handoffs_are_listed_newest_first_whatever_they_are_found_by(team: Team, limit: int) -> None:
    root = team.begin(A, "0")
    team.later(DAY)
    for number, target in enumerate((B, C, B), 1):
        team.ask(target, str(number), under=root)
        team.later(DAY)
    team.ask(B, "4")
    workflow_id = root.task.workflow_id
    assert found(team, limit) == ["4", "3", "2", "1", "0"]
    assert found(team, limit, workflow_id=workflow_id) == ["3", "2", "1", "0"]
    assert found(team, limit, target=B) == ["4", "3", "1"]
    assert found(team, limit, target=B, workflow_id=workflow_id) == ["3", "1"]
    assert found(team, limit, source=A, target=B) == ["3", "1"]
    assert found(team, limit, source=A) == ["3", "2", "1"]
    assert found(team, limit, source="human:alice", workflow_id=workflow_id) == ["0"]
    since = team.task(root.task.id).created_at
    for more in ({}, {"workflow_id": workflow_id}, {"target": A}):
        assert "0" in found(team, limit, since=since, **more)
        assert "0" not in found(team, limit, since=since.replace(microsecond=1_000), **more)


def test_the_walk_goes_back_a_year_and_no_further(team: Team) -> None:
    team.ask(B, "old")
    since = team.world.clock.now().replace(hour=0)
    team.later(365 * DAY)
    assert found(team, since=since) == ["old"]
    team.later(2 * DAY)
    with pytest.raises(InvalidInput):
        found(team, since=since)
    assert found(team, since=since, target=B) == ["old"]
    assert found(team) == []


def test_a_cursor_of_another_listing_is_no_day(team: Team) -> None:
    with pytest.raises(InvalidInput):
        list_handoffs(team.deps, human(), Filter(), 10, "task_01")


def test_the_chain_is_read_with_what_each_came_to(team: Team) -> None:
    root = team.begin(A)
    team.complete(root, to=B, deliverables=[{"type": "code", "files_created": ["/a"]}])
    team.fail(team.take(B), back_to=C)
    (top,) = workflow_chain(team.deps, human(), root.task.workflow_id)
    (second,) = top.children
    (third,) = second.children
    assert [step.agent for step in (top, second, third)] == [A, B, C]
    assert top.files["created"] == ["/a"]
    assert (second.reason, second.rollback_target, third.task.kind) == ("broke", C, "rollback")
    assert second.task.started_at == second.task.created_at + seconds(3)


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_checkpoints_of_both_kinds_are_merged_by_time(team: Team, limit: int) -> None:
    root = team.begin(A, context={"state": {"at": "root"}})
    for number in range(6):
        team.later(1)
        if number % 2:
            team.ask(B, f"child {number}", under=root, context={"state": {"at": number}})
        else:
            team.checkpoint(root, at=number)
    task = root.task

    def every(read: Any, about: str) -> list[Any]:
        states: list[Any] = []
        cursor = None
        while True:
            page: Page = read(team.deps, human(), about, limit, cursor)
            states += [each.state["at"] for each in page.items]
            if page.cursor is None:
                return states
            cursor = page.cursor

    assert every(checkpoints_of_workflow, task.workflow_id) == [5, 4, 3, 2, 1, 0, "root"]
    assert every(checkpoints_of_task, task.id) == [4, 2, 0, "root"]


def test_what_is_asked_for_in_another_workspace_is_unknown(team: Team) -> None:
    task = team.begin(A).task
    asked: list[Callable[[], Any]] = [
        lambda: find_handoff(team.deps, human("other"), task.handoff_id),
        lambda: find_handoff(team.deps, human(), task.id),
        lambda: workflow_chain(team.deps, human("other"), task.workflow_id),
        lambda: checkpoints_of_workflow(team.deps, human("other"), task.workflow_id, 10, None),
        lambda: checkpoints_of_task(team.deps, human("other"), task.id, 10, None),
        lambda: read_inbox(team.deps, agent(A, "other"), A, 10, None),
        lambda: acknowledge(team.deps, agent(A, "other"), A, ["x"]),
    ]
    for ask in asked:
        with pytest.raises(Unknown):
            ask()
    assert found(team, workflow_id=task.workflow_id) == ["begin"]
    assert list_handoffs(team.deps, human("other"), Filter(workflow_id=task.workflow_id), 10, None) == Page(())


def test_an_inbox_is_read_and_emptied(team: Team) -> None:
    root = team.begin(A)
    for number in range(3):
        team.complete(team.take(B, team.ask(B, str(number), under=root).task.id))
    first = read_inbox(team.deps, agent(A), A, 2, None)
    rest = read_inbox(team.deps, agent(A), A, 2, first.cursor)
    assert (len(first.items), len(rest.items), rest.cursor) == (2, 1, None)
    ids = [item.id for item in first.items]
    assert acknowledge(team.deps, agent(A), A, [*ids, *ids, "inbox_unknown"]) == 3
    assert read_inbox(team.deps, agent(A), A, 10, None).items == rest.items


# What changes while it is read


@pytest.mark.parametrize("end", ["complete", "fail"])
def test_a_chain_holds_what_follows_from_an_end_that_it_tells_of(team: Team, end: str) -> None:
    held, store = team.begin(A), HookedStore(team.deps.store)
    follow = {"complete": lambda: team.complete(held, to=B), "fail": lambda: team.fail(held, back_to=B)}[end]
    store.after["members"] = follow
    (top,) = workflow_chain(replace(team.deps, store=store), human(), held.task.workflow_id)
    assert top.task.is_ended
    assert [each.task.target_agent for each in top.children] == [B]


# What it takes


def test_a_chain_takes_two_readings_and_one_more_for_each_thirty_handoffs(rig: Rig) -> None:
    team = Team(A, B, world=rig.world, max_handoffs_per_workflow=100, loop_guard=False)
    root = team.begin(A)
    for number in range(24):
        team.ask(B, str(number), under=root)
    workflow_id = root.task.workflow_id

    def read() -> Any:
        return workflow_chain(team.deps, human(), workflow_id)

    assert rig.count(read) == ["query", "batch_get_item"]
    for number in range(24, 49):
        team.ask(B, str(number), under=root)
    assert rig.count(read) == ["query", "batch_get_item", "batch_get_item"]


def test_the_readings_of_a_long_chain_do_not_wait_for_each_other(rig: Rig) -> None:
    team = Team(A, B, world=rig.world, max_handoffs_per_workflow=100, loop_guard=False)
    root = team.begin(A)
    for number in range(40):
        team.ask(B, str(number), under=root)
    at_once: list[int] = []

    def together(calls: Calls) -> None:
        at_once.append(len(calls))
        run_in_turn(calls)

    store = DynamoStore(Table(rig.choked, TABLE, rig.patience, together=together))
    (chain,) = workflow_chain(replace(team.deps, store=store), human(), root.task.workflow_id)
    assert len(chain.children) == 40
    assert max(at_once) == 2


def test_a_page_never_reads_without_end(rig: Rig) -> None:
    team = Team(A, B, world=rig.world)
    team.ask(B, "old")
    since = rig.clock.now()
    team.later(300 * DAY)
    asked: list[Callable[[], Any]] = [
        lambda: list_handoffs(team.deps, human(), Filter(since=since), 100, None),
        lambda: list_handoffs(team.deps, human(), Filter(source="nobody", target=B), 100, None),
    ]
    for ask in asked:
        assert len(rig.count(ask)) <= MAX_READS
