"""Attacks on approval rules about handoffs: the request is worded in another way, made by another route, or made by
another kind of caller. No guarded agent ever holds a claim without the approvals that its rules ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Right
from baton.ports.writes import Save
from baton.services.tasks.sweep import sweep
from support.gateway import Gateway, Reply
from support.worlds.http_agents import ALICE
from support.worlds.world import WORKSPACE, World, agent, human, person, service

ADA, BERT, MALLORY = (human(name=name) for name in ("ada", "bert", "mallory"))
CI = service()
AGENTS: dict[str, dict[str, Any]] = {
    "src1": {"accepts": ["plan"]},
    "helper": {"accepts": ["docs", "plan"], "produces": ["docs"]},
    "deployer": {"name": "Deployer", "aliases": ["Ship It"], "accepts": ["Deploy", "docs"]},
}
TWO = {"group": "leads", "needed": 2, "not_author": True}
RULES = {
    "by target": {**TWO, "target": "deployer"},
    "by alias": {**TWO, "target": "ship-it"},
    "by work type": {**TWO, "work_type": "deploy"},
    "by source": {**TWO, "source": "src1"},
    "by all": {**TWO, "source": "src1", "target": "deployer", "work_type": "deploy"},
}

MARKED = {"source_digest_url": "https://notes.example/1", "create_task": True, "task_priority": "P0"}


def said(source: str, target: str | None, /, **more: Any) -> dict[str, Any]:
    named = {} if target is None else {"agent": target}
    return {"source": {"agent": source}, "target": {**named, "reason": f"Deploy it for {source}"}, **more}


@dataclass
class Scheme:
    """A workspace with a rule, and people and agents who want around it."""

    world: World
    gateway: Gateway
    seen: dict[str, set[str]] = field(default_factory=dict)

    def settle(self, *rules: dict[str, Any]) -> Scheme:
        for slug, values in AGENTS.items():
            assert self.gateway.put(ALICE, f"/agents/{slug}", {"name": slug, **values}).status == 201
        for by in (ADA, BERT, MALLORY):
            self.must(ALICE, "/tokens", {"kind": "human", "subject": by.id})
        settings = {"groups": {"leads": ["ada", "bert"]}, "approval_rules": list(rules)}
        assert self.gateway.put(ALICE, "/workspace/settings", settings).status == 200
        return self

    def must(self, by: Principal, path: str, body: Any = None) -> Any:
        reply = self.gateway.post(by, path, body)
        assert reply.status in {200, 201}, reply.text
        return reply.json

    def hand(self, by: Principal, source: str, target: str | None, /, **more: Any) -> str:
        made = self.must(by, "/handoffs", said(source, target, **more))
        return str(made["task"]["id"])

    @property
    def tasks(self) -> list[Any]:
        ids = sorted(key[0].rpartition("#")[2] for key in self.world.stored() if key[1] == "HEAD")
        return [self.world.task(each) for each in ids]

    def approve_all(self, *people: Principal) -> None:
        """Each approves each open task, by any door."""
        for task in self.tasks:
            for by in people:
                if not task.is_ended and task.claim is None:
                    self.gateway.post(by, f"/tasks/{task.id}/approve")
        self.world.clock.advance(5)

    def deployer_takes(self) -> list[str]:
        """Returns the tasks that the guarded agent gets, by its queue and by every id that it knows."""
        found, by = [], agent("deployer")
        while (reply := self.gateway.post(by, "/agents/deployer/claims")).status == 200:
            found.append(reply.json["task"]["id"])
        for task in self.tasks:
            if not task.is_ended and task.claim is None:
                reply = self.gateway.post(by, f"/tasks/{task.id}/claim")
                found += [task.id] if reply.status == 200 else []
        return found

    def begun(self, slug: str = "helper", source: str = "src1", **more: Any) -> Any:
        """Returns the claim on a task that was rightly approved."""
        self.hand(agent(source), source, slug, **more)
        self.approve_all(MALLORY, ADA, BERT)
        return self.must(agent(slug), f"/agents/{slug}/claims")

    def say(self, claim: Any, verb: str, **body: Any) -> Reply:
        by, task_id = agent(claim["task"]["claim"]["agent"]), claim["task"]["id"]
        reply = self.gateway.post(by, f"/tasks/{task_id}/{verb}", {"claim_id": claim["claim_id"], **body})
        assert reply.status in {200, 201}, reply.text
        return reply


@pytest.fixture
def scheme(world: World, gateway: Gateway) -> Scheme:
    return Scheme(world, gateway)


# Ways of making work that the deployer would take. ``OF_SRC1``: the agent of the rule by source is behind it.


def targeted(it: Scheme) -> None:
    it.hand(agent("src1"), "src1", "deployer")


def targeted_by_alias(it: Scheme) -> None:
    it.hand(agent("src1"), "src1", "Ship It")


def typed(it: Scheme) -> None:
    it.hand(agent("src1"), "src1", "deployer", work_type="deploy")


def other_type(it: Scheme) -> None:
    it.hand(agent("src1"), "src1", "deployer", work_type="docs")


def open_work(it: Scheme) -> None:
    it.hand(agent("src1"), "src1", None)


def open_work_that_requires_it(it: Scheme) -> None:
    artifacts = [{"type": "Deploy", "path": "/release"}]
    it.hand(agent("src1"), "src1", None, context={"artifacts": artifacts})


def by_a_service(it: Scheme) -> None:
    it.hand(CI, "src1", None)
    it.hand(CI, "src1", "deployer")


def by_a_person(it: Scheme) -> None:
    it.hand(MALLORY, "src1", None)
    it.hand(MALLORY, "src1", "deployer")


def by_a_person_for_herself(it: Scheme) -> None:
    it.hand(MALLORY, "mallory", None)
    it.hand(MALLORY, "mallory", "deployer")


def twining(it: Scheme) -> None:
    it.must(agent("src1"), "/twining-handoff", {"source_agent": "src1", "summary": "Deploy", "results": []})


def marker(it: Scheme) -> None:
    body = {"source_agent": "src1", "target_agent": "deployer", "escalation_reason": "Deploy it", **MARKED}
    it.must(agent("src1"), "/handoff-markers", body)


def branches(it: Scheme) -> None:
    parts = [
        {"call_id": "a", "target": {"reason": "Deploy"}},
        {"call_id": "b", "target": {"agent": "deployer", "reason": "x"}},
    ]
    it.say(it.begun(), "delegate", branches=parts, join={"policy": "all"})


def child(it: Scheme) -> None:
    claim = it.begun()
    for target in (None, "deployer"):
        it.must(agent("helper"), "/handoffs", {**said("helper", target), "claim_id": claim["claim_id"]})


def transfer(it: Scheme) -> None:
    it.say(it.begun(), "transfer", target={"agent": "deployer", "reason": "Deploy"})


def continuation(it: Scheme) -> None:
    it.say(it.begun(), "complete", continuation={"suggested_next": "deployer", "reason": "Deploy"})


def rollback(it: Scheme) -> None:
    failure = {"type": "error", "description": "Deploy it"}
    it.say(it.begun(), "fail", failure=failure, rollback_request={"target_agent": "deployer"})


def split(it: Scheme) -> None:
    task_id = it.hand(agent("src1"), "src1", "helper", work_type="deploy")
    parts = [{"summary": "one", "target": {"agent": "deployer"}}, {"summary": "two", "target": {"agent": None}}]
    it.must(MALLORY, f"/tasks/{task_id}/split", {"parts": parts})


def split_of_guarded(it: Scheme) -> None:
    task_id = it.hand(agent("src1"), "src1", "deployer", work_type="deploy")
    it.must(MALLORY, f"/tasks/{task_id}/split", {"parts": [{"summary": "one"}, {"summary": "two"}]})


def retry(it: Scheme) -> None:
    task_id = it.hand(agent("src1"), "src1", "deployer")
    it.must(MALLORY, f"/tasks/{task_id}/cancel")
    handoff = it.world.task(task_id).handoff_id
    it.must(MALLORY, f"/handoffs/{handoff}/retry")


def released(it: Scheme) -> None:
    """The loop guard stops a child, and a person releases it."""
    claim = it.begun()
    it.gateway.put(ALICE, "/workspace/settings", {"max_depth": 1})
    body = {**said("helper", "deployer"), "claim_id": claim["claim_id"]}
    assert it.gateway.post(agent("helper"), "/handoffs", body).code == "loop_guard"
    (review,) = it.gateway.get(MALLORY, "/manual-reviews").json["items"]
    it.must(MALLORY, f"/manual-reviews/{review['id']}/release")


def capped(it: Scheme) -> None:
    """The cap stops the third escalation in one direction, and a person releases it."""
    body = {"source_agent": "src1", "target_agent": "deployer", "escalation_reason": "Deploy", **MARKED}
    for _ in range(3):
        answer = it.must(agent("src1"), "/handoff-markers", body)
        if answer.get("task_id"):
            it.must(MALLORY, f"/tasks/{answer['task_id']}/cancel")
    (review,) = it.gateway.get(MALLORY, "/manual-reviews").json["items"]
    it.must(MALLORY, f"/manual-reviews/{review['id']}/release")


def conversation(it: Scheme) -> None:
    begun = it.must(MALLORY, "/conversations", {"agent": "deployer", "message": "Deploy it"})
    assert begun


OF_SRC1: list[Callable[[Scheme], None]] = [
    *(targeted, targeted_by_alias, typed, other_type, open_work, open_work_that_requires_it, by_a_service, by_a_person),
    *(
        twining,
        marker,
        branches,
        child,
        transfer,
        continuation,
        rollback,
        split,
        split_of_guarded,
        retry,
        released,
        capped,
    ),
]
OF_OTHERS: list[Callable[[Scheme], None]] = [by_a_person_for_herself, conversation]
ESCAPES = [(way, rule) for way in OF_SRC1 for rule in RULES] + [
    (way, rule) for way in OF_OTHERS for rule in RULES if rule not in {"by source", "by all"}
]


@pytest.mark.parametrize(("way", "rule"), ESCAPES, ids=lambda of: getattr(of, "__name__", of))
def test_no_guarded_agent_holds_a_claim_without_the_approvals(
    scheme: Scheme, way: Callable[[Scheme], None], rule: str
) -> None:
    scheme.settle(RULES[rule])
    way(scheme)
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert scheme.deployer_takes() == [], "one of two has approved"
    scheme.approve_all(BERT)
    assert scheme.deployer_takes() != [], "both have approved"


def test_one_agents_rule_does_not_hold_open_work_from_others(scheme: Scheme) -> None:
    scheme.settle(RULES["by target"])
    task_id = scheme.hand(agent("src1"), "src1", None)
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    assert scheme.world.task(task_id).state == "delegated"
    assert scheme.must(agent("helper"), "/agents/helper/claims")["task"]["id"] == task_id


def test_many_agents_under_one_rule_make_no_long_list(scheme: Scheme) -> None:
    """A member can register agents that a rule about a type of work fits. At most 20 of them are shown."""
    scheme.settle({"work_type": "release", "group": "leads", "needed": 2})
    task_id = scheme.hand(ALICE, "src1", None)
    before = scheme.gateway.get(ADA, f"/tasks/{task_id}").json["held"]
    for number in range(25):
        scheme.gateway.put(person(Right.MEMBER, "mem"), f"/agents/zed{number:02d}", {"name": f"zed{number:02d}"})
    after = scheme.gateway.get(ADA, f"/tasks/{task_id}").json["held"]
    assert [each["agent_count"] for each in after] == [each["agent_count"] + 25 for each in before]
    assert [len(each["agents"]) for each in after] == [20]


def test_the_rules_people_see_what_a_guarded_agent_would_take(scheme: Scheme) -> None:
    scheme.settle(RULES["by target"])
    assert scheme.gateway.get(ADA, "/tasks", query="held=true").json["items"] == []
    open_id = scheme.hand(agent("src1"), "src1", None)
    scheme.approve_all(MALLORY)
    (held,) = scheme.gateway.get(ADA, "/tasks", query="held=true").json["items"]
    never = ["agent:src1", "human:alice"]  # who made the agent's token
    agents: dict[str, Any] = {"agent": "deployer", "agents": ["deployer"], "agent_count": 1}
    rule = {**agents, "people": [], "group": "leads", "needed": 2, "never": never, "given": []}
    assert (held["id"], held["state"], held["held"]) == (open_id, "delegated", [rule])
    seen = {"revision": held["revision"], "digest": held["digest"]}
    assert scheme.gateway.post(MALLORY, f"/tasks/{open_id}/approve", seen).code == "not_asked"
    after = scheme.must(ADA, f"/tasks/{open_id}/approve", seen)
    assert (after["state"], after["held"]) == ("delegated", [{**rule, "given": ["ada"]}])
    assert scheme.gateway.post(ADA, f"/tasks/{open_id}/approve", seen).code == "approval_counted"
    assert (
        scheme.gateway.post(BERT, f"/tasks/{open_id}/approve", {**seen, "digest": "0" * 64}).code == "revision_changed"
    )
    assert scheme.must(BERT, f"/tasks/{open_id}/approve", seen)["held"] == []
    assert scheme.gateway.get(ADA, "/tasks", query="held=true").json["items"] == []
    assert scheme.gateway.post(BERT, f"/tasks/{open_id}/approve", seen).code == "not_allowed"
    claim = scheme.must(agent("deployer"), "/agents/deployer/claims")
    assert claim["task"]["id"] == open_id
    events = scheme.gateway.get(ADA, f"/tasks/{open_id}/events").json["events"]
    given = [each["data"] for each in events if each["type"] == "approval_given"]
    assert [(each["by"], each["agents"]) for each in given] == [("ada", ["deployer"]), ("bert", ["deployer"])]
    assert events[-1]["data"]["approved_by"] == ["ada", "bert", "mallory"]


@pytest.mark.parametrize("target", ["deployer", None])
def test_the_rules_people_see_and_approve_work_that_a_source_further_up_holds(
    scheme: Scheme, target: str | None
) -> None:
    """The rule is newer than the approval of the targeted work. Open work has no target when it is requested."""
    claim = scheme.settle().begun()
    scheme.must(agent("helper"), "/handoffs", {**said("helper", target), "claim_id": claim["claim_id"]})
    for _ in range(3):
        scheme.hand(agent("src1"), "src1", "deployer", summary="Held as well")
    scheme.approve_all(MALLORY)
    rule = {"source": "src1", "target": "deployer", "people": ["ada"]}
    assert scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [rule]}).status == 200
    assert scheme.deployer_takes() == []
    (below,) = (each.id for each in scheme.tasks if each.source_agent == "helper")
    listed = scheme.gateway.get(ADA, "/tasks", query="held=true").json["items"]
    assert below in {each["id"] for each in listed}
    (held,) = (each["held"] for each in listed if each["id"] == below)
    assert [(each["agent"], each["people"], each["given"]) for each in held] == [("deployer", ["ada"], [])]
    assert scheme.gateway.post(MALLORY, f"/tasks/{below}/approve").code == "not_asked"
    scheme.must(ADA, f"/tasks/{below}/approve")
    assert scheme.deployer_takes() == [below]


def test_an_agent_further_up_takes_the_open_work_of_its_chain_with_its_rules_approval(scheme: Scheme) -> None:
    scheme.settle({"source": "src1", "target": "src1", "people": ["ada"]})
    claim = scheme.begun()
    task_id = scheme.must(agent("helper"), "/handoffs", {**said("helper", None), "claim_id": claim["claim_id"]})
    scheme.approve_all(MALLORY)
    path = f"/tasks/{task_id['task']['id']}"
    assert scheme.gateway.post(agent("src1"), f"{path}/claim").code == "approval_needed"
    scheme.must(ADA, f"{path}/approve")
    assert scheme.gateway.post(agent("src1"), f"{path}/claim").status == 200


def test_held_work_behind_much_other_work_is_listed(scheme: Scheme) -> None:
    scheme.settle()
    for _ in range(30):
        scheme.hand(MALLORY, "helper", "deployer")
    scheme.world.clock.advance(1)
    task_id = scheme.hand(MALLORY, "src1", "deployer")
    scheme.world.clock.advance(5)
    rule = {"source": "src1", "target": "deployer", "people": ["ada"]}
    assert scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [rule]}).status == 200
    (held,) = scheme.gateway.get(ADA, "/tasks", query="held=true&limit=10").json["items"]
    assert held["id"] == task_id


@dataclass
class Guarded:
    """Work for ``next`` or open work that needed Ada's approval when it was made, by a rule that was lifted since."""

    scheme: Scheme
    task_id: str

    def is_claimed(self) -> bool:
        return self.scheme.deployer_takes() == [self.task_id]


