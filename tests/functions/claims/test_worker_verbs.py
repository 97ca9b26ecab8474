"""How a claim is ended over HTTP: with evidence, with a failure, by handing on, by waiting."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain import times
from support.worlds.http_agents import ALICE, CRITERIA, HttpAgents
from support.worlds.world import World, agent, human

EXPECTED = {"deliverables": [{"type": "code", "description": "The module", "acceptance_criteria": CRITERIA}]}
TARGET = {"agent": "qa", "reason": "Test the implementation"}


def reports(*met: bool) -> dict[str, Any]:
    told = [{"criterion": text, "met": yes} for text, yes in zip(CRITERIA, met, strict=False)]
    return {"tests_passing": True, "acceptance_criteria_met": told}


# Completing


def test_completion_is_answered_kept_and_found_in_the_inbox(http_agents: HttpAgents) -> None:
    claim = http_agents.begun(expectations=EXPECTED)
    said = {
        "deliverables": [
            {
                "type": "code",
                "files_created": ["/src/jwt.ts"],
                "files_modified": ["/src/app.ts"],
                "tests_created": ["/tests/auth.test.ts"],
                "coverage": 0.93,
            }
        ],
        "verification": {**reports(True, True), "type_check_passing": True, "mutants_killed": 12},
        "notes": ["Added rotation"],
        "results": [{"description": "The module", "status": "completed"}],
    }
    done = http_agents.say(claim, "complete", output={"ok": 1}, **said)
    assert (done.status, done.json["state"], done.json["output"]) == (200, "done", {"ok": 1})
    completion = done.json["completion"]
    assert completion["completion_id"].startswith("comp_")
    assert completion["status"] == "success"
    assert {name: completion[name] for name in said} == said
    handoff = http_agents.gateway.get(ALICE, f"/handoffs/{done.json['handoff_id']}").json
    assert (handoff["status"], handoff["completion"]) == ("completed", completion)
    (item,) = http_agents.gateway.get(agent("architect"), "/agents/architect/inbox").json["items"]
    assert item["content"]["completion_id"] == completion["completion_id"]
    assert http_agents.say(claim, "complete", output={"ok": 1}, **said).json == done.json
    assert http_agents.say(claim, "complete", output={"ok": 2}, **said).code == "stale_claim"


def test_unreported_criteria_are_listed_and_the_claim_goes_on(http_agents: HttpAgents) -> None:
    claim = http_agents.begun(expectations=EXPECTED)
    reply = http_agents.say(claim, "complete", verification=reports(True))
    assert (reply.status, reply.code) == (422, "criteria_unreported")
    assert reply.json["criteria"] == CRITERIA[1:]
    assert http_agents.say(claim, "heartbeat").status == 200


def test_unmet_criterion_makes_it_partial(http_agents: HttpAgents) -> None:
    claim = http_agents.begun(expectations=EXPECTED)
    done = http_agents.say(claim, "complete", verification=reports(True, False))
    assert (done.json["state"], done.json["completion"]["status"]) == ("done", "partial")


def test_suggestion_becomes_a_handoff_with_what_the_next_needs(http_agents: HttpAgents) -> None:
    claim = http_agents.begun(context={"state": {"a": 1}})
    next_ = {
        "suggested_next": "qa",
        "reason": "Test it",
        "context_for_next": {"focus_areas": ["auth"], "state": {"b": 2}},
    }
    answered = http_agents.say(claim, "complete", continuation=next_).json["completion"]["continuation"]
    assert (answered["status"], answered["target_agent"]) == ("created", "qa")
    handoff = http_agents.gateway.get(ALICE, f"/handoffs/{answered['handoff_id']}").json
    assert (handoff["kind"], handoff["target"]["reason"]) == ("continuation", "Test it")
    assert handoff["context"] == {"state": {"a": 1, "b": 2}, "focus_areas": ["auth"]}
    assert handoff["continues"]["handoff_id"] == claim["task"]["handoff_id"]


def test_unknown_suggestion_is_recorded_and_refuses_nothing(http_agents: HttpAgents) -> None:
    done = http_agents.say(http_agents.begun(), "complete", continuation={"suggested_next": "nobody"})
    assert (done.status, done.json["completion"]["continuation"]["status"]) == (200, "unknown_agent")


# Failing and refusing


def test_failure_is_rolled_back_with_what_was_done(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    failure = {
        "type": "blocker",
        "description": "No OAuth credentials",
        "blockers": [{"type": "missing_information", "description": "Client id", "required_to_proceed": True}],
        "partial_progress": {"completed": ["JWT"], "incomplete": ["OAuth"]},
    }
    back = {"target_agent": "architect", "reason": "Need credentials", "questions": ["Skip OAuth?"]}
    reply = http_agents.say(claim, "fail", failure=failure, rollback_request=back)
    assert (reply.status, reply.json["state"]) == (200, "failed")
    answer = reply.json
    assert answer["failure"] == failure
    assert answer["failure_id"].startswith("fail_")
    assert answer["checkpoint_id"].startswith("chk_")
    assert (answer["rollback"]["status"], answer["rollback"]["target_agent"]) == ("created", "architect")
    handoff = http_agents.gateway.get(ALICE, f"/handoffs/{answer['rollback']['handoff_id']}").json
    assert (handoff["kind"], handoff["failure"]) == ("rollback", None)
    assert handoff["rolls_back"]["handoff_id"] == claim["task"]["handoff_id"]
    assert handoff["rolls_back"]["rollback_request"] == back
    assert handoff["rolls_back"]["failure"] == {**failure, "failure_id": answer["failure_id"]}
    assert handoff["rolls_back"]["checkpoint_id"] == answer["checkpoint_id"]
    assert http_agents.say(claim, "fail", failure=failure, rollback_request=back).json == reply.json
    assert http_agents.gateway.get(ALICE, f"/tasks/{claim['task']['id']}").json["failure"] == failure
    failed = http_agents.gateway.get(ALICE, f"/handoffs/{claim['task']['handoff_id']}").json
    assert failed["status"] == "failed"
    assert (
        failed["failure"].items()
        >= {**failure, "failure_id": answer["failure_id"], "rollback": answer["rollback"]}.items()
    )


def test_failure_without_progress_has_no_checkpoint(http_agents: HttpAgents) -> None:
    answer = http_agents.say(http_agents.begun(), "fail", failure={"type": "error", "description": "broke"}).json
    assert (answer["checkpoint_id"], answer["rollback"]["target_agent"]) == (None, "architect")


def test_retryable_failure_goes_back_and_is_shown_to_the_next(http_agents: HttpAgents, world: World) -> None:
    claim = http_agents.begun()
    progress = {"completed": ["half"]}
    reply = http_agents.say(
        claim,
        "fail",
        failure={"type": "timeout", "description": "slow", "partial_progress": progress},
        retryable=True,
    )
    assert (reply.json["state"], reply.json["attempt"]) == ("delegated", 1)
    assert "rollback" not in reply.json["failure"]
    world.clock.advance(5)
    again = http_agents.take("auto-code")
    assert again["task"]["failure"]["description"] == "slow"
    assert again["checkpoint"]["step_name"] == "partial_auto-code"
    assert again["checkpoint"]["state"] == {"partial_progress": progress}


def test_rejection_says_why_and_goes_back(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    reply = http_agents.say(claim, "reject", reason="Not my trade")
    assert (reply.status, reply.json["state"]) == (200, "rejected")
    assert reply.json["failure"]["description"] == "Not my trade"
    assert reply.json["rollback"]["target_agent"] == "architect"
    assert http_agents.say(claim, "reject", reason="Not my trade").json == reply.json
    assert http_agents.say(claim, "reject", reason="Another").code == "stale_claim"


# Handing on and waiting


def test_transfer_ends_the_task_and_another_goes_on(http_agents: HttpAgents) -> None:
    claim = http_agents.begun(expectations=EXPECTED, context={"state": {"a": 1}})
    reply = http_agents.say(
        claim, "transfer", target={"agent": "ciso", "reason": "Theirs"}, context={"state": {"b": 2}}
    )
    assert (reply.status, reply.json["state"]) == (200, "done")
    (next_id,) = reply.json["successors"]
    assert (reply.json["output"]["handoff"], reply.json["output"]["new_task_id"]) == (True, next_id)
    next_ = http_agents.take("ciso")
    assert (next_["task"]["id"], next_["task"]["parent_id"]) == (next_id, claim["task"]["id"])
    assert next_["body"]["expectations"] == EXPECTED
    assert next_["body"]["context"]["state"] == {"a": 1, "b": 2}
    assert http_agents.say(claim, "transfer", target={"agent": "ciso", "reason": "x"}).code == "stale_claim"


def test_transfer_to_itself_leaves_the_task_as_it_was(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    reply = http_agents.say(claim, "transfer", target={"agent": "auto-code", "reason": "again"})
    assert (reply.status, reply.code) == (409, "loop_guard")
    assert http_agents.say(claim, "heartbeat").status == 200


def test_delegated_task_goes_on_with_its_results(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    branches = [
        {"target": TARGET, "summary": "Test"},
        {"call_id": "toolu_1", "target": {"agent": "ciso", "reason": "Audit"}},
    ]
    waiting = http_agents.say(claim, "delegate", branches=branches)
    assert (waiting.status, waiting.json["state"], waiting.json["claim"]) == (200, "waiting", None)
    wait = waiting.json["wait"]
    assert (wait["for"], wait["policy"], wait["number"], wait["interaction_id"]) == ("branches", "all", 1, None)
    assert [each["call_id"] for each in wait["branches"]] == ["call_1", "toolu_1"]
    first, second = http_agents.take("qa"), http_agents.take("ciso")
    assert first["task"]["join_parent"] == claim["task"]["id"]
    http_agents.say(first, "complete", output={"passed": 12})
    http_agents.say(second, "fail", failure={"type": "error", "description": "no access"})
    joined(http_agents, claim)
    again = http_agents.take("auto-code")
    assert [(each["call_id"], each["state"], each["output"]) for each in again["results"]] == [
        ("call_1", "done", {"passed": 12}),
        ("toolu_1", "failed", None),
    ]
    assert again["task"]["wait"] is None


def joined(http_agents: HttpAgents, claim: Any) -> None:
    from baton.services.claims.join_branches import join_branches

    assert join_branches(http_agents.gateway.deps, "acme", claim["task"]["id"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"branches": []}, "branches"),
        ({"branches": [{"target": TARGET}] * 11}, "branches"),
        ({"branches": [{"target": {"agent": "qa"}}]}, "branches.0.target.reason"),
        ({"branches": [{"call_id": "a b", "target": TARGET}]}, "branches.0.call_id"),
        ({"branches": [{"call_id": "call_2", "target": TARGET}, {"target": TARGET}]}, "branches"),
        ({"branches": [{"target": TARGET}], "join": {"policy": "most"}}, "join.policy"),
        ({"branches": [{"target": TARGET}], "join": {"policy": "quorum"}}, "join.quorum"),
        ({"branches": [{"target": TARGET}], "join": {"policy": "quorum", "quorum": 2}}, "join.quorum"),
        ({"branches": [{"target": {"agent": "nobody", "reason": "x"}}]}, "branches.0.target.agent"),
    ],
)
def test_wrong_delegation_is_named_and_the_claim_goes_on(http_agents: HttpAgents, body: Any, field: str) -> None:
    claim = http_agents.begun()
    reply = http_agents.say(claim, "delegate", **body)
    assert (reply.status, reply.fields) == (422, [field])
    assert http_agents.say(claim, "heartbeat").status == 200


# Checkpoints and callbacks


def test_checkpoint_is_kept_and_listed_with_the_state_handed_over(http_agents: HttpAgents, world: World) -> None:
    claim = http_agents.begun(context={"state": {"phase": "2"}})
    world.clock.advance(1)
    saved = http_agents.say(claim, "checkpoints", step_name="half", state={"done": ["jwt"]})
    assert (saved.status, saved.json["step_name"], saved.json["task"]["state"]) == (201, "half", "claimed")
    task = claim["task"]
    for path in (f"/tasks/{task['id']}/checkpoints", f"/workflows/{task['workflow_id']}/checkpoints"):
        kept = http_agents.gateway.get(ALICE, path).json["items"]
        assert [(each["step_name"], each["state"]) for each in kept] == [
            ("half", {"done": ["jwt"]}),
            ("pre_handoff_architect_to_auto-code", {"phase": "2"}),
        ]
        assert kept[0]["checkpoint_id"] == saved.json["checkpoint_id"]
        assert http_agents.gateway.get(human("other"), path).status == 404
    handoff = http_agents.gateway.get(ALICE, f"/handoffs/{task['handoff_id']}").json
    assert handoff["rollback"]["checkpoint_id"] == kept[1]["checkpoint_id"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"state": {}}, "step_name"),
        ({"step_name": "", "state": {}}, "step_name"),
        ({"step_name": "x", "state": 1}, "state"),
    ],
)
def test_wrong_checkpoint_is_named(http_agents: HttpAgents, body: Any, field: str) -> None:
    reply = http_agents.say(http_agents.begun(), "checkpoints", **body)
    assert (reply.status, reply.fields) == (422, [field])


def waiting_for_a_callback(http_agents: HttpAgents, **body: Any) -> tuple[Any, Any]:
    claim = http_agents.begun()
    reply = http_agents.say(claim, "wait-callback", interaction_id="research-1", **body)
    assert reply.status == 200, reply.text
    return claim, reply.json


def test_callback_wakes_the_task_with_what_was_posted(http_agents: HttpAgents) -> None:
    claim, waiting = waiting_for_a_callback(http_agents, until="2026-11-19T12:00:00Z")
    assert (waiting["state"], waiting["wait"]["for"], waiting["wait"]["policy"]) == ("waiting", "callback", None)
    assert waiting["callback"]["until"] == "2026-11-19T12:00:00.000Z"
    path = waiting["callback"]["url"].removeprefix("https://baton.example")
    assert (
        http_agents.say(claim, "wait-callback", interaction_id="research-1", until="2026-11-19T12:00:00Z").json
        == waiting
    )
    reply = http_agents.gateway.send(None, "POST", path, ["any", {"value": 1}])
    assert (reply.status, reply.json) == (200, {"accepted": True})
    assert http_agents.gateway.send(None, "POST", path, ["any", {"value": 1}]).status == 200
    used = http_agents.gateway.send(None, "POST", path, {"another": 1})
    assert (used.status, used.code) == (409, "callback_used")
    again = http_agents.take("auto-code")
    assert (again["callback"], again["interaction_id"]) == (["any", {"value": 1}], "research-1")


@pytest.mark.parametrize("body", [None, "", "null", " "])
def test_empty_callback_is_null(http_agents: HttpAgents, body: Any) -> None:
    _, waiting = waiting_for_a_callback(http_agents)
    path = waiting["callback"]["url"].removeprefix("https://baton.example")
    assert http_agents.gateway.send(None, "POST", path, body).status == 200
    assert http_agents.take("auto-code")["callback"] is None


def test_address_is_told_nowhere_but_in_its_answer(http_agents: HttpAgents, capsys: pytest.CaptureFixture[str]) -> None:
    claim, waiting = waiting_for_a_callback(http_agents)
    path = waiting["callback"]["url"].removeprefix("https://baton.example")
    token = path.removeprefix("/callbacks/")
    forged = token[:-1] + ("0" if token[-1] != "0" else "1")
    for wrong in (forged, "x", f"{'a' * 301}.{'0' * 64}", "nothing." + "0" * 64):
        reply = http_agents.gateway.send(None, "POST", f"/callbacks/{wrong}", {})
        assert (reply.status, reply.code) == (404, "not_found")
    http_agents.gateway.send(None, "POST", path, "x" * 262_200)
    http_agents.gateway.send(None, "POST", path, "not json")
    http_agents.gateway.send(None, "POST", path, {"a": "hush"})
    shown = "".join(
        http_agents.gateway.get(ALICE, f"/tasks/{claim['task']['id']}{end}").text for end in ("", "/events", "/notes")
    )
    logged = capsys.readouterr().out
    assert token not in shown + logged
    assert token.partition(".")[2] not in shown + logged
    assert "hush" not in logged


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "interaction_id"),
        ({"interaction_id": ""}, "interaction_id"),
        ({"interaction_id": "x", "until": "2026-11-18T11:00:00Z"}, "until"),
        ({"interaction_id": "x", "until": "2027-01-18T11:00:00Z"}, "until"),
        ({"interaction_id": "x", "until": "tomorrow"}, "until"),
    ],
)
def test_wrong_wait_is_named_and_the_claim_goes_on(http_agents: HttpAgents, body: Any, field: str) -> None:
    claim = http_agents.begun()
    reply = http_agents.say(claim, "wait-callback", **body)
    assert (reply.status, reply.fields) == (422, [field])
    assert http_agents.say(claim, "heartbeat").status == 200


WORDS: dict[str, dict[str, Any]] = {
    "complete": {"output": 1},
    "fail": {"failure": {"type": "error", "description": "x"}},
    "reject": {"reason": "x"},
    "transfer": {"target": TARGET},
    "delegate": {"branches": [{"target": TARGET}]},
    "wait-callback": {"interaction_id": "x"},
    "checkpoints": {"step_name": "x", "state": {}},
}


@pytest.mark.parametrize("verb", WORDS)
def test_other_claims_and_other_callers_change_nothing(http_agents: HttpAgents, verb: str) -> None:
    claim = http_agents.begun()
    path = f"/tasks/{claim['task']['id']}/{verb}"
    before = http_agents.gateway.get(ALICE, f"/tasks/{claim['task']['id']}").json
    stolen = http_agents.gateway.post(agent("qa"), path, {"claim_id": claim["claim_id"], **WORDS[verb]})
    reply = http_agents.gateway.post(agent("qa"), path, {"claim_id": "clm_guess", **WORDS[verb]})
    unknown = http_agents.gateway.post(
        agent("qa"), f"/tasks/task_unknown/{verb}", {"claim_id": "clm_guess", **WORDS[verb]}
    )
    assert (reply.status, reply.text) == (404, unknown.text)
    guessed = http_agents.gateway.post(agent("auto-code"), path, {"claim_id": "clm_guess", **WORDS[verb]})
    foreign = http_agents.gateway.post(
        agent("auto-code", "other"), path, {"claim_id": claim["claim_id"], **WORDS[verb]}
    )
    assert (stolen.status, stolen.code, guessed.code) == (409, "stale_claim", "stale_claim")
    assert foreign.status in {404, 409}
    assert http_agents.gateway.get(ALICE, f"/tasks/{claim['task']['id']}").json == before


def test_late_words_are_refused_and_kept_once(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    path = f"/tasks/{claim['task']['id']}"
    http_agents.gateway.post(ALICE, f"{path}/cancel", {"reason": "enough"})
    for output in ("first", "second"):
        assert http_agents.say(claim, "complete", output=output).code == "stale_claim"
    (late,) = http_agents.gateway.get(ALICE, f"{path}/late-results").json["items"]
    assert (late["fence"], late["agent"], late["verb"], late["content"]["output"]) == (
        1,
        "auto-code",
        "complete",
        "first",
    )
    assert http_agents.gateway.get(human("other"), f"{path}/late-results").status == 404


def test_a_late_result_is_listed_with_each_digit_of_a_number(http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    path = f"/tasks/{claim['task']['id']}"
    http_agents.gateway.post(ALICE, f"{path}/cancel", {"reason": "enough"})
    body = f'{{"claim_id": "{claim["claim_id"]}", "output": [12345678901234567.10, 0.10]}}'
    assert http_agents.gateway.post(agent("auto-code"), f"{path}/complete", body).code == "stale_claim"
    assert "[12345678901234567.10,0.10]" in http_agents.gateway.get(ALICE, f"{path}/late-results").text


# Releasing


def test_a_release_that_arrives_after_its_time_makes_the_task_ready_at_once(
    http_agents: HttpAgents, world: World
) -> None:
    """The request was on its way for longer than the pause that it names: refusing it would keep the claim."""
    claim = http_agents.begun()
    over = times.rfc3339(world.clock.now() - times.seconds(1))
    assert http_agents.say(claim, "release", not_before=over).json["state"] == "delegated"
    assert http_agents.take("auto-code")["task"]["id"] == claim["task"]["id"]


def test_a_release_that_names_a_time_long_ago_is_ready_now_and_not_since_then(
    http_agents: HttpAgents, world: World
) -> None:
    released = http_agents.say(http_agents.begun(), "release", not_before="2000-01-01T00:00:00Z").json
    assert released["ready_at"] == times.rfc3339(world.clock.now())


def test_a_release_names_a_time_within_seven_days(http_agents: HttpAgents, world: World) -> None:
    claim = http_agents.begun()
    week = times.seconds(7 * 86_400)
    late = times.rfc3339(world.clock.now() + week + times.seconds(1))
    refused = http_agents.say(claim, "release", not_before=late)
    assert (refused.status, refused.json["errors"][0]["field"]) == (422, "not_before")
    assert http_agents.say(claim, "release", not_before=times.rfc3339(world.clock.now() + week)).status == 200
