"""Evidence beside a decision: why, who really asked, what came before, and long texts that are found in and copied."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.console_looks import nothing_found
from support.values.tricks import TRICKS, only_text
from support.worlds.console_desk import Desk, approved, at_once, claimed
from support.worlds.http_agents import ALICE, message
from support.worlds.world import agent, marker_body, service

REASON = "CI has failed 14 times since Monday"
FAILURE = {
    "type": "blocker",
    "description": "The vault is sealed",
    "blockers": [{"type": "access", "description": "A key is missing", "required_to_proceed": True}],
    "partial_progress": {"completed": ["Read the policy"], "incomplete": ["Rotate the key"]},
}
CODE = """Look:
```python
print("<b>")
```
Then
Traceback (most recent call last):
  File "a.py", line 1
ValueError: no
so."""


def test_an_escalation_is_told_by_its_reason_and_leads_to_its_digest(signed_in: Any, desk: Desk, expect: Any) -> None:
    task = _escalated(desk)
    signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
    whole = _whole(signed_in)
    expect(whole.get_by_role("heading", level=2)).to_have_text(REASON)
    expect(signed_in.locator(".item.at .title")).to_have_text(REASON)
    digest = whole.get_by_role("link", name="Open notes.example")
    expect(digest).to_have_attribute("href", "https://notes.example/digest/1")
    expect(digest).to_have_attribute("rel", re.compile("noopener noreferrer"))
    expect(whole.get_by_role("button", name="a" * 32)).to_be_visible()
    signed_in.goto(f"{desk.served.url}#/tasks")
    signed_in.get_by_role("link", name=REASON).click()
    expect(signed_in).to_have_title(re.compile(f"{REASON} · Baton$"))


def test_who_really_asked_is_told_beside_in_whose_name(signed_in: Any, desk: Desk, expect: Any) -> None:
    body = message("architect", "qa", target={"agent": "qa", "reason": "Try it"})
    made = desk.served.gateway.post(service(), "/handoffs", body)
    assert made.status == 201, made.text
    signed_in.goto(f"{desk.served.url}#/approvals?task={made.json['task']['id']}")
    expect(_whole(signed_in).get_by_text("Asked by service:ci, on behalf of architect")).to_be_visible()


def test_a_rollback_shows_what_failed_and_what_is_left_before_it_is_approved(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    rollback = next(each for each in _needs(desk) if each["kind"] == "rollback")
    signed_in.goto(f"{desk.served.url}#/approvals?task={rollback['id']}")
    origin = _whole(signed_in).locator(".origin")
    for text in ("Move the queue", "No group id", "needed to go on", "Read the consumers", "Change the producer"):
        expect(origin.get_by_text(text)).to_be_visible()
    expect(_whole(signed_in).get_by_text("Step 2 of a chain of 2")).to_be_visible()


def test_a_retry_shows_the_attempt_before_and_what_it_changes(signed_in: Any, desk: Desk, expect: Any) -> None:
    task = _retried(desk)
    signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
    whole = _whole(signed_in)
    expect(whole.locator(".origin").get_by_text("The vault is sealed")).to_be_visible()
    expect(whole.get_by_role("heading", name="Earlier attempts")).to_be_visible()
    beside = whole.get_by_role("region", name="Tries side by side")
    expect(beside.get_by_role("row", name=re.compile("^Failure"))).to_contain_text("The vault is sealed")
    whole.get_by_role("button", name="What try 2 asks otherwise").click()
    expect(whole.get_by_text("Try 2 asks")).to_be_focused()
    expect(whole.get_by_role("heading", name="The last of this direction")).to_be_visible()


def test_what_is_beside_a_decision_holds_nothing_up_and_its_absence_is_told(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    signed_in.route("**/handoffs?source=*", lambda route: route.abort())
    signed_in.route("**/workflows/*/chain", lambda route: route.abort())
    rollback = next(each for each in _needs(desk) if each["kind"] == "rollback")
    signed_in.goto(f"{desk.served.url}#/approvals?task={rollback['id']}")
    expect(signed_in.get_by_role("button", name="Approve", exact=False).first).to_be_enabled()
    for text in ("The chain that it belongs to can't be read", "What became of earlier ones can't be read"):
        expect(_whole(signed_in).get_by_text(text)).to_be_visible()


def test_a_long_output_is_folded_found_in_and_copied(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.context.grant_permissions(["clipboard-read", "clipboard-write"])
    output = "\n".join(f"line {number}: {'x' * 60} needle{number}" for number in range(1500))
    with at_once(desk.served):
        task = approved(desk.served, "architect", "qa", "Write the long report")
        claim = claimed(desk.served, "qa", task["id"])
    assert desk.served.agents.say(claim, "complete", output=output).status == 200
    signed_in.goto(f"{desk.served.url}#/tasks/{task['id']}")
    came = signed_in.get_by_role("region", name="What came of it")
    came.get_by_text("1,500 lines").wait_for()
    assert signed_in.evaluate("document.documentElement.scrollHeight") < 3000
    field = came.get_by_label("Find in: Output")
    field.fill("needle1499")
    expect(came.get_by_role("status")).to_have_text("1")
    field.press("Enter")
    expect(came.get_by_role("status")).to_have_text(re.compile("1 of 1"))
    expect(came.get_by_text("needle1499")).to_be_in_viewport()
    came.get_by_role("button", name="Copy").click()
    expect(signed_in.get_by_text("Copied")).to_be_visible()
    assert signed_in.evaluate("navigator.clipboard.readText()") == output
    nothing_found(signed_in)


def test_code_and_traces_look_like_code_and_stay_text(signed_in: Any, desk: Desk, expect: Any) -> None:
    task = desk.served.agents.hand_off("architect", "qa", target={"agent": "qa", "reason": CODE})["task"]["id"]
    signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
    code = _whole(signed_in).locator("pre.code")
    expect(code.nth(0)).to_have_text('print("<b>")')
    expect(code.nth(1)).to_have_text(re.compile("^Traceback.*ValueError: no$", re.DOTALL))
    expect(_whole(signed_in).get_by_text("so.", exact=True)).to_be_visible()


def test_labels_are_labels(signed_in: Any, desk: Desk, expect: Any) -> None:
    asked = {"metadata": {"labels": {"customer": "acme", "amount": "1,200 EUR"}}}
    task = desk.served.agents.hand_off("architect", "qa", target={"agent": "qa", "reason": "Refund"}, **asked)["task"]
    signed_in.goto(f"{desk.served.url}#/approvals?task={task['id']}")
    labels = _whole(signed_in).get_by_role("list", name="Labels").get_by_role("listitem")
    expect(labels).to_have_text(["amount 1,200 EUR", "customer acme"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_beside_a_decision(signed_in: Any, desk: Desk, scheme: str) -> None:
    signed_in.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for task in (_escalated(desk), _retried(desk)):
        signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
        signed_in.get_by_role("heading", name="The last of this direction").wait_for()
        nothing_found(signed_in)


@pytest.mark.parametrize("width", [390, 2560])
def test_what_is_beside_a_decision_is_text_in_its_box(signed_in: Any, desk: Desk, width: int) -> None:
    served, tricks = desk.served, "\n".join(TRICKS)
    failure: dict[str, Any] = {
        "type": "error",
        "description": tricks,
        "blockers": [{"type": "t", "description": tricks}],
    }
    failure["partial_progress"] = {"completed": TRICKS, "incomplete": TRICKS}
    labels = {trick[:60]: trick[:180] for trick in TRICKS}
    with at_once(served):
        task = approved(served, "architect", "ciso", tricks, metadata={"labels": labels})
        claim = claimed(served, "ciso", task["id"], TRICKS[0][:60])
    back = {"target_agent": "architect", "reason": tricks, "questions": TRICKS}
    assert served.agents.say(claim, "fail", failure=failure, rollback_request=back).status == 200
    assert served.gateway.post(agent("architect"), f"/handoffs/{task['handoff_id']}/retry", {}).status == 201
    signed_in.set_viewport_size({"width": width, "height": 860})
    waiting = [each["id"] for each in _needs(desk) if each["workflow_id"] == task["workflow_id"]]
    assert len(waiting) == 2
    for path in [*(f"/approvals?task={each}" for each in waiting), f"/tasks/{task['id']}", f"/tasks/{waiting[0]}"]:
        signed_in.goto(f"{served.url}#{path}")
        signed_in.get_by_role("heading", name="The last of this direction").wait_for()
        signed_in.get_by_text("202E").first.wait_for()
        only_text(signed_in)


def _escalated(desk: Desk) -> str:
    asks = marker_body(source_agent="qa", target_agent="auto-code", escalation_reason=REASON)
    asks |= {"source_digest_url": "https://notes.example/digest/1", "client_relation_ids": ["a" * 32]}
    made = desk.served.gateway.post(agent("qa"), "/handoff-markers", asks).json
    task_id: str = made["task_id"]
    return task_id


def _retried(desk: Desk) -> str:
    with at_once(desk.served):
        task = approved(desk.served, "architect", "ciso", "Audit the key store")
        claim = claimed(desk.served, "ciso", task["id"])
    assert desk.served.agents.say(claim, "fail", failure=FAILURE).status == 200
    made = desk.served.gateway.post(agent("architect"), f"/handoffs/{task['handoff_id']}/retry", {})
    assert made.status == 201, made.text
    task_id: str = made.json["task"]["id"]
    return task_id


def _needs(desk: Desk) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = desk.served.gateway.get(ALICE, "/tasks", query="state=needs").json["items"]
    return items


def _whole(page: Any) -> Any:
    return page.get_by_role("region", name="What would be approved")