def guarded(scheme: Scheme, target: str | None, *, use: str = "approve", lifted: str = "after") -> Guarded:
    scheme.settle({"source": "src1", "people": ["ada", "cara"]})
    scheme.must(ALICE, "/tokens", {"kind": "human", "subject": "cara"})
    task_id = scheme.hand(agent("src1"), "src1", target)
    if lifted == "before":
        assert scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": []}).status == 200
    scheme.must(ADA, f"/tasks/{task_id}/{use}")
    if lifted == "after":
        assert scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": []}).status == 200
    scheme.world.clock.advance(5)
    return Guarded(scheme, task_id)


def leaves(scheme: Scheme, name: str) -> None:
    (token,) = (each["id"] for each in scheme.gateway.get(ALICE, "/tokens").json["items"] if each["subject"] == name)
    assert scheme.gateway.send(ALICE, "DELETE", f"/tokens/{token}").status in {200, 204}


@pytest.mark.parametrize("lifted", ["before", "after"])
@pytest.mark.parametrize("target", ["deployer", None])
def test_an_approver_who_left_no_longer_counts_for_work_whose_rule_was_lifted(
    scheme: Scheme, target: str | None, lifted: str
) -> None:
    work = guarded(scheme, target, lifted=lifted)
    leaves(scheme, "ada")
    assert not work.is_claimed()
    path = f"/tasks/{work.task_id}"
    (held,) = (each for each in scheme.gateway.get(ALICE, path).json["held"] if "deployer" in each["agents"])
    assert (held["people"], held["given"]) == (["ada", "cara"], [])
    assert scheme.gateway.post(MALLORY, f"{path}/approve").code == "not_asked"
    scheme.must(human(name="cara"), f"{path}/approve")
    assert work.is_claimed()


