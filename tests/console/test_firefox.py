"""A second engine: what one does all day, played in Debian's Firefox. Skipped, and saying so, where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.firefox import Firefox, Person, Tab, firefox, what_is_missing
from support.worlds.console_desk import Desk, approved, furnished
from support.worlds.console_server import ConsoleServer, serving
from support.worlds.http_agents import ALICE

WHO = "document.querySelector('[title^=\"Signed in\"]')"
PLACE = "location.hash"
THEME = "document.querySelector('[aria-label^=Theme]').ariaLabel"
FIELD = "document.querySelector('main input[aria-label^=\"Find in:\"]')"
LIVE = "document.querySelector('.acts .primary:enabled')?.innerText.startsWith('Approve')"


@pytest.fixture(scope="module")
def started() -> Iterator[Firefox]:
    if missing := what_is_missing():
        pytest.skip(missing)
    with firefox() as started:
        yield started


@pytest.fixture
def served() -> Iterator[ConsoleServer]:
    with serving() as server:
        yield server


@pytest.fixture
def desk(started: Firefox, served: ConsoleServer) -> Desk:
    return furnished(served)


@pytest.fixture
def alice(started: Firefox, served: ConsoleServer) -> Iterator[Person]:
    """Nothing is said on the console, nothing is refused by the policy, and nothing of another origin is asked for."""
    started.said.clear()
    started.asked.clear()
    alice = started.person()
    yield alice
    alice.leave()
    assert started.said == []
    origins = {url.split("/", 3)[2] for url in started.asked if url.startswith(("http", "ws"))}
    assert len(origins) == 1, origins


@pytest.fixture
def signed_in(alice: Person, desk: Desk) -> Tab:
    tab = alice.tab(f"{desk.served.url}#/approvals")
    tab.shows("Your token")
    tab.js("document.querySelector('input').focus()")
    tab.type(desk.served.token(ALICE))
    tab.press("Enter")
    tab.shows("6 waiting")
    return tab


def test_one_stays_signed_in_over_a_reload_a_new_tab_and_a_link(alice: Person, signed_in: Tab, desk: Desk) -> None:
    assert signed_in.js("document.cookie") == ""
    signed_in.reload()
    signed_in.shows("6 waiting")
    second = alice.tab(f"{desk.served.url}#/tasks/{desk.held['id']}")
    second.shows("Try the release candidate of 2.4", "laptop-3")
    root = desk.served.url.removesuffix("console/")
    third = alice.tab(f"{root}tasks/{desk.failed['id']}")
    third.shows("Move the queue to a standard one")
    assert third.js(PLACE) == f"#/tasks/{desk.failed['id']}"
    signed_in.front()
    signed_in.js("[...document.querySelectorAll('button')].find((it) => it.innerText === 'Sign out').click()")
    for tab in (second, third):
        tab.shows("Your session is over")


def test_what_the_policy_refuses_is_heard(started: Firefox, signed_in: Tab) -> None:
    signed_in.js("document.body.append(Object.assign(new Image(), { src: 'https://evil.example/1.png' }))")
    signed_in.hears("refused by the policy: img-src https://evil.example/1.png")
    signed_in.hears("error: Content-Security-Policy: ")
    started.said.clear()


def test_one_approves_by_keys_with_the_evidence_beside_it(signed_in: Tab, desk: Desk) -> None:
    signed_in.press("j")
    signed_in.shows("Implement sessions for the console", "Includes unit tests", "No new dependency")
    signed_in.shows("Asked by architect", "of this direction", "COST OF THE CHAIN")
    signed_in.until(LIVE)
    signed_in.press("PageDown")
    signed_in.until("document.querySelector('.one').scrollTop > 0")
    signed_in.press("a")
    signed_in.shows("Approved", "5 waiting")
    assert _states(desk, "delegated") >= {desk.whole["id"]}


def test_several_are_read_together_and_approved_at_once(signed_in: Tab, desk: Desk) -> None:
    signed_in.press("j", "j", "m", "j", "M")
    signed_in.shows("3 marked")
    signed_in.until(LIVE)
    signed_in.press("a")
    signed_in.shows("Approved: 3 tasks", "3 waiting")


def test_what_one_looks_for_is_found_in_the_palette_and_on_the_page(signed_in: Tab, desk: Desk) -> None:
    for number in range(30):
        approved(desk.served, "architect", "qa", f"Count to {number}: zebra")
    signed_in.press("Control+k")
    signed_in.until("document.activeElement.matches('[role=combobox]')")
    signed_in.type(desk.held["id"])
    signed_in.shows("Open the")
    signed_in.press("Enter")
    signed_in.shows("laptop-3")
    signed_in.press("Control+k")
    signed_in.until("document.activeElement.matches('[role=combobox]')")
    signed_in.type("zebra")
    signed_in.shows("Count to 29: zebra", "searched to")
    signed_in.press("Escape", "g", "f")
    signed_in.until("document.activeElement.matches('[name=q]')")
    signed_in.type("release candidate")
    signed_in.press("Enter")
    signed_in.shows("Try the release candidate of 2.4", "1 found")
    assert "q=release" in signed_in.js(PLACE)


def test_escape_empties_a_filter(signed_in: Tab) -> None:
    signed_in.press("/")
    signed_in.type("limit")
    signed_in.shows("1 of 6 waiting")
    signed_in.press("Escape")
    signed_in.until("document.activeElement.id === 'content'")
    signed_in.until("document.querySelector('[type=search]').value === '' && !location.hash.includes('q=')")
    assert "1 of" not in signed_in.js("document.querySelector('.pile .head').innerText")


@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(253, 240, 216)"), ("dark", "rgb(58, 44, 18)")])
def test_a_word_that_is_found_in_a_long_text_is_seen(signed_in: Tab, desk: Desk, scheme: str, ground: str) -> None:
    lines = "A zebra jumps over the fence.\n" * 41
    task = desk.served.agents.hand_off("architect", "qa", target={"agent": "qa", "reason": "Read it"}, summary=lines)
    for _ in range(3):
        if scheme not in signed_in.js(THEME):
            signed_in.js("document.querySelector('[aria-label^=Theme]').click()")
    signed_in.until(f"{THEME}.includes('{scheme}')")
    signed_in.goto(f"{desk.served.url}#/tasks/{task['task']['id']}")
    signed_in.until(f"({FIELD})?.focus() === undefined && document.activeElement === {FIELD}")
    signed_in.type("zebra")
    signed_in.until("CSS.highlights.get('found')?.size === 41")
    assert signed_in.js("getComputedStyle(document.body, '::highlight(found)').backgroundColor") == ground


def test_a_task_s_time_is_on_one_axis(signed_in: Tab, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.failed['id']}")
    signed_in.shows("Timeline", "Waits for a worker", "At work", "As numbers")
    signed_in.js("[...document.querySelectorAll('summary')].find((it) => it.innerText === 'As numbers').click()")
    signed_in.until("document.querySelectorAll('table tr').length > 2")
    assert signed_in.js("document.documentElement.scrollWidth <= innerWidth")


def _states(desk: Desk, state: str) -> set[str]:
    items = desk.served.gateway.get(ALICE, "/tasks", query=f"state={state}").json["items"]
    return {each["id"] for each in items}
