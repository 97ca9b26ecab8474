"""Attacks m1 and m6: a standing approval changes its giver by an edit, and people who left go on deciding."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain import times
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.rights import Right
from baton.services.access.issue_token import TokenRequest, issue_token
from support.gateway import Gateway
from support.worlds.http_agents import HttpAgents
from support.worlds.world import World, agent, human, service

ROOT = human()
CODER = agent("auto-code")
WIRE = {"kind": "action", "text": "Weekly", "tool": "wire", "arguments": {"n": 1, "to": "ada"}}


class Office:
    """A workspace with tokens for its people."""

    def __init__(self, world: World, gateway: Gateway) -> None:
        self.world, self.gateway, self.tokens = world, gateway, dict[str, str]()
        self.agents = HttpAgents(gateway).hire("manual")

    def hires(self, name: str, right: Right = Right.APPROVER, expires_at: Any = None) -> Principal:
        request = TokenRequest(kind=PrincipalKind.HUMAN, subject=name, right=right, expires_at=expires_at)
        token, _ = issue_token(self.world.deps, ROOT, request)
        self.tokens[name] = token.id
        return token.principal

    def fires(self, name: str) -> None:
        assert self.gateway.delete(ROOT, f"/tokens/{self.tokens[name]}").status == 200

    def put(self, by: Principal, path: str, **body: Any) -> Any:
        reply = self.gateway.put(by, path, body)
        assert reply.status in {200, 201, 202}, reply.text
        return reply.json

    def begun(self) -> Any:
        task = self.agents.hand_off("architect", "auto-code")["task"]
        assert self.gateway.post(ROOT, f"/tasks/{task['id']}/approve", {}).status == 200
        self.world.clock.advance(5)
        return self.agents.take("auto-code")

    def asks(self, claim: Any, **changes: Any) -> Any:
        body = {"claim_id": claim["claim_id"], **WIRE, **changes}
        reply = self.gateway.post(CODER, f"/tasks/{claim['task']['id']}/ask", body)
        assert reply.status == 201, reply.text
        return reply.json

    def answers(self, by: Principal, claim: Any, question: Any, **more: Any) -> Any:
        at = f"/tasks/{claim['task']['id']}/questions/{question['id']}/answer"
        reply = self.gateway.post(by, at, {"outcome": "approved", "digest": question["digest"], **more})
        assert reply.status == 200, reply.text
        return reply.json

    def uses(self, claim: Any, question: Any) -> Any:
        at = f"/tasks/{claim['task']['id']}/questions/{question['id']}/use"
        return self.gateway.post(CODER, at, {"claim_id": claim["claim_id"], "digest": question["digest"]})

    def state_of_next_handoff(self) -> str:
        return str(self.agents.hand_off("architect", "auto-code")["task"]["state"])

    def given_by(self) -> Any:
        made = self.agents.hand_off("architect", "auto-code")["task"]
        events = self.gateway.get(ROOT, f"/tasks/{made['id']}/events").json["events"]
        return next((each["data"]["standing_approval"] for each in events if "standing_approval" in each["data"]), None)


@pytest.fixture
def office(world: World, gateway: Gateway) -> Office:
    return Office(world, gateway)


@pytest.fixture
def mallory(office: Office) -> Principal:
    return office.hires("mallory")


@pytest.fixture
def ada(office: Office) -> Principal:
    return office.hires("ada")


AGENT = "/agents/auto-code"


def test_edit_of_a_description_doesnt_change_who_gave_the_approval(
    office: Office, mallory: Principal, ada: Principal
) -> None:
    rules = {"groups": {"leads": ["ada"]}, "approval_rules": [{"target": "auto-code", "group": "leads"}]}
    office.put(ROOT, "/workspace/settings", **rules)
    given = office.put(mallory, AGENT, approval="auto")
    assert office.state_of_next_handoff() == "needs"
    office.world.clock.advance(60)
    edited = office.put(ada, AGENT, description="Writes code", approval="auto")
    assert (edited["approval_giver"], edited["approval_given_at"]) == (mallory.key, given["approval_given_at"])
    assert (edited["updated_by"], edited["approval"]) == (ada.key, "auto")
    assert office.state_of_next_handoff() == "needs"


def test_approval_names_its_giver_and_date_in_the_trail(office: Office, mallory: Principal, ada: Principal) -> None:
    given = office.put(mallory, AGENT, approval="auto")
    office.world.clock.advance(60)
    edited = office.put(ada, AGENT, description="Writes code")
    approval = office.given_by()
    assert approval == {
        "agent": "auto-code",
        "version": edited["version"],
        "given_by": mallory.key,
        "given_at": given["approval_given_at"],
    }


def test_another_approvers_change_of_what_is_covered_ends_the_approval_unless_it_gives_it_again(
    office: Office, mallory: Principal, ada: Principal
) -> None:
    office.put(mallory, AGENT, approval="auto")
    assert office.put(mallory, AGENT, accepts=["a"])["approval_giver"] == mallory.key
    ended = office.put(ada, AGENT, accepts=["a", "b"])
    assert (ended["approval"], ended["approval_giver"], ended["approval_given_at"]) == ("manual", "", None)
    assert office.state_of_next_handoff() == "needs"
    office.put(mallory, AGENT, approval="auto")
    assert office.put(ada, AGENT, accepts=["c"], approval="auto")["approval_giver"] == ada.key


def test_person_without_the_right_gives_no_approval_and_an_edit_ends_it(office: Office, mallory: Principal) -> None:
    member = office.hires("max", Right.MEMBER)
    refused = office.gateway.put(member, AGENT, {"approval": "auto"})
    assert (refused.status, refused.code) == (403, "right_needed")
    office.put(mallory, AGENT, approval="auto")
    assert office.put(member, AGENT, description="Mine now", approval="auto")["approval"] == "manual"
    office.put(mallory, AGENT, approval="auto")
    office.put(service(), AGENT, description="Service")
    assert office.state_of_next_handoff() == "needs"


def test_tools_approval_stays_with_its_giver_and_ends_by_a_members_edit(
    office: Office, mallory: Principal, ada: Principal
) -> None:
    tool = {"description": "Hands over", "config": {"target_agent": "qa"}}
    made = office.put(mallory, "/tools/to_qa", **tool)
    assert made["approval_giver"] == mallory.key
    edited = office.put(ada, "/tools/to_qa", description="Hands it over", config={"target_agent": "qa"})
    assert (edited["approval_giver"], edited["approval_given_at"]) == (mallory.key, made["approval_given_at"])
    assert office.put(ada, "/tools/to_qa", config={"target_agent": "ciso"})["approval_giver"] == ada.key
    member = office.hires("max", Right.MEMBER)
    assert office.put(member, "/tools/to_qa", active=False)["approval_giver"] == ""
    assert office.put(ada, "/tools/to_qa", description="Checked")["approval_giver"] == ""
    assert office.put(ada, "/tools/to_qa", active=True, config={"target_agent": "ciso"})["approval_giver"] == ada.key


def test_member_cant_end_the_mode_manual_of_a_route(office: Office, ada: Principal) -> None:
    member = office.hires("max", Right.MEMBER)
    made = office.put(ada, "/routes/pay", agent="qa", mode="manual")
    assert made["mode_setter"] == ada.key
    assert office.put(member, "/routes/pay", agent="qa", mode="manual", dispatch_rank=5)["mode_setter"] == ada.key
    for body in ({"agent": "qa", "mode": "dispatch"}, {"agent": "qa", "mode": "next"}):
        assert office.gateway.put(member, "/routes/pay", body).code == "right_needed"
    assert office.gateway.delete(member, "/routes/pay").code == "right_needed"
    assert office.put(ada, "/routes/pay", agent="qa", mode="dispatch")["mode_setter"] == ada.key


LEAVES = ("fired", "expired", "lowered")


def leave(office: Office, name: str, how: str) -> None:
    if how == "lowered":
        office.hires(name, Right.MEMBER)
    if how == "expired":
        office.world.clock.advance(3_600)
        return
    old = office.tokens[name]
    if how == "lowered":
        listed = office.gateway.get(ROOT, "/tokens").json["items"]
        old = next(each["id"] for each in listed if (each["subject"], each["right"]) == (name, "approver"))
    assert office.gateway.delete(ROOT, f"/tokens/{old}").status == 200


@pytest.fixture
def zoe(office: Office) -> Principal:
    return office.hires("zoe", expires_at=office.world.clock.now() + times.seconds(1_800))


@pytest.mark.parametrize("how", LEAVES)
def test_who_has_left_approves_nothing_by_a_standing_answer(office: Office, zoe: Principal, how: str) -> None:
    claim = office.begun()
    first = office.asks(claim, until="2026-12-18T12:00:00Z")
    standing = {"for": "tool", "times": 1_000, "until": "2026-11-25T12:00:00Z"}
    office.answers(zoe, claim, first, standing=standing)
    assert office.asks(claim, arguments={"n": 2})["outcome"] == "approved"
    leave(office, "zoe", how)
    if how == "expired":
        claim = office.begun()
    assert office.asks(claim, arguments={"n": 1_000_000, "to": "mallory"})["outcome"] == "open"


@pytest.mark.parametrize("how", LEAVES[::2])
def test_unused_approval_of_a_leaver_cant_be_used(office: Office, zoe: Principal, how: str) -> None:
    claim = office.begun()
    used, unused = office.asks(claim), office.asks(claim, arguments={"n": 2})
    for each in (used, unused):
        office.answers(zoe, claim, each)
    assert office.uses(claim, used).status == 200
    leave(office, "zoe", how)
    refused = office.uses(claim, unused)
    assert (refused.status, refused.code, "zoe" in refused.text) == (409, "receipt_refused", True)


@pytest.mark.parametrize("how", LEAVES[::2])
def test_vote_of_a_leaver_counts_no_more(
    office: Office, zoe: Principal, ada: Principal, mallory: Principal, how: str
) -> None:
    claim = office.begun()
    asked = office.asks(claim, needed=2)
    office.answers(zoe, claim, asked)
    leave(office, "zoe", how)
    after = office.answers(ada, claim, asked)
    assert (after["outcome"], [each["by"] for each in after["decisions"]]) == ("open", ["ada"])
    assert office.answers(mallory, claim, asked)["outcome"] == "approved"
    assert office.uses(claim, asked).status == 200
    assert office.gateway.get(ROOT, f"/tasks/{claim['task']['id']}/events/verify").json["matches_task"]


@pytest.mark.parametrize("how", LEAVES)
def test_vote_of_a_leaver_on_a_handoff_counts_no_more(office: Office, zoe: Principal, how: str) -> None:
    ada, mallory = office.hires("ada"), office.hires("mallory")
    office.put(ROOT, "/workspace/settings", approval_rules=[{"target": "auto-code", "needed": 2}])
    task = office.agents.hand_off("architect", "auto-code")["task"]
    at = f"/tasks/{task['id']}/approve"
    assert office.gateway.post(zoe, at, {}).json["state"] == "needs"
    leave(office, "zoe", how)
    assert office.gateway.post(ada, at, {}).json["state"] == "needs"
    done = office.gateway.post(mallory, at, {}).json
    assert done["state"] == "delegated"
    events = office.gateway.get(ROOT, f"/tasks/{task['id']}/events").json["events"]
    assert events[-1]["data"]["approved_by"] == ["ada", "mallory"]


@pytest.mark.parametrize("how", LEAVES)
def test_standing_approval_of_a_leaver_ends(office: Office, zoe: Principal, how: str) -> None:
    office.put(zoe, AGENT, approval="auto")
    assert office.state_of_next_handoff() == "delegated"
    leave(office, "zoe", how)
    assert office.state_of_next_handoff() == "needs"
    # A returning person, or another approver, gives the approval again.
    ada = office.hires("ada")
    office.put(ada, AGENT, approval="manual")
    office.put(ada, AGENT, approval="auto")
    assert office.state_of_next_handoff() == "delegated"
