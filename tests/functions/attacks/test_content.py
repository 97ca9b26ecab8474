"""Attack m3: a writer of the table changes an approved action in the middle of work, and nothing notices."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.questions.question import Action
from support.gateway import Gateway
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.operators import data_of, dynamo_of, exported
from support.worlds.world import World, agent, human
from tools.admin import verify_trail as script

CODER = agent("auto-code")
PAY = {"kind": "action", "text": "The invoice", "tool": "pay", "arguments": {"amount": "QQQ1", "to": "ada"}}
FORM = {"type": "object", "properties": {"size": {"type": "string"}}}
Alter = Callable[[dict[str, Any]], None]


@pytest.fixture
def http_agents(gateway: Gateway) -> HttpAgents:
    return HttpAgents(gateway).hire()


class Desk:
    """One claim, and its questions."""

    def __init__(self, world: World, http_agents: HttpAgents) -> None:
        self.world, self.gateway, self.claim = world, http_agents.gateway, http_agents.begun()
        self.path = f"/tasks/{self.claim['task']['id']}"

    def asks(self, **body: Any) -> Any:
        reply = self.gateway.post(CODER, f"{self.path}/ask", {"claim_id": self.claim["claim_id"], **body})
        assert reply.status == 201, reply.text
        return reply.json

    def answers(self, question: Any, **said: Any) -> Any:
        body = {"outcome": "approved", "digest": question["digest"], **said}
        reply = self.gateway.post(ALICE, f"{self.path}/questions/{question['id']}/answer", body)
        assert reply.status == 200, reply.text
        return reply.json

    def uses(self, question: Any) -> Any:
        body = {"claim_id": self.claim["claim_id"], "digest": question["approved_digest"]}
        return self.gateway.post(CODER, f"{self.path}/questions/{question['id']}/use", body)

    def verdict(self) -> tuple[bool, bool, str | None]:
        said = self.gateway.get(ALICE, f"{self.path}/events/verify").json
        return said["intact"], said["matches_task"], said["problem"]

    def export_holds(self) -> bool:
        """Judges the workspace's export by the script that knows nothing of Baton."""
        try:
            script.verify_export(exported(data_of(self.world)[0]))
        except script.Broken as broken:
            return "question" not in broken.why
        return True

    def alters(self, alter: Alter, sort_key: str = "QUESTION") -> None:
        """Writes an altered item past Baton, as a person with access to the table can."""
        dynamo = dynamo_of(self.world)
        items = [item for (_, sk), item in dynamo.contents().items() if sk.startswith(sort_key)]
        assert len(items) == 1
        altered = dict(items[0])
        alter(altered)
        assert altered != items[0]
        dynamo.put(altered)


@pytest.fixture
def desk(world: World, http_agents: HttpAgents) -> Desk:
    return Desk(world, http_agents)


def text(attribute: str, old: str, new: str) -> Alter:
    def alter(item: dict[str, Any]) -> None:
        item[attribute] = {"S": item[attribute]["S"].replace(old, new)}

    return alter


def another_decider(item: dict[str, Any]) -> None:
    decided = [{**each, "by": "bob"} for each in json.loads(item["decisions"]["S"])]
    item["decisions"] = {"S": json.dumps(decided)}


def consistently(item: dict[str, Any]) -> None:
    """Changes the approved arguments and every digest in the question itself."""
    forged = Action(tool="pay", arguments={"amount": "9999999", "to": "mallory"})
    item["action"] = {"S": json.dumps({**json.loads(item["action"]["S"]), "arguments": forged.arguments})}
    decided = [{**each, "digest": forged.digest} for each in json.loads(item["decisions"]["S"])]
    item["decisions"] = {"S": json.dumps(decided)}


