"""Attacks on refusals by standing answers, and on standing answers by a member or a service that changes the agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from baton.domain.access.rights import Right
from baton.domain.numbers import Number
from baton.domain.questions.standing_answer import MAX_IN_FORCE
from baton.ports.writes import Save
from functions.attacks.test_rules_and_agents import Meanwhile, Office, opened
from support.gateway import Gateway, Reply
from support.worlds.world import WORKSPACE, World, agent

SLUG = "deployer"
DEPLOYER = agent(SLUG)
TOOL, THESE = {"for": "tool", "times": 100}, {"for": "arguments", "times": 100}
CHANGED = {"arguments": {"n": 2}}
PAY_MALLORY = {"system_prompt": "Pay mallory"}


class Desk:
    """Ada, ben and cat approve. The deployer works on a task, and asks whether it may pay."""

    def __init__(self, office: Office) -> None:
        self.office, self.gateway = office, office.gateway
        for name in ("ada", "ben", "cat"):
            office.hire(name, Right.APPROVER)
        self.claim()

    def claim(self) -> None:
        request = {"source": {"agent": "planner"}, "target": {"agent": SLUG, "reason": "Work"}}
        task = must(self.gateway.post(agent("planner"), "/handoffs", request))["task"]
        must(self.office.ask("abe", "POST", f"/tasks/{task['id']}/approve", {}))
        self.office.world.clock.advance(60)
        claimed = must(self.gateway.post(DEPLOYER, f"/tasks/{task['id']}/claim", {}))
        self.path, self.claim_id = f"/tasks/{task['id']}", claimed["claim_id"]

    def ask(self, number: int = 1, **more: Any) -> Any:
        self.office.world.clock.advance(1)
        body = {"claim_id": self.claim_id, "kind": "action", "text": "Due", "tool": "pay", "arguments": {"n": number}}
        return must(self.gateway.post(DEPLOYER, f"{self.path}/ask", body | more))

    def answer(self, by: str, question: Any, **body: Any) -> Any:
        self.office.world.clock.advance(1)
        return must(self.office.ask(by, "POST", f"{self.path}/questions/{question['id']}/answer", body))

    def approve(self, by: str, question: Any, **more: Any) -> Any:
        return self.answer(by, question, outcome="approved", digest=question["digest"], **more)

    def refuse(self, by: str, question: Any) -> Any:
        return self.answer(by, question, outcome="refused", reason="Never pay this")

    def revoke(self, by: str, question: Any) -> Any:
        path = f"{self.path}/questions/{question['id']}/revoke"
        return must(self.office.ask(by, "POST", path, {"reason": "Never pay this"}))

    def use(self, question: Any) -> Reply:
        body = {"claim_id": self.claim_id, "digest": question["digest"]}
        return self.gateway.post(DEPLOYER, f"{self.path}/questions/{question['id']}/use", body)

    def standing(self) -> list[Any]:
        found: list[Any] = must(self.office.ask("ada", "GET", "/standing-answers"))["items"]
        return found

    def givers(self) -> list[str]:
        return sorted(each["by"] for each in self.standing())

    def is_intact(self) -> bool:
        found: bool = must(self.office.ask("ada", "GET", f"{self.path}/events/verify"))["matches_task"]
        return found


def must(reply: Reply) -> Any:
    assert reply.status in {200, 201}, reply.text
    return reply.json


@pytest.fixture
def desk(world: World, gateway: Gateway) -> Desk:
    return Desk(opened(world, gateway))


# A refusal


@pytest.mark.parametrize("standing", [TOOL, THESE], ids=["tool", "arguments"])
@pytest.mark.parametrize("refuser", ["ada", "ben"])
def test_a_refused_question_leaves_no_standing_answer(desk: Desk, refuser: str, standing: Any) -> None:
    first = desk.ask(needed=2)
    assert desk.approve("ada", first, standing=standing)["outcome"] == "open"
    assert desk.standing() == []
    assert desk.refuse(refuser, first)["outcome"] == "refused"
    assert desk.ask()["outcome"] == "open"
    assert desk.standing() == []
    assert desk.is_intact()


def test_a_refused_vote_counts_for_no_rule(desk: Desk) -> None:
    must(desk.office.rule({"tool": "pay", "group": "leads", "needed": 2}))
    first = desk.ask()
    desk.approve("ada", first, standing=THESE)
    desk.refuse("ada", first)
    again = desk.ask()
    assert desk.approve("ben", again)["outcome"] == "open"
    assert desk.use(again).code == "receipt_refused"


def test_a_standing_answer_begins_when_its_question_is_approved(desk: Desk) -> None:
    first = desk.ask(needed=2)
    voted = desk.approve("ada", first, standing=TOOL)
    assert [each["standing_answer"] for each in voted["decisions"]] == [None]
    assert desk.ask()["outcome"] == "open"
    approved = desk.approve("ben", first)
    (given,) = desk.standing()
    assert [each["standing_answer"] for each in approved["decisions"]] == [given["id"], None]
    assert (given["by"], given["since"]) == ("ada", voted["decisions"][0]["at"])
    again = desk.ask(7)
    assert (again["outcome"], again["until"]) == ("approved", given["until"])
    must(desk.use(again))
    must(desk.use(first))
    assert desk.is_intact()


def test_each_approver_gets_the_standing_answer_that_they_asked_for(desk: Desk) -> None:
    first = desk.ask(needed=3)
    desk.approve("ada", first, standing=TOOL)
    desk.approve("ben", first)
    desk.approve("cat", first, standing=THESE)
    given = {each["by"]: each["for"] for each in desk.standing()}
    assert given == {"ada": "tool", "cat": "arguments"}
    again = desk.ask(needed=3)
    assert sorted(each["by"] for each in again["decisions"]) == ["ada", "cat"]


def test_a_vote_for_other_arguments_than_the_approved_ones_leaves_no_standing_answer(desk: Desk) -> None:
    first = desk.ask(needed=2)
    desk.approve("ada", first, standing=TOOL)
    desk.approve("ben", first, **CHANGED)
    assert desk.approve("cat", first, **CHANGED)["outcome"] == "approved"
    assert desk.standing() == []


@pytest.mark.parametrize("change", [{}, CHANGED, {"standing": THESE}], ids=["plain", "changed", "less"])
def test_the_last_approval_of_a_person_decides_what_stands(desk: Desk, change: dict[str, Any]) -> None:
    first = desk.ask(needed=2)
    desk.approve("ada", first, standing=TOOL)
    desk.approve("ada", first, **change)
    desk.approve("ben", first, **({} if "standing" in change else change))
    assert [each["for"] for each in desk.standing()] == (["arguments"] if "standing" in change else [])


def test_a_repeated_vote_with_a_standing_answer_changes_nothing(desk: Desk) -> None:
    first = desk.ask(needed=2)
    voted = desk.approve("ada", first, standing=TOOL)
    assert desk.approve("ada", first, standing=TOOL) == voted
    approved = desk.approve("ben", first)
    assert desk.approve("ada", first, standing=TOOL) == approved
    assert len(desk.standing()) == 1


def test_a_vote_whose_question_expired_or_outlived_it_leaves_no_standing_answer(desk: Desk) -> None:
    first, second = desk.ask(needed=2), desk.ask(needed=2)
    for each in (first, second):
        desk.approve("ada", each, standing=TOOL)
    desk.office.world.clock.advance(3_600)
    assert desk.approve("ben", first)["outcome"] == "approved"
    assert desk.standing() == []


def test_a_leavers_vote_leaves_no_standing_answer(desk: Desk) -> None:
    first = desk.ask(needed=2)
    desk.approve("ada", first, standing=TOOL)
    must(desk.office.ask("root", "POST", "/people/ada/end-approvals", {}))
    desk.approve("ben", first)
    assert desk.approve("cat", first)["outcome"] == "approved"
    assert desk.standing() == []


@pytest.mark.parametrize("by", ["ada", "ben"])
def test_a_revoked_approval_ends_the_standing_answers_that_were_given_with_it(desk: Desk, by: str) -> None:
    first = desk.ask(needed=2)
    for each in ("ada", "ben"):
        desk.approve(each, first, standing=TOOL)
    assert desk.givers() == ["ada", "ben"]
    desk.revoke(by, first)
    assert desk.standing() == []
    assert desk.ask()["outcome"] == "open"


@pytest.mark.parametrize("end", [Desk.refuse, Desk.revoke], ids=["refused", "revoked"])
@pytest.mark.parametrize("by", ["ada", "ben"])
def test_a_person_ends_the_standing_answer_that_spoke_for_what_they_refuse(
    desk: Desk, by: str, end: Callable[[Desk, str, Any], Any]
) -> None:
    desk.approve("ada", desk.ask(), standing=TOOL)
    spoken = desk.ask(5, needed=2 if end is Desk.refuse else 1)
    assert [each["by"] for each in spoken["decisions"]] == ["ada"]
    end(desk, by, spoken)
    assert desk.standing() == []
    assert desk.ask(5)["outcome"] == "open"


# A refusal of the same action in another question


ENDS = pytest.mark.parametrize("end", [Desk.refuse, Desk.revoke], ids=["refused", "revoked"])


def ended(desk: Desk, end: Callable[[Desk, str, Any], Any], by: str, question: Any) -> None:
    """By somebody's refusal, or by the revocation of an approval."""
    if end is Desk.revoke:
        desk.approve("cat", question)
    end(desk, by, question)


