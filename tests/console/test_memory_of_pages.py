"""What stays in a browser's memory while a page is open: what it shows, and the last answers."""

from __future__ import annotations

from typing import Any

import pytest

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE

READ = """async ([module, often, paths]) => {
  const { read } = await import(module);
  for (const path of paths) await read(path).then(() => read(often));
}"""


def kept(page: Any) -> tuple[int, int]:
    """Nodes and listeners that are in memory, in the page or not."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    for _ in range(2):
        devtools.send("HeapProfiler.collectGarbage")
    told = {each["name"]: each["value"] for each in devtools.send("Performance.getMetrics")["metrics"]}
    return int(told["Nodes"]), int(told["JSEventListeners"])


@pytest.mark.parametrize("place", ["/tasks?state=needs", "/approvals"])
def test_rows_that_have_left_a_list_are_held_by_nothing(signed_in: Any, desk: Desk, expect: Any, place: str) -> None:
    """Each change brings a list anew. One that held on to the rows before it would have those of eight lists."""
    signed_in.goto(f"{desk.served.url}#{place}")
    before = (0, 0)
    for number in range(10):
        asked = {"agent": "auto-code", "reason": f"It is number {number}"}
        made = desk.served.agents.hand_off("architect", "auto-code", target=asked)
        shown = signed_in.locator("main [data-at], main .item").filter(has_text=asked["reason"])
        expect(shown).to_have_count(1)
        assert desk.served.gateway.post(ALICE, f"/tasks/{made['task']['id']}/cancel", {}).status == 200
        expect(shown).to_have_count(0)
        if number == 3:
            before = kept(signed_in)
    nodes, listeners = kept(signed_in)
    assert nodes - before[0] < 3 * 50  # of three rows
    assert listeners - before[1] < 3 * 13


# What an answer was read into, for as long as something holds it.
WATCH = """() => {
  const parse = JSON.parse;
  window.answers = [];
  JSON.parse = (...given) => {
    const read = parse(...given);
    if (read?.items?.length) window.answers.push(new WeakRef(read.items[0]));
    return read;
  };
}"""


@pytest.mark.parametrize("place", ["/tasks", "/tasks?q=It", "/approvals", "/approvals?group=direction", "/alerts"])
def test_answers_that_others_have_followed_are_held_by_nothing(
    signed_in: Any, desk: Desk, expect: Any, place: str
) -> None:
    """Rows go out of sight as new ones come. One row that held its first list would hold, by the rows of that, all."""
    agents, gateway = desk.served.agents, desk.served.gateway
    assert gateway.put(ALICE, "/workspace/settings", {"loop_guard": False}).status == 200

    def happens(says: str) -> None:
        if place == "/alerts":
            raised = {"kind": "disk-full", "severity": "warning", "message": says}
            assert gateway.post(ALICE, "/alerts", raised).status == 201
        else:
            agents.hand_off("architect", "auto-code", target={"agent": "auto-code", "reason": says})

    for number in range(40):
        happens(f"It is before {number}")
    signed_in.set_viewport_size({"width": 1200, "height": 400})
    signed_in.goto(f"{desk.served.url}#{place}")
    rows = signed_in.locator("main [data-at], main .item, main li.card")
    expect(rows.first).to_be_visible()
    signed_in.evaluate(f"({WATCH})()")
    for number in range(10):
        happens(f"It is number {number}")
        expect(rows.filter(has_text=f"It is number {number}")).to_have_count(1)
    kept(signed_in)
    held, read = signed_in.evaluate("[window.answers.filter((each) => each.deref()).length, window.answers.length]")
    assert read >= 10
    assert held <= 7  # of the lists in sight, their counts in the frame, and a read on its way


def test_answers_that_are_asked_for_again_stay_and_others_go(signed_in: Any, desk: Desk) -> None:
    tagged: dict[str, bool] = {}

    def note(request: Any) -> None:
        tagged[request.url.rpartition("/")[2]] = "if-none-match" in request.headers

    module = signed_in.evaluate("document.querySelector('script[type=module]').src.replace('app.js', 'core/api.js')")
    paths = [f"/tasks?limit={number}" for number in range(1, 51)]
    signed_in.evaluate(READ, [module, "/agents?limit=7", paths])
    signed_in.on("request", note)
    signed_in.evaluate(READ, [module, "/agents?limit=7", ["/tasks?limit=50", "/tasks?limit=1"]])
    assert (tagged["tasks?limit=50"], tagged["agents?limit=7"], tagged["tasks?limit=1"]) == (True, True, False)
