"""Alerts: by keys, one or many, each with its answer; out of sight for a while; what is looked at is in the address."""

from __future__ import annotations

from typing import Any

import pytest

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE

SELDOM_MS = 30_000  # without a bell alerts are counted each 15 seconds


@pytest.fixture
def alerts(signed_in: Any, desk: Desk, expect: Any) -> Any:
    """The page of alerts, with three more than the desk has."""
    for severity, kind in (("info", "disk-slow"), ("warning", "queue-long"), ("critical", "disk-full")):
        told = {"kind": kind, "severity": severity, "message": f"It is the {kind}."}
        assert desk.served.gateway.post(ALICE, "/alerts", told).status == 201
    signed_in.goto(f"{desk.served.url}#/alerts?severity=")
    expect(signed_in.get_by_text("It is the disk-full.")).to_be_visible()
    return signed_in


def _state(desk: Desk, kind: str) -> dict[str, Any]:
    items = desk.served.gateway.get(ALICE, "/alerts").json["items"]
    found: dict[str, Any] = next(each for each in items if each["kind"] == kind)
    return found


def _card(page: Any, kind: str) -> Any:
    return page.locator(".card", has_text=f"It is the {kind}.")


def test_one_goes_through_them_by_keys_and_resolves_many(alerts: Any, desk: Desk, expect: Any) -> None:
    count = alerts.locator("nav a[href='#/alerts'] .count")
    expect(count).to_have_text("4", timeout=SELDOM_MS)
    for kind in ("disk-full", "queue-long"):
        while not _card(alerts, kind).evaluate("(card) => card.classList.contains('at')"):
            alerts.keyboard.press("j")
        alerts.keyboard.press("m")
    alerts.keyboard.press("r")
    dialog = alerts.get_by_role("dialog")
    expect(dialog).to_contain_text("Resolve 2 alerts")
    dialog.get_by_label("Note").fill("Cleaned up.")
    dialog.get_by_role("button", name="Resolve").click()
    expect(alerts.get_by_text("2 of 2 resolved.")).to_be_visible()
    for kind in ("disk-full", "queue-long"):
        expect(_card(alerts, kind)).to_have_count(0)
    expect(count).to_have_text("2", timeout=SELDOM_MS)
    assert [_state(desk, kind)["note"] for kind in ("disk-full", "queue-long")] == ["Cleaned up."] * 2
    assert _state(desk, "disk-slow")["state"] == "open"


def test_each_of_many_has_its_answer(alerts: Any, desk: Desk, expect: Any) -> None:
    refused = _state(desk, "queue-long")["id"]
    answer = '{"title": "No", "status": 409, "code": "no", "detail": "Not this one.", "errors": [], "request_id": "r"}'
    alerts.route(
        f"**/alerts/{refused}/acknowledge",
        lambda route: route.fulfill(status=409, content_type="application/problem+json", body=answer),
    )
    alerts.get_by_role("button", name="Mark all").click()
    alerts.keyboard.press("a")
    alerts.get_by_role("dialog").get_by_role("button", name="Acknowledge").click()
    expect(_card(alerts, "queue-long")).to_contain_text("Not this one.")
    expect(_card(alerts, "disk-full")).to_have_count(0)
    assert _state(desk, "queue-long")["state"] == "open"
    assert _state(desk, "disk-full")["acknowledged_by"] == ALICE.key


def test_a_snoozed_one_is_out_of_sight_and_is_brought_back(alerts: Any, desk: Desk, expect: Any) -> None:
    _card(alerts, "disk-full").click()
    alerts.keyboard.press("s")
    alerts.get_by_role("dialog").get_by_role("button", name="Snooze").click()
    expect(_card(alerts, "disk-full")).to_have_count(0)
    assert _state(desk, "disk-full")["snoozed_by"] == ALICE.key
    alerts.get_by_role("link", name="snoozed").click()
    _card(alerts, "disk-full").get_by_role("button", name="Bring it back").click()
    expect(_card(alerts, "disk-full")).to_have_count(0)
    assert _state(desk, "disk-full")["snoozed_until"] is None


def test_what_is_looked_at_is_in_the_address(alerts: Any, desk: Desk, expect: Any) -> None:
    alerts.get_by_label("Severity").select_option("warning")
    expect(_card(alerts, "queue-long")).to_be_visible()
    expect(_card(alerts, "disk-full")).to_have_count(0)
    alerts.get_by_label("Kind").select_option("queue-long")
    alerts.reload()
    expect(alerts.get_by_label("Severity")).to_have_value("warning")
    expect(alerts.get_by_label("Kind")).to_have_value("queue-long")
    expect(_card(alerts, "disk-slow")).to_have_count(0)
    alerts.goto(f"{desk.served.url}#/alerts?alert={_state(desk, 'disk-slow')['id']}")
    expect(_card(alerts, "disk-slow")).to_be_focused()