def waits(desk: Desk, number: int = 1) -> bool:
    asked = desk.ask(number)
    return asked["outcome"] == "open" and asked["decisions"] == [] and desk.use(asked).status == 409


@ENDS
@pytest.mark.parametrize("standing", [TOOL, THESE], ids=["tool", "arguments"])
@pytest.mark.parametrize("by", ["ada", "ben"])
def test_a_refusal_ends_the_standing_answers_for_the_same_action(
    desk: Desk, by: str, standing: Any, end: Callable[[Desk, str, Any], Any]
) -> None:
    older, newer = desk.ask(), desk.ask()
    desk.approve("ada", newer, standing=standing)
    must(desk.use(newer))
    unused = desk.ask()
    assert unused["outcome"] == "approved"
    ended(desk, end, by, older)
    assert desk.standing() == []
    assert desk.use(unused).code == "receipt_refused"
    assert waits(desk)
    assert desk.is_intact()


@ENDS
@pytest.mark.parametrize("standing", [TOOL, THESE], ids=["tool", "arguments"])
@pytest.mark.parametrize("by", ["ada", "ben"])
def test_no_standing_answer_begins_that_was_asked_for_before_a_refusal_of_the_same_action(
    desk: Desk, by: str, standing: Any, end: Callable[[Desk, str, Any], Any]
) -> None:
    voted, other = desk.ask(needed=2), desk.ask()
    desk.approve("ada", voted, standing=standing)
    ended(desk, end, by, other)
    assert desk.approve("ben", voted)["outcome"] == "approved"
    assert desk.standing() == []
    assert waits(desk)
    must(desk.use(voted))
    assert desk.is_intact()


