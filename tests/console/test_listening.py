"""A page that listens: it asks when it rings, and as it did before there was a bell where it isn't heard."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.worlds.browser_bell import URL, BrowserBell
from support.worlds.console_desk import Desk, approved, at_once, claimed
from support.worlds.console_server import ConsoleServer, serving
from support.worlds.http_agents import ALICE, message

PAGES = [
    "start",
    "approvals",
    "tasks",
    "chat",
    "tools",
    "agents",
    "directions",
    "reviews",
    "alerts",
    "memory",
    "tokens",
]
SEEN = """(state) => {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
}"""
NO_BELL = "This deployment has no bell"
UNHEARD = "The bell isn't heard"


@pytest.fixture
def served(browser: Any) -> Iterator[ConsoleServer]:
    with serving(bell_url=URL) as server:
        yield server


@pytest.fixture
def bell(page: Any) -> BrowserBell:
    bell = BrowserBell()
    bell.stand_in(page)
    now = datetime.now(UTC)
    page.clock.install(time=now - timedelta(minutes=10 * (now.minute >= 50)))  # some pages ask anew with a new hour
    return bell


@pytest.fixture
def listening(bell: BrowserBell, signed_in: Any) -> Any:
    """The tab of a person who has just signed in, and hears the bell."""
    while not bell.looks:  # it is listened to after what the page shows was read
        _pass(signed_in, 5)
    _pass(signed_in, 10)
    assert len(bell.sockets) == len(bell.looks) == 1
    return signed_in


def _pass(page: Any, seconds: int) -> None:
    """Time passes for the page. What it asks is answered in real time."""
    for _ in range(max(1, seconds // 5)):
        page.clock.run_for(min(seconds, 5) * 1000)
        page.wait_for_timeout(60)


def _time_of(page: Any, is_so: Callable[[], bool]) -> float:
    """Returns the page's seconds at which it came about, to a second or so."""
    for _ in range(60):
        _pass(page, 1)
        if is_so():
            break
    assert is_so()
    return float(page.evaluate("Date.now()")) / 1000


def _asked(served: ConsoleServer, since: int) -> list[str]:
    """What was asked, but the session's renewal."""
    return [request for request, _ in served.answered[since:] if "/sessions/" not in request]


def _hand_over(served: ConsoleServer, reason: str) -> None:
    served.agents.hand_off("architect", "auto-code", target={"agent": "auto-code", "reason": reason})


@pytest.mark.parametrize("path", PAGES)
def test_a_page_that_nobody_acts_on_asks_for_nothing(
    bell: BrowserBell, listening: Any, desk: Desk, path: str, expect: Any
) -> None:
    listening.goto(f"{desk.served.url}#/{path}")
    expect(listening.locator(".loading")).to_have_count(0)
    _pass(listening, 10)
    since = len(desk.served.answered)
    _pass(listening, 120)
    assert _asked(desk.served, since) == []
    bell.ring()
    _pass(listening, 10)
    assert any(request.startswith("GET /tasks?state=needs") for request in _asked(desk.served, since))


def test_a_ring_shows_what_has_changed(bell: BrowserBell, listening: Any, desk: Desk, expect: Any) -> None:
    _hand_over(desk.served, "Ship order 88010")
    _pass(listening, 60)
    expect(listening.get_by_text("6 waiting")).to_be_visible()
    bell.ring()
    expect(listening.get_by_text("7 waiting")).to_be_visible()
    expect(listening).to_have_title("(7) Approvals · Baton")


def test_what_an_index_is_late_with_is_seen_by_a_second_look(
    bell: BrowserBell, listening: Any, desk: Desk, expect: Any
) -> None:
    bell.ring()
    listening.wait_for_timeout(300)
    _hand_over(desk.served, "Ship order 88010")
    _pass(listening, 5)
    expect(listening.get_by_text("7 waiting")).to_be_visible()


def test_a_burst_of_rings_is_a_look_each_two_seconds(bell: BrowserBell, listening: Any, desk: Desk) -> None:
    since = len(desk.served.answered)
    bell.ring(500)
    listening.wait_for_timeout(200)
    for _ in range(8):
        listening.clock.run_for(1000)
        listening.wait_for_timeout(60)
    shown = [request for request in _asked(desk.served, since) if request.startswith("GET /tasks?state=needs")]
    assert len(shown) == 3 * 2  # the page's list and the frame's count: at once, after two seconds, and after it rang


def test_what_changed_beyond_a_list_s_first_page_is_seen(
    bell: BrowserBell, listening: Any, desk: Desk, expect: Any
) -> None:
    served = desk.served
    with at_once(served):
        first = approved(served, "architect", "qa", "The very first one")
    for number in range(110):
        asks = {"agent": "auto-code", "reason": f"Pack parcel {number}"}
        assert served.gateway.post(ALICE, "/handoffs", message("architect", "auto-code", target=asks)).status == 201
    listening.goto(f"{served.url}#/tasks")
    row = listening.locator("tr", has_text="The very first one")
    listening.get_by_label("Words").fill("The very first one")
    expect(row).to_contain_text("ready")
    _pass(listening, 10)
    assert served.gateway.post(ALICE, f"/tasks/{first['id']}/cancel").status == 200
    bell.ring()
    _pass(listening, 5)
    expect(row).to_contain_text("cancelled")


