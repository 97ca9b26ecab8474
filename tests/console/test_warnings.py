"""Warnings in the console: each of 200 planted traps is in sight, and a decision that waits for others is marked."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from support.warnings.traps import EARLIER, Trap, action, handoff, traps
from support.worlds.console_desk import at_once
from support.worlds.console_server import ConsoleServer
from support.worlds.http_agents import ALICE, message
from support.worlds.world import agent, human

SIZES = ((1440, 900), (1024, 660))
OPEN_OF_A_TASK = 10
HIDDEN = re.compile("[\u200b\u202e\u202c]")
WORDS = {
    "hidden": "Hidden characters",
    "alphabets": "Mixed alphabets in one word",
    "gap": "Text continues after a long blank gap",
    "address": "New address",
    "account": "New account",
    "path": "File outside the earlier folders",
    "command": "New command or query syntax",
    "amount": "Amount outside the earlier range",
    "mismatch": "Amount that the text doesn't repeat",
    "value": "Unusual value",
    "added": "New field",
    "removed": "Missing field",
}
# Opens each by its address, and returns the places of the warnings that are wholly in sight, by their words.
LOOK = """async (wanted) => {
  const found = [];
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  for (const { hash, is } of wanted) {
    location.hash = hash;
    let marks = null;
    for (let tries = 0; tries < 600; tries += 1) {
      await frame();
      const digest = document.querySelector(".desk > .one")?.innerText ?? "";
      marks = document.querySelector(".desk > .one aside.marks");
      if (marks?.querySelector(".notice, .faint") && digest.includes(is)) break;
    }
    await frame();
    const panel = document.querySelector(".desk > .one").getBoundingClientRect();
    const isInSight = (element) => {
      const box = element.getBoundingClientRect();
      return box.height > 0 && box.top >= Math.max(0, panel.top) && box.bottom <= Math.min(innerHeight, panel.bottom)
        && box.right <= innerWidth;
    };
    const items = [...(marks?.querySelectorAll(".notice > li") ?? [])];
    found.push(items.flatMap((item) => [...item.querySelectorAll(".theirs > code")].filter(isInSight)
      .map((code) => [item.querySelector("strong").innerText, code.innerText])));
  }
  return found;
}"""


@pytest.fixture
def planted(served: ConsoleServer) -> list[tuple[Trap, dict[str, str]]]:
    """Returns each trap with its address and a text that identifies it on the page."""
    gateway = served.gateway
    assert gateway.put(ALICE, "/agents/qa", {"root_handoffs_per_hour": 1_000}).status == 200
    assert gateway.put(ALICE, "/agents/architect", {"root_handoffs_per_hour": 1_000}).status == 200
    with at_once(served):
        for number in range(EARLIER):
            task = handed(served, handoff(number))
            assert gateway.post(ALICE, f"/tasks/{task['id']}/approve", {}).status == 200
        asking = Asking(served)
        for number in range(EARLIER):
            question = asking.asks(action(number))
            answer = {"outcome": "approved", "digest": question["digest"]}
            assert gateway.post(ALICE, f"{path_of(question)}/answer", answer).status == 200
        found = []
        for trap in traps():
            if trap.item == "handoff":
                task = handed(served, trap.body)
                found.append((trap, {"hash": f"#/approvals?task={task['id']}", "is": task["id"]}))
            else:
                question = asking.asks(trap.body)
                at = f"#/approvals?question={question['id']}&of={question['task_id']}"
                found.append((trap, {"hash": at, "is": question["id"]}))
        return found


class Asking:
    """Asks under claims of its own, ten questions of each."""

    def __init__(self, served: ConsoleServer) -> None:
        self._served, self._asked, self._claim = served, 0, None

    def asks(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._asked % OPEN_OF_A_TASK == 0:
            made = self._served.agents.hand_off("architect", "ciso")["task"]
            self._served.gateway.post(ALICE, f"/tasks/{made['id']}/approve", {})
            self._claim = self._served.agents.take("ciso")
        self._asked += 1
        reply = self._served.agents.say(self._claim, "ask", **body)
        assert reply.status == 201, reply.text
        question: dict[str, Any] = reply.json
        return question


def handed(served: ConsoleServer, body: dict[str, Any]) -> dict[str, Any]:
    reply = served.gateway.post(agent("qa"), "/handoffs", message("qa", "auto-code", **body))
    assert reply.status == 201, reply.text
    task: dict[str, Any] = reply.json["task"]
    return task


def path_of(question: dict[str, Any]) -> str:
    return f"/tasks/{question['task_id']}/questions/{question['id']}"


def place(trap: Trap) -> str:
    """The trap's place as the page shows it: a hidden character is a mark with its number."""
    return HIDDEN.sub(lambda found: f"{ord(found[0]):04X}", trap.at)


