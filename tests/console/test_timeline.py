"""A task's time on one axis, and chains of hundreds that can be read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from baton.domain.tasks.trail import Event
from baton.domain.times import parse_rfc3339
from support.console_looks import nothing_found
from support.values.tricks import TRICKS, only_text
from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE

TRAIL = [
    ("00:00", "handoff_initiated", {"state": "needs"}),
    ("01:00", "deferred", {"deferred_until": "2026-11-27T09:03:00Z"}),
    ("05:00", "approved", {"state": "delegated", "deferred_until": None, "ready_at": "2026-11-27T09:05:00Z"}),
    (
        "06:00",
        "handoff_received",
        {"state": "claimed", "claim": {"agent": "qa", "worker": "a", "fence": 1}, "attempt": 1},
    ),
    ("16:00", "heartbeat_lost", {}),
    ("16:00", "requeued", {"state": "delegated", "claim": None, "ready_at": "2026-11-27T09:16:30Z"}),
    (
        "18:00",
        "handoff_received",
        {"state": "claimed", "claim": {"agent": "qa", "worker": "b", "fence": 2}, "attempt": 2},
    ),
    ("20:00", "question_asked", {"asked": 1}),
    ("21:00", "waiting", {"state": "waiting", "claim": None, "wait": {"questions": ["qst_1"]}}),
    (
        "31:00",
        "handoff_received",
        {"state": "claimed", "claim": {"agent": "qa", "worker": "b", "fence": 3}, "wait": None},
    ),
    ("33:00", "handoff_completed", {"state": "done", "claim": None}),
]
SPANS = [
    ("person", 60, "deferred"),
    ("later", 120, None),
    ("person", 120, "approved"),
    ("worker", 60, "handoff_received"),
    ("work", 600, "heartbeat_lost"),
    ("later", 30, None),
    ("worker", 90, "handoff_received"),
    ("work", 180, "waiting"),
    ("answers", 600, "handoff_received"),
    ("work", 120, "handoff_completed"),
]


def test_a_trail_tells_what_it_waited_for_and_who_was_at_work(signed_in: Any) -> None:
    tree = signed_in.locator("script[src]").get_attribute("src").removesuffix("/app.js")
    spans = signed_in.evaluate(
        "async ([tree, events, now]) => (await import(`${tree}/pages/task/spans.js`)).spansOf(events, now)",
        [tree, _events(), 0],
    )
    assert [(each["kind"], (each["ended"] - each["began"]) / 1000, each["by"]) for each in spans] == SPANS


def test_the_page_and_the_domain_tell_the_same_of_a_trail() -> None:
    domain = pytest.importorskip("baton.domain.tasks.spans")
    told = ("seq", "type", "fence", "data", "prev_hash", "hash")
    events = [
        Event(
            at=parse_rfc3339(each["at"]),
            principal_kind="human",
            principal_id="alice",
            **{name: each[name] for name in told},
        )
        for each in _events()
    ]
    spans = domain.spans_of(events, events[-1].at)
    assert [(str(each.kind), each.seconds(each.began_at), each.ended_by) for each in spans] == SPANS


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_task_s_time_is_drawn_and_told_as_numbers(signed_in: Any, desk: Desk, expect: Any, scheme: str) -> None:
    signed_in.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    signed_in.route("**/events?after=0&*", lambda route: route.fulfill(json={"events": _events(), "next_after": 11}))
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.failed['id']}")
    time = signed_in.get_by_role("region", name="Timeline")
    for lane in ("Waits for people 13 min", "Put off 2 min", "Waits for a worker 2 min", "At work 15 min"):
        expect(time.get_by_text(lane, exact=True)).to_be_visible()
    expect(time.get_by_role("img", name="worker lost: 1")).to_be_visible()
    time.get_by_text("As numbers").click()
    expect(time.get_by_role("row")).to_have_count(1 + len(SPANS))
    expect(time.get_by_role("row").nth(5)).to_have_text(re.compile("attempt 1, qa.*10 min.*heartbeat lost"))
    nothing_found(signed_in)
    for width in (390, 2560):
        signed_in.set_viewport_size({"width": width, "height": 860})
        assert signed_in.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("shape", ["in a row", "beside each other"])
def test_a_chain_of_200_is_folded_around_the_task_and_searched(
    signed_in: Any, desk: Desk, expect: Any, shape: str
) -> None:
    whole = _chain(desk, 200, in_a_row=shape == "in a row")
    signed_in.route("**/workflows/*/chain", lambda route: route.fulfill(json=whole))
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.failed['id']}")
    chain = signed_in.get_by_role("region", name=re.compile("^Chain"))
    chain.get_by_text("200 handoffs").wait_for()
    assert chain.locator(".box").count() < 20
    expect(chain.locator(".box.here").get_by_text("Step 100").first).to_be_in_viewport()
    expect(chain.get_by_role("img", name="199 done, 1 failed")).to_be_visible()
    chain.get_by_label("Find in the chain").fill("step 177")
    expect(chain.get_by_role("link", name="Step 177 of a work whose title is long and whole")).to_be_visible()
    expect(chain.get_by_role("status")).to_have_text("1 of 200")
    chain.get_by_label("Find in the chain").fill("")
    chain.get_by_role("button", name="1 failed").click()
    expect(chain.get_by_role("status")).to_have_text("1 of 200")
    chain.get_by_role("button", name="1 failed").click()
    for _ in range(2):
        more = chain.get_by_role("button", name=re.compile(r"^\d+ more$"))
        if more.count():
            more.first.click()
    expect(chain.locator(".box")).to_have_count(200)
    nothing_found(signed_in)


def test_a_chain_of_one_takes_no_room(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.held['id']}")
    signed_in.get_by_role("heading", name="Timeline").wait_for()
    expect(signed_in.get_by_role("region", name=re.compile("^Chain"))).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1360])
def test_a_chain_and_a_trail_of_tricks_are_text(signed_in: Any, desk: Desk, width: int) -> None:
    whole, events = _chain(desk, 40, in_a_row=False), _events()
    for number, node in enumerate(whole["nodes"][0]["children"]):
        node |= {"title": TRICKS[number % len(TRICKS)], "agent": TRICKS[number % len(TRICKS)]}
    for event in events:
        if claim := event["data"]["changes"].get("claim"):
            claim |= {"agent": TRICKS[0], "worker": TRICKS[3]}
    signed_in.route("**/workflows/*/chain", lambda route: route.fulfill(json=whole))
    signed_in.route("**/events?after=0&*", lambda route: route.fulfill(json={"events": events, "next_after": 11}))
    signed_in.set_viewport_size({"width": width, "height": 860})
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.failed['id']}")
    signed_in.get_by_text("As numbers").click()
    signed_in.get_by_text("evil.example").first.wait_for()
    only_text(signed_in)


def _events() -> list[dict[str, Any]]:
    by = {"kind": "human", "id": "alice"}
    common = {"principal": by, "fence": 0, "prev_hash": "", "hash": ""}
    return [
        {"seq": seq, "at": f"2026-11-27T09:{at}Z", "type": kind, "data": {"changes": changes}, **common}
        for seq, (at, kind, changes) in enumerate(TRAIL, 1)
    ]


def _chain(desk: Desk, count: int, *, in_a_row: bool) -> dict[str, Any]:
    """A chain as the API sends it, with the failed task in its middle."""
    real = desk.served.gateway.get(ALICE, f"/workflows/{desk.failed['workflow_id']}/chain").json
    node = {**real["nodes"][0], "children": [], "state": "done", "failure": None}
    nodes = [
        {
            **node,
            "task_id": f"task_{number}",
            "title": f"Step {number} of a work whose title is long and whole",
            "children": [],
        }
        for number in range(count)
    ]
    nodes[count // 2] |= {"task_id": desk.failed["id"], "state": "failed"}
    for number, each in enumerate(nodes[1:], 1):
        nodes[number - 1 if in_a_row else 0]["children"].append(each)
    return {**real, "handoffs": count, "nodes": nodes[:1]}