def test_it_connects_by_a_ticket_and_names_no_token(bell: BrowserBell, listening: Any, desk: Desk) -> None:
    (socket,) = bell.sockets
    assert socket.url == f"{URL}?listen=lists"
    name, ticket = socket.protocols
    assert (name, ticket[:13]) == ("baton", "baton.ticket.")
    assert listening.context.cookies()[0]["value"] not in ticket
    assert [json.loads(each) for each in bell.looks] == [{"action": "look"}]


def test_it_looks_by_itself_each_nine_minutes(bell: BrowserBell, listening: Any, desk: Desk, expect: Any) -> None:
    _hand_over(desk.served, "Ship order 88010")
    _pass(listening, 500)
    assert len(bell.looks) == 1
    _pass(listening, 60)
    assert (len(bell.looks), len(bell.sockets)) == (2, 1)
    assert ("POST /sessions/renew", 200) not in desk.served.answered  # it lasts for hours
    expect(listening.get_by_text("7 waiting")).to_be_visible()


def test_after_a_lost_connection_it_looks_first_and_listens_again(
    bell: BrowserBell, listening: Any, desk: Desk, expect: Any
) -> None:
    _hand_over(desk.served, "Ship order 88010")
    bell.sockets[0].close()
    expect(listening.get_by_text("7 waiting")).to_be_visible()
    assert len(bell.sockets) == 1
    _pass(listening, 15)
    assert len(bell.sockets) == 2
    assert bell.sockets[0].protocols != bell.sockets[1].protocols
    since = len(desk.served.answered)
    _pass(listening, 60)
    assert _asked(desk.served, since) == []
    expect(listening.get_by_text(UNHEARD)).to_have_count(0)


def test_a_bell_that_falls_silent_is_left_after_ten_seconds(
    bell: BrowserBell, listening: Any, desk: Desk, expect: Any
) -> None:
    bell.is_silent = True
    _pass(listening, 500)
    assert (len(bell.looks), bell.over) == (1, 0)
    asked = _time_of(listening, lambda: len(bell.looks) == 2)
    left = _time_of(listening, lambda: bell.over == 1)
    assert 8 <= left - asked <= 12
    _hand_over(desk.served, "Ship order 88010")
    _pass(listening, 5)
    expect(listening.get_by_text("7 waiting")).to_be_visible()


def test_a_bell_that_is_out_of_reach_is_told_of_once_and_tried_again(
    bell: BrowserBell, signed_in: Any, desk: Desk, expect: Any
) -> None:
    bell.is_away = True
    bell.sockets[-1].close()
    for _ in range(40):
        signed_in.clock.run_for(1000)
        signed_in.wait_for_timeout(60)
        if signed_in.get_by_text(UNHEARD).count():
            break
    expect(signed_in.get_by_text(UNHEARD)).to_be_visible()
    signed_in.reload()
    signed_in.get_by_text("6 waiting").wait_for()
    tries = len(bell.sockets)
    _pass(signed_in, 60)
    assert 2 <= len(bell.sockets) - tries <= 7
    expect(signed_in.get_by_text(UNHEARD)).to_have_count(0)
    bell.is_away = False
    _pass(signed_in, 200)
    since = len(desk.served.answered)
    _pass(signed_in, 60)
    assert _asked(desk.served, since) == []


def test_a_refused_page_asks_again_by_itself_and_connects_after_a_minute(
    bell: BrowserBell, listening: Any, desk: Desk, expect: Any
) -> None:
    bell.is_over_rate = True
    _pass(listening, 545)
    assert (len(bell.looks), len(bell.sockets)) == (2, 1)
    _hand_over(desk.served, "Ship order 88010")
    _pass(listening, 50)
    expect(listening.get_by_text("7 waiting")).to_be_visible()
    assert len(bell.sockets) == 1
    bell.is_over_rate = False
    _pass(listening, 75)
    assert (len(bell.sockets), len(bell.looks)) == (2, 3)


def test_a_person_who_returns_often_causes_one_poll_in_ten_seconds(bell: BrowserBell, listening: Any) -> None:
    _pass(listening, 10)
    before = len(bell.looks)
    for _ in range(30):
        listening.evaluate(SEEN, "hidden")
        listening.evaluate(SEEN, "visible")
        _pass(listening, 1)
    assert 2 <= len(bell.looks) - before <= 4
    assert (len(bell.sockets), bell.over) == (1, 0)


COUNTED = {
    "GET /tasks?state=needs&limit=100",
    "GET /questions?limit=100",
    "GET /alerts?state=open&snoozed=false&limit=100",
    "GET /manual-reviews?state=open&limit=100",
    "GET /workspace/changes?state=pending&limit=100",
}