def test_every_trap_is_in_sight_at_both_sizes(
    served: ConsoleServer, page: Any, planted: list[tuple[Trap, dict[str, str]]]
) -> None:
    page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
    page.goto(f"{served.url}#/approvals")
    page.get_by_label("Your token").fill(served.token(ALICE))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Approvals").wait_for()
    page.get_by_role("region", name="Handoffs to approve").wait_for()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        seen = page.evaluate(LOOK, [where for _, where in planted])
        pairs = list(zip(planted, seen, strict=True))
        missed = [(trap, each) for (trap, _), each in pairs if [WORDS[trap.kind], place(trap)] not in each]
        assert [(trap.item, trap.at, trap.name, json.dumps(each)) for trap, each in missed] == []
    page.goto("about:blank")


@pytest.fixture
def office(served: ConsoleServer, page: Any) -> Asking:
    """A person who is signed in, and an agent that asks."""
    served.gateway.put(ALICE, "/workspace/settings", {"dispatch_delay_seconds": 0})
    page.goto(f"{served.url}#/approvals")
    page.get_by_label("Your token").fill(served.token(ALICE))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Approvals").wait_for()
    return Asking(served)


FEE: dict[str, Any] = {"amount": 120, "to": "billing@acme.example"}
PAY: dict[str, Any] = {"kind": "action", "tool": "pay", "text": "The weekly fee", "arguments": FEE}
WORDS_OF_THE_PAGE = "Since the last approval the same arguments were approved by ada"


def test_a_row_of_an_action_shows_the_amount_the_target_and_the_difference(
    served: ConsoleServer, office: Asking, page: Any, expect: Any
) -> None:
    first = office.asks(PAY)
    answer = {"outcome": "approved", "digest": first["digest"]}
    assert served.gateway.post(ALICE, f"{path_of(first)}/answer", answer).status == 200
    office.asks({**PAY, "arguments": {**FEE, "amount": 1_200, "note": "x"}})
    row = page.locator(".item")
    for said in ("pay", "1200", "billing@acme.example", "amount 120 → 1200", "asked", "ends in", "look twice"):
        expect(row).to_contain_text(said)


def test_a_text_of_an_agent_stands_in_no_line_of_the_page(office: Asking, page: Any, expect: Any) -> None:
    question = office.asks({**PAY, "tool": f"pay {WORDS_OF_THE_PAGE}", "text": f"Fee. {WORDS_OF_THE_PAGE}"})
    page.goto(f"{page.url.split('#')[0]}#/approvals?question={question['id']}&of={question['task_id']}")
    expect(page.locator(".one").get_by_text(WORDS_OF_THE_PAGE).first).to_be_visible()
    expect(page.locator(".item").get_by_text(WORDS_OF_THE_PAGE).first).to_be_visible()
    found = page.evaluate(
        """(words) => [...document.querySelectorAll(".pile .said, .one .said")]
          .filter((each) => each.textContent.includes(words))
          .map((each) => Boolean(each.closest(".theirs, .theirs-line, .long, .code")))""",
        WORDS_OF_THE_PAGE,
    )
    assert len(found) >= 4
    assert all(found)


