"""Attacks by a member who changes an agent between a person's reading and the approval: of open work that rules hold
back from the agent, of a retry, and of a review."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.access.principal import operator
from baton.domain.access.rights import Right
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.tasks.task import MAX_RELEASES
from baton.services.access.change_settings import change_settings
from baton.services.tasks.sweep import sweep
from functions.attacks.test_rules_and_agents import Meanwhile, Office, opened
from support.fakes.store import InMemoryStore
from support.gateway import Gateway, Reply
from support.worlds.world import WORKSPACE, World, agent

DEPLOYER = agent("deployer")
PAY = {"system_prompt": "Pay mallory"}


@pytest.fixture
def office(world: World, gateway: Gateway) -> Office:
    """Ada approves the work of the deployer. Abe approves all other work. Mia is a member."""
    office = opened(world, gateway)
    office.hire("ada", Right.APPROVER)
    assert office.rule({"target": "deployer", "people": ["ada"]}).status == 200
    return office


def must(reply: Reply) -> Any:
    assert reply.status in {200, 201}, reply.text
    return reply.json


def asked(office: Office, target: str | None = None) -> Any:
    named = {} if target is None else {"agent": target}
    request = {"source": {"agent": "planner"}, "target": {**named, "reason": "Deploy 1.2"}}
    task = must(office.gateway.post(agent("planner"), "/handoffs", request))["task"]
    office.world.clock.advance(60)
    return task


def read(office: Office, task: Any) -> dict[str, Any]:
    return {"digest": must(office.ask("ada", "GET", f"/handoffs/{task['handoff_id']}"))["digest"]}


def change(office: Office, slug: str = "deployer", by: str = "mia", **values: Any) -> int:
    version: int = must(office.edit(by, slug, **(values or PAY)))["version"]
    office.world.clock.advance(60)
    return version


def approve(office: Office, by: str, task: Any, verb: str = "approve", **seen: Any) -> Reply:
    reply = office.ask(by, "POST", f"/tasks/{task['id']}/{verb}", seen)
    office.world.clock.advance(60)
    return reply


def claim(office: Office, task: Any, slug: str = "deployer") -> Reply:
    return office.gateway.post(agent(slug), f"/tasks/{task['id']}/claim", {})


@pytest.mark.parametrize("verb", ["approve", "approve-next"])
@pytest.mark.parametrize("is_held", [True, False], ids=["ready", "needs"])
@pytest.mark.parametrize("editor", ["mia", "ci"])
def test_open_work_is_not_approved_as_read_for_a_guarded_agent_that_changed_since(
    office: Office, verb: str, is_held: bool, editor: str
) -> None:
    task = asked(office)
    if is_held:
        must(approve(office, "abe", task, verb))
    seen = read(office, task)
    version = change(office, by=editor)
    refused = approve(office, "ada", task, verb, **seen)
    told = refused.json
    assert (refused.status, refused.code, told["task_id"]) == (409, "agent_changed", task["id"])
    assert (told["agent"], told["version"], told["fields"]) == ("deployer", version, ["system_prompt"])
    assert told["agent_versions"] == {"deployer": version}
    assert "agent_versions.deployer" in told["detail"]
    for other in (version - 1, version + 1):
        unseen = {"agent_versions": {"deployer": other, "anything": version}}
        assert approve(office, "ada", task, verb, **seen, **unseen).code == "agent_changed"
    assert approve(office, "ada", task, verb, **seen, agent_version=version).code == "agent_changed"
    assert claim(office, task).status == 409
    must(approve(office, "ada", task, verb, **seen, agent_versions=told["agent_versions"]))
    (event,) = [
        each["data"]
        for each in must(office.ask("ada", "GET", f"/tasks/{task['id']}/events"))["events"]
        if each["data"].get("seen")
    ]
    assert event["agent_versions"] == {"deployer": version}
    must(claim(office, task))
    assert must(office.ask("ada", "GET", f"/tasks/{task['id']}/events/verify"))["matches_task"]


def test_each_agent_of_open_work_is_named(office: Office) -> None:
    assert office.rule({"target": "deployer", "people": ["ada"]}, {"people": ["ada"]}).status == 200
    task = asked(office)
    seen, versions = read(office, task), {}
    for slug in ("anything", "deployer"):
        versions[slug] = change(office, slug)
    change(office, "planner")  # no agent takes its own handoff
    first = approve(office, "ada", task, **seen)
    second = approve(office, "ada", task, **seen, agent_versions=first.json["agent_versions"])
    assert {first.json["agent"], second.json["agent"]} == {*versions}
    assert second.json["agent_versions"] == versions
    must(approve(office, "ada", task, **seen, agent_versions=versions))


def test_an_agent_that_is_off_for_the_moment_of_an_approval_is_compared(office: Office) -> None:
    task = asked(office)
    seen = read(office, task)
    change(office, active=False, **PAY)
    refused = approve(office, "ada", task, **seen)
    assert (refused.code, refused.json["agent"]) == ("agent_changed", "deployer")


def test_open_work_is_approved_without_a_question_where_no_approval_is_for_a_changed_agent(office: Office) -> None:
    before = asked(office)
    seen = read(office, before)
    change(office, "anything")  # no rule guards it
    change(office, by="abe")
    change(office, description="Deploys")
    must(approve(office, "ada", before, **seen))
    other = asked(office)
    seen = read(office, other)
    version = change(office, system_prompt="Pay mia")
    must(approve(office, "abe", other, **seen))  # counts for no guarded agent
    must(approve(office, "ada", other, **seen, agent_versions={"deployer": version}))
    assert approve(office, "ada", asked(office)).status == 200  # read nothing
    after = asked(office)
    must(approve(office, "ada", after, **read(office, after)))


def test_each_of_many_is_held_to_its_guarded_agents(office: Office) -> None:
    before = asked(office)
    seen, version = read(office, before), change(office)
    after = asked(office)
    items = [{"task_id": before["id"], **seen}, {"task_id": after["id"], **read(office, after)}]
    first, second = must(office.ask("ada", "POST", "/approvals", {"items": items}))["items"]
    assert (first["problem"]["code"], second["status"]) == ("agent_changed", "approved")
    again = [items[0] | {"agent_versions": {"deployer": version}}]
    assert must(office.ask("ada", "POST", "/approvals", {"items": again}))["items"][0]["status"] == "approved"


# An approval that no longer stands


def approve_as_changed(office: Office, task: Any, seen: dict[str, Any], verb: str = "approve") -> int:
    """Mia changes the agent, and ada approves the task for it as it is then."""
    version = change(office)
    reply = office.ask("ada", "POST", f"/tasks/{task['id']}/{verb}", {**seen, "agent_version": version})
    assert must(reply)["state"] in {"delegated", "next"}
    return version


def rule(office: Office, *rules: ApprovalRule) -> None:
    change_settings(office.world.deps, operator(WORKSPACE), {"approval_rules": rules})
    office.world.clock.advance(60)


def undo(office: Office, task: Any) -> None:
    must(office.ask("ada", "POST", f"/tasks/{task['id']}/undo", {}))


def another_change(office: Office, task: Any) -> None:
    office.world.clock.advance(60)
    change(office, system_prompt="Pay mia")
    assert claim(office, task).status == 409


def used_up(office: Office, task: Any) -> None:
    office.world.clock.advance(60)
    must(claim(office, task))
    office.world.clock.advance(3_600)
    sweep(office.world.deps)


def released(office: Office, task: Any) -> None:
    for _ in range(MAX_RELEASES):
        office.world.clock.advance(600)
        body = {"claim_id": must(claim(office, task))["claim_id"]}
        must(office.gateway.post(DEPLOYER, f"/tasks/{task['id']}/release", body))


def left(office: Office, task: Any) -> None:
    office.world.clock.advance(60)
    must(office.ask("root", "POST", "/people/ada/end-approvals", {}))
    office.world.clock.advance(60)
    assert claim(office, task).code == "approval_needed"


@pytest.mark.parametrize("back", [undo, another_change, used_up, released, left])
def test_an_approval_that_no_longer_stands_vouches_for_no_changed_agent(
    office: Office, back: Callable[[Office, Any], None]
) -> None:
    office.hire("zoe", Right.APPROVER)
    rule(office, ApprovalRule(target="deployer", people=("ada", "zoe")))
    must(office.edit("root", "deployer", requeue="needs"))
    task = asked(office, "deployer")
    seen = read(office, task)
    version = approve_as_changed(office, task, seen)
    back(office, task)
    refused = approve(office, "zoe", task, **seen)
    assert (refused.status, refused.code) == (409, "agent_changed")
    must(approve(office, "zoe", task, **seen, agent_version=refused.json["version"]))
    assert refused.json["version"] >= version
    must(claim(office, task))
    assert must(office.ask("ada", "GET", f"/tasks/{task['id']}/events/verify"))["matches_task"]


@pytest.mark.parametrize("verb", ["approve", "approve-next"])
def test_a_second_approver_of_ready_work_has_seen_the_agent_too(office: Office, verb: str) -> None:
    office.hire("zoe", Right.APPROVER)
    task = asked(office, "deployer")
    seen = read(office, task)
    version = approve_as_changed(office, task, seen, verb)
    rule(office, ApprovalRule(target="deployer", people=("ada", "zoe"), needed=2))
    office.world.clock.advance(60)
    assert claim(office, task).code == "approval_needed"
    assert approve(office, "zoe", task, verb, **seen).code == "agent_changed"
    must(approve(office, "zoe", task, verb, **seen, agent_version=version))
    must(claim(office, task))


def test_a_task_that_was_dismissed_is_retried_for_the_agent_as_it_came(office: Office) -> None:
    task = asked(office, "deployer")
    seen = read(office, task)
    version = approve_as_changed(office, task, seen)
    undo(office, task)
    must(office.ask("ada", "POST", f"/tasks/{task['id']}/dismiss", {"reason": "Not now"}))
    assert retry(office, "ada", task).code == "agent_changed"
    must(retry(office, "ada", task, agent_version=version))


def test_an_undone_approval_of_an_unchanged_agent_is_repeated_without_a_version(office: Office) -> None:
    change(office)
    task = asked(office, "deployer")
    for _ in range(2):
        must(office.ask("ada", "POST", f"/tasks/{task['id']}/approve", read(office, task)))
        undo(office, task)
    must(approve(office, "ada", task, **read(office, task)))
    must(claim(office, task))


# A retry


def failed(office: Office, target: str | None) -> Any:
    task = asked(office, target)
    must(approve(office, "ada", task, **read(office, task)))
    held = must(claim(office, task))
    failure = {"claim_id": held["claim_id"], "failure": {"type": "error", "description": "x"}}
    must(office.gateway.post(agent("deployer"), f"/tasks/{task['id']}/fail", failure))
    return task


def retry(office: Office, by: str, task: Any, **seen: Any) -> Reply:
    reply = office.ask(by, "POST", f"/handoffs/{task['handoff_id']}/retry", seen)
    office.world.clock.advance(60)
    return reply


@pytest.mark.parametrize("target", ["deployer", None])
def test_a_retry_is_not_approved_for_an_agent_that_a_member_changed_since_the_approval(
    office: Office, target: str | None
) -> None:
    task = failed(office, target)
    version = change(office)
    refused = retry(office, "ada", task)
    told = refused.json
    assert (refused.status, refused.code, told["retry_of"]) == (409, "agent_changed", task["id"])
    assert (told["agent"], told["version"], told["changed_by"]) == ("deployer", version, "human:mia")

    def named(number: int) -> dict[str, Any]:
        return {"agent_version": number} if target else {"agent_versions": {"deployer": number}}

    for unseen in (version - 1, version + 1):
        assert retry(office, "ada", task, **named(unseen)).code == "agent_changed"
    again = must(retry(office, "ada", task, **named(version)))["task"]
    assert again["state"] == "delegated"
    must(claim(office, again))


@pytest.mark.parametrize("target", ["deployer", None])
def test_a_retry_for_the_agent_as_it_was_approved_needs_no_version(office: Office, target: str | None) -> None:
    task = asked(office, target)
    seen, version = read(office, task), change(office)
    named = {"agent_version": version} if target else {"agent_versions": {"deployer": version}}
    must(approve(office, "ada", task, **seen, **named))
    must(office.ask("ada", "POST", f"/tasks/{task['id']}/cancel", {}))
    assert must(retry(office, "ada", task))["task"]["state"] == "delegated"


@pytest.mark.parametrize("back", [left, None], ids=["giver left", "cancelled"])
def test_an_approval_that_ended_unclaimed_vouches_for_no_retry_by_another_person(
    office: Office, back: Callable[[Office, Any], None] | None
) -> None:
    office.hire("zoe", Right.APPROVER)
    rule(office, ApprovalRule(target="deployer", people=("ada", "zoe")))
    task = asked(office, "deployer")
    version = approve_as_changed(office, task, read(office, task))
    if back is not None:
        back(office, task)
    must(office.ask("zoe", "POST", f"/tasks/{task['id']}/cancel", {"reason": "Not now"}))
    refused = retry(office, "zoe", task)
    assert (refused.status, refused.code, refused.json["version"]) == (409, "agent_changed", version)
    must(claim(office, must(retry(office, "zoe", task, agent_version=version))["task"]))


def test_an_undone_retry_for_a_changed_agent_is_not_approved_as_read(office: Office) -> None:
    office.hire("zoe", Right.APPROVER)
    rule(office, ApprovalRule(target="deployer", people=("ada", "zoe")))
    task = failed(office, "deployer")
    version = change(office)
    again = must(office.ask("ada", "POST", f"/handoffs/{task['handoff_id']}/retry", {"agent_version": version}))["task"]
    undo(office, again)
    assert approve(office, "zoe", again, **read(office, again)).code == "agent_changed"
    must(approve(office, "zoe", again, **read(office, again), agent_version=version))
    must(claim(office, again))


def test_a_person_who_has_left_since_their_approval_retries_for_no_changed_agent(office: Office) -> None:
    task = asked(office, "deployer")
    approve_as_changed(office, task, read(office, task))
    left(office, task)
    must(office.ask("abe", "POST", f"/tasks/{task['id']}/cancel", {"reason": "Not now"}))
    assert retry(office, "ada", task).code == "agent_changed"


def test_a_claim_under_an_approval_makes_it_known_to_each_person_who_retries(office: Office) -> None:
    office.hire("zoe", Right.APPROVER)
    rule(office, ApprovalRule(target="deployer", people=("ada", "zoe")))
    task = asked(office, "deployer")
    approve_as_changed(office, task, read(office, task))
    office.world.clock.advance(60)
    must(claim(office, task))
    must(office.ask("zoe", "POST", f"/tasks/{task['id']}/cancel", {"reason": "Not now"}))
    assert must(retry(office, "zoe", task))["task"]["state"] == "delegated"


def test_a_retry_that_waits_for_an_approval_needs_no_version(office: Office) -> None:
    task = failed(office, "deployer")
    change(office)
    assert must(retry(office, "mia", task))["task"]["state"] == "needs"


# A review


def test_open_work_is_not_released_as_read_for_a_guarded_agent_that_changed_since(office: Office) -> None:
    must(office.ask("root", "PUT", "/workspace/settings", {"root_handoffs_per_hour": 1}))
    asked(office)
    request = {"source": {"agent": "planner"}, "target": {"reason": "Deploy 1.2"}}
    assert office.gateway.post(agent("planner"), "/handoffs", request).code == "loop_guard"
    (review,) = must(office.ask("ada", "GET", "/manual-reviews"))["items"]
    path, seen = f"/manual-reviews/{review['id']}/release", {"version": review["version"]}
    office.world.clock.advance(60)
    version = change(office)
    refused = office.ask("ada", "POST", path, seen)
    assert (refused.code, refused.json["review_id"]) == ("agent_changed", review["id"])
    assert refused.json["agent_versions"] == {"deployer": version}
    made = must(office.ask("ada", "POST", path, seen | {"agent_versions": {"deployer": version}}))["task"]
    office.world.clock.advance(60)
    must(claim(office, made))


def stopped(office: Office, target: str | None = None) -> dict[str, Any]:
    """Returns the request of a root that the loop guard stops."""
    must(office.ask("root", "PUT", "/workspace/settings", {"root_handoffs_per_hour": 1}))
    asked(office, target)
    named = {} if target is None else {"agent": target}
    request = {"source": {"agent": "planner"}, "target": {**named, "reason": "Deploy 1.2"}}
    request_again(office, request)
    return request


def request_again(office: Office, request: dict[str, Any], by: str = "planner") -> None:
    assert office.gateway.post(agent(by), "/handoffs", request).code == "loop_guard"
    office.world.clock.advance(60)


def only_review(office: Office) -> Any:
    (review,) = must(office.ask("ada", "GET", "/manual-reviews"))["items"]
    return review


def release(office: Office, review: Any, **named: Any) -> Reply:
    reply = office.ask(
        "ada", "POST", f"/manual-reviews/{review['id']}/release", {"version": review["version"], **named}
    )
    office.world.clock.advance(60)
    return reply


@pytest.mark.parametrize("target", ["deployer", None])
def test_another_request_of_an_open_review_vouches_for_no_changed_agent(office: Office, target: str | None) -> None:
    request = stopped(office, target)
    version = change(office)
    request_again(office, request)
    review = only_review(office)
    refused = release(office, review)
    assert (refused.status, refused.code, refused.json["agent"]) == (409, "agent_changed", "deployer")
    named = {"agent_version": version} if target else {"agent_versions": {"deployer": version}}
    must(claim(office, must(release(office, review, **named))["task"]))


@pytest.mark.parametrize("between", [None, "anything"], ids=["the same", "another between"])
@pytest.mark.parametrize("target", ["deployer", None], ids=["named", "open"])
def test_a_request_for_another_target_in_between_vouches_for_no_changed_agent(
    office: Office, target: str | None, between: str | None
) -> None:
    body = {"target": {"agent": "planner", "reason": "Plan"}, "budget": {"max_handoffs": 1}}
    root = must(office.ask("ada", "POST", "/handoffs", body))["task"]
    office.world.clock.advance(60)
    held = must(claim(office, root, "planner"))["claim_id"]

    def ask(slug: str | None) -> None:
        must(office.gateway.post(agent("planner"), f"/tasks/{root['id']}/heartbeat", {"claim_id": held}))
        named = {} if slug is None else {"agent": slug}
        request_again(
            office, {"source": {"agent": "planner"}, "claim_id": held, "target": {**named, "reason": "Deploy 1.2"}}
        )

    ask(target)
    change(office)
    if between is not None:
        ask(between)
    ask(target)
    refused = release(office, only_review(office))
    assert (refused.status, refused.code, refused.json["agent"]) == (409, "agent_changed", "deployer")


@pytest.mark.parametrize("target", ["deployer", None], ids=["named", "open"])
def test_a_review_that_opens_again_after_a_change_needs_no_version(office: Office, target: str | None) -> None:
    request = stopped(office, target)
    change(office)
    must(office.ask("ada", "POST", f"/manual-reviews/{only_review(office)['id']}/close", {"reason": "Not now"}))
    request_again(office, request)
    must(claim(office, must(release(office, only_review(office)))["task"]))


def test_an_undone_release_to_a_changed_agent_is_not_approved_as_read(office: Office) -> None:
    office.hire("zoe", Right.APPROVER)
    rule(office, ApprovalRule(target="deployer", people=("ada", "zoe")))
    stopped(office, "deployer")
    version = change(office)
    review = only_review(office)
    path, named = f"/manual-reviews/{review['id']}/release", {"version": review["version"], "agent_version": version}
    made = must(office.ask("ada", "POST", path, named))["task"]
    undo(office, made)
    assert approve(office, "zoe", made, **read(office, made)).code == "agent_changed"
    must(approve(office, "zoe", made, **read(office, made), agent_version=version))
    must(claim(office, made))


# An agent that a member or a service registers

NEW = pytest.mark.parametrize(
    "values",
    [{}, {"description": "Sends the money to mallory", "aliases": ["Vault Two"]}, {"accepts": ["deploy"]}],
    ids=["bare", "described", "declared"],
)
NEWCOMER = "newcomer"


def register(office: Office, by: str, values: dict[str, Any]) -> Any:
    registered = must(office.edit(by, NEWCOMER, **values))
    office.world.clock.advance(60)
    return registered


def guarded_work(office: Office) -> Any:
    """Open work. Ada approves work of all agents."""
    rule(office, ApprovalRule(people=("ada",)))
    return asked(office)


@NEW
@pytest.mark.parametrize("by", ["mia", "ci"])
def test_no_agent_that_was_registered_after_an_approval_takes_the_work(
    office: Office, by: str, values: dict[str, Any]
) -> None:
    task = guarded_work(office)
    must(approve(office, "ada", task, **read(office, task)))
    register(office, by, values)
    assert claim(office, task, NEWCOMER).status == 409
    must(claim(office, task))


@NEW
@pytest.mark.parametrize("by", ["mia", "ci"])
def test_open_work_is_not_approved_as_read_for_an_agent_that_was_registered_since(
    office: Office, by: str, values: dict[str, Any]
) -> None:
    task = guarded_work(office)
    seen = read(office, task)
    register(office, by, values)
    refused = approve(office, "ada", task, **seen)
    told = refused.json
    assert (refused.status, refused.code, told["agent"]) == (409, "agent_changed", NEWCOMER)
    assert told["fields"] == ["name", "accepts", "produces", "runtime"]
    must(approve(office, "ada", task, **seen, agent_versions=told["agent_versions"]))
    must(claim(office, task, NEWCOMER))


@pytest.mark.parametrize("by", ["mia", "ci"])
def test_an_import_registers_an_agent_that_no_approver_has_seen(office: Office, by: str) -> None:
    task = guarded_work(office)
    must(approve(office, "ada", task, **read(office, task)))
    must(office.ask(by, "POST", "/agents/import", {"agents": {NEWCOMER: {}}}))
    office.world.clock.advance(60)
    assert claim(office, task, NEWCOMER).status == 409


@NEW
def test_an_agent_that_an_approver_registers_counts_as_seen(office: Office, values: dict[str, Any]) -> None:
    task = guarded_work(office)
    must(approve(office, "ada", task, **read(office, task)))
    register(office, "abe", {name: value for name, value in values.items() if name != "accepts"})
    must(claim(office, task, NEWCOMER))


def test_work_that_came_after_the_registration_is_approved_as_read(office: Office) -> None:
    register(office, "mia", {})
    for task in (guarded_work(office), asked(office, NEWCOMER)):
        must(approve(office, "ada", task, **read(office, task)))
        must(claim(office, task, NEWCOMER))


# An approval that is processed beside an edit


def held_back(office: Office) -> tuple[Any, dict[str, Any]]:
    """Open work that abe has approved and ada has read."""
    task = asked(office)
    must(approve(office, "abe", task))
    return task, read(office, task)


@pytest.mark.parametrize("skew", [-1.5, 0, 1.5])
@pytest.mark.parametrize("verb", ["approve", "approve-next"])
def test_an_approval_ends_with_the_next_edit_whatever_the_clocks_show(office: Office, verb: str, skew: float) -> None:
    task = asked(office)
    must(approve(office, "abe", task, verb))
    seen = read(office, task)
    office.world.clock.advance(skew)  # the process of the approval
    must(office.ask("ada", "POST", f"/tasks/{task['id']}/{verb}", seen))
    office.world.clock.advance(0.1 - skew)  # the process of the edit
    must(office.edit("mia", "deployer", **PAY))
    office.world.clock.advance(60)
    assert claim(office, task).code == "approval_needed"


@pytest.mark.parametrize("skew", [-1.5, 0, 1.5])
def test_open_work_is_compared_with_an_edit_since_it_came_whatever_the_clocks_show(office: Office, skew: float) -> None:
    office.world.clock.advance(60 + skew)
    request = {"source": {"agent": "planner"}, "target": {"reason": "Deploy 1.2"}}
    task = must(office.gateway.post(agent("planner"), "/handoffs", request))["task"]
    seen = read(office, task)
    office.world.clock.advance(0.1 - skew)
    must(office.edit("mia", "deployer", **PAY))
    office.world.clock.advance(60)
    assert approve(office, "ada", task, **seen).code == "agent_changed"
    must(approve(office, "ada", asked(office), **read(office, asked(office))))


@pytest.mark.parametrize("names_it", [True, False], ids=["digest", "no digest"])
@pytest.mark.parametrize("is_held", [True, False], ids=["ready", "needs"])
def test_an_edit_during_the_request_that_approves_ends_the_approval(is_held: bool, names_it: bool) -> None:
    store = Meanwhile()
    world = World(store=store)
    office = opened(world, Gateway(world.deps))
    office.hire("ada", Right.APPROVER)
    assert office.rule({"target": "deployer", "people": ["ada"]}).status == 200
    task, seen = held_back(office)
    if not is_held:
        task = asked(office)
        seen = read(office, task)
    world.clock.advance(1)

    def meanwhile() -> None:
        world.clock.advance(milliseconds=5)
        must(office.edit("mia", "deployer", **PAY))
        office.agent("deployer")  # the process knows the agents as they are then
        world.clock.advance(milliseconds=5)

    store.steps = {"dispatch_inputs": meanwhile}
    office.ask("ada", "POST", f"/tasks/{task['id']}/approve", seen if names_it else {})
    assert store.steps == {}
    world.clock.advance(60)
    assert claim(office, task).status == 409
    assert office.agent("deployer")["system_prompt"] == PAY["system_prompt"]


# Items of an earlier release


def as_by_an_earlier_release(office: Office) -> None:
    """Neither approvals nor changes of agents have a version of the roster, as an earlier release wrote them."""
    assert isinstance(office.world.store, InMemoryStore)
    dynamo = office.world.store.dynamo
    for item in dynamo.contents().values():
        kept = {name: value for name, value in item.items() if name != "service_roster"}
        if "accepts" in kept and "S" in kept["accepts"]:
            kept["accepts"] = {"S": re.sub(r" @\d+", "", kept["accepts"]["S"])}
        dynamo.put(kept)
    office.world = World(store=InMemoryStore(dynamo), clock=office.world.clock)
    office.gateway = Gateway(office.world.deps)


def test_an_approval_of_an_earlier_release_counts_for_agents_that_never_changed(office: Office) -> None:
    office.hire("zoe", Right.APPROVER)
    task, seen = held_back(office)
    change(office, "anything")
    must(approve(office, "ada", task, **seen))
    as_by_an_earlier_release(office)
    must(claim(office, task))
    other, seen = held_back(office)
    must(approve(office, "ada", other, **seen))
    change(office)
    as_by_an_earlier_release(office)
    assert claim(office, other).code == "approval_needed"


def test_a_change_under_an_earlier_release_ends_earlier_approvals_only(office: Office) -> None:
    task, seen = held_back(office)
    change(office)
    as_by_an_earlier_release(office)
    assert approve(office, "ada", task, **seen).code == "agent_changed"
    version = office.agent("deployer")["version"]
    must(approve(office, "ada", task, **seen, agent_versions={"deployer": version}))
    must(claim(office, task))
    other, seen = held_back(office)
    must(approve(office, "ada", other, **seen))
    must(claim(office, other, "deployer"))


@pytest.mark.parametrize("verb", ["approve", "approve-next"])
@pytest.mark.parametrize("is_retried", [False, True])
def test_ones_own_approval_that_was_ended_vouches_for_no_changed_agent(
    office: Office, verb: str, is_retried: bool
) -> None:
    """A thief of Ada's token names the changed agent, and an administrator ends her approvals."""
    task = asked(office)
    must(approve(office, "abe", task, verb))
    seen, version = read(office, task), change(office)
    must(approve(office, "ada", task, verb, **seen, agent_versions={"deployer": version}))
    must(office.ask("root", "POST", "/people/ada/end-approvals", {}))
    office.world.clock.advance(60)
    if is_retried:
        must(office.ask("root", "POST", f"/tasks/{task['id']}/cancel", {"reason": "x"}))
        refused = office.ask("ada", "POST", f"/handoffs/{task['handoff_id']}/retry", {})
    else:
        refused = approve(office, "ada", task, verb, **seen)
    assert (refused.status, refused.code) == (409, "agent_changed")
