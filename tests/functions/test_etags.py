"""What is read again is answered without its body while it holds, and never once it doesn't."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.domain.errors import BatonError
from baton.domain.runs.transcript import Usage
from baton.domain.tracker.page_sync import PageRef, Sync
from baton.ports.writes import AddUsage, Put, Require, UnderClaim
from baton.services.access.change_settings import change_settings
from baton.services.tasks.approve_task import approve_task
from support.gateway import ROUTES, Gateway, Reply
from support.values.bodies import IDS, QUERIES
from support.worlds.rig import Rig
from support.worlds.use_cases import USE_CASES
from support.worlds.world import WORKSPACE, World, agent, human

ALICE, BOB = human(), human(name="bob")
ACTING = Principal(WORKSPACE, PrincipalKind.SERVICE, "ci", frozenset({ACT_AS}))
READ = [route for route in ROUTES if route.method == "GET" and route.needs_token and not route.waits]
TAG = re.compile(r'W/"[0-9a-f]{32}"')


def again(gateway: Gateway, by: Principal, path: str, tag: str, query: str = "") -> Reply:
    return gateway.get(by, path, query=query, headers={"if-none-match": tag})


def tags_of_tasks(gateway: Gateway, rig: Rig) -> Iterator[tuple[str, Reply]]:
    for partition, sort_key in list(rig.raw.contents()):
        if sort_key == "HEAD" and partition.startswith(f"WS#{WORKSPACE}#TASK#"):
            path = f"/tasks/{partition.rpartition('#')[2]}"
            yield path, gateway.get(ALICE, path)


def test_all_that_is_read_has_a_tag_of_the_callers_own(gateway: Gateway, world: World) -> None:
    ids = IDS | {"task_id": world.needing()}
    for route in READ:
        has_a_tag_of_the_callers_own(gateway, route.path.format_map(ids), QUERIES.get(route.name, ""))


def has_a_tag_of_the_callers_own(gateway: Gateway, path: str, query: str) -> None:
    first = gateway.get(ALICE, path, query=query)
    if first.status != 200:
        assert "ETag" not in first.headers, path
        assert first.headers["Cache-Control"] == "no-store", path
        return
    tag = first.headers["ETag"]
    assert TAG.fullmatch(tag), path
    assert (first.headers["Cache-Control"], first.headers["Vary"]) == (
        "private, no-cache",
        "Accept, Authorization, Baton-Session",
    ), path
    known = again(gateway, ALICE, path, f'"theirs", {tag}', query)
    assert (known.status, known.text, known.headers["ETag"]) == (304, "", tag), path
    assert known.headers["Cache-Control"] == "private, no-cache", path
    assert "Content-Type" not in known.headers, path
    assert again(gateway, ALICE, path, 'W/"0"', query).text == first.text, path
    others = again(gateway, ACTING, path, tag, query)
    assert others.status != 304, path
    assert others.headers.get("ETag") != tag, path


@pytest.mark.parametrize("name", USE_CASES)
def test_no_change_of_a_task_is_missed(name: str) -> None:
    rig = Rig().settle()
    given = USE_CASES[name].prepare(rig.world)
    gateway = Gateway(rig.world.deps)
    before = dict(tags_of_tasks(gateway, rig))
    with suppress(BatonError):
        USE_CASES[name].act(rig.world, given)
    for path, reply in before.items():
        now = gateway.get(ALICE, path)
        known = again(gateway, ALICE, path, reply.headers["ETag"])
        assert known.status == (304 if now.headers["ETag"] == reply.headers["ETag"] else 200)
        assert known.status == 200 or now.text == reply.text, f"{name} has changed {path}"
        assert again(gateway, ALICE, path, now.headers["ETag"]).status == 304


def test_a_tasks_usage_and_page_change_its_tag_though_its_version_stays(world: World, gateway: Gateway) -> None:
    change_settings(world.deps, ALICE, {"tracker": {"database": "0" * 32}})
    claim: Any = world.claimed()
    task = claim.details.task
    assert task.meta.mirrored
    under = Require(UnderClaim(task.id, claim.claim_id))
    path, tags, page = f"/tasks/{task.id}", set(), world.store.tracker.page_sync(WORKSPACE, task.id)
    assert page is not None
    changes: list[Any] = [
        AddUsage(task.workflow_id, task.id, Usage(model_calls=1)),
        AddUsage(task.workflow_id, task.id, Usage(input_tokens=5)),
        Put(replace(page, status=Sync.OK, page=PageRef("p-1", "https://notion.example/p-1"))),
        Put(replace(page, status=Sync.DENIED, message="The integration isn't allowed.")),
    ]
    for change in changes:
        before = gateway.get(ALICE, path)
        tags.add(before.headers["ETag"])
        world.store.commit(WORKSPACE, under, change)
        after = again(gateway, ALICE, path, before.headers["ETag"])
        assert after.status == 200
        assert after.json != before.json
    assert len(tags) == len(changes)


def test_a_new_release_may_show_the_same_task_otherwise(world: World, gateway: Gateway) -> None:
    path = f"/tasks/{world.needing()}"
    tag = gateway.get(ALICE, path).headers["ETag"]
    assert again(gateway, ALICE, path, tag).status == 304
    for deps in (replace(world.deps, release="0" * 16), replace(world.deps, public_url="https://other.example")):
        assert again(Gateway(deps), ALICE, path, tag).status == 200


def test_a_tag_opens_nothing(world: World, gateway: Gateway) -> None:
    """What may not be read, or isn't there, is answered as without one."""
    path = f"/tasks/{world.needing()}"
    tag = gateway.get(ALICE, path).headers["ETag"]
    stranger = agent("runner")
    assert again(gateway, stranger, path, tag).code == gateway.get(stranger, path).code == "not_found"
    assert again(gateway, human("other"), path, tag).code == "not_found"
    assert again(gateway, ALICE, "/tasks/task_unknown", tag).code == "not_found"
    assert again(gateway, ALICE, path, tag, "surprise=1").status == 422


def test_a_list_is_answered_anew_once_one_of_it_has_changed(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    lists = (("/tasks", "state=needs"), ("/tasks", "agent=auditor"), ("/agents/auditor/pending", ""))
    tags = [gateway.get(ALICE, path, query=query).headers["ETag"] for path, query in lists]
    assert [again(gateway, ALICE, *each).status for each in _asked(lists, tags)] == [304] * 3
    approve_task(world.deps, BOB, task_id, None)
    assert [again(gateway, ALICE, *each).status for each in _asked(lists, tags)] == [200] * 3


def _asked(lists: tuple[tuple[str, str], ...], tags: list[str]) -> Iterator[tuple[str, str, str]]:
    return ((path, tag, query) for (path, query), tag in zip(lists, tags, strict=True))


@pytest.mark.parametrize("header", ["", ",", "*", '""', "W/", "é", "x" * 10_000])
def test_any_header_is_taken(world: World, gateway: Gateway, header: str) -> None:
    assert gateway.get(ALICE, f"/tasks/{world.needing()}", headers={"if-none-match": header}).status == 200
