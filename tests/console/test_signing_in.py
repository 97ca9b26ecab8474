"""Who gets in, and how."""

from __future__ import annotations

from typing import Any

import httpx

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
    assert who_is(served, cookie) == 200
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Your token").wait_for()
    assert (
        page.evaluate("sessionStorage.length + Object.keys(localStorage).filter((k) => /session/.test(k)).length") == 0
    )
    assert page.context.cookies() == []
    assert who_is(served, cookie) == 403


def who_is(served: ConsoleServer, cookie: dict[str, Any]) -> int:
    """What a session's cookie is answered."""
    shown = {
        "Cookie": f"{cookie['name']}={cookie['value']}",
        "Baton-Session": cookie["name"].removeprefix("__Host-baton-"),
        "Sec-Fetch-Site": "same-origin",
    }
    return httpx.get(served.url.replace("console/", "tokens"), headers=shown, trust_env=False).status_code


KEPT_BY_THE_BROWSER = """async () => {
  const session = JSON.parse(sessionStorage.getItem("baton.session")).id;
  const all = performance.getEntriesByType("resource").map((each) => each.name);
  const asked = all.filter((name) => !name.includes("/console/"));
  const found = await Promise.all(asked.map((name) =>
    fetch(name, { cache: "only-if-cached", mode: "same-origin", headers: { "Baton-Session": session } })
      .then((answer) => answer.ok, () => false)));
  return [asked.length, found.filter(Boolean).length];
}"""


def test_the_browser_keeps_nothing_of_what_a_person_has_read(signed_in: Any) -> None:
    asked, kept = signed_in.evaluate(KEPT_BY_THE_BROWSER)
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

    (before,) = signed_in.context.cookies()
    follow()
    signed_in.get_by_role("button", name="Keep as it is").click()
    expect(signed_in.get_by_title("Signed in")).to_contain_text("alice")
    follow()
    signed_in.get_by_role("button", name="Sign in by the link").click()
    expect(signed_in.get_by_title("Signed in")).to_contain_text("mallory")
    assert who_is(served, before) == 200  # in other tabs


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