@pytest.mark.parametrize("lifted", ["before", "after"])
@pytest.mark.parametrize("target", ["deployer", None])
def test_work_whose_rule_was_lifted_is_claimed_with_its_approvals(
    scheme: Scheme, target: str | None, lifted: str
) -> None:
    assert guarded(scheme, target, lifted=lifted).is_claimed()


def test_an_agent_that_changed_since_needs_new_approvals_of_work_whose_rule_was_lifted(scheme: Scheme) -> None:
    work = guarded(scheme, None)
    assert scheme.gateway.put(service(), "/agents/deployer", {"name": "Other", "accepts": ["docs"]}).status == 200
    scheme.world.clock.advance(1)
    assert not work.is_claimed()
    scheme.must(ADA, f"/tasks/{work.task_id}/approve")
    assert work.is_claimed()


def test_the_refusal_says_what_lacks_and_who_may_give_it(scheme: Scheme) -> None:
    scheme.settle(RULES["by target"])
    task_id = scheme.hand(agent("src1"), "src1", None)
    scheme.approve_all(ADA)
    refused = scheme.gateway.post(service(), f"/tasks/{task_id}/claim", {"agent": "deployer"})
    assert (refused.status, refused.code) == (409, "approval_needed")
    assert refused.json["lacks"] == [{"needed": 2, "of": "the group leads", "given": ["ada"]}]
    assert f"baton tasks approve {task_id}" in refused.json["detail"]