def test_a_refusal_in_another_task_of_the_agent_counts(desk: Desk) -> None:
    voted = desk.ask(needed=2)
    desk.approve("ada", voted, standing=TOOL)
    first, held = desk.path, desk.claim_id
    must(desk.office.edit("abe", SLUG, max_concurrent=5))
    desk.claim()
    desk.refuse("cat", desk.ask())
    desk.path, desk.claim_id = first, held
    desk.approve("ben", voted)
    assert waits(desk)


def test_a_refusal_by_who_is_asked_ends_the_standing_answer_of_who_is_not(desk: Desk) -> None:
    desk.approve("ada", desk.ask(), standing=TOOL)
    other = desk.ask(people=["ben"])
    assert other["outcome"] == "open"
    desk.refuse("ben", other)
    assert waits(desk)


def test_a_standing_answer_that_is_used_up_allows_nothing_after_a_refusal(desk: Desk) -> None:
    desk.approve("ada", desk.ask(), standing={"for": "arguments", "times": 1})
    unused, again = desk.ask(), desk.ask()
    assert (unused["outcome"], again["outcome"]) == ("approved", "open")
    desk.refuse("ada", again)
    assert desk.use(unused).code == "receipt_refused"


def test_a_refusal_of_other_arguments_leaves_standing_answers_for_these(desk: Desk) -> None:
    open_one, voted = desk.ask(2), desk.ask(needed=2)
    desk.approve("ada", voted, standing=THESE)
    desk.approve("ada", desk.ask(3), standing=THESE)
    desk.refuse("ada", open_one)
    desk.approve("ben", voted)
    assert [desk.ask(number)["outcome"] for number in (1, 3)] == ["approved", "approved"]
    assert waits(desk, 2)


