"""An administrator makes up a person who approves, and hides it from the people who would object."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.rights import Right
from functions.attacks.test_administrators import approve, token_for
from functions.attacks.test_rights import LEADS, RULE, Staff, refused, staff
from support.faults.threads import all_at_once
from support.gateway import Gateway, Reply
from support.worlds.world import WORKSPACE, World

__all__ = ["staff"]
KIND = "new_approver"


def about(staff: Staff, name: str) -> list[dict[str, Any]]:
    return [each for each in staff.alerts(KIND) if f"human:{name} " in each["message"]]


def test_new_person_who_can_approve_is_an_alert(staff: Staff) -> None:
    """It names the person, the right, the administrator who gave it, and the way to revoke it."""
    token = token_for(staff, "puppet", "approver").json
    (alert,) = about(staff, "puppet")
    (change,) = staff.changes("name=puppet")
    assert (alert["state"], alert["severity"], alert["raised_by"]) == ("open", "warning", "human:root")
    for part in ("human:root", "the right approver", f"baton tokens revoke {token['id']}", "page Tokens", change["id"]):
        assert part in alert["message"], part


@pytest.mark.parametrize("lower", ["reader", "member"])
def test_person_who_is_raised_to_an_approver_is_an_alert(staff: Staff, lower: str) -> None:
    token_for(staff, "puppet", lower)
    assert about(staff, "puppet") == []
    change = token_for(staff, "puppet", "approver").json
    assert approve(staff, "vera", change).status == 200
    assert about(staff, "puppet") == [], "the token isn't made yet"
    wanted = {"kind": "human", "subject": "puppet", "right": "approver", "change_id": change["id"]}
    assert staff.ask("root", "POST", "/tokens", wanted).status == 201
    assert len(about(staff, "puppet")) == 1


def test_further_token_of_an_approver_is_no_alert(staff: Staff) -> None:
    before = len(staff.alerts(KIND))
    staff.hire("ada").hire("vera", Right.APPROVER)
    assert token_for(staff, "root", "approver").status == 201
    assert len(staff.alerts(KIND)) == before


def test_people_who_can_not_approve_and_agents_are_no_alert(staff: Staff) -> None:
    before = len(staff.alerts(KIND))
    token_for(staff, "rea", "reader")
    token_for(staff, "mem", "member")
    assert (
        staff.ask("root", "POST", "/tokens", {"kind": "service", "subject": "ci", "scopes": ["act_as"]}).status == 201
    )
    assert len(staff.alerts(KIND)) == before


def test_first_people_of_a_workspace_are_no_alert_while_nobody_else_could_see_it(
    world: World, gateway: Gateway
) -> None:
    staff = Staff(world, gateway).hire("root", Right.ADMINISTRATOR)
    assert token_for(staff, "ann", "approver").status == 201
    assert staff.alerts(KIND) == []
    assert token_for(staff, "ben", "approver").status == 201
    assert len(about(staff, "ben")) == 1


# An administrator who hides the alert about their own change

VERBS = ("acknowledge", "resolve", "snooze")


def handle(staff: Staff, name: str, verb: str, alert: dict[str, Any]) -> Reply:
    body = {"until": "2026-11-19T12:00:00Z"} if verb == "snooze" else {}
    return staff.ask(name, "POST", f"/alerts/{alert['id']}/{verb}", body)


def rules_alert(staff: Staff) -> dict[str, Any]:
    staff.world.clock.advance(10)
    assert staff.settings("root", approval_rules=[RULE, {"target": "runner"}]).status == 200
    return staff.alerts("rules_changed")[0]


@pytest.mark.parametrize("verb", VERBS)
def test_nobody_handles_the_alert_about_their_own_change(staff: Staff, verb: str) -> None:
    alert = rules_alert(staff)
    for name in ("root", staff.session("root")):
        reply = handle(staff, name, verb, alert)
        assert refused(reply, "not_asked")
        assert "ada, ben, mallory, vera" in reply.problem["detail"]
    assert handle(staff, "ada", verb, alert).status == 200


@pytest.mark.parametrize("verb", VERBS)
def test_people_whom_an_administrator_makes_up_handle_no_alert_about_them(staff: Staff, verb: str) -> None:
    staff.world.clock.advance(10)
    for name, right in (("puppet", "approver"), ("other", "approver"), ("mem", "member")):
        staff.tokens[name] = token_for(staff, name, right).json["token"]
    (alert,) = about(staff, "puppet")
    for name in ("root", "puppet", "other", "mem"):
        assert refused(handle(staff, name, verb, alert), "not_asked"), name
    assert handle(staff, "mallory", verb, alert).status == 200


def test_both_administrators_of_a_change_leave_its_alert_to_others(staff: Staff) -> None:
    staff.world.clock.advance(10)
    change = staff.settings("root", approval_rules=[]).json
    assert approve(staff, "vera", change).status == 200
    (alert, *_) = staff.alerts("rules_changed")
    assert (alert["change_id"], alert["state"]) == (change["id"], "open")
    for name in ("root", "vera"):
        assert refused(handle(staff, name, "resolve", alert), "not_asked")
    assert handle(staff, "ben", "resolve", alert).status == 200


def test_sole_person_handles_the_alert_about_their_own_change(world: World, gateway: Gateway) -> None:
    """The commit requires the people that this rests on: a person who comes at the same moment isn't missed."""
    staff = Staff(world, gateway).hire("root", Right.ADMINISTRATOR)
    staff.world.clock.advance(10)
    assert staff.settings("root", groups={"leads": LEADS}, approval_rules=[RULE]).status == 200
    (alert,) = staff.alerts("rules_changed")
    before = staff.world.store.tokens.people(WORKSPACE).version
    assert handle(staff, "root", "resolve", alert).json["resolved_by"] == "human:root"
    assert staff.world.store.tokens.people(WORKSPACE).version == before + 1