def test_only_people_whose_approval_counts_defer_guarded_work(scheme: Scheme) -> None:
    rule = {"target": "deployer", "group": "leads", "then_group": "others", "then_after_seconds": 60}
    settings = {"groups": {"leads": ["ada", "bert"], "others": ["mallory"]}, "approval_rules": [rule]}
    assert scheme.settle().gateway.put(ALICE, "/workspace/settings", settings).status == 200
    task_id = scheme.hand(agent("src1"), "src1", "deployer")
    until = {"until": times.rfc3339(scheme.world.clock.now() + times.seconds(3_600))}
    refused = scheme.gateway.post(MALLORY, f"/tasks/{task_id}/defer", until)
    assert (refused.status, refused.code) == (403, "not_asked")
    assert [task["id"] for task in scheme.gateway.get(ADA, "/tasks", query="state=needs").json["items"]] == [task_id]
    assert scheme.gateway.post(ADA, f"/tasks/{task_id}/defer", until).status == 200


def test_an_author_whom_a_rule_excludes_defers_no_work(scheme: Scheme) -> None:
    scheme.settle({"target": "deployer", "group": "leads", "not_author": True})
    task_id = scheme.hand(BERT, "src1", "deployer")
    until = {"until": times.rfc3339(scheme.world.clock.now() + times.seconds(3_600))}
    assert scheme.gateway.post(BERT, f"/tasks/{task_id}/defer", until).code == "not_asked"
    assert scheme.gateway.post(ADA, f"/tasks/{task_id}/defer", until).status == 200


def test_a_person_who_left_no_longer_counts_at_the_claim(scheme: Scheme) -> None:
    scheme.settle({**RULES["by target"], "needed": 1})
    token = scheme.must(ALICE, "/tokens", {"kind": "human", "subject": "cara"})
    scheme.gateway.put(ALICE, "/workspace/settings", {"groups": {"leads": ["ada", "cara"]}})
    scheme.hand(agent("src1"), "src1", None)
    scheme.approve_all(human(name="cara"))
    assert scheme.gateway.send(ALICE, "DELETE", f"/tokens/{token['id']}").status in {200, 204}
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert scheme.deployer_takes() != []


