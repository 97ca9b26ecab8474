"""Questions as large as a request may be: lists and what a task comes back with stay within what is sent and kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from baton.services.tasks.sweep import sweep
from support.gateway import Gateway
from support.worlds.world import World, agent, human

AUDITOR, ALICE = agent("auditor"), human()
LARGE = 200_000


class Desk:
    def __init__(self) -> None:
        self.world = World().settle()
        self.gateway = Gateway(self.world.deps)
        claimed = self.world.claimed()
        self.claim, self.path = {"claim_id": claimed.claim_id}, f"/tasks/{claimed.details.task.id}"

    def ask(self, size: int = LARGE, **said: Any) -> dict[str, Any]:
        body = {**self.claim, "kind": "action", "text": "May I?", "tool": "refund", "arguments": {"why": "x" * size}}
        asked: dict[str, Any] = self.gateway.post(AUDITOR, f"{self.path}/ask", {**body, **said}).json
        return asked

    def answer(self, question: dict[str, Any], **said: Any) -> Any:
        body = {"outcome": "approved", "digest": question["digest"], **said}
        return self.gateway.post(ALICE, f"{self.path}/questions/{question['id']}/answer", body)

    def wait(self, *questions: dict[str, Any]) -> None:
        body = {**self.claim, "questions": [each["id"] for each in questions]}
        assert self.gateway.post(AUDITOR, f"{self.path}/wait-for-answers", body).status == 200

    def answers(self) -> list[dict[str, Any]]:
        again = self.gateway.post(AUDITOR, "/agents/auditor/claims", {"worker": "w"})
        assert again.status == 200
        told: list[dict[str, Any]] = again.json["answers"]
        return told


def test_a_list_leaves_out_what_is_long_and_the_question_has_it() -> None:
    desk = Desk()
    asked = [desk.ask() for _ in range(8)]
    small = desk.ask(size=10)
    reply = desk.gateway.get(ALICE, "/questions", query="limit=100")
    assert len(reply.text) < 100_000
    found = {each["id"]: (each["is_cut"], each["arguments"]) for each in reply.json["items"]}
    assert found == {each["id"]: (True, None) for each in asked} | {small["id"]: (False, small["arguments"])}
    whole = desk.gateway.get(ALICE, f"{desk.path}/questions/{asked[0]['id']}").json
    assert (len(whole["arguments"]["why"]), whole["is_cut"], whole["digest"]) == (LARGE, False, asked[0]["digest"])


def test_a_tasks_questions_come_page_by_page() -> None:
    desk = Desk()
    asked = sorted(desk.ask()["id"] for _ in range(8))
    found, query = list[str](), "limit=100"
    while query:
        reply = desk.gateway.get(ALICE, f"{desk.path}/questions", query=query)
        assert len(reply.text) < 2_000_000
        found += [each["id"] for each in reply.json["items"]]
        query = f"limit=100&cursor={reply.json['next_cursor']}" if reply.json["next_cursor"] else ""
    assert found == asked


@pytest.mark.parametrize("last", ["answered", "expired"])
def test_a_task_comes_back_however_much_people_said(last: str) -> None:
    desk = Desk()
    asked = [desk.ask(size=10, until="2026-11-18T13:00:00Z") for _ in range(4)]
    desk.wait(*asked)
    for each in asked[:3]:
        assert desk.answer(each, arguments={"why": "y" * 150_000}).status == 200
    if last == "answered":
        assert desk.answer(asked[3]).json["outcome"] == "approved"
    else:
        desk.world.clock.advance(3_600)
        assert sweep(desk.world.deps).failed == 0
    told = desk.answers()
    assert [each["outcome"] for each in told] == ["approved"] * 3 + ["approved" if last == "answered" else "expired"]
    assert [each.get("is_cut", False) for each in told] == [False, True, True, False]
    assert all(each["digest"] for each in told[:3])


def test_standing_answers_are_listed_without_long_arguments() -> None:
    desk = Desk()
    desk.answer(desk.ask(), standing={"for": "arguments"})
    desk.answer(desk.ask(size=10), standing={"for": "arguments"})
    listed = desk.gateway.get(ALICE, "/standing-answers").json["items"]
    assert sorted((each["is_cut"], each["arguments"] is None) for each in listed) == [(False, False), (True, True)]


def test_questions_and_standing_answers_are_listed_with_each_digit_of_a_number() -> None:
    desk = Desk()
    written = '{"amount":12345678901234567.10}'

    def ask() -> dict[str, Any]:
        body = json.dumps({**desk.claim, "kind": "action", "text": "May I?", "tool": "refund", "arguments": "ODD"})
        reply = desk.gateway.post(AUDITOR, f"{desk.path}/ask", body.replace('"ODD"', written))
        asked: dict[str, Any] = reply.json
        return asked

    first = ask()
    assert written in desk.gateway.get(ALICE, "/questions").text
    assert desk.answer(first, standing={"for": "tool"}).status == 200
    assert desk.answer(ask(), standing={"for": "arguments"}).status in {200, 409}  # the first one answers it already
    later = desk.ask(size=10, tool="refund", needed=2)
    assert desk.gateway.get(ALICE, "/standing-answers").status == 200
    shown = desk.gateway.get(ALICE, f"{desk.path}/questions/{later['id']}")
    assert (shown.status, f'"arguments":{written}' in shown.text) == (200, True)