def test_a_refused_action_is_approved_by_a_standing_answer_that_was_given_afterwards(desk: Desk) -> None:
    desk.refuse("ada", desk.ask())
    first = desk.ask(needed=2)
    desk.approve("ada", first, standing=TOOL)
    desk.approve("ben", first, standing=THESE)
    assert {each["by"] for each in desk.ask(needed=2)["decisions"]} == {"ada", "ben"}
    desk.office.world.clock.advance(9 * 86_400)
    desk.claim()
    desk.approve("cat", desk.ask(), standing=TOOL)
    assert desk.ask(8)["outcome"] == "approved"


def test_the_revocation_of_changed_arguments_ends_what_stands_for_them(desk: Desk) -> None:
    changed = desk.ask()
    desk.approve("ben", changed, **CHANGED)
    desk.approve("ada", desk.ask(2), standing=THESE)
    desk.revoke("cat", changed)
    assert desk.standing() == []
    assert waits(desk, 2)


@pytest.mark.parametrize("minutes", [-10, 10])
def test_clocks_that_differ_let_no_standing_answer_outlive_a_refusal(desk: Desk, minutes: int) -> None:
    voted, other = desk.ask(needed=2), desk.ask()
    desk.approve("ada", voted, standing=TOOL)
    desk.office.world.clock.advance(60 * minutes)
    desk.refuse("cat", other)
    desk.office.world.clock.advance(-60 * minutes)
    desk.approve("ben", voted)
    assert waits(desk)


# A refusal of the same action in another spelling

PAID = {"to": "mallory", "amount": 100, "note": "caf\u00e9", "more": [{"n": 1.5}, True]}
SPELLINGS: list[dict[str, Any]] = [
    {"tool": "Pay"},
    {"tool": "PAY"},
    {"tool": "pay-"},
    {"tool": "_pay"},
    {"tool": "p\u0430y"},  # a Cyrillic letter
    {"arguments": PAID | {"amount": 100.0}},
    {"arguments": PAID | {"amount": Number("1e2")}},
    {"arguments": PAID | {"more": [{"n": Number("1.50")}, True]}},
    {"arguments": PAID | {"note": "cafe\u0301"}},
    {"tool": "Pay", "arguments": PAID | {"amount": 100.0}},
]
IN_ANOTHER_SPELLING = pytest.mark.parametrize("other", SPELLINGS, ids=lambda other: "-".join(other))


@IN_ANOTHER_SPELLING
@ENDS
@pytest.mark.parametrize("standing", [TOOL, THESE], ids=["tool", "arguments"])
def test_a_refusal_in_another_spelling_ends_the_standing_answers_for_the_action(
    desk: Desk, standing: Any, end: Callable[[Desk, str, Any], Any], other: dict[str, Any]
) -> None:
    second = desk.ask(**{"arguments": PAID} | other)
    desk.approve("ada", desk.ask(arguments=PAID), standing=standing)
    unused = desk.ask(arguments=PAID)
    assert (second["outcome"], unused["outcome"]) == ("open", "approved")
    ended(desk, end, "ada", second)
    assert desk.standing() == []
    assert desk.use(unused).code == "receipt_refused"
    again = desk.ask(arguments=PAID)
    assert (again["outcome"], again["decisions"]) == ("open", [])
    assert desk.is_intact()