def test_the_next_group_counts_at_the_claim_once_it_is_let_in(scheme: Scheme) -> None:
    rule = {"target": "deployer", "group": "leads", "then_group": "others", "then_after_seconds": 60}
    groups = {"leads": ["ada", "bert"], "others": ["mallory"]}
    scheme.settle().gateway.put(ALICE, "/workspace/settings", {"groups": groups, "approval_rules": [rule]})
    early, late = (scheme.hand(agent("src1"), "src1", "deployer", summary=each) for each in ("early", "late"))
    assert scheme.gateway.post(MALLORY, f"/tasks/{early}/approve").code == "not_asked"
    scheme.world.clock.advance(61)
    sweep(scheme.world.deps)
    assert scheme.must(MALLORY, f"/tasks/{late}/approve")["state"] == "delegated"
    scheme.world.clock.advance(5)
    assert scheme.deployer_takes() == [late]


@pytest.mark.parametrize("later", ["by target", "by work type", "by source"])
def test_a_stricter_rule_holds_work_that_was_approved_before(scheme: Scheme, later: str) -> None:
    scheme.settle({"target": "helper", "people": ["ada"]})
    task_id = scheme.hand(agent("src1"), "src1", "deployer")
    scheme.approve_all(ADA)
    scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [RULES[later]]})
    assert scheme.deployer_takes() == []
    (held,) = scheme.gateway.get(ADA, "/tasks", query="held=true").json["items"]
    assert (held["id"], held["held"][0]["given"]) == (task_id, ["ada"])
    scheme.approve_all(BERT)
    assert scheme.deployer_takes() == [task_id]


def test_a_rule_that_was_lifted_holds_nothing_any_more(scheme: Scheme) -> None:
    scheme.settle(RULES["by target"])
    task_id = scheme.hand(agent("src1"), "src1", None)
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": []})
    assert scheme.deployer_takes() == [task_id]


def test_a_hundred_held_tasks_hide_no_other_work_and_cost_a_poll_no_reading(scheme: Scheme) -> None:
    scheme.settle(RULES["by target"])
    for _ in range(30):
        scheme.hand(MALLORY, "src1", None)
    scheme.world.clock.advance(5)
    free = scheme.hand(MALLORY, "src1", None, metadata={"priority": "P2"})
    for by in (ADA, BERT):
        scheme.must(by, f"/tasks/{free}/approve")
    scheme.world.clock.advance(5)
    assert scheme.must(agent("deployer"), "/agents/deployer/claims")["task"]["id"] == free


def test_a_rule_that_is_newer_than_a_claim_is_judged_when_the_claim_is_resumed(scheme: Scheme) -> None:
    claim = scheme.settle().begun("deployer")
    task_id, by = claim["task"]["id"], agent("deployer")
    assert scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [RULES["by target"]]}).status == 200
    again = {"resume_fence": claim["task"]["claim"]["fence"]}
    refused = scheme.gateway.post(by, f"/tasks/{task_id}/claim", again)
    assert (refused.status, refused.code) == (409, "approval_needed")
    assert scheme.world.task(task_id).fence == claim["task"]["claim"]["fence"]
    scheme.say(claim, "release", reason="The session has ended")
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA, BERT)
    (resumed,) = scheme.deployer_takes()
    fence = scheme.world.task(resumed).fence
    assert scheme.gateway.post(by, f"/tasks/{task_id}/claim", {"resume_fence": fence}).status == 200


def test_a_rule_that_is_newer_than_a_claim_is_judged_when_the_task_comes_back_with_answers(scheme: Scheme) -> None:
    claim = scheme.settle().begun("deployer")
    question = scheme.say(claim, "ask", kind="text", text="Now?").json
    scheme.say(claim, "wait-for-answers", questions=[question["id"]])
    assert scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [RULES["by target"]]}).status == 200
    answer = {"outcome": "answered", "answer": "Yes"}
    scheme.must(ADA, f"/tasks/{claim['task']['id']}/questions/{question['id']}/answer", answer)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA, BERT)
    assert scheme.deployer_takes() == [claim["task"]["id"]]


def with_token_of(scheme: Scheme, maker: Principal, kind: str, subject: str) -> Callable[..., Any]:
    """Returns a function that posts with a token that the person made."""
    scopes = ["act_as"] if kind == "service" else ["converse"]
    token = scheme.must(maker, "/tokens", {"kind": kind, "subject": subject, "scopes": scopes})["token"]
    headers = {"authorization": f"Bearer {token}"}

    def post(path: str, body: Any) -> Any:
        reply = scheme.gateway.send(None, "POST", path, body, headers=headers)
        assert reply.status in {200, 201}, reply.text
        return reply.json

    return post


@pytest.mark.parametrize("target", ["deployer", None])
@pytest.mark.parametrize(("kind", "subject"), [("agent", "src1"), ("service", "robot")])
def test_the_person_who_made_the_authors_token_is_its_author(
    scheme: Scheme, kind: str, subject: str, target: str | None
) -> None:
    scheme.settle({"target": "deployer", "group": "leads", "not_author": True})
    maker, other = (ADA, BERT) if kind == "agent" else (ALICE, ADA)
    scheme.gateway.put(ALICE, "/workspace/settings", {"groups": {"leads": ["ada", "bert", "alice"]}})
    with_token_of(scheme, maker, kind, subject)("/handoffs", said("src1", target))
    scheme.approve_all(MALLORY, maker)
    assert scheme.deployer_takes() == []
    scheme.approve_all(other)
    assert len(scheme.deployer_takes()) == 1