def test_a_hidden_page_listens_and_asks_how_many_wait_and_nothing_else(
    bell: BrowserBell, listening: Any, desk: Desk, expect: Any
) -> None:
    listening.evaluate(SEEN, "hidden")
    since = len(desk.served.answered)
    _pass(listening, 300)
    assert _asked(desk.served, since) == []
    _hand_over(desk.served, "Ship order 88010")
    bell.ring()
    _pass(listening, 15)
    expect(listening).to_have_title("(7) Approvals · Baton")
    assert listening.evaluate("document.querySelector('link[rel=icon]').href").endswith("/icons/7.svg")
    asked = [each for each in _asked(desk.served, since) if "/console/" not in each]  # the icon's file
    assert set(asked) == COUNTED
    assert len(asked) <= 3 * len(COUNTED)
    assert (len(bell.sockets), bell.over) == (1, 0)
    expect(listening.get_by_text("7 waiting")).to_have_count(0)


def test_a_hidden_page_asks_at_a_bounded_pace_however_often_it_rings(
    bell: BrowserBell, listening: Any, desk: Desk
) -> None:
    listening.evaluate(SEEN, "hidden")
    since = len(desk.served.answered)
    for _ in range(60):
        bell.ring()
        _pass(listening, 1)
    assert len(_asked(desk.served, since)) <= 8 * len(COUNTED)


def test_a_page_that_was_hidden_is_whole_again(bell: BrowserBell, listening: Any, desk: Desk, expect: Any) -> None:
    listening.evaluate(SEEN, "hidden")
    _hand_over(desk.served, "Ship order 88010")
    bell.ring()
    _pass(listening, 60)
    listening.evaluate(SEEN, "visible")
    expect(listening.get_by_text("7 waiting")).to_be_visible()


def test_a_heartbeat_of_which_nothing_rings_is_seen(bell: BrowserBell, listening: Any, desk: Desk, expect: Any) -> None:
    with at_once(desk.served):
        task = approved(desk.served, "architect", "qa", "Watch the soak test")
        claim = claimed(desk.served, "qa", task["id"], "laptop-7")
    listening.goto(f"{desk.served.url}#/tasks/{task['id']}")
    ends = listening.locator(".holder strong time")
    before = ends.get_attribute("datetime")
    assert before
    assert desk.served.agents.say(claim, "heartbeat", lease_seconds=900).status == 200
    _pass(listening, 15)
    expect(ends).not_to_have_attribute("datetime", before)


def test_a_ring_brings_a_task_s_trail_on(bell: BrowserBell, listening: Any, desk: Desk, expect: Any) -> None:
    listening.goto(f"{desk.served.url}#/tasks/{desk.whole['id']}")
    expect(listening.locator(".trail li")).to_have_count(1)
    _pass(listening, 10)
    since = len(desk.served.answered)
    _pass(listening, 60)
    assert _asked(desk.served, since) == []
    assert desk.served.gateway.post(ALICE, f"/tasks/{desk.whole['id']}/cancel").status == 200
    bell.ring()
    expect(listening.locator(".trail li")).not_to_have_count(1)
    expect(listening.locator(".state").first).to_contain_text("cancelled")


def test_who_signs_out_listens_no_longer(bell: BrowserBell, listening: Any, desk: Desk) -> None:
    listening.get_by_role("button", name="Sign out").click()
    listening.get_by_label("Your token").wait_for()
    assert bell.over == 1
    _pass(listening, 300)
    assert len(bell.sockets) == 1


def test_a_session_that_was_ended_elsewhere_listens_no_longer(
    bell: BrowserBell, listening: Any, desk: Desk, expect: Any
) -> None:
    session = listening.evaluate("JSON.parse(sessionStorage.getItem('baton.session')).id")
    assert desk.served.gateway.send(ALICE, "DELETE", f"/tokens/{session}").status == 200
    bell.sockets[0].close()
    expect(listening.get_by_text("Your session is over")).to_be_visible()
    _pass(listening, 300)
    assert len(bell.sockets) == 1


class TestWithoutABell:
    @pytest.fixture
    def served(self, browser: Any) -> Iterator[ConsoleServer]:
        with serving() as server:
            yield server

    def test_it_is_said_once_and_all_is_as_before(
        self, bell: BrowserBell, signed_in: Any, desk: Desk, expect: Any
    ) -> None:
        expect(signed_in.get_by_text(NO_BELL)).to_be_visible()
        _hand_over(desk.served, "Ship order 88010")
        _pass(signed_in, 5)
        expect(signed_in.get_by_text("7 waiting")).to_be_visible()
        signed_in.reload()
        signed_in.get_by_text("7 waiting").wait_for()
        _pass(signed_in, 5)
        expect(signed_in.get_by_text(NO_BELL)).to_have_count(0)
        assert bell.sockets == []
        since = len(desk.served.answered)
        _pass(signed_in, 30)
        asked = _asked(desk.served, since)
        assert len([request for request in asked if request.startswith("GET /tasks?state=needs")]) > 5
        assert "GET /bell" not in asked
