"""Attacks of an administrator on the tracker's webhook. Its signed reports state who set a closing status."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.rights import Right
from baton.services.access.change_settings import change_settings
from functions.attacks.test_rights import Staff
from support.gateway import Gateway, Reply
from support.worlds.notion_world import NotionWorld
from support.worlds.world import human

WEBHOOK = "/tracker/webhook"


@pytest.fixture
def tracked() -> NotionWorld:
    return NotionWorld().settle()


@pytest.fixture
def crew(tracked: NotionWorld) -> Staff:
    """Root and vera administer. A person of the tracker is a reader, and a signed report has arrived."""
    reported(tracked)
    lower(tracked, "reader")
    return Staff(tracked, Gateway(tracked.deps)).hire("root", Right.ADMINISTRATOR).hire("vera", Right.ADMINISTRATOR)


def reported(tracked: NotionWorld) -> None:
    """Opens a webhook, and has a signed report arrive."""
    if not tracked.notion.pages:
        tracked.needing()
    tracked.notion.subscriptions.clear()
    tracked.hook()
    tracked.clock.advance(60)
    tracked.notion.edit(next(iter(tracked.notion.pages)), by=tracked.notion.person, title=str(tracked.clock.now()))
    tracked.clock.advance(60)


def lower(tracked: NotionWorld, right: str) -> None:
    rights = {tracked.notion.add_user(name="Rea"): right}
    change_settings(tracked.deps, human(), {"tracker": {"rights": rights}})


def state(crew: Staff) -> str:
    found: str = crew.ask("root", "GET", "/tracker/health").json["webhook"]["state"]
    return found


def removal(crew: Staff) -> dict[str, Any]:
    reply = crew.ask("root", "DELETE", WEBHOOK)
    assert (reply.status, reply.json["state"], reply.json["names"]) == (202, "pending", ["webhook"])
    pending: dict[str, Any] = reply.json
    return pending


def approve(crew: Staff, change: dict[str, Any]) -> Reply:
    return crew.ask("vera", "POST", f"/workspace/changes/{change['id']}/approve", {"digest": change["digest"]})


def test_administrator_alone_removes_no_webhook_that_lower_rights_rest_on(crew: Staff) -> None:
    pending = removal(crew)
    assert state(crew) == "verified"
    assert crew.ask("root", "DELETE", WEBHOOK).json["id"] == pending["id"], "a repeat asks for the same change"
    assert crew.ask("root", "POST", WEBHOOK, {}).code == "webhook_installed"
    before = len(crew.alerts("rules_changed"))
    assert approve(crew, pending).json["state"] == "applied"
    assert state(crew) == "none"
    assert len(crew.alerts("rules_changed")) == before + 1
    (asked,) = crew.alerts("change_asked")
    assert asked["state"] == "resolved"


def test_a_webhook_that_lower_rights_rest_on_stays_if_the_other_administrator_refuses(crew: Staff) -> None:
    pending = removal(crew)
    assert crew.ask("vera", "POST", f"/workspace/changes/{pending['id']}/refuse", {}).status == 200
    assert state(crew) == "verified"


def test_the_removal_of_a_webhook_waits_while_the_tracker_is_off(crew: Staff) -> None:
    """Else its lower rights would come back without the webhook that they rest on."""
    assert crew.settings("root", tracker=None).status == 200
    removal(crew)


def test_the_approval_of_a_removal_removes_no_other_webhook(crew: Staff, tracked: NotionWorld) -> None:
    first = removal(crew)
    assert approve(crew, first).status == 200
    crew.world.clock.advance(1)
    reported(tracked)
    again = removal(crew)
    assert again["id"] != first["id"]
    assert approve(crew, first).json["state"] == "applied"
    assert state(crew) == "verified", "the approval of the first webhook's removal isn't used again"


def test_a_removal_that_was_asked_for_about_an_earlier_webhook_is_overtaken(crew: Staff, tracked: NotionWorld) -> None:
    crew.hire("third", Right.ADMINISTRATOR)
    first, second = removal(crew), crew.ask("vera", "DELETE", WEBHOOK).json
    assert second["id"] != first["id"], "each asker has a request of their own"
    path = f"/workspace/changes/{second['id']}/approve"
    assert crew.ask("third", "POST", path, {"digest": second["digest"]}).status == 200
    assert approve(crew, first).code == "change_overtaken"
    crew.world.clock.advance(1)
    reported(tracked)
    assert approve(crew, first).code == "change_overtaken"
    assert state(crew) == "verified"


def test_everybody_is_alerted_to_a_webhook_that_opens_while_rights_differ(crew: Staff) -> None:
    """The administrator who opens it knows its address and can shake hands at it with a token of their own."""
    approve(crew, removal(crew))
    before = len(crew.alerts("rules_changed"))
    crew.world.clock.advance(10)
    assert crew.ask("root", "POST", WEBHOOK, {}).status == 201
    alerts = crew.alerts("rules_changed")
    assert len(alerts) == before + 1
    assert "human:root changed webhook (tracker)" in alerts[0]["message"]
    refusal = crew.ask("root", "POST", f"/alerts/{alerts[0]['id']}/resolve", {"note": "mine"})
    assert refusal.code == "not_asked"


def test_a_webhook_without_a_signed_report_is_removed_alone(crew: Staff) -> None:
    approve(crew, removal(crew))
    assert crew.ask("root", "POST", WEBHOOK, {}).status == 201
    assert crew.ask("root", "DELETE", WEBHOOK).status == 204


def test_one_administrator_handles_the_webhook_where_everybody_has_the_same_right(tracked: NotionWorld) -> None:
    reported(tracked)
    lower(tracked, "approver")
    crew = Staff(tracked, Gateway(tracked.deps)).hire("root", Right.ADMINISTRATOR).hire("vera", Right.ADMINISTRATOR)
    before = len(crew.alerts("rules_changed"))
    assert crew.ask("root", "DELETE", WEBHOOK).status == 204
    assert crew.ask("root", "POST", WEBHOOK, {}).status == 201
    assert len(crew.alerts("rules_changed")) == before


def test_the_sole_administrator_removes_the_webhook_with_a_critical_alert(tracked: NotionWorld) -> None:
    reported(tracked)
    lower(tracked, "reader")
    crew = Staff(tracked, Gateway(tracked.deps)).hire("root", Right.ADMINISTRATOR)
    before = len(crew.alerts("loosened_alone"))
    assert crew.ask("root", "DELETE", WEBHOOK).status == 204
    assert len(crew.alerts("loosened_alone")) == before + 1
    assert crew.changes("subject=tracker")[0]["is_alone"]


@pytest.mark.parametrize("right", list(Right))
def test_only_administrators_see_the_token_that_signs_reports(crew: Staff, right: Right) -> None:
    approve(crew, removal(crew))
    url = crew.ask("root", "POST", WEBHOOK, {}).json["url"]
    path = url.removeprefix("https://baton.example")
    assert crew.gateway.send(None, "POST", path, {"verification_token": "secret_of_notion"}).status == 200
    crew.hire("eve", right)
    shown = crew.ask("eve", "GET", WEBHOOK).json
    assert shown["state"] == "installed"
    assert shown["verification_token"] == ("secret_of_notion" if right is Right.ADMINISTRATOR else None)