# Requests that were decided


@pytest.mark.parametrize(("how", "by"), [("approve", "vera"), ("refuse", "vera"), ("withdraw", "root")])
@pytest.mark.parametrize("subject", ["settings", "a token", "a revocation"])
def test_alert_about_a_request_ends_with_the_decision(staff: Staff, how: str, by: str, subject: str) -> None:
    staff.hire("third", Right.ADMINISTRATOR)
    if subject == "settings":
        change = staff.settings("root", approval_rules=[]).json
    elif subject == "a token":
        change = token_for(staff, "new", "administrator").json
    else:
        change = staff.ask("root", "DELETE", f"/tokens/{staff.ids['third']}").json
    (alert,) = staff.alerts("change_asked")
    assert (alert["state"], alert["change_id"]) == ("open", change["id"])
    body = {"digest": change["digest"]} if how == "approve" else {}
    done = staff.ask(by, "POST", f"/workspace/changes/{change['id']}/{how}", body).json
    (alert,) = staff.alerts("change_asked")
    assert (alert["state"], alert["resolved_by"]) == ("resolved", f"human:{by}")
    assert alert["note"] == f"The change is {done['state']}."


def test_decision_comes_at_the_same_time_as_the_handling_of_its_alert(staff: Staff) -> None:
    change = staff.settings("root", approval_rules=[]).json
    (alert,) = staff.alerts("change_asked")
    acts = [lambda: approve(staff, "vera", change), lambda: handle(staff, "ada", "acknowledge", alert)]
    assert [getattr(each, "status", each) for each in all_at_once(acts)] == [200, 200]
    (alert,) = staff.alerts("change_asked")
    assert alert["state"] == "resolved"


def test_end_of_the_approvals_of_nobody_is_refused(staff: Staff) -> None:
    reply = staff.ask("root", "POST", "/people/malory/end-approvals", {})
    assert (reply.status, reply.code) == (404, "not_found")
    assert "GET /tokens" in reply.problem["detail"], "the remedy"
    assert staff.changes("subject=approvals") == []
    assert staff.ask("root", "DELETE", f"/tokens/{staff.ids['mallory']}").status == 200
    for name in ("mallory", "notion:1b3c", "ada"):
        assert staff.ask("root", "POST", f"/people/{name}/end-approvals", {}).status == 200, name
