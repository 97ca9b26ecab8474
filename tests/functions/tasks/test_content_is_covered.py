"""What was asked and what came of it are covered by the chain of hashes: a change of them in the table is found out, by
Baton and by the script that knows nothing of it (invariant 7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.tasks.trail_check import Content, TrailCheck
from support.gateway import Gateway
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.operators import data_of, dynamo_of, exported
from support.worlds.world import World
from tools.admin import verify_trail as script

AMOUNTS = {"variables": {"amount": 1, "share": "as it is", "to": "x"}}
LARGE = "x" * 2_000
Alter = Callable[[str], str]


@pytest.fixture
def http_agents(gateway: Gateway) -> HttpAgents:
    return HttpAgents(gateway).hire()


def tamper(world: World, sort_key: str, attribute: str, alter: Alter) -> None:
    """As whoever can write the table would: one attribute of one item, the trail left as it is."""
    dynamo, found = dynamo_of(world), 0
    for (_, sk), item in dynamo.contents().items():
        if sk.startswith(sort_key) and attribute in item:
            text = alter(item[attribute]["S"])
            found += text != item[attribute]["S"]
            dynamo.put({**item, attribute: {"S": text}})
    assert found == 1


def verdict(gateway: Gateway, task_id: str) -> tuple[bool, bool, str | None]:
    said = gateway.get(ALICE, f"/tasks/{task_id}/events/verify").json
    return said["intact"], said["matches_task"], said["problem"]


def done(http_agents: HttpAgents, **completion: Any) -> str:
    claim = http_agents.begun(context=AMOUNTS)
    assert http_agents.say(claim, "complete", **completion).status == 200
    task_id: str = claim["task"]["id"]
    return task_id


def test_content_as_it_was_asked_and_answered_matches(http_agents: HttpAgents, world: World) -> None:
    for output in ({"paid": 1}, None, LARGE, [1.5, -0.0, 10**30]):
        task_id = done(http_agents, output=output)
        assert verdict(http_agents.gateway, task_id) == (True, True, None)
    assert script.verify_export(exported(data_of(world)[0])).startswith("4 trails with ")


@pytest.mark.parametrize(
    "alter",
    [
        lambda text: text.replace('"amount":1', '"amount":1000000'),
        lambda text: text.replace('"to":"x"', '"to":"mallory"'),
        lambda text: text.replace('"amount":1', '"amount":1.0'),
        lambda text: text.replace('"handoff_id":"ho_', '"handoff_id":"ho_0'),
        lambda text: text.replace('"workflow_id":"wf_', '"workflow_id":"wf_0'),
        lambda text: text.replace('"checkpoint_id":"chk_', '"checkpoint_id":"chk_0'),
    ],
    ids=["the amount", "to whom", "its spelling", "which handoff", "which workflow", "from which checkpoint"],
)
def test_message_that_somebody_changed_is_found_out(http_agents: HttpAgents, world: World, alter: Alter) -> None:
    task_id = http_agents.hand_off("architect", "auto-code", context=AMOUNTS)["task"]["id"]
    tamper(world, "BODY", "content", alter)
    problem = "The task isn't what its trail tells: message."
    assert verdict(http_agents.gateway, task_id) == (True, False, problem)
    with pytest.raises(script.Broken, match="another message than the task has"):
        script.verify_export(exported(data_of(world)[0]))


@pytest.mark.parametrize(
    ("sort_key", "attribute", "output"),
    [
        ("HEAD", "output", "a"),
        ("HEAD", "completion", "a"),
        ("OUTPUT", "output", LARGE),
        ("OUTPUT", "completion", LARGE),
    ],
)
def test_outcome_that_somebody_changed_is_found_out(
    http_agents: HttpAgents, world: World, sort_key: str, attribute: str, output: str
) -> None:
    task_id = done(http_agents, output=output, notes=["all of it"])
    tamper(world, sort_key, attribute, lambda text: text.replace("a", "b", 1).replace("x", "y", 1))
    assert verdict(http_agents.gateway, task_id) == (True, False, "The task isn't what its trail tells: output.")
    with pytest.raises(script.Broken, match="another output or completion"):
        script.verify_export(exported(data_of(world)[0]))


def test_output_of_a_task_that_was_resolved_or_handed_on_is_covered_too(http_agents: HttpAgents, world: World) -> None:
    gateway = http_agents.gateway
    task_id = http_agents.hand_off("architect", "auto-code")["task"]["id"]
    assert gateway.post(ALICE, f"/tasks/{task_id}/resolve", {"output": {"by": "hand"}}).status == 200
    assert verdict(gateway, task_id) == (True, True, None)
    tamper(world, "HEAD", "output", lambda text: text.replace("hand", "foot"))
    assert verdict(gateway, task_id)[:2] == (True, False)
    claim = http_agents.begun()
    target = {"agent": "qa", "reason": "It is to be tested"}
    assert http_agents.say(claim, "transfer", target=target, summary="Test it").status in {200, 201}
    assert verdict(gateway, claim["task"]["id"]) == (True, True, None)


def test_output_given_to_a_task_that_ended_without_one_is_found_out(http_agents: HttpAgents, world: World) -> None:
    gateway = http_agents.gateway
    task_id = http_agents.hand_off("architect", "auto-code")["task"]["id"]
    assert gateway.post(ALICE, f"/tasks/{task_id}/cancel").status == 200
    dynamo = dynamo_of(world)
    for (_, sk), item in dynamo.contents().items():
        if sk == "HEAD":
            dynamo.put({**item, "output": {"S": json.dumps("done, all of it")}})
    assert verdict(gateway, task_id) == (True, False, "The task isn't what its trail tells: output.")


def test_trail_of_an_earlier_release_tells_nothing_of_content(http_agents: HttpAgents, world: World) -> None:
    task_id = http_agents.hand_off("architect", "auto-code", context=AMOUNTS)["task"]["id"]
    task = world.task(task_id)
    assert TrailCheck().content_differences(task.changed(digest=None), Content({"title": "another"}, None, None)) == ()
