"""Attacks of an administrator on the other administrators, and on people who decide, by tokens in their names."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.person import MAX_ENDED
from baton.domain.access.principal import operator
from baton.domain.access.rights import Right
from baton.domain.access.workspace_change import MAX_WAITING, ChangeSubject, Difference
from baton.ports.access import Recorded
from baton.steps.access.record_change import new_change
from functions.attacks.test_rights import LEADS, RULE, Staff, refused, staff
from support.gateway import Reply
from support.worlds.http_agents import HttpAgents
from support.worlds.world import WORKSPACE, agent

__all__ = ["staff"]


def token_for(staff: Staff, name: str, right: str) -> Reply:
    return staff.ask("root", "POST", "/tokens", {"kind": "human", "subject": name, "right": right})


@pytest.mark.parametrize("right", ["reader", "member", "approver"])
def test_administrator_gets_no_token_in_the_name_of_another_person(staff: Staff, right: str) -> None:
    """Such a token would revoke that person's own tokens, and decide and answer in their name."""
    staff.hire("cy").hire("rea", Right.READER)
    for name in ("vera", "ada", "cy", "rea"):
        reply = token_for(staff, name, right)
        assert (reply.status, reply.json["names"], "token" in reply.json) == (202, [f"human:{name}"], False)
    assert token_for(staff, "root", right).status == 201, "one's own name"
    assert token_for(staff, "new", right).status == 201, "a new name"


@pytest.mark.parametrize("right", ["reader", "approver"])
def test_a_name_without_a_token_is_still_that_of_its_person(staff: Staff, right: str) -> None:
    """An administrator revokes the tokens of others alone."""
    staff.hire("cy")
    assert staff.ask("root", "DELETE", f"/tokens/{staff.ids['cy']}").status == 200
    assert token_for(staff, "cy", right).status == 202
    assert staff.ask("root", "DELETE", f"/tokens/{staff.ids['ada']}").status == 200
    assert token_for(staff, "ada", right).status == 202


def test_a_member_of_a_group_without_a_token_gets_it_from_two_administrators(staff: Staff) -> None:
    rules = [RULE, {"target": "runner", "people": ["dan"]}]
    assert staff.settings("root", approval_rules=rules).status == 200
    for name, right in (("dan", "member"), ("dan", "approver")):
        assert token_for(staff, name, right).status == 202


@pytest.mark.parametrize("right", [Right.READER, Right.MEMBER, Right.APPROVER])
def test_a_lower_token_in_a_name_revokes_no_higher_one(staff: Staff, right: Right) -> None:
    """Another person may hold the lower token."""
    higher = staff.ids["vera"]
    staff.hire("vera", right)
    assert refused(staff.ask("vera", "DELETE", f"/tokens/{higher}"))
    assert staff.settings("root", approval_rules=[]).status == 202, "vera still administers"
    assert staff.ask("vera", "DELETE", f"/tokens/{staff.ids['vera']}").status == 200, "the token itself may have leaked"


def test_a_higher_token_in_a_name_revokes_a_lower_one(staff: Staff) -> None:
    staff.hire("mem", Right.MEMBER)
    lower = staff.ids["mem"]
    staff.hire("mem", Right.APPROVER)
    assert staff.ask("mem", "DELETE", f"/tokens/{lower}").status == 200


def test_administrator_answers_and_decides_in_no_other_name(staff: Staff) -> None:
    """The asker names a group, or people that are in no rule."""
    claim = HttpAgents(staff.gateway).hire("auto").begun()
    path = f"/tasks/{claim['task']['id']}"
    staff.hire("cy")
    choice = {"kind": "choice", "text": "Deploy?", "options": ["yes", "no"], "group": "leads", "needed": 2}
    asked = staff.gateway.post(agent("auto-code"), f"{path}/ask", {"claim_id": claim["claim_id"], **choice})
    for name in (*LEADS, "cy"):
        assert "token" not in token_for(staff, name, "member").json
    answer = {"outcome": "answered", "answer": "yes"}
    reply = staff.ask("root", "POST", f"{path}/questions/{asked.json['id']}/answer", answer)
    assert refused(reply, "not_asked")


# A revocation, and the administrator with the revoked token


def revocation(staff: Staff, of: str = "root") -> dict[str, Any]:
    """Vera asks for it, and two others could decide."""
    if "third" not in staff.tokens:
        staff.hire("third", Right.ADMINISTRATOR)
    staff.world.clock.advance(5)
    asked = staff.ask("vera", "DELETE", f"/tokens/{staff.ids[of]}")
    assert asked.status == 202
    pending: dict[str, Any] = asked.json
    return pending


def approve(staff: Staff, name: str, change: dict[str, Any]) -> Reply:
    return staff.ask(name, "POST", f"/workspace/changes/{change['id']}/approve", {"digest": change["digest"]})


def test_nobody_decides_on_the_revocation_of_their_own_token(staff: Staff) -> None:
    change = revocation(staff)
    refusal = staff.ask("root", "POST", f"/workspace/changes/{change['id']}/refuse", {"reason": "no"})
    assert refused(refusal, "not_asked")
    assert refused(approve(staff, "root", change), "not_asked")
    assert approve(staff, "third", change).json["state"] == "applied"
    assert refused(staff.ask("root", "GET", "/agents"), "token_refused")


