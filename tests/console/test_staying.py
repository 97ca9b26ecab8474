"""Who is signed in stays so: in new tabs, after reloads, by links from elsewhere; no tab is ever another person's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from support.worlds.browser_bell import URL, BrowserBell
from support.worlds.console_desk import Desk
from support.worlds.console_server import ConsoleServer, serving
from support.worlds.http_agents import ALICE
from support.worlds.world import human

BOB = human(name="bob")
ELSEWHERE = human("globex", name="carol")
WHO = "Signed in"


@pytest.fixture
def more(signed_in: Any) -> Any:
    """Opens further tabs of the same browser."""

    def tab(url: str) -> Any:
        opened = signed_in.context.new_page()
        opened.goto(url)
        return opened

    return tab


def _sign_in(tab: Any, served: ConsoleServer, by: Any) -> None:
    tab.get_by_label("Your token").fill(served.token(by))
    tab.keyboard.press("Enter")
    tab.get_by_title(WHO).wait_for()


def _another(tab: Any, served: ConsoleServer, by: Any) -> None:
    """Signs somebody else in, in this tab."""
    tab.get_by_title(WHO).click()
    tab.get_by_label("somebody else, who signs in").check()
    tab.get_by_role("button", name="Go on").click()
    _sign_in(tab, served, by)


def test_a_new_tab_and_a_reload_go_on(signed_in: Any, more: Any, desk: Desk, expect: Any) -> None:
    tab = more(f"{desk.served.url}#/tasks/{desk.held['id']}")
    expect(tab.get_by_title(WHO)).to_contain_text("alice")
    expect(tab.locator("h1.title")).to_be_visible()
    tab.reload()
    expect(tab.get_by_title(WHO)).to_contain_text("alice")
    with signed_in.context.expect_page() as opened:
        signed_in.get_by_role("link", name="Tasks").click(modifiers=["ControlOrMeta"])
    expect(opened.value.get_by_title(WHO)).to_contain_text("alice")
    assert len(signed_in.context.cookies()) == 1


def test_a_link_from_elsewhere_opens_what_it_names(signed_in: Any, more: Any, desk: Desk, expect: Any) -> None:
    root = desk.served.url.removesuffix("console/")
    tab = more(f"{root}tasks/{desk.held['id']}")
    expect(tab).to_have_url(re.compile(f"/console/#/tasks/{desk.held['id']}$"))
    expect(tab.locator("h1.title")).to_be_visible()
    review = more(f"{root}manual-reviews/{desk.review['id']}")
    expect(review.get_by_role("heading", name="Stopped by")).to_be_visible()


def test_a_link_waits_while_one_signs_in(page: Any, served: ConsoleServer, desk: Desk, expect: Any) -> None:
    page.goto(f"{served.url.removesuffix('console/')}tasks/{desk.held['id']}")
    _sign_in(page, served, ALICE)
    expect(page.locator("h1.title")).to_be_visible()
    assert page.url.endswith(f"#/tasks/{desk.held['id']}")


def test_signing_out_ends_it_in_every_tab_at_once(signed_in: Any, more: Any, desk: Desk, expect: Any) -> None:
    tab = more(f"{desk.served.url}#/tasks")
    expect(tab.get_by_title(WHO)).to_contain_text("alice")
    signed_in.get_by_role("button", name="Sign out").click()
    expect(tab.get_by_text("Your session is over")).to_be_visible()
    expect(signed_in.get_by_label("Your token")).to_be_visible()
    expect(more(desk.served.url).get_by_label("Your token")).to_be_visible()
    assert signed_in.context.cookies() == []


def test_signing_in_again_brings_the_same_person_s_tabs_back(
    signed_in: Any, more: Any, desk: Desk, expect: Any
) -> None:
    tab = more(f"{desk.served.url}#/tasks")
    expect(tab.get_by_title(WHO)).to_contain_text("alice")
    session_id = tab.evaluate("JSON.parse(sessionStorage.getItem('baton.session')).id")
    assert desk.served.gateway.delete(ALICE, f"/tokens/{session_id}").status == 200
    expect(signed_in.get_by_text("Your session is over")).to_be_visible()
    expect(tab.get_by_text("Your session is over")).to_be_visible()
    _sign_in(signed_in, desk.served, ALICE)
    expect(tab.get_by_title(WHO)).to_contain_text("alice")
    assert tab.url.endswith("#/tasks")


def test_two_people_in_two_tabs_act_in_their_own_names(signed_in: Any, more: Any, desk: Desk, expect: Any) -> None:
    tab = more(f"{desk.served.url}#/approvals")
    _another(tab, desk.served, BOB)
    told = {"kind": "disk-full", "severity": "critical", "message": "The disk is full."}
    assert desk.served.gateway.post(ALICE, "/alerts", told).status == 201
    for each, name in ((signed_in, "alice"), (tab, "bob")):
        each.reload()
        expect(each.get_by_title(WHO)).to_contain_text(name)
        each.goto(f"{desk.served.url}#/alerts?state=all")
        each.get_by_text("The disk is full.").click()
        each.keyboard.press("a" if name == "alice" else "r")
        each.get_by_role("dialog").get_by_role("button", name=re.compile("Acknowledge|Resolve")).click()
        expect(each.get_by_role("dialog")).to_have_count(0)
    (alert,) = desk.served.gateway.get(ALICE, "/alerts", query="state=resolved").json["items"]
    assert (alert["acknowledged_by"], alert["resolved_by"]) == ("human:alice", "human:bob")
    tab.get_by_role("button", name="Sign out").click()
    expect(tab.get_by_role("button", name="Go on as alice")).to_be_visible()
    expect(signed_in.get_by_title(WHO)).to_contain_text("alice")


def test_a_tab_stays_with_whose_it_is_after_their_session_has_ended(
    signed_in: Any, more: Any, desk: Desk, expect: Any
) -> None:
    tab = more(f"{desk.served.url}#/approvals")
    _another(tab, desk.served, BOB)
    tab.get_by_role("button", name="Sign out").click()
    more(desk.served.url)
    signed_in.bring_to_front()
    session_id = signed_in.evaluate("JSON.parse(sessionStorage.getItem('baton.session')).id")
    assert desk.served.gateway.delete(ALICE, f"/tokens/{session_id}").status == 200
    expect(signed_in.get_by_text("Your session is over")).to_be_visible()
    _sign_in(tab, desk.served, BOB)
    signed_in.reload()
    expect(signed_in.get_by_label("Your token")).to_be_visible()
    signed_in.get_by_role("button", name="Go on as bob").click()
    expect(signed_in.get_by_title(WHO)).to_contain_text("bob")


def test_a_link_is_opened_by_who_can_read_it_of_two_workspaces(
    signed_in: Any, more: Any, desk: Desk, expect: Any
) -> None:
    tab = more(f"{desk.served.url}#/approvals")
    _another(tab, desk.served, ELSEWHERE)
    expect(tab.get_by_title(WHO)).to_contain_text("globex")
    expect(more(desk.served.url).get_by_title(WHO)).to_contain_text("globex")
    link = more(f"{desk.served.url.removesuffix('console/')}tasks/{desk.held['id']}")
    expect(link.get_by_title(WHO)).to_contain_text("alice")
    expect(link.locator("h1.title")).to_be_visible()


def test_a_right_that_ends_ends_the_session_at_its_next_request(
    page: Any, served: ConsoleServer, desk: Desk, expect: Any
) -> None:
    made = served.gateway.post(ALICE, "/tokens", {"kind": "human", "subject": "alice"}).json
    page.goto(f"{served.url}#/approvals")
    page.get_by_label("Your token").fill(made["token"])
    page.keyboard.press("Enter")
    expect(page.get_by_text("6 waiting")).to_be_visible()
    assert served.gateway.delete(ALICE, f"/tokens/{made['id']}").status == 200
    expect(page.get_by_text("Your session is over")).to_be_visible()


def test_a_browser_that_has_lost_the_cookie_says_so(signed_in: Any, expect: Any) -> None:
    signed_in.context.clear_cookies()
    expect(signed_in.get_by_text("has no cookie of your session")).to_be_visible()


NOTIFIED = """() => {
  window.told = [];
  window.Notification = class {
    static permission = "granted";
    static requestPermission = async () => "granted";
    constructor(title, { body, tag }) { window.told.push([body, tag]); window.lastTold = this; }
    close() {}
  };
}"""
SEEN = """(state) => {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
}"""


class TestTold:
    @pytest.fixture
    def served(self, browser: Any) -> Iterator[ConsoleServer]:
        with serving(bell_url=URL) as server:
            yield server

    @pytest.fixture
    def tabs(self, page: Any, served: ConsoleServer, desk: Desk, expect: Any) -> Any:
        """Two tabs of a person who wants to be told of critical alerts, both of which hear the bell."""
        page.context.add_init_script(f"({NOTIFIED})()")
        tabs, bells = [page, page.context.new_page()], [BrowserBell(), BrowserBell()]
        for tab, bell in zip(tabs, bells, strict=True):
            bell.stand_in(tab)
        page.goto(f"{served.url}#/notifications")
        _sign_in(page, served, ALICE)
        page.get_by_label("Critical alerts").check()
        expect(page.get_by_text("The browser may show them")).to_be_visible()
        tabs[1].goto(f"{served.url}#/alerts")
        expect(tabs[1].get_by_role("heading", name="Alerts")).to_be_visible()
        while not page.evaluate("Object.keys(localStorage).some((key) => key.startsWith('baton.told'))"):
            page.wait_for_timeout(50)
        while not all(bell.looks for bell in bells):  # it is listened to after what the page shows was read
            page.wait_for_timeout(50)

        def raised(message: str, severity: str = "critical") -> str:
            body = {"kind": "disk-full", "severity": severity, "message": message}
            alert_id: str = served.gateway.post(ALICE, "/alerts", body).json["id"]
            for bell in bells:
                bell.ring()
            return alert_id

        return tabs, raised

    def test_each_thing_is_told_once_over_all_tabs_while_none_is_looked_at(self, tabs: Any, expect: Any) -> None:
        both, raised = tabs
        raised("It is seen.")
        expect(both[1].get_by_text("It is seen.")).to_be_visible()
        for tab in both:
            tab.evaluate(SEEN, "hidden")
        told = raised("It isn't.")
        raised("Nor this, which is no news.", "warning")
        for tab in both:
            expect(tab.locator("nav a[href='#/alerts'] .count")).to_have_text("4")
        shown = [each for tab in both for each in tab.evaluate("window.told")]
        assert shown == [["Critical: disk-full", told]]
        (teller,) = [tab for tab in both if tab.evaluate("window.told.length")]
        teller.evaluate("window.lastTold.onclick()")
        expect(teller).to_have_url(re.compile(rf"#/alerts\?alert={told}$"))

    def test_nothing_is_told_while_one_of_the_tabs_is_looked_at(self, tabs: Any, expect: Any) -> None:
        both, raised = tabs
        both[0].evaluate(SEEN, "hidden")
        raised("It is seen.")
        expect(both[1].get_by_text("It is seen.")).to_be_visible()
        expect(both[0].locator("nav a[href='#/alerts'] .count")).to_have_text("2")
        assert [tab.evaluate("window.told") for tab in both] == [[], []]

    def test_what_was_not_chosen_is_not_told(self, tabs: Any, expect: Any) -> None:
        both, raised = tabs
        both[0].get_by_label("Critical alerts").uncheck()
        for tab in both:
            tab.evaluate(SEEN, "hidden")
        raised("Nobody wants to know.")
        expect(both[0].locator("nav a[href='#/alerts'] .count")).to_have_text("2")
        assert [tab.evaluate("window.told") for tab in both] == [[], []]