@IN_ANOTHER_SPELLING
@pytest.mark.parametrize("standing", [TOOL, THESE], ids=["tool", "arguments"])
def test_no_standing_answer_begins_that_was_asked_for_before_a_refusal_in_another_spelling(
    desk: Desk, standing: Any, other: dict[str, Any]
) -> None:
    voted, second = desk.ask(arguments=PAID, needed=2), desk.ask(**{"arguments": PAID} | other)
    desk.approve("ada", voted, standing=standing)
    desk.refuse("cat", second)
    assert desk.approve("ben", voted)["outcome"] == "approved"
    assert desk.standing() == []
    assert desk.ask(arguments=PAID)["outcome"] == "open"


@pytest.mark.parametrize("other", [{"arguments": {"n": True}}, {"arguments": {"n": "1"}}, {"tool": "pay_2"}], ids=str)
def test_a_refusal_of_another_action_that_reads_alike_leaves_standing_answers(
    desk: Desk, other: dict[str, Any]
) -> None:
    second = desk.ask(**other)
    desk.approve("ada", desk.ask(), standing=THESE)
    desk.refuse("ada", second)
    assert desk.ask()["outcome"] == "approved"


@pytest.mark.parametrize("other", [{"tool": "Pay"}, {"arguments": {"n": 1.0}}], ids=["tool", "arguments"])
def test_a_standing_answer_approves_no_other_spelling_of_its_action(desk: Desk, other: dict[str, Any]) -> None:
    desk.approve("ada", desk.ask(), standing=THESE)
    assert desk.ask(**other)["outcome"] == "open"


def test_a_refusal_ends_every_standing_answer_that_is_used_up(desk: Desk) -> None:
    unused = []
    for _ in range(MAX_IN_FORCE):
        desk.approve("ada", desk.ask(), standing={"for": "tool", "times": 1})
        unused.append(desk.ask())
    assert {each["outcome"] for each in unused} == {"approved"}
    one_more = desk.ask()
    answer = {"outcome": "approved", "digest": one_more["digest"], "standing": {"for": "tool", "times": 1}}
    refused = desk.office.ask("ada", "POST", f"{desk.path}/questions/{one_more['id']}/answer", answer)
    assert (refused.status, refused.json["errors"][0]["field"]) == (422, "standing")
    desk.refuse("ada", one_more)
    assert {desk.use(each).code for each in unused} == {"receipt_refused"}


# A changed agent


@pytest.mark.parametrize("standing", [TOOL, THESE], ids=["tool", "arguments"])
@pytest.mark.parametrize("by", ["mia", "ci"])
def test_a_standing_answer_is_not_for_an_agent_that_was_changed_since(desk: Desk, by: str, standing: Any) -> None:
    must(desk.office.rule({"tool": "pay", "people": ["ada"]}))
    desk.approve("ada", desk.ask(), standing=standing)
    unused = desk.ask()
    assert unused["outcome"] == "approved"
    assert [each["is_suspended"] for each in desk.standing()] == [False]
    must(desk.office.edit(by, SLUG, **PAY_MALLORY))
    assert desk.use(unused).code == "receipt_refused"
    desk.claim()
    asked = desk.ask()
    assert (asked["outcome"], asked["decisions"]) == ("open", [])
    assert [each["is_suspended"] for each in desk.standing()] == [True]
    listed = must(desk.office.ask("root", "GET", "/people/ada/approvals"))["items"]
    assert [each["counts"] for each in listed if each["kind"] == "standing_answer"] == [False]
    desk.approve("ada", asked, standing=standing)
    assert desk.ask()["outcome"] == "approved"


def test_a_standing_answer_of_a_vote_is_for_the_agent_as_it_was_at_the_vote(desk: Desk) -> None:
    first = desk.ask(needed=2)
    desk.approve("ada", first, standing=TOOL)
    version = must(desk.office.edit("mia", SLUG, **PAY_MALLORY))["version"]
    desk.approve("ben", first, standing=TOOL, agent_version=version)
    assert [each["by"] for each in desk.ask(needed=2)["decisions"]] == ["ben"]


def answer(desk: Desk, by: str, question: Any, **more: Any) -> Reply:
    """As the person has read the question."""
    body = {"outcome": "approved", "digest": question["digest"], "standing": TOOL, **more}
    return desk.office.ask(by, "POST", f"{desk.path}/questions/{question['id']}/answer", body)