FURTHER: list[dict[str, Any]] = [
    *({"kind": "human", "subject": "root", "right": str(right)} for right in Right),
    {"kind": "human", "subject": "made-up", "right": "reader"},
    {"kind": "service", "subject": "ci"},
    {"kind": "service", "subject": "ci", "scopes": ["act_as"]},
    {"kind": "agent", "subject": "scout"},
]


@pytest.mark.parametrize("request_body", FURTHER, ids=lambda each: "-".join(map(str, each.values())))
@pytest.mark.parametrize("in_session", [False, True])
def test_administrator_whose_revocation_waits_makes_no_further_token_alone(
    staff: Staff, request_body: dict[str, Any], in_session: bool
) -> None:
    """They would act with it after the revocation, also by an agent or a service."""
    asker = staff.session("root") if in_session and request_body["kind"] != "human" else "root"
    revoked = revocation(staff)
    staff.world.clock.advance(1)
    further = staff.ask(asker, "POST", "/tokens", request_body)
    assert (further.status, "token" in further.json) == (202, False)
    assert approve(staff, "third", further.json).json["state"] == "approved"
    body = {**request_body, "change_id": further.json["id"]}
    if request_body["kind"] != "agent":
        assert staff.ask(asker, "POST", "/tokens", {**body, "subject": "other"}).code == "invalid_input"
    made = staff.ask(asker, "POST", "/tokens", body)
    assert made.status == 201, "the other administrator knows of the revocation"
    assert staff.ask(asker, "POST", "/tokens", body).code == "change_over"
    assert approve(staff, "third", revoked).json["state"] == "applied"
    assert refused(staff.ask(asker, "GET", "/tasks"), "token_refused")


def test_lower_token_of_an_administrator_whose_revocation_waits_makes_none(staff: Staff) -> None:
    higher = staff.ids["root"]
    staff.hire("root", Right.APPROVER)
    assert staff.ask("vera", "DELETE", f"/tokens/{higher}").status == 202
    assert refused(staff.ask("root", "POST", "/tokens", {"kind": "agent", "subject": "scout"}))


def test_approval_of_a_token_from_before_the_revocation_was_asked_for_is_not_used(staff: Staff) -> None:
    """Its approver didn't know of the revocation."""
    body = {"kind": "human", "subject": "vera", "right": "approver"}
    asked = staff.ask("root", "POST", "/tokens", body).json
    assert approve(staff, "vera", asked).json["state"] == "approved"
    change = revocation(staff)
    used = staff.ask("root", "POST", "/tokens", {**body, "change_id": asked["id"]})
    assert used.code == "change_overtaken"
    assert staff.ask("vera", "POST", f"/workspace/changes/{change['id']}/withdraw", {}).status == 200
    assert staff.ask("root", "POST", "/tokens", {**body, "change_id": asked["id"]}).status == 201


@pytest.mark.parametrize("end", ["refuse", "withdraw", "expire"])
def test_tokens_are_made_again_after_a_revocation_that_was_not_applied(staff: Staff, end: str) -> None:
    change = revocation(staff)
    if end == "expire":
        staff.world.clock.advance(7 * 24 * 3600)
    else:
        name = {"refuse": "third", "withdraw": "vera"}[end]
        assert staff.ask(name, "POST", f"/workspace/changes/{change['id']}/{end}", {}).status == 200
    assert token_for(staff, "root", "approver").status == 201
    assert staff.ask("root", "POST", "/tokens", {"kind": "service", "subject": "ci"}).status == 201


def test_the_approval_of_a_services_token_is_used_once_after_the_revocation_was_withdrawn(staff: Staff) -> None:
    change = revocation(staff)
    body = {"kind": "service", "subject": "ci"}
    asked = staff.ask("root", "POST", "/tokens", body).json
    assert approve(staff, "third", asked).json["state"] == "approved"
    assert staff.ask("vera", "POST", f"/workspace/changes/{change['id']}/withdraw", {}).status == 200
    assert staff.ask("root", "POST", "/tokens", {**body, "change_id": asked["id"]}).status == 201
    assert staff.ask("root", "POST", "/tokens", {**body, "change_id": asked["id"]}).code == "change_over"


def test_the_revocation_of_one_administrator_holds_up_no_token_of_another(staff: Staff) -> None:
    revocation(staff)
    assert staff.ask("third", "POST", "/tokens", {"kind": "human", "subject": "vera", "right": "reader"}).status == 202
    for name in ("vera", "third"):
        assert staff.ask(name, "POST", "/tokens", {"kind": "service", "subject": "ci"}).status == 201


def test_sign_in_code_from_before_a_revocation_ends_with_the_token(staff: Staff) -> None:
    revoked = revocation(staff)
    code = staff.ask("root", "POST", "/session-codes", {}).json["code"]
    name = staff.session("root")
    assert approve(staff, "third", revoked).json["state"] == "applied"
    assert staff.gateway.send(None, "POST", "/sessions/redeem", {"code": code}).status >= 400
    assert refused(staff.ask(name, "GET", "/tasks"), "token_refused")