ALTERATIONS: dict[str, Alter] = {
    "the amount": text("action", "QQQ1", "9999999"),
    "the tool": text("action", '"pay"', '"wire"'),
    "why": text("text", "invoice", "rent"),
    "who decided": another_decider,
    "when it ends": text("until", "2026", "2036"),
    "who may decide": text("approvers", '"needed":1', '"needed":2'),
    "arguments and digests": consistently,
    "who asked": text("asked_by", "auto-code", "other"),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_altered_approval_is_found_and_cant_be_used(desk: Desk, name: str) -> None:
    approved = desk.answers(desk.asks(**PAY))
    assert (desk.verdict(), desk.export_holds()) == ((True, True, None), True)
    desk.alters(ALTERATIONS[name])
    assert desk.verdict() == (True, False, f"The task isn't what its trail tells: question {approved['id']}.")
    assert not desk.export_holds()
    refused = desk.uses(desk.gateway.get(CODER, f"{desk.path}/questions/{approved['id']}").json)
    assert (refused.status, refused.code) == (409, "receipt_refused")


def test_arguments_that_a_person_changed_are_covered(desk: Desk) -> None:
    approved = desk.answers(desk.asks(**PAY), arguments={"amount": "1", "to": "ada"})
    assert desk.verdict()[:2] == (True, True)
    desk.alters(text("decisions", '"amount":"1"', '"amount":"9"'))
    assert desk.verdict()[:2] == (True, False)
    assert desk.uses(approved).code == "receipt_refused"


@pytest.mark.parametrize(
    ("asked", "answer", "alter"),
    [
        ({"kind": "text", "text": "Which colour?"}, "Blue", text("decisions", "Blue", "Red")),
        ({"kind": "text", "text": "Which colour?"}, "Blue", text("text", "colour", "shade")),
        ({"kind": "choice", "text": "Which?", "options": ["a", "b"]}, "a", text("decisions", '"a"', '"b"')),
        ({"kind": "form", "text": "Which?", "form": FORM}, {"size": "m"}, text("decisions", '"m"', '"s"')),
        ({"kind": "form", "text": "Which?", "form": FORM}, {"size": "m"}, text("schema", "size", "sort")),
    ],
)
def test_altered_question_or_answer_is_found(desk: Desk, asked: Any, answer: Any, alter: Alter) -> None:
    desk.answers(desk.asks(**asked), outcome="answered", digest=None, answer=answer)
    assert (desk.verdict(), desk.export_holds()) == ((True, True, None), True)
    desk.alters(alter)
    assert desk.verdict()[:2] == (True, False)
    assert not desk.export_holds()


def test_altered_outcome_or_use_is_found(desk: Desk) -> None:
    approved = desk.answers(desk.asks(**PAY))
    assert desk.uses(approved).status == 200
    assert desk.verdict()[:2] == (True, True)

    def unused(item: dict[str, Any]) -> None:
        del item["used_at"]

    assert desk.export_holds()
    desk.alters(unused)
    assert desk.verdict()[:2] == (True, False)
    assert not desk.export_holds()
    assert desk.uses(approved).code == "receipt_refused"


def test_question_that_is_missing_or_that_the_trail_doesnt_know_is_found(desk: Desk) -> None:
    approved = desk.answers(desk.asks(**PAY))

    def moved(item: dict[str, Any]) -> None:
        item["sk"] = {"S": item["sk"]["S"][:-1] + ("0" if item["sk"]["S"][-1] != "0" else "1")}
        item["id"] = {"S": item["id"]["S"][:-1] + ("0" if item["id"]["S"][-1] != "0" else "1")}

    desk.alters(moved)  # a second question, under an id of its own
    assert not desk.export_holds()
    assert desk.verdict()[:2] == (True, False)
    assert approved["id"] not in str(desk.verdict()[2])


def test_question_that_is_deleted_in_the_table_is_found(desk: Desk) -> None:
    desk.answers(desk.asks(**PAY))
    assert desk.verdict()[:2] == (True, True)
    dynamo = dynamo_of(desk.world)
    (question,) = (item for (_, sk), item in dynamo.contents().items() if sk.startswith("QUESTION"))
    dynamo.delete(question)
    assert desk.verdict()[:2] == (True, False)
    assert not desk.export_holds()


def test_revoked_approval_cant_be_restored_in_the_table(desk: Desk) -> None:
    approved = desk.answers(desk.asks(**PAY))
    before = dict(next(item for (_, sk), item in dynamo_of(desk.world).contents().items() if sk.startswith("QUESTION")))
    assert desk.gateway.post(ALICE, f"{desk.path}/questions/{approved['id']}/revoke", {"reason": "no"}).status == 200
    assert desk.verdict()[:2] == (True, True)
    dynamo_of(desk.world).put(before)
    assert desk.verdict()[:2] == (True, False)
    assert desk.uses(approved).code == "receipt_refused"


def test_question_that_is_asked_while_a_trail_is_verified_is_no_difference(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.answers(desk.asks(**PAY))
    questions: Any = desk.world.store.questions
    read, left = questions.page_of_task, [PAY]

    def page_of_task(*which: Any) -> Any:
        if left:
            desk.asks(**left.pop())
        return read(*which)

    monkeypatch.setattr(questions, "page_of_task", page_of_task)
    first = desk.gateway.get(ALICE, f"{desk.path}/events/verify").json
    assert (first["intact"], first["matches_task"]) == (True, False)
    last = desk.gateway.get(ALICE, f"{desk.path}/events/verify", query=f"cursor={first['next_cursor']}").json
    assert (last["intact"], last["matches_task"], last["problem"]) == (True, True, None)


def test_a_next_group_that_somebody_writes_into_a_question_lets_nobody_in(desk: Desk) -> None:
    groups = {"leads": ["alice"], "interns": ["mallory"]}
    assert desk.gateway.put(ALICE, "/workspace/settings", {"groups": groups}).status == 200
    question = desk.asks(**PAY, group="leads")

    def alter(item: dict[str, Any]) -> None:
        item["approvers"] = {"S": json.dumps({**json.loads(item["approvers"]["S"]), "wider": "interns"})}

    desk.alters(alter)
    body = {"outcome": "approved", "digest": question["digest"]}
    reply = desk.gateway.post(human(name="mallory"), f"{desk.path}/questions/{question['id']}/answer", body)
    assert (reply.status, reply.code) == (403, "not_asked")
    assert desk.answers(question)["outcome"] == "approved"