@pytest.mark.parametrize("skew", [0, 1.5], ids=["same clock", "clocks differ"])
@pytest.mark.parametrize("standing", [TOOL, THESE], ids=["tool", "arguments"])
@pytest.mark.parametrize("by", ["mia", "ci"])
def test_a_standing_answer_waits_until_its_person_has_seen_how_the_agent_changed(
    desk: Desk, by: str, standing: Any, skew: float
) -> None:
    asked = desk.ask()
    version = must(desk.office.edit(by, SLUG, **PAY_MALLORY))["version"]
    desk.office.world.clock.advance(skew)
    refused = answer(desk, "ada", asked, standing=standing)
    told = refused.json
    assert (refused.status, refused.code, told["question_id"]) == (409, "agent_changed", asked["id"])
    assert (told["task_id"], told["agent"], told["version"]) == (asked["task_id"], SLUG, version)
    assert (told["changed_by"].partition(":")[2], told["fields"]) == (by, ["system_prompt"])
    assert "since this question came" in told["detail"]
    for other in (version - 1, version + 1):
        assert answer(desk, "ada", asked, standing=standing, agent_version=other).code == "agent_changed"
    assert desk.standing() == []
    must(answer(desk, "ada", asked, standing=standing, agent_version=version))
    assert desk.ask()["outcome"] == "approved"
    must(desk.office.edit(by, SLUG, system_prompt="Pay mia"))
    assert desk.ask()["outcome"] == "open"


def test_an_approval_of_one_action_asks_nothing_about_the_agent(desk: Desk) -> None:
    asked = desk.ask()
    must(desk.office.edit("mia", SLUG, **PAY_MALLORY))
    assert desk.approve("ada", asked)["outcome"] == "approved"


def test_a_standing_answer_is_not_for_an_agent_that_changes_while_it_is_given() -> None:
    store = Meanwhile()
    world = World(store=store)
    desk = Desk(opened(world, Gateway(world.deps)))
    asked = desk.ask()
    world.clock.advance(1)

    def meanwhile() -> None:
        world.clock.advance(milliseconds=5)
        must(desk.office.edit("mia", SLUG, **PAY_MALLORY))
        world.clock.advance(milliseconds=5)

    store.steps = {"question": meanwhile}
    answer(desk, "ada", asked)
    assert store.steps == {}
    assert desk.ask(666)["outcome"] == "open"


def test_a_repeated_vote_names_the_agent_as_it_is_now(desk: Desk) -> None:
    first = desk.ask(needed=2)
    voted = must(answer(desk, "ada", first))
    version = must(desk.office.edit("mia", SLUG, **PAY_MALLORY))["version"]
    assert must(answer(desk, "ada", first)) == voted
    must(answer(desk, "ada", first, agent_version=version))
    must(answer(desk, "ben", first, agent_version=version))
    assert [each["is_suspended"] for each in desk.standing()] == [False, False]


def test_a_standing_answer_of_an_earlier_release_is_for_an_agent_that_never_changed(desk: Desk) -> None:
    desk.approve("ada", desk.ask(), standing=TOOL)
    (given,) = desk.office.world.store.questions.standing_answers(WORKSPACE, SLUG, "pay")
    desk.office.world.store.commit(WORKSPACE, Save(replace(given, agent_version=0, version=given.version + 1)))
    assert desk.ask()["outcome"] == "approved"
    must(desk.office.edit("mia", SLUG, **PAY_MALLORY))
    assert desk.ask()["outcome"] == "open"


@pytest.mark.parametrize(("by", "values"), [("abe", PAY_MALLORY), ("mia", {"description": "Deploys"})])
def test_a_standing_answer_outlives_a_change_that_approvers_make_or_do_not_see(
    desk: Desk, by: str, values: dict[str, Any]
) -> None:
    desk.approve("ada", desk.ask(), standing=TOOL)
    must(desk.office.edit(by, SLUG, **values))
    assert desk.ask()["outcome"] == "approved"