def test_the_end_of_its_askers_approvals_stops_no_revocation(staff: Staff) -> None:
    change = revocation(staff)
    staff.world.clock.advance(1)
    assert staff.ask("root", "POST", "/people/vera/end-approvals", {}).status == 200
    assert approve(staff, "third", change).json["state"] == "applied"


def test_a_revocation_ends_with_the_right_of_its_asker(staff: Staff) -> None:
    change = revocation(staff)
    staff.world.clock.advance(10)
    assert staff.ask("vera", "DELETE", f"/tokens/{staff.ids['vera']}").status == 200
    staff.world.clock.advance(10)
    assert approve(staff, "third", change).code == "change_overtaken"
    staff.hire("vera", Right.ADMINISTRATOR)
    assert approve(staff, "third", change).code == "change_overtaken"
    again = revocation(staff)
    assert again["id"] != change["id"]
    assert approve(staff, "third", again).json["state"] == "applied"


def test_a_repeat_asks_again_if_the_first_request_can_not_be_applied(staff: Staff) -> None:
    first = staff.settings("vera", approval_rules=[]).json
    staff.world.clock.advance(1)
    assert staff.ask("root", "POST", "/people/vera/end-approvals", {}).status == 200
    assert approve(staff, "root", first).code == "change_overtaken"
    again = staff.settings("vera", approval_rules=[]).json
    assert again["id"] != first["id"]
    assert [each["id"] for each in staff.changes("state=pending")] == [again["id"]]
    assert approve(staff, "root", again).json["state"] == "applied"


def test_requests_that_can_not_be_applied_count_for_no_limit(staff: Staff) -> None:
    for number in range(MAX_WAITING):
        assert staff.settings("vera", approval_rules=[{**RULE, "people": [f"p{number}"]}]).status == 202
    assert staff.settings("vera", approval_rules=[]).code == "limit_reached"
    assert staff.ask("root", "POST", "/people/vera/end-approvals", {}).status == 200
    assert staff.settings("vera", approval_rules=[]).status == 202


# A name that outlives its group


def test_administrator_makes_no_group_alone(staff: Staff) -> None:
    """Pending actions may still name a group that was removed."""
    claim = HttpAgents(staff.gateway).hire("auto").begun()
    path = f"/tasks/{claim['task']['id']}"
    assert staff.settings("root", approval_rules=[RULE, {"tool": "pay", "group": "leads", "needed": 2}]).status == 200
    action = {"kind": "action", "text": "Pay.", "tool": "pay", "arguments": {"n": 1}, "until": "2026-12-15T12:00:00Z"}
    asked = staff.gateway.post(agent("auto-code"), f"{path}/ask", {"claim_id": claim["claim_id"], **action}).json
    bosses = {"bosses": LEADS}
    rules = [{**RULE, "group": "bosses"}, {"tool": "pay", "group": "bosses", "needed": 2}]
    assert approve(staff, "vera", staff.settings("root", groups=bosses, approval_rules=rules).json).status == 200
    staff.tokens["puppet"] = token_for(staff, "puppet", "approver").json["token"]
    assert staff.settings("root", groups={**bosses, "leads": ["root", "puppet"]}).status == 202
    decision = {"outcome": "approved", "digest": asked["digest"]}
    for name in ("root", "puppet"):
        assert staff.ask(name, "POST", f"{path}/questions/{asked['id']}/answer", decision).status >= 400


# An administrator who fills the list of people


def test_ends_for_unknown_people_leave_room_for_tokens(staff: Staff) -> None:
    people = staff.world.store.tokens.people(WORKSPACE)
    now = staff.world.clock.now()
    full = people.checked_again().with_ended((f"notion:{n:0>64}" for n in range(MAX_ENDED)), now)
    ended = Difference(ChangeSubject.APPROVALS, ("human:notion:0",), {}, {})
    record = new_change(staff.world.deps, operator(WORKSPACE), ended)
    staff.world.store.tokens.save_people(WORKSPACE, Recorded((record,), people=full))
    reply = staff.ask("root", "POST", f"/people/notion:{'f' * 64}/end-approvals", {})
    assert (reply.status, reply.code, "tracker.rights" in reply.problem["detail"]) == (409, "limit_reached", True)
    assert staff.ask("root", "POST", f"/people/notion:{0:0>64}/end-approvals", {}).status == 200, "ended before"
    assert staff.ask("root", "POST", "/people/mallory/end-approvals", {}).status == 200, "a person with a token"
    assert token_for(staff, "new", "reader").status == 201


def test_a_token_by_an_unknown_change_is_refused_by_its_field(staff: Staff) -> None:
    body = {"kind": "human", "subject": "new", "change_id": "chg_01aaaaaaaaaaaaaaaaaaaaaaaa"}
    refused = staff.ask("root", "POST", "/tokens", body)
    assert (refused.status, refused.fields) == (422, ["change_id"])
