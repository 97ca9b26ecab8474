"""A hundred decisions by keyboard, twenty of which are traps. Who decides doesn't know them: they approve what has no
mark in sight, and dismiss what has one."""

from __future__ import annotations

import random
import time
from typing import Any

from support.chromium import fetched
from support.worlds.console_desk import at_once
from support.worlds.console_server import ConsoleServer
from support.worlds.http_agents import ALICE, message
from support.worlds.world import agent

DECISIONS, TRAPS, SECONDS = 100, 20, 300
CONTEXT = {"project": {"name": "shop"}, "state": {"checked": ["order", "invoice", "stock"]}}
LONG = "The order came back whole, and the customer was told that the money follows within days. " * 6
IN_SIGHT = """() => {
  const panel = document.querySelector(".desk > .one");
  const inside = (element) => {
    const [box, frame] = [element.getBoundingClientRect(), panel.getBoundingClientRect()];
    return box.height > 0 && box.top >= Math.max(0, frame.top) && box.bottom <= Math.min(innerHeight, frame.bottom);
  };
  const marks = [...panel.querySelectorAll(".marks .notice li, .notice[role=alert]")];
  return marks.filter(inside).map((each) => each.innerText);
}"""


def test_a_hundred_decisions_by_keys_with_every_trap_in_sight(served: ConsoleServer, page: Any, expect: Any) -> None:
    traps, changed = _planted(served)
    looked: set[str] = set()

    def changing(route: Any) -> None:
        """Of some, the content changes once a person has begun to read it."""
        answer = fetched(route, if_none_match='"0"')
        text = answer.text()
        for task_id in looked & changed:
            text = text.replace(digests[task_id], "f" * 64)
        route.fulfill(response=answer, body=text)

    needs = _needs(served)
    digests = {task["id"]: task["digest"] for task in needs}
    titles = {task["id"]: task["title"] for task in needs}
    assert len(digests) == DECISIONS
    page.set_viewport_size({"width": 1280, "height": 720})
    page.route("**/handoffs/ho_*", changing)
    page.route("**/tasks?state=needs*", changing)
    page.goto(f"{served.url}#/approvals")
    page.get_by_label("Your token").fill(served.token(ALICE))
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"{DECISIONS} waiting")).to_be_visible()
    began = time.monotonic()
    page.keyboard.press("j")
    dismissed: dict[str, list[str]] = {}
    one = page.locator(".desk > .one")  # a role is looked for in all that is below, and the list has 100 rows
    for _ in range(DECISIONS):
        page.wait_for_function("() => location.hash.includes('task=')")
        task_id = page.evaluate("() => new URLSearchParams(location.hash.split('?')[1]).get('task')")
        expect(one.locator("h2.title")).to_have_text(titles[task_id])  # before it there is the last one
        expect(one.get_by_role("button", name="Approve a")).to_be_enabled()
        looked.add(task_id)
        if task_id in changed:
            expect(one.get_by_text("It was changed while you read it.")).to_be_visible()
        if marks := page.evaluate(IN_SIGHT):
            dismissed[task_id] = marks
            _dismiss(page, expect, is_changed=task_id in changed)
        else:
            page.keyboard.press("a")
        page.wait_for_function("id => !location.hash.includes(id)", arg=task_id)
    seconds = time.monotonic() - began
    print(f"{DECISIONS} decisions in {seconds:.0f} s")  # noqa: T201 - what the tests are run with -s for
    assert {task_id: traps.get(task_id) for task_id in dismissed.keys() ^ traps.keys()} == {}, dismissed
    assert seconds < SECONDS
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    page.wait_for_timeout(4000)
    states = {task_id: served.gateway.get(ALICE, f"/tasks/{task_id}").json["state"] for task_id in digests}
    assert {each for each, state in states.items() if state == "cancelled"} == set(traps)
    page.unroute_all(behavior="ignoreErrors")


def _dismiss(page: Any, expect: Any, *, is_changed: bool) -> None:
    if is_changed:  # who wants to dismiss it reads first what it is now
        page.get_by_role("button", name="Read it as it is now").press("Enter")
        expect(page.get_by_role("button", name="Dismiss x")).to_be_enabled()
    page.keyboard.press("x")
    page.get_by_label("Reason").wait_for()
    page.keyboard.type("Not as usual")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def _planted(served: ConsoleServer) -> tuple[dict[str, str], set[str]]:
    """Returns the traps, each with its kind, and which of them change while one looks."""
    assert served.gateway.put(ALICE, "/agents/qa", {"root_handoffs_per_hour": 300}).status == 200
    with at_once(served):
        for number in range(6):
            for target in ("auto-code", "ciso"):
                made = _refund(served, 900 + number, 80 + 7 * number, target=target)
                assert served.gateway.post(ALICE, f"/tasks/{made}/approve", {}).status == 200
    kinds = ["amount", "target", "hidden", "changed"] * (TRAPS // 4) + ["usual"] * (DECISIONS - TRAPS)
    random.Random(7).shuffle(kinds)
    traps: dict[str, str] = {}
    for number, kind in enumerate(kinds):
        target = "auto-code" if number % 3 else "ciso"
        amount = 70 + (number * 13) % 60
        how: dict[str, Any] = {"target": target}
        if kind == "target":
            how = {"target": "architect" if number % 2 else target, "to": number}
        elif kind == "hidden":
            how["hidden"] = number
        made = _refund(served, number, 10_000 if kind == "amount" else amount, **how)
        if kind != "usual":
            traps[made] = kind
    return traps, {task_id for task_id, kind in traps.items() if kind == "changed"}


def _refund(served: ConsoleServer, number: int, amount: int, *, target: str, to: int = -1, hidden: int = -1) -> str:
    """``to``: the money goes elsewhere. ``hidden``: of three ways to hide a text, one."""
    account = "DE02 1203 0000 0000 2020 51" if to < 0 else "XX99 0000 0000 0000 0000 01"
    hides = ["\u200b", "\n" * 60 + "And twice.", "\u0430"][hidden % 3] if hidden >= 0 else ""
    body = message(
        "qa",
        target,
        target={"agent": target, "reason": f"Refund order {1000 + number} with {amount} EUR{hides}"},
        summary=f"Refund order {1000 + number}",
        context={**CONTEXT, "variables": {"order": 1000 + number, "amount": amount, "account": account, "note": LONG}},
    )
    if hides == "\u0430":
        body["target"]["reason"] = f"Refund order {1000 + number} with {amount} EUR by p{hides}ypal"
    reply = served.gateway.post(agent("qa"), "/handoffs", body)
    assert reply.status == 201, reply.text
    made: str = reply.json["task"]["id"]
    return made


def _needs(served: ConsoleServer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.gateway.get(ALICE, "/tasks", query="state=needs&limit=100").json["items"]
    return found
