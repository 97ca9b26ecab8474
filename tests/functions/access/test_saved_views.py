"""Views of the console that people save."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.saved_view import MAX_VIEWS
from support.gateway import Gateway
from support.worlds.world import agent, human, service

ALICE = human()
BOB = Principal(ALICE.workspace, PrincipalKind.HUMAN, "bob")
URGENT: dict[str, Any] = {"title": "Urgent", "page": "/approvals", "query": {"priority": "P0", "sort": "deadline"}}


def test_own_view_is_shown_to_its_owner_alone(gateway: Gateway) -> None:
    saved = gateway.put(ALICE, "/views/urgent", URGENT)
    assert (saved.status, saved.json["scope"], saved.json["version"]) == (201, "mine", 1)
    (listed,) = gateway.get(ALICE, "/views").json["items"]
    assert listed == saved.json
    assert gateway.get(BOB, "/views").json["items"] == []


def test_view_of_the_workspace_says_who_changed_it(gateway: Gateway) -> None:
    first = gateway.put(ALICE, "/views/urgent", {**URGENT, "scope": "workspace", "version": 0}).json
    again = gateway.put(BOB, "/views/urgent", {**URGENT, "scope": "workspace", "version": first["version"]})
    assert (again.status, again.json["updated_by"]) == (200, "human:bob")
    lost = gateway.put(ALICE, "/views/urgent", {**URGENT, "scope": "workspace", "version": first["version"]})
    assert (lost.status, lost.code, lost.json["version"]) == (409, "version_conflict", 2)


def test_view_made_anew_isnt_taken_for_the_one_that_was_deleted(gateway: Gateway) -> None:
    first = gateway.put(ALICE, "/views/urgent", URGENT).json["version"]
    assert gateway.delete(ALICE, "/views/urgent", query=f"version={first + 1}").code == "version_conflict"
    assert gateway.delete(ALICE, "/views/urgent", query=f"version={first}").status == 204
    assert gateway.delete(ALICE, "/views/urgent").status == 404
    gateway.put(ALICE, "/views/urgent", URGENT)
    assert gateway.delete(ALICE, "/views/urgent", query=f"version={first}").code == "version_conflict"


def test_views_of_a_scope_are_bounded(gateway: Gateway) -> None:
    for number in range(MAX_VIEWS):
        assert gateway.put(ALICE, f"/views/v-{number}", URGENT).status == 201
    assert gateway.put(ALICE, "/views/one-more", URGENT).code == "limit_reached"
    assert gateway.put(ALICE, "/views/v-0", URGENT).status == 200
    assert gateway.put(ALICE, "/views/one-more", {**URGENT, "scope": "workspace"}).status == 201


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"page": "https://elsewhere.example"}, "page"),
        ({"page": "/tasks?state=done"}, "page"),
        ({"query": {"Bad name": "1"}}, "query.Bad name"),
        ({"query": {"q": "x" * 201}}, "query.q"),
        ({"query": {f"f{'x' * each}": "y" * 200 for each in range(6)}}, "query"),
        ({"title": " "}, "title"),
        ({"scope": "all"}, "scope"),
    ],
)
def test_what_is_no_address_of_a_page_is_refused(gateway: Gateway, wrong: dict[str, Any], field: str) -> None:
    reply = gateway.put(ALICE, "/views/urgent", {**URGENT, **wrong})
    assert (reply.status, reply.fields[0].split(".")[0]) == (422, field.split(".")[0])


def test_only_people_have_views(gateway: Gateway) -> None:
    for by in (agent("auditor"), service()):
        assert gateway.get(by, "/views").code == "human_required"
        assert gateway.put(by, "/views/urgent", URGENT).code == "human_required"
        assert gateway.delete(by, "/views/urgent").code == "human_required"
