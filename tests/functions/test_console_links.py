"""Addresses in events, marker answers and pages of the tracker: a person is led to the console, a program answered."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import pytest

from support.gateway import Gateway, gateway_event, route_of
from support.worlds.world import World, human

ALICE = human()
CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
PAGES = {
    "/tasks/task_1": "/tasks/task_1",
    "/handoffs/ho_1": "/handoffs/ho_1",
    "/manual-reviews/mr_1": "/reviews/mr_1",
    "/conversations/wf_1": "/chat/wf_1",
    "/alerts/alert_1": "/alerts?alert=alert_1",
    "/tasks/task_1/questions/qst_1": "/approvals?question=qst_1&of=task_1",
    "/blackboard/ent_1": "/memory/ent_1",
    "/agents/scout": "/agents/scout",
    "/tools/open_page": "/tools/open_page",
}


def asked(gateway: Gateway, path: str, **headers: str) -> dict[str, Any]:
    return gateway.handle(route_of("GET", path), gateway_event(None, "GET", path, headers=headers))


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("base", ["", "/prod", "/a/b"])
def test_a_person_who_follows_a_link_is_led_to_its_page(gateway: Gateway, path: str, base: str) -> None:
    """Wherever the API is: a front door may have taken the beginning of the path away."""
    answer = asked(gateway, path, accept=CHROMIUM)
    assert (answer["statusCode"], answer["headers"]["Vary"]) == (303, "Accept, Authorization, Baton-Session")
    to = urljoin(f"https://baton.example{base}{path}", answer["headers"]["Location"])
    assert to == f"https://baton.example{base}/console/#{PAGES[path]}"
    assert "body" not in answer


def test_what_there_is_makes_no_difference(world: World, gateway: Gateway) -> None:
    known, unknown = world.needing(), "task_unknown"
    answers = [asked(gateway, f"/tasks/{each}", accept=CHROMIUM) for each in (known, unknown)]
    assert answers[0]["headers"]["Location"].replace(known, unknown) == answers[1]["headers"]["Location"]


@pytest.mark.parametrize(
    "accept",
    ["", "*/*", "application/json", "application/json, text/plain, */*", "application/json, text/html;q=0.9",
     "text/html;q=0", "text/html;q=0.5, */*", "text/html;q=nonsense", "text/*", ";;,,",
     "text/html;q=0.5;q=1, */*;q=0.5"],
)  # fmt: skip
def test_a_program_is_answered_as_ever(gateway: Gateway, accept: str) -> None:
    assert asked(gateway, "/tasks/task_1", accept=accept)["statusCode"] == 401


@pytest.mark.parametrize("shown", [{"authorization": "Bearer x"}, {"baton-session": "x"}])
def test_who_shows_a_token_is_answered_whatever_it_accepts(gateway: Gateway, shown: dict[str, str]) -> None:
    assert asked(gateway, "/tasks/task_1", accept=CHROMIUM, **shown)["statusCode"] == 403


@pytest.mark.parametrize("path", ["/tasks/%0d%0ax", "/tasks/a b", "/agents/UPPER", "/tasks", "/healthz", "/nothing"])
def test_no_other_address_leads_anywhere(gateway: Gateway, path: str) -> None:
    assert asked(gateway, path, accept=CHROMIUM)["statusCode"] != 303


def test_nothing_is_changed_by_a_link(gateway: Gateway) -> None:
    answer = gateway.handle(
        route_of("DELETE", "/blackboard/ent_1"),
        gateway_event(None, "DELETE", "/blackboard/ent_1", headers={"accept": CHROMIUM}),
    )
    assert answer["statusCode"] == 401


def test_a_person_s_program_that_wants_a_page_gets_what_it_asked_for(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    assert gateway.get(ALICE, f"/tasks/{task_id}", headers={"accept": CHROMIUM}).json["id"] == task_id