def release_all(scheme: Scheme, by: Principal) -> None:
    for review in scheme.gateway.get(by, "/manual-reviews").json["items"]:
        scheme.must(by, f"/manual-reviews/{review['id']}/release")


def stopped_root(it: Scheme, maker: Principal, kind: str, path: str, body: dict[str, Any]) -> None:
    """Two roots in one direction, with a token that the person made. The limit stops the second one."""
    it.gateway.put(ALICE, "/agents/src1", {"root_handoffs_per_hour": 1})
    post = with_token_of(it, maker, kind, "src1" if kind == "agent" else "robot")
    first = post(path, body)
    it.must(MALLORY, f"/tasks/{first['task']['id']}/cancel")
    with pytest.raises(AssertionError, match="loop_guard"):
        post(path, body)


def stopped_root_of_an_agent(it: Scheme) -> None:
    stopped_root(it, BERT, "agent", "/handoffs", said("src1", "deployer"))


def stopped_root_of_a_service(it: Scheme) -> None:
    stopped_root(it, ALICE, "service", "/handoffs", said("src1", "deployer"))


def stopped_conversation(it: Scheme) -> None:
    stopped_root(it, BERT, "agent", "/conversations", {"agent": "deployer", "message": "Deploy it"})


def stopped_marker(it: Scheme) -> None:
    post = with_token_of(it, BERT, "agent", "src1")
    body = {"source_agent": "src1", "target_agent": "deployer", "escalation_reason": "Deploy", **MARKED}
    while task_id := post("/handoff-markers", body).get("task_id"):
        it.must(MALLORY, f"/tasks/{task_id}/cancel")


def stopped_child(it: Scheme) -> None:
    claim = it.begun()
    it.gateway.put(ALICE, "/workspace/settings", {"max_depth": 1})
    it.say(claim, "release", reason="The session has ended")
    post = with_token_of(it, BERT, "agent", "helper")
    claim = post("/agents/helper/claims", None)
    with pytest.raises(AssertionError, match="loop_guard"):
        post("/handoffs", {**said("helper", "deployer"), "claim_id": claim["claim_id"]})


STOPPED: list[Callable[[Scheme], None]] = [
    *(stopped_root_of_an_agent, stopped_root_of_a_service, stopped_conversation, stopped_marker, stopped_child),
]


@pytest.mark.parametrize("is_released_by_maker", [True, False])
@pytest.mark.parametrize("way", STOPPED, ids=lambda of: of.__name__)
def test_the_person_who_made_the_requesters_token_is_an_author_after_a_release(
    scheme: Scheme, way: Callable[[Scheme], None], *, is_released_by_maker: bool
) -> None:
    scheme.settle(NOT_AUTHOR)
    scheme.gateway.put(ALICE, "/workspace/settings", {"groups": {"leads": ["ada", "bert", "alice"]}})
    way(scheme)
    maker = ALICE if way is stopped_root_of_a_service else BERT
    release_all(scheme, maker if is_released_by_maker else MALLORY)
    scheme.approve_all(MALLORY, maker)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert len(scheme.deployer_takes()) == 1


def test_a_released_request_has_the_authors_of_the_latest_request(scheme: Scheme) -> None:
    scheme.settle(NOT_AUTHOR)
    stopped_root(scheme, ADA, "agent", "/handoffs", said("src1", "deployer"))
    with pytest.raises(AssertionError, match="loop_guard"):
        with_token_of(scheme, BERT, "agent", "src1")("/handoffs", said("src1", "deployer"))
    release_all(scheme, BERT)
    scheme.approve_all(BERT)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert len(scheme.deployer_takes()) == 1


def test_the_person_who_releases_a_review_without_authors_counts_as_its_author(scheme: Scheme) -> None:
    """An earlier release stored the review."""
    scheme.settle(NOT_AUTHOR)
    stopped_root_of_an_agent(scheme)
    store = scheme.world.store
    (review,) = store.escalations.reviews(WORKSPACE, 10, None).items
    store.commit(WORKSPACE, Save(replace(review, authors=(), version=review.version + 1)))
    release_all(scheme, BERT)
    scheme.approve_all(BERT)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert len(scheme.deployer_takes()) == 1


def test_an_action_of_released_work_excludes_the_person_who_made_the_requesters_token(scheme: Scheme) -> None:
    scheme.settle({"tool": "pay", "group": "leads", "not_author": True})
    stopped_root_of_an_agent(scheme)
    release_all(scheme, BERT)
    scheme.world.clock.advance(5)
    claim = scheme.must(agent("deployer"), "/agents/deployer/claims")
    task_id = claim["task"]["id"]
    action = {"claim_id": claim["claim_id"], "kind": "action", "text": "Pay bert", "tool": "pay", "arguments": {}}
    question = scheme.must(agent("deployer"), f"/tasks/{task_id}/ask", action)
    answer = {"outcome": "approved", "digest": question["digest"]}
    path = f"/tasks/{task_id}/questions/{question['id']}/answer"
    assert scheme.gateway.post(BERT, path, answer).code == "not_asked"
    assert scheme.must(ADA, path, answer)["outcome"] == "approved"


