"""Who gets in, and how."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from support.http_server import Answer, Received, Sent
from support.http_server import served as listening
from support.worlds.console_desk import Desk
from support.worlds.console_server import ConsoleServer
from support.worlds.http_agents import ALICE
from support.worlds.world import agent, human


def test_a_person_signs_in_with_a_token_and_out_again(page: Any, served: ConsoleServer) -> None:
    page.goto(served.url)
    page.get_by_label("Your token").fill(served.token(ALICE))
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Start").wait_for()
    (cookie,) = page.context.cookies()
    kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
    assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Strict")
    assert cookie["value"] not in kept
    assert served.token(ALICE) not in kept
    named = page.evaluate(NAMED)
    assert who_is(served, cookie, named) == 200
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Your token").wait_for()
    assert (
        page.evaluate("sessionStorage.length + Object.keys(localStorage).filter((k) => /session/.test(k)).length") == 0
    )
    assert page.context.cookies() == []
    assert who_is(served, cookie, named) == 403


# The header of this tab's session, as the page makes it: the id, and the half of the secret from the page's storage.
NAMED = """() => {
  const { id } = JSON.parse(sessionStorage.getItem("baton.session"));
  const found = Object.keys(localStorage).find((each) => each.startsWith("baton.session ") && each.endsWith(id));
  return `${id}.${JSON.parse(localStorage.getItem(found)).key}`;
}"""


def who_is(served: ConsoleServer, cookie: dict[str, Any], named: str) -> int:
    """Returns the status for a program that has the cookie and names the session so."""
    shown = {
        "Cookie": f"{cookie['name']}={cookie['value']}",
        "Baton-Session": named,
        "Sec-Fetch-Site": "same-origin",
    }
    return httpx.get(served.url.replace("console/", "tokens"), headers=shown, trust_env=False).status_code


@contextmanager
def another_port(served: ConsoleServer) -> Iterator[tuple[str, list[str]]]:
    """Yields the address of another program at the console's host, and the cookies that it receives."""
    received: list[str] = []

    def answer(request: Received) -> Answer:
        received.append(request.headers.get("cookie", ""))
        return Sent(200, [("Content-Type", "text/html")], b"<title>Another program</title>")

    with listening(answer) as url:
        yield f"http://{httpx.URL(served.url).host}:{httpx.URL(url).port}/", received


def test_a_program_at_another_port_receives_a_cookie_that_admits_nobody(signed_in: Any, served: ConsoleServer) -> None:
    """Attack ``m5_cookie_other_port``."""
    (cookie,) = signed_in.context.cookies()
    session, named = cookie["name"].removeprefix("__Host-baton-"), signed_in.evaluate(NAMED)
    with another_port(served) as (url, received):
        tab = signed_in.context.new_page()
        tab.goto(url)
        tab.reload()
        assert f"{cookie['name']}={cookie['value']}" in "".join(received)
        assert tab.evaluate("localStorage.length + sessionStorage.length") == 0
    assert who_is(served, cookie, session) == 401
    assert who_is(served, cookie, f"{session}.{cookie['value']}") == 403
    assert who_is(served, cookie, named) == 200


def test_a_session_goes_on_in_a_new_tab_and_after_a_reload(signed_in: Any, served: ConsoleServer, expect: Any) -> None:
    signed_in.reload()
    signed_in.get_by_text("6 waiting").wait_for()
    tab = signed_in.context.new_page()
    tab.goto(served.url)
    expect(tab.get_by_title("Signed in")).to_contain_text("alice")


def test_a_browser_whose_data_was_cleared_says_so_and_forgets_the_cookie(
    signed_in: Any, served: ConsoleServer, expect: Any
) -> None:
    signed_in.evaluate("localStorage.clear()")
    signed_in.reload()
    expect(signed_in.get_by_text("This browser no longer has its part of your session")).to_be_visible()
    _until(lambda: signed_in.context.cookies() == [])
    signed_in.get_by_label("Your token").fill(served.token(ALICE))
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_title("Signed in")).to_contain_text("alice")


def test_data_that_is_cleared_under_an_open_tab_ends_the_session_on_the_server(
    signed_in: Any, served: ConsoleServer, expect: Any
) -> None:
    (cookie,), named = signed_in.context.cookies(), signed_in.evaluate(NAMED)
    signed_in.evaluate("localStorage.clear(); dispatchEvent(new Event('pageshow'))")
    expect(signed_in.get_by_text("this browser's data was cleared")).to_be_visible()
    _until(lambda: signed_in.context.cookies() == [])
    assert who_is(served, cookie, named) == 403


def test_a_stored_session_of_the_release_before_is_signed_in_again(signed_in: Any, expect: Any) -> None:
    """It has no half of a secret."""
    signed_in.evaluate(
        "() => { const key = Object.keys(localStorage).find((each) => each.startsWith('baton.session '));"
        " const { key: _, ...kept } = JSON.parse(localStorage.getItem(key));"
        " localStorage.setItem(key, JSON.stringify(kept)); }"
    )
    signed_in.reload()
    expect(signed_in.get_by_text("or Baton was updated. Sign in again.")).to_be_visible()
    _until(lambda: signed_in.context.cookies() == [])


