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
    session = page.evaluate("JSON.parse(sessionStorage.getItem('baton.session')).token")
    assert session.startswith("baton_")
    assert session != served.token(ALICE)
    assert "baton_" not in page.evaluate("JSON.stringify(localStorage)")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Your token").wait_for()
    assert page.evaluate("sessionStorage.length") == 0
    ended = httpx.get(
        served.url.replace("console/", "tokens"), headers={"Authorization": f"Bearer {session}"}, trust_env=False
    )
    assert ended.status_code == 403


KEPT_BY_THE_BROWSER = """async () => {
  const token = JSON.parse(sessionStorage.getItem("baton.session")).token;
  const all = performance.getEntriesByType("resource").map((each) => each.name);
  const asked = all.filter((name) => !name.includes("/console/"));
  const found = await Promise.all(asked.map((name) =>
    fetch(name, { cache: "only-if-cached", mode: "same-origin", headers: { Authorization: `Bearer ${token}` } })
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


def test_a_link_changes_who_is_signed_in_only_if_that_is_wanted(
    signed_in: Any, served: ConsoleServer, expect: Any
) -> None:
    def follow() -> None:
        code = served.gateway.post(human(name="mallory"), "/session-codes").json["code"]
        signed_in.goto("about:blank")
        signed_in.goto(f"{served.url}#code={code}")
        signed_in.get_by_role("heading", name="Sign in by this link?").wait_for()

    before = signed_in.evaluate("JSON.parse(sessionStorage.getItem('baton.session')).token")
    follow()
    signed_in.get_by_role("button", name="Keep as it is").click()
    expect(signed_in.get_by_title("Signed in")).to_contain_text("alice")
    follow()
    signed_in.get_by_role("button", name="Sign in by the link").click()
    expect(signed_in.get_by_title("Signed in")).to_contain_text("mallory")
    ended = httpx.get(
        served.url.replace("console/", "tokens"), headers={"Authorization": f"Bearer {before}"}, trust_env=False
    )
    assert ended.status_code == 403


def test_a_session_is_renewed_while_the_page_is_looked_at(signed_in: Any) -> None:
    soon = "new Date(Date.now() + 60_000).toISOString()"
    signed_in.evaluate(
        "() => { const kept = JSON.parse(sessionStorage.getItem('baton.session'));"
        f" sessionStorage.setItem('baton.session', JSON.stringify({{...kept, expires_at: {soon}}})); }}"
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
