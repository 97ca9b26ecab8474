"""Pages that hold: long lists draw what is in sight, a slow or lost network loses nothing and claims nothing, and what
one person has begun is nobody else's."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.chromium import fetched
from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE
from support.worlds.world import human

BOB = human(name="bob")
# What pages say where there is nothing. Said of what isn't read yet, it isn't so.
EMPTY = re.compile(
    "No task fits|Nothing has ended|Nobody decided|Nothing is stuck|Nothing waits|None fits|No agent yet"
)
SAID = """() => { window.said = new Set(); new MutationObserver(() => {
  for (const each of document.querySelectorAll("main .empty, main .tile")) window.said.add(each.textContent);
}).observe(document, { childList: true, subtree: true, characterData: true }); }"""
# Latency in ms, bytes a second.
SLOW_3G = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
BUSY = {"title": "Busy", "status": 503, "code": "busy", "detail": "Too much at once.", "errors": [], "request_id": "r"}


def _many(page: Any, desk: Desk, path: str, count: int, of: str = "") -> None:
    """The list at this path has so many items, all alike."""
    (first, *_) = desk.served.gateway.get(ALICE, path, query=of).json["items"]
    name = "id" if "id" in first else "task_id"
    items = [{**first, name: f"{first[name].partition('_')[0]}_{number:026}"} for number in range(count)]

    def answer(route: Any) -> None:
        begin = int(re.search(r"cursor=(\d+)|$", route.request.url)[1] or 0)  # type: ignore[index]
        following = str(begin + 100) if begin + 100 < count else None
        route.fulfill(json={"items": items[begin : begin + 100], "next_cursor": following})

    page.route(re.compile(rf"{path}\?.*limit=100"), answer)


def test_a_list_s_first_rows_are_there_before_the_rest_is_read(signed_in: Any, desk: Desk, expect: Any) -> None:
    held: list[Any] = []
    _many(signed_in, desk, "/tasks", 300)
    signed_in.route(re.compile(r"/tasks\?limit=100&cursor=100"), lambda route: held.append(route))
    signed_in.goto(f"{desk.served.url}#/tasks")
    expect(signed_in.get_by_text("100+ shown")).to_be_visible()
    signed_in.get_by_label("Words").fill("nothing like it")
    expect(signed_in.get_by_text("Older ones are looked at: 100 so far")).to_be_visible()
    expect(signed_in.get_by_text("No task fits")).to_have_count(0)
    signed_in.get_by_label("Words").fill("")
    (page_two,) = held
    page_two.fallback()
    expect(signed_in.get_by_text("300 shown")).to_be_visible()


def test_of_long_lists_only_a_part_is_drawn(signed_in: Any, desk: Desk, expect: Any) -> None:
    _many(signed_in, desk, "/alerts", 250)
    signed_in.goto(f"{desk.served.url}#/alerts?severity=")
    cards = signed_in.locator(".alerts > li")
    expect(signed_in.get_by_text("250 shown")).to_be_visible()
    expect(cards).to_have_count(60)
    signed_in.get_by_role("button", name="Show more of the other 190").click()
    expect(cards).to_have_count(250)
    desk.served.publish()
    _many(signed_in, desk, "/decisions", 1_000)
    signed_in.goto(f"{desk.served.url}#/decisions")
    expect(signed_in.get_by_text("1,000 on")).to_be_visible()
    assert signed_in.locator("tbody tr:not(.gap)").count() < 60


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("start", "open alerts"),
        ("search?q=form", "Add a limit to the sign-in form"),
        ("stats", "Leases lost"),
        ("decisions", "by handing it over"),
        ("agents", "auto-code"),
    ],
)
def test_on_a_slow_network_nothing_is_said_to_be_empty_before_it_is_read(
    signed_in: Any, desk: Desk, expect: Any, path: str, shown: str
) -> None:
    signed_in.context.new_cdp_session(signed_in).send("Network.emulateNetworkConditions", SLOW_3G)
    held: list[Any] = []
    # Else Start has read them, now and then, before it is looked at here.
    signed_in.route("**/alerts?*", lambda route: held.append(route))
    signed_in.evaluate(SAID)
    signed_in.evaluate("(path) => { location.hash = `#/${path}`; }", path)
    expect(signed_in.locator("main").get_by_text(shown).first).to_be_visible(timeout=40_000)
    assert [text for text in signed_in.evaluate("[...window.said]") if EMPTY.search(text)] == []
    for each in held:
        each.fallback()


@pytest.mark.parametrize(
    ("path", "asked", "trouble", "shown"),
    [
        ("stats", r"/stats\?", "The counters can't be read.", "Leases lost"),
        ("decisions", r"/decisions\?", "The decisions can't be read.", "by handing it over"),
        ("search?q=form", r"/tasks/search\?", "It can't be searched.", "Try again"),
    ],
)
def test_a_page_that_is_refused_for_a_while_says_so_and_mends_itself(
    signed_in: Any, desk: Desk, expect: Any, path: str, asked: str, trouble: str, shown: str
) -> None:
    signed_in.route(re.compile(asked), lambda route: route.fulfill(status=503, json=BUSY))
    signed_in.goto(f"{desk.served.url}#/{path}")
    main = signed_in.locator("main")
    expect(main.get_by_text(trouble)).to_be_visible()
    assert EMPTY.search(main.inner_text()) is None
    signed_in.unroute_all()
    expect(main.get_by_text(shown).first).to_be_visible(timeout=40_000)
    if shown == "Try again":
        signed_in.get_by_role("button", name=shown).click()
    expect(main.get_by_text(trouble)).to_have_count(0)


def test_who_is_offline_in_the_middle_of_many_decisions_is_told_what_isnt_known(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    for key in "jmmm":
        signed_in.keyboard.press(key)
    expect(signed_in.get_by_role("button", name=re.compile("^Approve all"))).to_be_enabled()

    def done_and_lost(route: Any) -> None:
        fetched(route)
        signed_in.context.set_offline(True)
        route.abort()

    signed_in.route("**/approvals", done_and_lost)
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text("isn't known").first).to_be_visible()
    expect(signed_in.get_by_text("Nothing was approved")).to_have_count(0)
    signed_in.context.set_offline(False)
    signed_in.unroute_all()
    expect(signed_in.get_by_text("3 waiting")).to_be_visible()


def test_a_page_whose_file_cant_be_fetched_now_is_fetched_later(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.route("**/pages/stats.js", lambda route: route.abort())
    signed_in.goto(f"{desk.served.url}#/stats")
    expect(signed_in.get_by_text("The page's file can't be fetched")).to_be_visible()
    signed_in.unroute_all()
    expect(signed_in.get_by_role("heading", name="How it goes")).to_be_visible()


def _revoke(page: Any, desk: Desk) -> None:
    session_id = page.evaluate("JSON.parse(sessionStorage.getItem('baton.session')).id")
    assert desk.served.gateway.delete(ALICE, f"/tokens/{session_id}").status == 200
    page.get_by_text("Your session is over").wait_for()


def _sign_in(page: Any, desk: Desk, who: Any) -> None:
    page.get_by_label("Your token").fill(desk.served.token(who))
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").wait_for()


def _begun(page: Any, desk: Desk, path: str, act: str, label: str, typed: str) -> Any:
    """Types something in a form or a dialog, without sending it."""
    page.goto(f"{desk.served.url}#/{path}")
    if act:
        page.get_by_role("button", name=act).click()
    page.get_by_label(label).fill(typed)
    return page.get_by_label(label)


FORMS = {
    "a handoff": ("new-handoff", "", "What is asked, and why"),
    "an agent": ("new-agent", "", "Slug"),
    "a route": ("routes", "New route", "Type of work"),
    "a view": ("tasks?state=failed", "Save this view", "Name"),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_was_typed_waits_for_the_same_person_and_is_sent_once_in_their_name(
    signed_in: Any, desk: Desk, expect: Any, form: str
) -> None:
    path, act, label = FORMS[form]
    _begun(signed_in, desk, path, act, label, "half a word")
    _revoke(signed_in, desk)
    _sign_in(signed_in, desk, ALICE)
    expect(signed_in.get_by_label(label)).to_have_value("half a word")
    _revoke(signed_in, desk)
    _sign_in(signed_in, desk, BOB)
    expect(signed_in.get_by_role("dialog")).to_have_count(0)
    signed_in.goto(f"{desk.served.url}#/{path}")
    if act:
        signed_in.get_by_role("button", name=act).click()
    expect(signed_in.get_by_label(label)).to_have_value("")


def test_who_comes_next_sees_no_search_view_or_mark_of_the_one_before(signed_in: Any, desk: Desk, expect: Any) -> None:
    served = desk.served
    mine = {"scope": "mine", "title": "Only alice's", "page": "/tasks", "query": {"state": "failed"}}
    assert served.gateway.put(ALICE, "/views/only-alice-s", mine).status in {200, 201}
    signed_in.goto(f"{served.url}#/tasks?state=needs")
    expect(signed_in.get_by_role("link", name="Only alice's")).to_be_visible()
    for key in "jmm":
        signed_in.keyboard.press(key)
    signed_in.keyboard.press("Control+k")
    signed_in.get_by_role("dialog").get_by_role("combobox").fill("a secret word")
    signed_in.keyboard.press("Escape")
    signed_in.get_by_role("group", name="Marked").get_by_role("button", name="Cancel 2").click()
    signed_in.get_by_label("Reason").fill("Not today")
    held: list[Any] = []
    signed_in.route("**/tasks/*/cancel", lambda route: held.append(route))
    signed_in.get_by_role("dialog").get_by_role("button", name="Cancel 2").click()
    expect(signed_in.get_by_text("0 of 2 …")).to_be_visible()
    since = len(served.answered)
    _revoke(signed_in, desk)
    expect(signed_in.get_by_role("alert")).to_contain_text("Sent, and not answered")
    _sign_in(signed_in, desk, BOB)
    signed_in.unroute_all(behavior="ignoreErrors")
    signed_in.goto(f"{served.url}#/tasks?state=needs")
    signed_in.get_by_text("6 shown").wait_for()
    expect(signed_in.get_by_role("group", name="Marked")).to_have_count(0)
    expect(signed_in.get_by_role("link", name="Only alice's")).to_have_count(0)
    signed_in.keyboard.press("Control+k")
    expect(signed_in.get_by_role("dialog").get_by_role("combobox")).to_have_value("")
    sent = [status for each, status in served.answered[since:] if each.endswith("/cancel")]
    assert set(sent) <= {401, 403}, "it goes in the name of who has begun it, whose session is over"


def test_of_two_tabs_the_second_is_told_that_it_was_decided(signed_in: Any, desk: Desk, expect: Any) -> None:
    path = f"{desk.served.url}#/approvals?task={desk.whole['id']}"
    tabs = [signed_in, signed_in.context.new_page()]
    for tab in tabs:
        tab.goto(path)
        tab.get_by_role("button", name=re.compile("^Approve")).and_(tab.locator(":enabled")).wait_for()
    tabs[1].route("**/tasks?state=needs*", lambda _: None)  # it doesn't hear of it
    tabs[0].keyboard.press("a")
    tabs[0].get_by_role("button", name=re.compile("^Undo")).wait_for()
    tabs[1].keyboard.press("a")
    expect(tabs[1].locator(".toasts")).to_contain_text("stays as it is (alice: approved")
    trail = desk.served.gateway.get(ALICE, f"/tasks/{desk.whole['id']}/events").json["events"]
    assert [each["type"] for each in trail].count("approved") == 1
    tabs[1].unroute_all(behavior="ignoreErrors")