def test_a_browser_that_stores_nothing_signs_in_until_the_page_is_loaded_again(
    page: Any, served: ConsoleServer, expect: Any
) -> None:
    page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage'])"
        " Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError'); } });"
    )
    page.goto(served.url)
    expect(page.get_by_text("This browser stores nothing for this page.")).to_be_visible()
    page.get_by_label("Your token").fill(served.token(ALICE))
    page.keyboard.press("Enter")
    expect(page.get_by_title("Signed in")).to_contain_text("alice")
    page.reload()
    page.get_by_label("Your token").wait_for()


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not is_so():
        assert time.monotonic() < deadline


KEPT_BY_THE_BROWSER = """async (session) => {
  const all = performance.getEntriesByType("resource").map((each) => each.name);
  const asked = all.filter((name) => !name.includes("/console/"));
  const found = await Promise.all(asked.map((name) =>
    fetch(name, { cache: "only-if-cached", mode: "same-origin", headers: { "Baton-Session": session } })
      .then((answer) => answer.ok, () => false)));
  return [asked.length, found.filter(Boolean).length];
}"""


def test_the_browser_keeps_nothing_of_what_a_person_has_read(signed_in: Any) -> None:
    asked, kept = signed_in.evaluate(KEPT_BY_THE_BROWSER, signed_in.evaluate(NAMED))
    assert asked > 0
    assert kept == 0


def test_an_agent_s_token_is_refused_and_it_is_said_why(page: Any, served: ConsoleServer) -> None:
    page.goto(served.url)
    page.get_by_label("Your token").fill(served.token(agent("qa")))
    page.keyboard.press("Enter")
    trouble = page.get_by_role("alert")
    trouble.wait_for()
    assert "human" in trouble.inner_text()


def test_a_link_says_whom_it_signs_in_and_where_before_it_does_so_once(
    page: Any, served: ConsoleServer, desk: Desk, expect: Any
) -> None:
    code = served.gateway.post(ALICE, "/session-codes").json["code"]
    page.goto(f"{served.url}#code={code}")
    asked = page.get_by_role("dialog")
    expect(asked).to_contain_text(f"alice in the workspace {ALICE.workspace}")
    assert code not in page.url
    assert page.evaluate("sessionStorage.length") == 0
    asked.get_by_role("button", name="Sign in by the link").click()
    page.get_by_role("heading", name="Start").wait_for()
    expect(page.get_by_title("Signed in")).to_have_text(f"alice in {ALICE.workspace}")
    other = page.context.browser.new_context().new_page()
    other.goto(f"{served.url}#code={code}")
    other.get_by_text("The link's code didn't work").wait_for()
    other.context.close()


def test_who_does_not_want_a_link_s_session_leaves_its_code_as_it_was(
    page: Any, served: ConsoleServer, desk: Desk
) -> None:
    code = served.gateway.post(human(name="mallory"), "/session-codes").json["code"]
    page.goto(f"{served.url}#code={code}")
    page.get_by_role("button", name="Don't sign in").click()
    page.get_by_label("Your token").wait_for()
    assert page.evaluate("sessionStorage.length") == 0
    assert not any("/sessions" in asked and status == 201 for asked, status in served.answered)


def test_a_link_that_is_opened_in_a_tab_of_the_console_asks_as_well(
    signed_in: Any, served: ConsoleServer, expect: Any
) -> None:
    code = served.gateway.post(human(name="mallory"), "/session-codes").json["code"]
    signed_in.evaluate(f"location.hash = 'code={code}'")
    expect(signed_in.get_by_role("dialog")).to_contain_text("mallory")
    assert code not in signed_in.url


def test_a_link_changes_whose_a_tab_is_only_if_that_is_wanted(
    signed_in: Any, served: ConsoleServer, expect: Any
) -> None:
    def follow() -> None:
        code = served.gateway.post(human(name="mallory"), "/session-codes").json["code"]
        signed_in.goto("about:blank")
        signed_in.goto(f"{served.url}#code={code}")
        signed_in.get_by_role("heading", name="Sign in by this link?").wait_for()

    (before,), named = signed_in.context.cookies(), signed_in.evaluate(NAMED)
    follow()
    signed_in.get_by_role("button", name="Keep as it is").click()
    expect(signed_in.get_by_title("Signed in")).to_contain_text("alice")
    follow()
    signed_in.get_by_role("button", name="Sign in by the link").click()
    expect(signed_in.get_by_title("Signed in")).to_contain_text("mallory")
    assert who_is(served, before, named) == 200  # in other tabs


def test_a_session_is_renewed_while_a_tab_is_open(signed_in: Any) -> None:
    soon = "new Date(Date.now() + 60_000).toISOString()"
    signed_in.evaluate(
        "() => { const key = Object.keys(localStorage).find((each) => each.startsWith('baton.session '));"
        " const kept = JSON.parse(localStorage.getItem(key));"
        f" localStorage.setItem(key, JSON.stringify({{...kept, expires_at: {soon}}})); }}"
    )
    with signed_in.expect_response("**/sessions/renew") as renewed:
        signed_in.reload()
    assert renewed.value.status == 200
    signed_in.get_by_text("6 waiting").wait_for()


def test_who_is_signed_out_elsewhere_is_told_and_comes_back_to_the_same_page(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks?state=failed")
    session_id = signed_in.evaluate("JSON.parse(sessionStorage.getItem('baton.session')).id")
    assert desk.served.gateway.delete(ALICE, f"/tokens/{session_id}").status == 200
    expect(signed_in.get_by_text("Your session is over")).to_be_visible()
    signed_in.get_by_label("Your token").fill(desk.served.token(ALICE))
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_text("1 shown")).to_be_visible()
    assert signed_in.url.endswith("#/tasks?state=failed")
