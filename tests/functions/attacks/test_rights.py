"""Attacks on rules by the people under these rules: groups, rules, tokens, and the right to change them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from baton.domain import times
from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind, operator
from baton.domain.access.rights import Right
from baton.domain.access.token import Token, digest, spell
from baton.domain.access.workspace_change import MAX_WAITING
from baton.services.access.issue_token import TokenRequest, issue_token
from support.faults.threads import all_at_once
from support.gateway import Gateway, Reply
from support.worlds.world import WORKSPACE, World, agent, service

RULE = {"target": "auditor", "group": "leads", "needed": 2, "not_author": True}
LEADS = ["ada", "ben"]


@dataclass
class Staff:
    """People with real tokens of the workspace, by their names."""

    world: World
    gateway: Gateway
    tokens: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    def hire(self, name: str, right: Right = Right.APPROVER, **values: Any) -> Staff:
        """Gives the person a token by the deployment's operator, who needs no second administrator."""
        request = TokenRequest(kind=PrincipalKind.HUMAN, subject=name, right=right, **values)
        token, self.tokens[name] = issue_token(self.world.deps, operator(WORKSPACE), request)
        self.ids[name] = token.id
        self.world.clock.advance(1)
        return self

    def ask(self, name: str, method: str, path: str, body: Any = None, query: str = "") -> Reply:
        headers = {"authorization": f"Bearer {self.tokens[name]}"}
        return self.gateway.send(None, method, path, body, headers=headers, query=query)

    def session(self, name: str) -> str:
        """Opens a session of the person, and names it ``<name>'s session``."""
        self.tokens[f"{name}'s session"] = self.ask(name, "POST", "/sessions", {}).json["session_token"]
        return f"{name}'s session"

    def settings(self, name: str, **values: Any) -> Reply:
        self.world.clock.advance(1)
        return self.ask(name, "PUT", "/workspace/settings", values)

    def alerts(self, kind: str) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.gateway.get(service(), "/alerts", query="limit=100").json["items"]
        return [each for each in listed if each["kind"] == kind]

    def changes(self, query: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.gateway.get(service(), "/workspace/changes", query=query).json["items"]
        return found


@pytest.fixture
def staff(world: World, gateway: Gateway) -> Staff:
    """Root and vera administer. Ada and ben are leads, and mallory is bound by their rule."""
    crew = Staff(world, gateway)
    crew.hire("root", Right.ADMINISTRATOR)
    assert crew.settings("root", groups={"leads": LEADS}, approval_rules=[RULE]).status == 200
    for name in ("ada", "ben", "mallory"):
        crew.hire(name)
    return crew.hire("vera", Right.ADMINISTRATOR)


def refused(reply: Reply, code: str = "right_needed") -> bool:
    return (reply.status, reply.code) == (403, code)


# A person who is bound by a rule


@pytest.mark.parametrize("right", [Right.READER, Right.MEMBER, Right.APPROVER])
@pytest.mark.parametrize("in_session", [False, True])
def test_person_below_administrator_puts_nobody_into_a_group(staff: Staff, right: Right, in_session: bool) -> None:
    staff.hire("eve", right)
    name = staff.session("eve") if in_session else "eve"
    assert refused(staff.settings(name, groups={"leads": [*LEADS, "eve"]}))
    assert refused(staff.settings(name, approval_rules=[]))
    assert refused(staff.ask(name, "DELETE", f"/tokens/{staff.ids['root']}"))
    assert refused(staff.ask(name, "PUT", "/tracker/token", {"token": "ntn_mine"}))


def test_administrator_alone_loosens_nothing_while_there_is_another(staff: Staff) -> None:
    loosenings: list[dict[str, Any]] = [
        {"groups": {"leads": [*LEADS, "mallory"]}},
        {"approval_rules": []},
        {"approval_rules": [{**RULE, "needed": 1}]},
        {"approval_rules": [{**RULE, "not_author": False}]},
        {"approval_rules": [{**RULE, "target": "runner"}]},
        {"approval_rules": [{**RULE, "people": ["mallory"]}]},
    ]
    for values in loosenings:
        reply = staff.settings("root", **values)
        assert (reply.status, reply.json["state"]) == (202, "pending"), values
    settings = staff.ask("root", "GET", "/workspace/settings").json
    assert settings["groups"] == {"leads": LEADS}
    assert [each["needed"] for each in settings["approval_rules"]] == [2]


def test_administrator_alone_has_no_other_edit_of_a_page_end_tasks(staff: Staff) -> None:
    """Everybody who edits the page would end the task in their own name: its status says so then."""
    asked = staff.settings("root", tracker={"database": "a" * 32}).json
    approval = {"digest": asked["digest"]}
    assert staff.ask("vera", "POST", f"/workspace/changes/{asked['id']}/approve", approval).status == 200
    harmless: list[dict[str, Any]] = [{"closed_statuses": ["done"]}, {"cancelled_statuses": []}]
    for values in harmless:
        assert staff.settings("root", tracker=values).status == 200, values
    loosenings: list[dict[str, Any]] = [
        {"properties": {"status": "Priority"}},
        {"closed_statuses": ["Done", "Blocked"]},
        {"cancelled_statuses": ["Blocked"]},
        {"closed_statuses": [], "cancelled_statuses": ["Done"]},
    ]
    for values in loosenings:
        reply = staff.settings("root", tracker=values)
        assert (reply.status, reply.json["state"]) == (202, "pending"), values
    kept = staff.ask("root", "GET", "/workspace/settings").json["tracker"]
    assert (kept["properties"]["status"], kept["closed_statuses"], kept["cancelled_statuses"]) == (
        "Status",
        ["done"],
        [],
    )
    assert len(staff.alerts("rules_changed")) == 4, "the rule, the database and each word less"


def test_asker_does_not_approve_their_own_change_by_any_token_or_session(staff: Staff) -> None:
    pending = staff.settings("root", approval_rules=[]).json
    staff.hire("root", Right.ADMINISTRATOR)
    for name in ("root", staff.session("root")):
        reply = staff.ask(name, "POST", f"/workspace/changes/{pending['id']}/approve", {"digest": pending["digest"]})
        assert refused(reply, "not_asked")
    assert refused(
        staff.ask("mallory", "POST", f"/workspace/changes/{pending['id']}/approve", {"digest": pending["digest"]})
    )


def test_second_administrator_approves_exactly_the_change_that_they_saw(staff: Staff) -> None:
    pending = staff.settings("root", approval_rules=[]).json
    path = f"/workspace/changes/{pending['id']}/approve"
    other = staff.ask("vera", "POST", path, {"digest": "0" * 64})
    assert (other.status, other.fields) == (422, ["digest"])
    done = staff.ask("vera", "POST", path, {"digest": pending["digest"]}).json
    assert (done["state"], done["by"], done["decided_by"]) == ("applied", "human:root", "human:vera")
    assert staff.ask("root", "GET", "/workspace/settings").json["approval_rules"] == []
    assert staff.alerts("rules_changed")
    version = staff.ask("mallory", "GET", "/workspace/settings/versions/1").json
    assert (version["approval_rules"][0]["needed"], version["updated_by"]) == (2, "human:root")


def test_change_is_not_applied_to_rules_that_have_changed_meanwhile(staff: Staff) -> None:
    pending = staff.settings("root", approval_rules=[{**RULE, "needed": 1}]).json
    stricter = {**RULE, "needed": 2, "people": ["cy"]}
    assert staff.settings("vera", approval_rules=[RULE, stricter]).status == 200
    path = f"/workspace/changes/{pending['id']}/approve"
    reply = staff.ask("vera", "POST", path, {"digest": pending["digest"]})
    assert (reply.status, reply.code) == (409, "change_overtaken")
    assert len(staff.ask("root", "GET", "/workspace/settings").json["approval_rules"]) == 2


def test_tightening_is_immediate_and_reordering_is_no_change_of_rules(staff: Staff) -> None:
    other = {"target": "runner"}
    assert staff.settings("root", approval_rules=[RULE, other]).status == 200
    assert staff.settings("root", approval_rules=[other, RULE]).status == 200
    before = len(staff.alerts("rules_changed"))
    assert staff.settings("root", approval_rules=[RULE, {**other, "needed": 2}]).status == 200
    assert staff.settings("root", groups={"leads": list(reversed(LEADS))}).status == 200
    assert len(staff.alerts("rules_changed")) == before + 1
    assert staff.settings("root", groups={"leads": LEADS[:1]}).status == 422, "the rule needs two"


def test_rule_that_is_removed_and_put_back_stays_on_record(world: World, gateway: Gateway) -> None:
    staff = Staff(world, gateway).hire("root", Right.ADMINISTRATOR).hire("mallory")
    staff.settings("root", approval_rules=[RULE], groups={"leads": LEADS})
    assert staff.settings("root", approval_rules=[]).status == 200
    staff.settings("root", approval_rules=[RULE])
    alone = staff.alerts("loosened_alone")
    assert [(each["severity"], each["raised_by"]) for each in alone] == [("critical", "human:root")]
    recorded = staff.ask("mallory", "GET", "/workspace/changes").json["items"]
    rules = [each for each in recorded if "approval_rules" in each["names"]]
    assert [len(each["after"]["approval_rules"]) for each in rules] == [1, 0, 1]
    assert [each["is_alone"] for each in rules] == [False, True, False]
    assert all(each["credential"] == {"token": staff.ids["root"]} for each in rules)


# Administrators by tokens


def test_administrator_by_a_token_of_the_release_before_counts_after_a_way_back(world: World, gateway: Gateway) -> None:
    """The release before knows no people: it writes the token alone."""
    staff = Staff(world, gateway).hire("root", Right.ADMINISTRATOR)
    staff.settings("root", approval_rules=[RULE], groups={"leads": LEADS})
    secret = world.deps.ids.secret()
    token = Token(
        id=world.deps.ids.new("t", world.clock.now()).removeprefix("t_"),
        workspace=WORKSPACE,
        kind=PrincipalKind.HUMAN,
        subject="vera",
        scopes=frozenset({ACT_AS}),
        digest=digest(secret),
        created_at=world.clock.now(),
        created_by="human:root",
    )
    world.store.tokens.add_token(token)
    staff.tokens["vera"] = spell(token.id, secret)
    pending = staff.settings("root", approval_rules=[])
    assert pending.status == 202, "vera administers as well"
    path = f"/workspace/changes/{pending.json['id']}/approve"
    assert staff.ask("vera", "POST", path, {"digest": pending.json["digest"]}).json["state"] == "applied"
    staff.hire("cy")
    assert world.store.tokens.people(WORKSPACE).administrators(world.clock.now()) == {"root", "vera"}


def test_no_chain_of_tokens_makes_an_administrator(staff: Staff) -> None:
    for by, wanted in (
        ("mallory", {"kind": "human", "subject": "mallory", "right": "administrator"}),
        ("mallory", {"kind": "human", "subject": "puppet"}),
        ("mallory", {"kind": "human", "subject": "mallory", "scopes": ["act_as"]}),
        ("mallory", {"kind": "service", "subject": "ci", "scopes": ["act_as"]}),
    ):
        assert refused(staff.ask(by, "POST", "/tokens", wanted)), wanted
    robot = {"authorization": "Bearer " + staff.ask("root", "POST", "/tokens", {"kind": "service", "subject": "ci",
             "scopes": ["act_as"]}).json["token"]}  # fmt: skip
    made = staff.gateway.send(None, "POST", "/tokens", {"kind": "human", "subject": "mallory"}, headers=robot)
    assert refused(made, "human_required")
    assert refused(staff.gateway.send(None, "PUT", "/workspace/settings", {}, headers=robot), "human_required")
    wrong = staff.ask("root", "POST", "/tokens", {"kind": "service", "subject": "ci", "right": "administrator"})
    assert (wrong.status, wrong.fields) == (422, ["right"])
    agents = staff.ask("mallory", "POST", "/tokens", {"kind": "agent", "subject": "auditor", "right": "approver"})
    assert (agents.status, agents.fields) == (422, ["right"])


def test_second_name_of_an_administrator_takes_another_administrator(staff: Staff) -> None:
    wanted = {"kind": "human", "subject": "root-two", "right": "administrator"}
    pending = staff.ask("root", "POST", "/tokens", wanted)
    assert (pending.status, pending.json["subject"]) == (202, "tokens")
    change = pending.json
    early = staff.ask("root", "POST", "/tokens", {**wanted, "change_id": change["id"]})
    assert (early.status, early.code) == (409, "change_over")
    staff.ask("vera", "POST", f"/workspace/changes/{change['id']}/approve", {"digest": change["digest"]})
    stranger = staff.ask("vera", "POST", "/tokens", {**wanted, "change_id": change["id"]})
    assert refused(stranger, "not_asked")
    longer = {**wanted, "subject": "root-three", "change_id": change["id"]}
    assert staff.ask("root", "POST", "/tokens", longer).fields == ["change_id"]
    made = staff.ask("root", "POST", "/tokens", {**wanted, "change_id": change["id"]})
    assert (made.status, made.json["right"]) == (201, "administrator")
    again = staff.ask("root", "POST", "/tokens", {**wanted, "change_id": change["id"]})
    assert (again.status, again.code) == (409, "change_over")


def test_administrator_does_not_approve_in_a_leads_name(staff: Staff) -> None:
    """A token in the name of a lead would count for the rule that asks for two of them."""
    for name in ("ada", "ben"):
        reply = staff.ask("root", "POST", "/tokens", {"kind": "human", "subject": name})
        assert (reply.status, reply.json["names"]) == (202, [f"human:{name}"])
    assert staff.ask("root", "POST", "/tokens", {"kind": "human", "subject": "new"}).status == 201
    assert staff.settings("root", approval_rules=[RULE, {"target": "runner", "needed": 2}]).status == 200
    puppet = staff.ask("root", "POST", "/tokens", {"kind": "human", "subject": "puppet"})
    assert puppet.status == 202, "anybody counts for a rule that names nobody"


def test_administrator_does_not_approve_their_own_change_in_another_administrators_name(staff: Staff) -> None:
    soon = times.rfc3339(staff.world.clock.now() + timedelta(hours=1))
    for also in ({"right": "administrator"}, {"scopes": ["act_as"]}, {"right": "administrator", "expires_at": soon}):
        reply = staff.ask("root", "POST", "/tokens", {"kind": "human", "subject": "vera", **also})
        assert (reply.status, reply.json.get("names"), "token" in reply.json) == (202, ["human:vera"], False), also
    own = staff.ask("root", "POST", "/tokens", {"kind": "human", "subject": "root", "right": "administrator"})
    assert own.status == 201, "a second token in one's own name makes nobody stronger"


def test_key_of_a_request_that_is_pending_already_is_no_other_requests_key(staff: Staff) -> None:
    def ask(key: str, name: str) -> Reply:
        headers = {"authorization": f"Bearer {staff.tokens['root']}", "idempotency-key": key}
        body = {"kind": "human", "subject": name, "right": "administrator"}
        return staff.gateway.send(None, "POST", "/tokens", body, headers=headers)

    first = ask("one", "root-two")
    again = ask("two", "root-two")
    assert (first.status, again.status, again.json["id"]) == (202, 202, first.json["id"])
    assert ask("two", "root-three").code == ask("one", "root-three").code == "idempotency_key_reused"
    assert ask("two", "root-two").json["id"] == first.json["id"]


def test_only_administrator_makes_another_one_with_an_alert(world: World, gateway: Gateway) -> None:
    staff = Staff(world, gateway).hire("root", Right.ADMINISTRATOR)
    body = {"kind": "human", "subject": "root-two", "right": "administrator"}
    assert staff.ask("root", "POST", "/tokens", body).status == 201
    assert [each["severity"] for each in staff.alerts("loosened_alone")] == ["critical"]
    assert staff.settings("root", groups={"leads": LEADS}).status == 200
    assert staff.settings("root", groups={}).status == 202


def test_administrator_does_not_extend_their_own_right(world: World, gateway: Gateway) -> None:
    until = world.clock.now() + timedelta(days=1)
    staff = Staff(world, gateway).hire("root", Right.ADMINISTRATOR).hire("temp", Right.ADMINISTRATOR, expires_at=until)
    body = {"kind": "human", "subject": "temp", "right": "administrator"}
    assert staff.ask("temp", "POST", "/tokens", body).status == 202
    shorter = {**body, "expires_at": times.rfc3339(until - timedelta(hours=1))}
    assert staff.ask("temp", "POST", "/tokens", shorter).status == 201
    world.clock.advance(86_400)
    assert staff.settings("root", approval_rules=[]).status == 200, "an expired administrator counts for nobody"


def test_administrator_does_not_lower_or_shorten_another_alone(staff: Staff) -> None:
    staff.hire("vera", Right.ADMINISTRATOR, expires_at=staff.world.clock.now() + timedelta(hours=1))
    forever = staff.changes("name=human:vera")[-1]["after"]["id"]
    assert staff.ask("root", "DELETE", f"/tokens/{staff.ids['vera']}").status == 200, "her other token lasts longer"
    pending = staff.ask("root", "DELETE", f"/tokens/{forever}")
    assert (pending.status, pending.json["after"]) == (202, None)
    assert staff.ask("root", "POST", "/tokens", {"kind": "human", "subject": "vera", "right": "reader"}).status == 202
    assert staff.settings("root", approval_rules=[]).status == 202, "vera is still an administrator"


def test_everybody_revokes_their_own_token(staff: Staff) -> None:
    staff.hire("eve", Right.READER)
    assert staff.ask("eve", "DELETE", f"/tokens/{staff.ids['eve']}").status == 200
    assert staff.ask("eve", "GET", "/agents").status == 403
    assert staff.ask("vera", "DELETE", f"/tokens/{staff.ids['vera']}").status == 200


def test_end_of_the_last_administrator_alerts_everybody(staff: Staff) -> None:
    """A revocation is never refused: the token may have leaked."""
    assert staff.ask("vera", "DELETE", f"/tokens/{staff.ids['vera']}").status == 200
    old = staff.ids["root"]
    staff.hire("root", Right.ADMINISTRATOR)
    assert staff.ask("root", "DELETE", f"/tokens/{old}").status == 200
    assert staff.alerts("no_administrator") == [], "root still administers"
    staff.world.clock.advance(1)
    assert staff.ask("root", "DELETE", f"/tokens/{staff.ids['root']}").status == 200
    (alert,) = staff.alerts("no_administrator")
    assert (alert["severity"], alert["raised_by"]) == ("critical", "human:root")
    assert staff.changes("name=human:root")[0]["id"] in alert["message"]
    seen = staff.ask("mallory", "GET", "/alerts", query="state=open&limit=100").json["items"]
    assert alert["id"] in [each["id"] for each in seen]


def test_of_two_administrators_who_leave_at_once_the_later_alerts(staff: Staff) -> None:
    leave = [lambda name=name: staff.ask(name, "DELETE", f"/tokens/{staff.ids[name]}") for name in ("root", "vera")]
    assert [each.status for each in all_at_once(leave) if isinstance(each, Reply)] == [200, 200]
    assert len(staff.alerts("no_administrator")) == 1


def test_lowered_person_has_the_right_of_the_token_that_is_left(staff: Staff) -> None:
    session, approver = staff.session("mallory"), staff.ids["mallory"]
    staff.hire("mallory", Right.READER)
    assert staff.ask("root", "DELETE", f"/tokens/{approver}").status == 200
    assert staff.ask(session, "GET", "/agents").status == 403
    task_id = staff.world.needing()
    assert refused(staff.ask("mallory", "POST", f"/tasks/{task_id}/approve", {}))
    assert staff.ask("mallory", "GET", f"/tasks/{task_id}").status == 200


# At the same moment


def test_of_two_administrators_who_revoke_each_other_one_stays(staff: Staff) -> None:
    """Both revocations were asked for, and a third administrator approves both at the same moment."""
    staff.hire("third", Right.ADMINISTRATOR)
    pending = [
        staff.ask(by, "DELETE", f"/tokens/{staff.ids[of]}").json for by, of in (("root", "vera"), ("vera", "root"))
    ]
    replies = all_at_once(
        [
            lambda each=each: staff.ask(  # type: ignore[misc]
                "third", "POST", f"/workspace/changes/{each['id']}/approve", {"digest": each["digest"]}
            )
            for each in pending
        ]
    )
    statuses = sorted(each.status for each in replies if isinstance(each, Reply))
    assert statuses == [200, 409]
    people = staff.world.store.tokens.people(WORKSPACE)
    assert len(people.administrators(staff.world.clock.now())) == 2


def test_approved_change_is_applied_once_by_many_approvals_at_once(staff: Staff) -> None:
    staff.hire("third", Right.ADMINISTRATOR)
    pending = staff.settings("root", approval_rules=[]).json
    path = f"/workspace/changes/{pending['id']}/approve"
    names = ["vera", "third"] * 3
    replies = all_at_once(
        [lambda name=name: staff.ask(name, "POST", path, {"digest": pending["digest"]}) for name in names]  # type: ignore[misc]
    )
    answers = [each for each in replies if isinstance(each, Reply)]
    deciders = {each.json["decided_by"] for each in answers if each.status == 200}
    assert len(deciders) == 1, "the repeats of the first approver get the first answer"
    assert {each.code for each in answers if each.status != 200} == {"change_over"}
    assert staff.ask("root", "GET", "/workspace/settings").json["version"] == 2


def test_administrator_who_was_revoked_meanwhile_approves_nothing(staff: Staff) -> None:
    pending = staff.settings("root", approval_rules=[]).json
    assert staff.ask("vera", "DELETE", f"/tokens/{staff.ids['vera']}").status == 200
    reply = staff.ask("vera", "POST", f"/workspace/changes/{pending['id']}/approve", {"digest": pending["digest"]})
    assert refused(reply, "token_refused")


def test_change_of_an_asker_who_has_left_is_not_applied(staff: Staff) -> None:
    pending = staff.settings("root", approval_rules=[]).json
    staff.ask("root", "DELETE", f"/tokens/{staff.ids['root']}")
    reply = staff.ask("vera", "POST", f"/workspace/changes/{pending['id']}/approve", {"digest": pending["digest"]})
    assert (reply.status, reply.code) == (409, "change_overtaken")


def test_pending_change_expires_and_is_refused_or_withdrawn(staff: Staff) -> None:
    first = staff.settings("root", approval_rules=[]).json
    assert staff.settings("root", approval_rules=[]).json["id"] == first["id"], "a repeat asks once"
    assert staff.ask("root", "POST", f"/workspace/changes/{first['id']}/withdraw", {}).json["state"] == "withdrawn"
    second = staff.settings("root", approval_rules=[]).json
    refusal = staff.ask("vera", "POST", f"/workspace/changes/{second['id']}/refuse", {"reason": "never"})
    assert (refusal.json["state"], refusal.json["reason"]) == ("refused", "never")
    third = staff.settings("root", approval_rules=[]).json
    staff.world.clock.advance(7 * 86_400)
    late = staff.ask("vera", "POST", f"/workspace/changes/{third['id']}/approve", {"digest": third["digest"]})
    assert (late.status, late.json["state"]) == (409, "expired")
    assert staff.changes("state=pending") == []


# An administrator who floods the others


def needed(number: int) -> dict[str, Any]:
    """Returns a rule that loosens ``RULE``, another one for each number."""
    return {**RULE, "people": [f"p{number}"]}


def test_flood_of_one_administrator_blocks_no_other(staff: Staff) -> None:
    for number in range(MAX_WAITING):
        assert staff.settings("root", approval_rules=[needed(number)]).status == 202
    full = staff.settings("root", approval_rules=[])
    assert (full.status, full.code, "withdraw" in full.problem["detail"]) == (409, "limit_reached", True)
    assert staff.settings("vera", approval_rules=[]).status == 202
    flood = staff.ask("vera", "GET", "/workspace/changes", query="state=pending&limit=100").json["items"]
    assert [each["by"] for each in flood] == ["human:vera"] + ["human:root"] * MAX_WAITING
    withdrawn = staff.ask("root", "POST", f"/workspace/changes/{flood[-1]['id']}/withdraw", {})
    assert withdrawn.status == 200
    assert staff.settings("root", approval_rules=[]).status == 202, "a change that was withdrawn no longer counts"


def test_revocation_of_a_right_is_asked_for_whatever_else_waits(staff: Staff) -> None:
    for number in range(MAX_WAITING):
        assert staff.settings("root", approval_rules=[needed(number)]).status == 202
    revocation = staff.ask("root", "DELETE", f"/tokens/{staff.ids['vera']}")
    assert (revocation.status, revocation.json["after"]) == (202, None)
    assert staff.ask("root", "DELETE", f"/tokens/{staff.ids['vera']}").json["id"] == revocation.json["id"]
    staff.hire("third", Right.ADMINISTRATOR)
    assert staff.settings("third", approval_rules=[]).status == 202
    body = {"digest": revocation.json["digest"]}
    approved = staff.ask("third", "POST", f"/workspace/changes/{revocation.json['id']}/approve", body)
    assert (approved.status, approved.json["state"]) == (200, "applied")


def test_expired_flood_of_the_largest_changes_blocks_no_request(staff: Staff) -> None:
    """All of them together are more than one transaction of the table takes."""
    members = [f"{number:0>60}" for number in range(50)]
    groups = {"leads": LEADS, **{f"g{number}": members for number in range(19)}}
    rules = [{"work_type": f"t{number}", "people": members[:20]} for number in range(49)]
    first = staff.settings("root", groups=groups, approval_rules=[RULE, *rules]).json
    approval = staff.ask("vera", "POST", f"/workspace/changes/{first['id']}/approve", {"digest": first["digest"]})
    assert approval.status == 200
    for number in range(MAX_WAITING):
        other = {"groups": {**groups, "g0": [f"other{number}"]}, "approval_rules": rules}
        asked = staff.settings("root", **other)
        assert (asked.status, len(asked.text) > 230_000) == (202, True)
    listed = staff.ask("vera", "GET", "/workspace/changes", query="limit=100")
    assert (listed.status, len(listed.text) < 2_500_000, listed.json["next_cursor"] is None) == (200, True, False)
    staff.world.clock.advance(8 * 86_400)
    assert staff.settings("vera", approval_rules=[]).status == 202
    assert [each["by"] for each in staff.changes("state=pending")] == ["human:vera"]


def test_pending_changes_are_listed_in_pages(staff: Staff) -> None:
    asked = [staff.settings("root", approval_rules=[needed(number)]).json["id"] for number in range(5)]
    first = staff.ask("vera", "GET", "/workspace/changes", query="state=pending&limit=3").json
    rest = f"state=pending&limit=3&cursor={first['next_cursor']}"
    second = staff.ask("vera", "GET", "/workspace/changes", query=rest).json
    listed = [each["id"] for each in (*first["items"], *second["items"])]
    assert (listed, len(first["items"]), second["next_cursor"]) == (asked[::-1], 3, None)


# An approval that is not used yet

WANTED = {"kind": "human", "subject": "root-two", "right": "administrator"}


def approved_token(staff: Staff) -> dict[str, Any]:
    """Root asks for a second name, and vera approves it."""
    change: dict[str, Any] = staff.ask("root", "POST", "/tokens", WANTED).json
    path = f"/workspace/changes/{change['id']}/approve"
    assert staff.ask("vera", "POST", path, {"digest": change["digest"]}).json["state"] == "approved"
    return change


@pytest.mark.parametrize("by", ["root", "vera", "third"])
def test_every_administrator_ends_an_approval_that_is_not_used_yet(staff: Staff, by: str) -> None:
    staff.hire("third", Right.ADMINISTRATOR)
    change = approved_token(staff)
    path = f"/workspace/changes/{change['id']}/refuse"
    assert refused(staff.ask("mallory", "POST", path, {}))
    ended = staff.ask(by, "POST", path, {"reason": "It was a mistake."})
    assert (ended.status, ended.json["state"], ended.json["decided_by"]) == (200, "refused", f"human:{by}")
    late = staff.ask("root", "POST", "/tokens", {**WANTED, "change_id": change["id"]})
    assert (late.status, late.code) == (409, "change_over")
    again = staff.ask("root" if by == "vera" else "vera", "POST", path, {})
    assert (again.status, again.code) == (409, "change_over")


def test_used_approval_is_not_refused(staff: Staff) -> None:
    change = approved_token(staff)
    assert staff.ask("root", "POST", "/tokens", {**WANTED, "change_id": change["id"]}).status == 201
    late = staff.ask("vera", "POST", f"/workspace/changes/{change['id']}/refuse", {})
    assert (late.status, late.code) == (409, "change_over")


def test_of_use_and_refusal_at_once_one_counts(staff: Staff) -> None:
    change = approved_token(staff)
    body = {**WANTED, "change_id": change["id"]}
    replies = all_at_once(
        [
            lambda: staff.ask("root", "POST", "/tokens", body),
            lambda: staff.ask("vera", "POST", f"/workspace/changes/{change['id']}/refuse", {}),
        ]
    )
    statuses = sorted(each.status for each in replies if isinstance(each, Reply))
    assert statuses == ([200, 409] if staff.changes("state=refused") else [201, 409])


@pytest.mark.parametrize("comes_back", [False, True])
@pytest.mark.parametrize("left", ["root", "vera"])
def test_approval_ends_with_the_right_of_its_asker_and_of_its_approver(
    staff: Staff, left: str, comes_back: bool
) -> None:
    staff.hire("third", Right.ADMINISTRATOR)
    change = approved_token(staff)
    staff.world.clock.advance(10)
    assert staff.ask(left, "DELETE", f"/tokens/{staff.ids[left]}").status == 200
    staff.world.clock.advance(10)
    if comes_back:
        staff.hire(left, Right.ADMINISTRATOR)
    reply = staff.ask("root", "POST", "/tokens", {**WANTED, "change_id": change["id"]})
    if left == "root" and not comes_back:
        assert refused(reply, "token_refused")
    else:
        assert (reply.status, reply.code) == (409, "change_overtaken")
        assert ("approver" if left == "vera" else "asker") in reply.problem["detail"]


def test_pending_change_ends_with_the_right_of_its_asker(staff: Staff) -> None:
    """A person who comes back asks again."""
    pending = staff.settings("root", approval_rules=[]).json
    staff.world.clock.advance(10)
    staff.ask("root", "DELETE", f"/tokens/{staff.ids['root']}")
    staff.world.clock.advance(10)
    staff.hire("root", Right.ADMINISTRATOR)
    reply = staff.ask("vera", "POST", f"/workspace/changes/{pending['id']}/approve", {"digest": pending["digest"]})
    assert (reply.status, reply.code) == (409, "change_overtaken")


# Agents


@pytest.mark.parametrize("by", [agent("auditor"), service(act_as=False)], ids=lambda by: by.key)
def test_agents_read_no_rules_and_no_changes(staff: Staff, by: Principal) -> None:
    settings = staff.gateway.get(by, "/workspace/settings")
    assert not {"groups", "approval_rules", "guardrails"} & settings.json.keys()
    assert "leads" not in settings.text
    for path in ("/workspace/changes", "/workspace/settings/versions/1"):
        assert staff.gateway.get(by, path).status == 403