def test_parts_of_a_split_keep_the_maker_of_the_authors_token(scheme: Scheme) -> None:
    scheme.settle({"target": "deployer", "group": "leads", "not_author": True})
    made = with_token_of(scheme, ADA, "agent", "src1")("/handoffs", said("src1", None))
    parts = [{"summary": "one", "target": {"agent": "deployer"}}, {"summary": "two"}]
    scheme.must(MALLORY, f"/tasks/{made['task']['id']}/split", {"parts": parts})
    scheme.approve_all(MALLORY, ADA)
    assert scheme.deployer_takes() == []
    scheme.approve_all(BERT)
    assert len(scheme.deployer_takes()) == 2


NOT_AUTHOR = {"target": "deployer", "group": "leads", "not_author": True}
TO_DEPLOYER = {"agent": "deployer", "reason": "Deploy it"}


def split_by_bert(it: Scheme) -> None:
    """A lead splits the agent's open work and writes the parts."""
    whole = it.hand(agent("src1"), "src1", None)
    parts = [{"summary": "Delete production", "target": {"reason": "I wrote it"}}] * 2
    it.must(BERT, f"/tasks/{whole}/split", {"parts": parts})


def split_twice(it: Scheme) -> None:
    split_by_bert(it)
    for part in [each for each in it.tasks if not each.is_ended]:
        it.must(MALLORY, f"/tasks/{part.id}/split", {"parts": [{"summary": "one"}, {"summary": "two"}]})


def retried_by(by: Principal) -> Callable[[Scheme], None]:
    def way(it: Scheme) -> None:
        task_id = it.hand(BERT, "src1", None)
        it.must(BERT, f"/tasks/{task_id}/cancel")
        it.must(by, f"/handoffs/{it.world.task(task_id).handoff_id}/retry")

    way.__name__ = f"retried_by_{by.kind}"
    return way


def begun_by_bert(it: Scheme) -> Any:
    it.hand(BERT, "src1", "helper")
    it.approve_all(MALLORY)
    return it.must(agent("helper"), "/agents/helper/claims")


def branch_of_bert(it: Scheme) -> None:
    it.say(begun_by_bert(it), "delegate", branches=[{"call_id": "a", "target": TO_DEPLOYER, "summary": "x"}])


def transferred_of_bert(it: Scheme) -> None:
    it.say(begun_by_bert(it), "transfer", target=TO_DEPLOYER)


def continued_of_bert(it: Scheme) -> None:
    it.say(begun_by_bert(it), "complete", continuation={"suggested_next": "deployer", "reason": "Deploy"})


def rolled_back_of_bert(it: Scheme) -> None:
    failure = {"type": "error", "description": "Deploy it"}
    it.say(begun_by_bert(it), "fail", failure=failure, rollback_request={"target_agent": "deployer"})


def released_of_bert(it: Scheme) -> None:
    claim = begun_by_bert(it)
    it.gateway.put(ALICE, "/workspace/settings", {"max_depth": 1})
    body = {**said("helper", "deployer"), "claim_id": claim["claim_id"]}
    assert it.gateway.post(agent("helper"), "/handoffs", body).code == "loop_guard"
    (review,) = it.gateway.get(MALLORY, "/manual-reviews").json["items"]
    it.must(MALLORY, f"/manual-reviews/{review['id']}/release")


OF_BERT: list[Callable[[Scheme], None]] = [
    *(split_by_bert, split_twice, retried_by(MALLORY), retried_by(agent("src1")), branch_of_bert, transferred_of_bert),
    *(continued_of_bert, rolled_back_of_bert, released_of_bert),
]


@pytest.mark.parametrize("way", OF_BERT, ids=lambda of: of.__name__)
def test_who_wrote_the_work_or_a_part_of_it_stays_its_author(scheme: Scheme, way: Callable[[Scheme], None]) -> None:
    scheme.settle(NOT_AUTHOR)
    way(scheme)
    scheme.approve_all(MALLORY, BERT)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert scheme.deployer_takes() != []


def test_the_earlier_speakers_of_a_conversation_are_authors_of_its_next_task(scheme: Scheme) -> None:
    scheme.settle(NOT_AUTHOR)
    begun = scheme.must(BERT, "/conversations", {"agent": "deployer", "message": "Deploy it"})
    for speaker in (ALICE, MALLORY):
        scheme.approve_all(ADA)
        scheme.say(scheme.must(agent("deployer"), "/agents/deployer/claims"), "complete")
        scheme.must(speaker, f"/conversations/{begun['conversation_id']}/messages", {"message": "Deploy it now"})
    scheme.approve_all(MALLORY, BERT)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert len(scheme.deployer_takes()) == 1


def test_who_splits_guarded_work_stays_excluded_once_the_rule_is_lifted(scheme: Scheme) -> None:
    scheme.settle(NOT_AUTHOR)
    whole = scheme.hand(agent("src1"), "src1", "deployer")
    scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": []})
    scheme.must(BERT, f"/tasks/{whole}/split", {"parts": [{"summary": "one"}, {"summary": "two"}]})
    scheme.approve_all(BERT)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert len(scheme.deployer_takes()) == 2


DAY = 86_400
INTERNS = {"leads": ["ada"], "interns": ["mallory"]}
LATE = {"target": "deployer", "group": "leads", "needed": 1, "then_group": "interns", "then_after_seconds": 20 * DAY}
OTHERS = [
    {"source": "src1", "people": ["bert"], "then_group": "interns", "then_after_seconds": 60},
    {"source": "src1", "group": "leads", "needed": 1, "then_group": "interns", "then_after_seconds": 60},
]


def with_interns(scheme: Scheme, rules: list[dict[str, Any]]) -> None:
    settings = {"groups": INTERNS, "approval_rules": rules}
    assert scheme.settle().gateway.put(ALICE, "/workspace/settings", settings).status == 200


