"""Lists of any length are read page by page, whole, and no page is larger than a function may answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from baton.domain.agents.agent import MAX_AGENTS, MAX_ALIASES, MAX_DESCRIPTION, MAX_NAME, MAX_TYPES
from baton.domain.agents.route import MAX_ROUTES, RoutingTable
from baton.domain.agents.tool import Variable
from baton.steps.agents.mark_contact import mark_contact
from support.gateway import Gateway, Reply
from support.values.runs import a_tool
from support.values.task_items import told
from support.values.tasks import an_agent
from support.worlds.world import WORKSPACE, World, agent, human

ALICE = human()
MOST_BYTES = 6_000_000


def whole(gateway: Gateway, path: str, query: str = "", most: int = 1_000) -> list[Any]:
    """Every item, page by page."""
    items: list[Any] = []
    more = ""
    for _ in range(most):
        reply = gateway.get(ALICE, path, query=query + more)
        assert reply.status == 200, reply.text
        assert answered_bytes(reply) <= MOST_BYTES
        items += reply.json["items"]
        if reply.json["next_cursor"] is None:
            return items
        assert reply.json["items"], "a page that goes on has something in it"
        more = f"&cursor={reply.json['next_cursor']}"
    raise AssertionError(f"{path} doesn't end")


def answered_bytes(reply: Reply) -> int:
    """As the function's runtime sends it, at its largest: JSON in JSON, and nothing but ASCII."""
    return len(json.dumps({"statusCode": 200, "headers": reply.headers, "body": reply.text}))


def long_name(number: int, ending: str = "") -> str:
    return f"{ending}{number:03d}" + "\U0001f916" * (MAX_NAME - 3 - len(ending))


def crowd(world: World, count: int) -> list[str]:
    """So many agents as long as they may be."""
    slugs = [f"a-{number:03d}" for number in range(count)]
    roster = world.store.agents.roster(WORKSPACE)
    for number, slug in enumerate(slugs):
        saved = an_agent(
            slug,
            name=long_name(number),
            aliases=tuple(long_name(number, f"{each}:") for each in range(MAX_ALIASES)),
            description='"' * MAX_DESCRIPTION,
            accepts=("code", *(long_name(each) for each in range(MAX_TYPES - 1))),
            produces=tuple(long_name(each) for each in range(MAX_TYPES)),
        )
        world.store.agents.save_agent(saved, roster)
        roster = roster.saved(saved)
    return slugs


@pytest.mark.parametrize("limit", [1, 25, 100])
def test_agents_as_large_as_they_may_be_are_all_listed(world: World, gateway: Gateway, limit: int) -> None:
    count = 30 if limit == 1 else 135
    slugs = crowd(world, count)
    listed = [each["slug"] for each in whole(gateway, "/agents", f"limit={limit}")]
    assert listed == sorted([*slugs, "auditor", "runner", "scout"])


def test_the_best_agents_are_all_listed_best_first(world: World, gateway: Gateway) -> None:
    slugs = crowd(world, 60)
    for slug in (slugs[40], slugs[55]):
        mark_contact(world.deps, agent(slug), slug)
    found = whole(gateway, "/agents", "accepts=code&limit=7")
    assert [each["slug"] for each in found][:2] == [slugs[40], slugs[55]]
    assert sorted(each["slug"] for each in found) == sorted([*slugs, "auditor", "runner", "scout"])
    assert [(-each["score"], each["slug"]) for each in found] == sorted((-e["score"], e["slug"]) for e in found)


def test_a_workspace_full_of_agents_is_listed_to_its_end(world: World, gateway: Gateway) -> None:
    roster = world.store.agents.roster(WORKSPACE)
    for number in range(MAX_AGENTS - 3):
        saved = an_agent(f"a-{number:03d}", name=f"A {number}")
        world.store.agents.save_agent(saved, roster)
        roster = roster.saved(saved)
    assert len(whole(gateway, "/agents")) == len(whole(gateway, "/agents", "limit=100", most=5)) == MAX_AGENTS


def test_who_comes_and_goes_between_two_pages_moves_nobody_else(world: World, gateway: Gateway) -> None:
    for slug in ("bee", "cat", "dog", "eel"):
        gateway.put(ALICE, f"/agents/{slug}", {})
    first = gateway.get(ALICE, "/agents", query="limit=3").json
    assert [each["slug"] for each in first["items"]] == ["auditor", "bee", "cat"]
    for slug in ("ant", "cow"):
        gateway.put(ALICE, f"/agents/{slug}", {})
    rest = gateway.get(ALICE, "/agents", query=f"limit=10&cursor={first['next_cursor']}").json
    assert [each["slug"] for each in rest["items"]] == ["cow", "dog", "eel", "runner", "scout"]


def test_tools_as_large_as_they_may_be_are_all_listed(world: World, gateway: Gateway) -> None:
    variables = tuple(
        Variable(name=f"variable_{number}", enum=tuple(f"{each}" + "\U0001f916" * 100 for each in range(20)))
        for number in range(30)
    )
    names = [f"tool_{number:02d}" for number in range(20)]
    for name in names:
        world.store.tools.save_tool(
            a_tool(name=name, context_variables=variables), world.store.tools.toolbox(WORKSPACE)
        )
    for query in ("", "limit=100", "limit=3"):
        assert [each["name"] for each in whole(gateway, "/tools", query)] == names


def test_a_workspace_full_of_routes_is_listed_to_its_end(world: World, gateway: Gateway) -> None:
    body = {"agent": "auditor", "mode": "dispatch", "dispatch_rank": 1_000}
    assert gateway.put(ALICE, "/routes/type-0", body).status == 201
    first = world.store.routes.route(WORKSPACE, "type-0")
    assert first is not None
    for number in range(1, MAX_ROUTES):
        another = replace(first, work_type=f"type-{number}", dispatch_rank=1_000 - number // 7)
        world.store.routes.save_route(another, RoutingTable(version=number))
    one_more = gateway.put(ALICE, "/routes/one-more", {"agent": "auditor", "mode": "manual"})
    assert (one_more.status, one_more.json["code"]) == (409, "limit_reached")
    for query in ("", "limit=99"):
        found = [(each["dispatch_rank"], each["work_type"]) for each in whole(gateway, "/routes", query)]
        assert (len(found), found) == (MAX_ROUTES, sorted(found))


@pytest.mark.parametrize("path", ["/agents", "/tools", "/routes"])
def test_limits_and_cursors_are_those_of_every_list(gateway: Gateway, path: str) -> None:
    for limit in ("0", "101", "many"):
        reply = gateway.get(ALICE, path, query=f"limit={limit}")
        assert (reply.status, reply.fields) == (422, ["limit"])
    of_another = gateway.get(ALICE, "/agents", query="accepts=code&limit=1").json["next_cursor"]
    for cursor in ("x", of_another):
        reply = gateway.get(ALICE, path, query=f"cursor={cursor}")
        assert (reply.status, reply.fields) == (422, ["cursor"])


def test_an_inbox_of_long_news_is_read_to_its_end(world: World, gateway: Gateway) -> None:
    for number in range(40):
        told(world.store, number, description="\U0001f916" * 50_000)
    found = whole(gateway, "/agents/scout/inbox", "limit=100")
    assert [each["id"] for each in found] == [f"inb_{number:03d}" for number in range(40)]
