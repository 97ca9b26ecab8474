"""Attack m6, second part: a returning person's earlier approvals decide, and cannot be ended together."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.domain import times
from baton.domain.access.principal import Principal, PrincipalKind, operator
from baton.domain.access.rights import Deed, Right
from baton.domain.questions.question import Outcome, QuestionKind
from baton.domain.tasks.calls import WorkerCall
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.questions.ask_question import Asked, ask_question
from baton.steps.access.person_rights import still_may
from functions.attacks.test_leavers import AGENT, CODER, LEAVES, Office, leave
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.faults.threads import all_at_once
from support.gateway import Gateway, Reply
from support.worlds.world import WORKSPACE, World, agent, human, service

ROOT = human()


@pytest.fixture
def office(world: World, gateway: Gateway) -> Office:
    return Office(world, gateway)


@pytest.fixture
def zoe(office: Office) -> Principal:
    return office.hires("zoe", expires_at=office.world.clock.now() + times.seconds(1_800))


def ready_work(office: Office) -> str:
    """Returns open work that a rule holds back from ``auto-code``."""
    rule = {"target": "auto-code", "needed": 2}
    office.put(ROOT, "/workspace/settings", approval_rules=[rule])
    return str(office.agents.hand_off("architect", None)["task"]["id"])


def approves(office: Office, by: Principal, task_id: str) -> None:
    reply = office.gateway.post(by, f"/tasks/{task_id}/approve", {})
    assert reply.status == 200, reply.text
    office.world.clock.advance(5)


def takes(office: Office, task_id: str) -> int:
    """Returns the status of the guarded agent's claim by the queue; without one, by the task's id."""
    by = agent("auto-code")
    queued = office.gateway.post(by, "/agents/auto-code/claims").status
    return queued if queued == 200 else office.gateway.post(by, f"/tasks/{task_id}/claim").status


@pytest.mark.parametrize("how", LEAVES)
def test_approval_of_ready_work_stays_ended_when_the_person_returns(office: Office, zoe: Principal, how: str) -> None:
    ada, task_id = office.hires("ada"), ready_work(office)
    approves(office, zoe, task_id)
    leave(office, "zoe", how)
    office.world.clock.advance(5)
    zoe = office.hires("zoe")
    approves(office, ada, task_id)
    assert takes(office, task_id) == 409
    approves(office, zoe, task_id)
    assert takes(office, task_id) == 200


def ends(office: Office, name: str, by: Principal = ROOT) -> Any:
    office.world.clock.advance(1)
    reply = office.gateway.post(by, f"/people/{name}/end-approvals", {})
    assert reply.status == 200, reply.text
    office.world.clock.advance(1)
    return reply.json


def listed(office: Office, name: str, limit: int = 50) -> list[Any]:
    found, cursor = list[Any](), ""
    while True:
        query = f"limit={limit}" + (f"&cursor={cursor}" if cursor else "")
        reply = office.gateway.get(ROOT, f"/people/{name}/approvals", query=query)
        assert reply.status == 200, reply.text
        found += reply.json["items"]
        if (cursor := reply.json["next_cursor"]) is None:
            return found


@dataclass
class Rested:
    """Something of each kind that rests on zoe."""

    claim: Any
    used: Any
    unused: Any
    voted: Any
    handoff: str
    ready: str


def rested(office: Office, zoe: Principal) -> Rested:
    claim = office.begun()
    used, unused, voted = (office.asks(claim, arguments={"n": n}, needed=1 + n // 3) for n in (1, 2, 3))
    standing = {"for": "tool", "times": 1_000, "until": "2026-11-25T12:00:00Z"}
    first = office.asks(claim, tool="read", until="2026-12-18T12:00:00Z")
    office.answers(zoe, claim, first, standing=standing)
    for each in (used, unused, voted):
        office.answers(zoe, claim, each)
    assert office.uses(claim, used).status == 200
    office.put(zoe, "/agents/qa", approval="auto")
    office.put(zoe, "/tools/to_qa", description="Hands over", config={"target_agent": "qa"})
    ready = ready_work(office)
    approves(office, zoe, ready)
    handoff = str(office.agents.hand_off("architect", "auto-code")["task"]["id"])
    approves(office, zoe, handoff)
    return Rested(claim, used, unused, voted, handoff, ready)


EACH = {
    *(("agent", "qa"), ("tool", "to_qa"), ("standing_answer", "auto-code"), ("question", "auto-code")),
    *(("action", "auto-code"), ("handoff", "auto-code"), ("ready_work", None)),
}


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_list_has_everything_that_rests_on_a_person(office: Office, zoe: Principal, limit: int) -> None:
    office.hires("ada")
    it = rested(office, zoe)
    found = listed(office, "zoe", limit)
    assert {(each["kind"], each["name"]) for each in found} == EACH
    assert all(each["counts"] and each["at"] for each in found)
    by_kind = {each["kind"]: each for each in found}
    assert by_kind["question"]["question_id"] == it.voted["id"]
    assert [each["question_id"] for each in found if each["kind"] == "action"].count(it.unused["id"]) == 1
    assert it.used["id"] not in {each["question_id"] for each in found}
    assert (by_kind["handoff"]["task_id"], by_kind["ready_work"]["task_id"]) == (it.handoff, it.ready)
    assert listed(office, "ada") == []


def test_everything_ends_at_once_and_stays_ended_with_a_new_token(office: Office, zoe: Principal) -> None:
    ada, mallory = office.hires("ada"), office.hires("mallory")
    it = rested(office, zoe)
    ended = ends(office, "zoe")
    assert (ended["person"], ended["right"]) == ("zoe", "approver")
    assert not any(each["counts"] for each in listed(office, "zoe"))
    office.hires("zoe")
    assert not any(each["counts"] for each in listed(office, "zoe"))
    refused = office.uses(it.claim, it.unused)
    assert (refused.status, refused.code, "zoe" in refused.text) == (409, "receipt_refused", True)
    assert office.asks(it.claim, tool="read", arguments={"n": 9})["outcome"] == "open"
    assert office.answers(ada, it.claim, it.voted)["outcome"] == "open"
    assert office.agents.hand_off("architect", "qa")["task"]["state"] == "needs"
    approves(office, ada, it.handoff)
    assert office.world.task(it.handoff).state == "needs"
    approves(office, ada, it.ready)
    assert takes(office, it.ready) == 409
    # Later approvals count.
    assert office.answers(mallory, it.claim, it.voted)["outcome"] == "approved"
    again = office.asks(it.claim, arguments={"n": 4})
    office.answers(zoe, it.claim, again)
    assert office.uses(it.claim, again).status == 200
    approves(office, zoe, it.handoff)
    approves(office, zoe, it.ready)
    assert office.world.task(it.handoff).state == "delegated"
    office.put(zoe, "/agents/qa", approval="manual")
    office.put(zoe, "/agents/qa", approval="auto")
    assert office.agents.hand_off("architect", "qa")["task"]["state"] == "delegated"
    assert {each["kind"] for each in listed(office, "zoe") if each["counts"]} >= {"agent", "ready_work"}


def test_standing_approval_that_was_ended_is_given_again_by_its_giver(office: Office, zoe: Principal) -> None:
    office.put(zoe, AGENT, approval="auto")
    ends(office, "zoe")
    assert office.state_of_next_handoff() == "needs"
    office.put(zoe, AGENT, approval="auto", description="The same again")
    assert office.state_of_next_handoff() == "needs"
    office.put(zoe, AGENT, approval="manual")
    office.put(zoe, AGENT, approval="auto")
    assert office.state_of_next_handoff() == "delegated"


def test_end_is_on_record_with_its_author(office: Office, zoe: Principal) -> None:
    boss = office.hires("boss", Right.ADMINISTRATOR)
    first, second = ends(office, "zoe", boss), ends(office, "zoe")
    found = office.gateway.get(ROOT, "/workspace/changes", query="subject=approvals").json["items"]
    assert [(each["by"], each["names"], each["before"], each["after"]) for each in found] == [
        (ROOT.key, ["human:zoe"], *({"approvals_ended_at": each["approvals_ended_at"]} for each in (first, second))),
        (boss.key, ["human:zoe"], {"approvals_ended_at": None}, {"approvals_ended_at": first["approvals_ended_at"]}),
    ]


def test_repeat_under_the_same_key_ends_nothing_more(office: Office, zoe: Principal) -> None:
    claim = office.begun()
    first = office.gateway.post(ROOT, "/people/zoe/end-approvals", {}, headers={"idempotency-key": "once"})
    office.world.clock.advance(5)
    asked = office.asks(claim)
    office.answers(zoe, claim, asked)
    office.world.clock.advance(5)
    assert (
        office.gateway.post(ROOT, "/people/zoe/end-approvals", {}, headers={"idempotency-key": "once"}).json
        == first.json
    )
    assert office.uses(claim, asked).status == 200


def test_only_administrators_list_and_end(office: Office, zoe: Principal) -> None:
    people = [office.hires(right, Right(right)) for right in ("reader", "member", "approver")]
    for by, code in [
        *((each, "right_needed") for each in people),
        (CODER, "human_required"),
        (service(), "human_required"),
    ]:
        for reply in (
            office.gateway.get(by, "/people/zoe/approvals"),
            office.gateway.post(by, "/people/zoe/end-approvals", {}),
        ):
            assert (reply.status, reply.code) == (403, code)
    assert office.gateway.get(ROOT, "/workspace/changes", query="subject=approvals").json["items"] == []


STRANGE = [
    "Zoe",
    "zoe%20x",
    "human:zoe",
    "notion:",
    "notion:a-b",
    "zoe%0A",
    "-",
    "a" * 64,
    "%00",
    "baton:operator",
    "%F0%9F%98%80",
]


@pytest.mark.parametrize("name", STRANGE)
def test_strange_names_are_unknown(office: Office, name: str) -> None:
    for reply in (
        office.gateway.get(ROOT, f"/people/{name}/approvals"),
        office.gateway.post(ROOT, f"/people/{name}/end-approvals", {}),
    ):
        assert (reply.status, reply.code) == (404, "not_found")


@pytest.mark.parametrize("cursor", ["9#", "8#", "0", "#", "7#x", "7#99#", "5#zz", "1#A"])
def test_forged_cursors_harm_nothing(office: Office, zoe: Principal, cursor: str) -> None:
    office.hires("ada")
    rested(office, zoe)
    path = "/people/zoe/approvals"
    seal = hashlib.sha256(f"{WORKSPACE}\n{path}\n{{}}\n{cursor}".encode()).hexdigest()[:16]
    forged = base64.urlsafe_b64encode(json.dumps([seal, cursor]).encode()).decode().rstrip("=")
    reply = office.gateway.get(ROOT, path, query=f"cursor={forged}")
    assert reply.status == (422 if cursor in {"9#", "8#", "0", "#"} else 200), reply.text


def test_person_without_a_token_returns_to_nothing(office: Office, zoe: Principal) -> None:
    claim = office.begun()
    asked = office.asks(claim)
    office.answers(zoe, claim, asked)
    office.fires("zoe")
    assert [each["counts"] for each in listed(office, "zoe")] == [False]
    assert ends(office, "zoe")["right"] is None
    office.hires("zoe")
    assert office.uses(claim, asked).code == "receipt_refused"


def test_two_administrators_end_at_the_same_time(world: World, gateway: Gateway) -> None:
    office = Office(world, gateway)
    office.hires("zoe")
    boss = office.hires("boss", Right.ADMINISTRATOR)
    replies = all_at_once([partial(gateway.post, by, "/people/zoe/end-approvals", {}) for by in (ROOT, boss)])
    assert [each.status for each in replies if isinstance(each, Reply)] == [200, 200]
    assert len(gateway.get(ROOT, "/workspace/changes", query="subject=approvals").json["items"]) == 2


def test_approved_token_isnt_made_once_its_approver_is_ended(office: Office) -> None:
    amy, boss = (
        issue_token(
            office.world.deps,
            operator(WORKSPACE),
            TokenRequest(kind=PrincipalKind.HUMAN, subject=name, right=Right.ADMINISTRATOR),
        )[0].principal
        for name in ("amy", "boss")
    )
    wanted = {"kind": "human", "subject": "carl", "right": "administrator"}
    asked = office.gateway.post(amy, "/tokens", wanted)
    assert asked.status == 202, asked.text
    change = asked.json
    at = f"/workspace/changes/{change['id']}/approve"
    assert office.gateway.post(boss, at, {"digest": change["digest"]}).status == 200
    for name in ("amy", "boss"):
        assert [(each["kind"], each["change_id"]) for each in listed(office, name)] == [("change", change["id"])]
    ends(office, "boss")
    refused = office.gateway.post(amy, "/tokens", {**wanted, "change_id": change["id"]})
    assert (refused.status, refused.code) == (409, "change_overtaken")


def test_person_of_the_tracker_starts_anew_with_a_higher_right(office: Office) -> None:
    it = human(name="notion:u1")
    database = "1" * 32

    def rights(**given: str) -> None:
        done = office.gateway.put(ROOT, "/workspace/settings", {"tracker": {"database": database, "rights": given}})
        assert done.status == 200, done.text
        office.world.clock.advance(5)

    def stands(at: datetime) -> bool:
        return still_may(office.world.deps, WORKSPACE, it.id, Deed.APPROVE, at)

    rights(u1="approver")
    first = office.world.clock.now()
    assert stands(first)
    rights(u1="member")
    assert not stands(first)
    rights(u1="approver")
    second = office.world.clock.now()
    assert (stands(first), stands(second)) == (False, True)
    ends(office, it.id)
    assert (stands(second), stands(office.world.clock.now())) == (False, True)


def test_approval_without_a_date_ends_too(office: Office, zoe: Principal) -> None:
    """As an earlier release wrote it."""
    ada, task_id = office.hires("ada"), ready_work(office)
    approves(office, zoe, task_id)
    head = table_of(office).items[keys.task(WORKSPACE, task_id)]["HEAD"]
    assert head["accepts"]["S"].startswith("zoe@")
    head["accepts"] = {"S": "zoe"}
    ends(office, "zoe")
    approves(office, ada, task_id)
    assert takes(office, task_id) == 409


def test_end_by_an_earlier_clock_restores_nothing(office: Office, zoe: Principal) -> None:
    claim = office.begun()
    asked = office.asks(claim)
    office.answers(zoe, claim, asked)
    ended = ends(office, "zoe")
    office.world.clock.advance(-60)
    assert ends(office, "zoe")["approvals_ended_at"] == ended["approvals_ended_at"]
    office.world.clock.advance(60)
    assert office.uses(claim, asked).code == "receipt_refused"


def test_another_process_knows_of_the_end_with_its_next_request(office: Office, zoe: Principal) -> None:
    """It has read the person before."""
    claim = office.begun()
    first, second = office.asks(claim), office.asks(claim, arguments={"n": 2})
    for each in (first, second):
        office.answers(zoe, claim, each)
    assert office.uses(claim, first).status == 200
    other = World(store=InMemoryStore(table_of(office)), clock=office.world.clock)
    assert Gateway(other.deps).post(ROOT, "/people/zoe/end-approvals", {}).status == 200
    assert office.uses(claim, second).code == "receipt_refused"


def test_standing_answer_approves_nothing_in_the_moment_of_its_end(office: Office, zoe: Principal) -> None:
    """The request of the worker read the person before the end, and approves after it."""
    claim = office.begun()
    first = office.asks(claim, until="2026-12-18T12:00:00Z")
    standing = {"for": "tool", "times": 1_000, "until": "2026-11-25T12:00:00Z"}
    office.answers(zoe, claim, first, standing=standing)
    other = World(store=InMemoryStore(table_of(office)), clock=office.world.clock)
    with office.world.request():
        deps, task_id = office.world.deps, claim["task"]["id"]
        assert deps.store.tokens.person(WORKSPACE, "zoe").ended_at is None
        Gateway(other.deps).post(ROOT, "/people/zoe/end-approvals", {})
        office.world.clock.advance(1)
        call = WorkerCall(CODER, task_id, claim["claim_id"], "0" * 64, None)
        asked = ask_question(deps, call, Asked(kind=QuestionKind.ACTION, text="Weekly", tool="wire"))
        assert asked.outcome is Outcome.APPROVED
    assert office.uses(claim, {"id": asked.id, "digest": asked.approved_digest}).code == "receipt_refused"


def table_of(office: Office) -> FakeDynamo:
    store = office.world.store
    assert isinstance(store, InMemoryStore)
    return store.dynamo


def test_vote_after_the_end_of_the_earlier_vote_counts_immediately(office: Office) -> None:
    zoe, ada = office.hires("zoe"), office.hires("ada")
    office.world.clock.advance(5)
    claim = office.begun()
    question = office.asks(claim, needed=2)
    office.answers(zoe, claim, question)
    ends(office, "zoe")
    office.answers(zoe, claim, question)
    assert office.answers(ada, claim, question)["outcome"] == "approved"