def next_groups_come(scheme: Scheme, seconds: int) -> None:
    scheme.world.clock.advance(seconds)
    sweep(scheme.world.deps)


@pytest.mark.parametrize("target", ["deployer", None])
@pytest.mark.parametrize("other", OTHERS, ids=["other people", "same people"])
def test_a_next_group_counts_for_the_rule_alone_whose_time_has_come(
    scheme: Scheme, other: dict[str, Any], target: str | None
) -> None:
    with_interns(scheme, [other, LATE])
    scheme.hand(agent("src1"), "src1", target)
    next_groups_come(scheme, 120)
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert len(scheme.deployer_takes()) == 1


def test_a_part_of_a_split_waits_for_the_next_group_anew(scheme: Scheme) -> None:
    with_interns(scheme, [LATE])
    whole = scheme.hand(agent("src1"), "src1", "deployer")
    next_groups_come(scheme, 20 * DAY + 1)
    scheme.must(ADA, f"/tasks/{whole}/split", {"parts": [{"summary": "one"}, {"summary": "two"}]})
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    next_groups_come(scheme, 20 * DAY + 1)
    scheme.approve_all(MALLORY)
    assert len(scheme.deployer_takes()) == 2


def test_a_next_group_that_was_let_in_is_not_inherited(scheme: Scheme) -> None:
    with_interns(scheme, [LATE])
    whole = scheme.hand(agent("src1"), "src1", "deployer")
    next_groups_come(scheme, 20 * DAY + 1)
    scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": []})
    scheme.must(ADA, f"/tasks/{whole}/split", {"parts": [{"summary": "one"}, {"summary": "two"}]})
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert len(scheme.deployer_takes()) == 2


def test_a_new_rule_opens_no_inherited_need_to_its_next_group(scheme: Scheme) -> None:
    """The third agent of a chain inherits the need of the first one."""
    rules = [{"target": "helper", "group": "leads", "needed": 1}]
    with_interns(scheme, rules)
    scheme.say(scheme.begun(), "transfer", target={"agent": "src1", "reason": "r"})
    scheme.approve_all(ADA)
    soon = {**LATE, "then_after_seconds": 60}
    assert scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [*rules, soon]}).status == 200
    scheme.say(scheme.must(agent("src1"), "/agents/src1/claims"), "transfer", target=TO_DEPLOYER)
    next_groups_come(scheme, 120)
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    scheme.approve_all(ADA)
    assert len(scheme.deployer_takes()) == 1


def test_a_new_rule_shortens_no_wait_for_the_next_group_of_an_inherited_need(scheme: Scheme) -> None:
    """The third agent of a chain inherits the need of the first one, which a rule for the first agent asked for."""
    rules = [{**LATE, "target": "helper"}]
    with_interns(scheme, rules)
    scheme.say(scheme.begun(), "transfer", target={"agent": "src1", "reason": "r"})
    scheme.approve_all(ADA)
    soon = {**LATE, "then_after_seconds": 60}
    assert scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [*rules, soon]}).status == 200
    scheme.say(scheme.must(agent("src1"), "/agents/src1/claims"), "transfer", target=TO_DEPLOYER)
    next_groups_come(scheme, 120)
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    next_groups_come(scheme, 20 * DAY)
    scheme.approve_all(MALLORY)
    assert len(scheme.deployer_takes()) == 1


def test_an_inherited_need_keeps_its_next_group_once_its_rule_is_lifted(scheme: Scheme) -> None:
    with_interns(scheme, [LATE])
    whole = scheme.hand(agent("src1"), "src1", "deployer")
    scheme.gateway.put(ALICE, "/workspace/settings", {"approval_rules": []})
    scheme.must(ADA, f"/tasks/{whole}/split", {"parts": [{"summary": "one"}, {"summary": "two"}]})
    next_groups_come(scheme, 20 * DAY - 1)
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    next_groups_come(scheme, 2)
    scheme.approve_all(MALLORY)
    assert len(scheme.deployer_takes()) == 2


def test_a_next_group_of_the_same_rule_counts_for_inherited_needs(scheme: Scheme) -> None:
    with_interns(
        scheme, [{"source": "src1", "group": "leads", "needed": 1, "then_group": "interns", "then_after_seconds": 60}]
    )
    claim = scheme.begun()
    scheme.say(claim, "transfer", target=TO_DEPLOYER)
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []
    next_groups_come(scheme, 120)
    scheme.approve_all(MALLORY)
    assert len(scheme.deployer_takes()) == 1


def test_a_next_group_of_other_people_counts_for_no_other_rule(scheme: Scheme) -> None:
    with_interns(scheme, [OTHERS[0], {**LATE, "then_after_seconds": 60}])
    scheme.hand(agent("src1"), "src1", None)
    next_groups_come(scheme, 120)
    scheme.approve_all(MALLORY)
    assert scheme.deployer_takes() == []


@pytest.mark.parametrize("rules", [[OTHERS[1], LATE], [LATE, OTHERS[1]]], ids=["early first", "late first"])
def test_of_two_rules_for_the_same_people_the_later_next_group_is_let_in(
    scheme: Scheme, rules: list[dict[str, Any]]
) -> None:
    with_interns(scheme, rules)
    task_id = scheme.hand(agent("src1"), "src1", "deployer")
    next_groups_come(scheme, 120)
    assert scheme.gateway.post(MALLORY, f"/tasks/{task_id}/approve").code == "not_asked"