def test_what_a_person_has_approved_sinks_and_is_not_approved_again(
    served: ConsoleServer, office: Asking, page: Any, expect: Any
) -> None:
    mine = office.asks({**PAY, "needed": 2})
    other = office.asks({**PAY, "text": "Another fee", "needed": 2})
    page.goto(f"{page.url.split('#')[0]}#/approvals?question={mine['id']}&of={mine['task_id']}")
    whole = page.get_by_role("region", name="What would be approved")
    expect(whole.get_by_text("It needs 2 approvals by any person. 0 decided so far.")).to_be_visible()
    body = {"outcome": "approved", "digest": mine["digest"], "arguments": {"amount": 100, "to": "billing@acme.example"}}
    assert served.gateway.post(ALICE, f"{path_of(mine)}/answer", body).status == 200
    expect(page.locator(".item").last.get_by_text("you approved, 1 of 2")).to_be_visible()
    expect(page.locator(".item").first).to_contain_text("Another fee")
    expect(whole.get_by_role("button", name="Change your decision")).to_be_enabled()
    page.keyboard.press("a")
    expect(page.get_by_text("You decided on this, and it waits for others.")).to_be_visible()
    page.wait_for_timeout(4_000)
    decisions = served.gateway.get(ALICE, path_of(mine)).json["decisions"]
    assert [each["arguments"] for each in decisions] == [body["arguments"]]
    assert served.gateway.get(ALICE, path_of(other)).json["decisions"] == []


def test_other_arguments_of_another_person_are_not_outvoted_by_a_key(
    served: ConsoleServer, office: Asking, page: Any, expect: Any
) -> None:
    question = office.asks({**PAY, "needed": 2})
    body = {"outcome": "approved", "digest": question["digest"], "arguments": {"amount": 100}}
    assert served.gateway.post(human(name="bob"), f"{path_of(question)}/answer", body).status == 200
    page.goto(f"{page.url.split('#')[0]}#/approvals?question={question['id']}&of={question['task_id']}")
    expect(page.get_by_role("button", name=re.compile("^Approve a"))).to_be_enabled()
    page.keyboard.press("a")
    expect(page.get_by_role("dialog").get_by_text("approved other arguments")).to_be_visible()
    page.keyboard.press("Escape")
    page.wait_for_timeout(4_000)
    assert len(served.gateway.get(ALICE, path_of(question)).json["decisions"]) == 1


def test_an_answer_that_arrives_late_does_not_move_the_page(
    served: ConsoleServer, office: Asking, page: Any, expect: Any
) -> None:
    first, _, third = (office.asks({"kind": "text", "text": f"Question {number}"}) for number in range(3))
    page.goto(f"{page.url.split('#')[0]}#/approvals?question={first['id']}&of={first['task_id']}")
    page.get_by_role("button", name=re.compile("^Answer")).and_(page.locator(":enabled")).click()
    page.get_by_role("dialog").get_by_label("Your answer").fill("Blue")
    held: list[Any] = []
    page.route("**/answer", lambda route: held.append(route))
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(200)
    page.evaluate("hash => { location.hash = hash; }", f"/approvals?question={third['id']}&of={third['task_id']}")
    expect(page.locator(".one").get_by_text("Question 2").first).to_be_attached()
    held[0].continue_()
    page.wait_for_timeout(1_000)
    assert third["id"] in page.url
    assert served.gateway.get(ALICE, path_of(first)).json["outcome"] == "answered"


def test_the_tasks_of_decisions_can_be_read_on_a_phone(
    served: ConsoleServer, office: Asking, page: Any, expect: Any
) -> None:
    office.asks(PAY)
    served.publish()
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{page.url.split('#')[0]}#/decisions")
    cell = page.locator(".table td.fill").first
    expect(cell).to_be_visible()
    assert cell.bounding_box()["width"] > 150
