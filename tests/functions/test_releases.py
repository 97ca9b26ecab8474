"""Two releases on one table: items as the release before wrote them are read, changed and put, and what a newer one has
added under the same number of shapes is kept. Values that only a newer one knows are shown, and nothing acts on them.

``tests/golden/previous_release.jsonl`` is the table of that release, with a task in each state. To be written once with
each release: WRITE_RELEASE=1 pytest tests/functions/test_releases.py --no-cov.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baton.adapters.dynamodb import items, keys
from baton.domain.tasks.task import Task
from baton.services.claims.claim_task import claim_next
from baton.services.claims.renew_claim import renew_claim
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.services.tasks.verify_trail import verify_trail
from baton.steps.claims.take_task import Claimer
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.gateway import Gateway, gateway_event, route_of
from support.published import PublishedEvents
from support.values.changes import then
from support.worlds.team import Team
from support.worlds.world import WORKSPACE, World, agent, human

GOLDEN = Path(__file__).parents[1] / "golden"
FILE = GOLDEN / "previous_release.jsonl"
SHAPES = GOLDEN / "shapes.json"
Wire = dict[str, Any]
ADDED: Wire = {"of_a_newer_release": {"M": {"deep": {"L": [{"N": "1.5"}, {"S": "kept"}]}}}}
A, B, LIMITED = "anna", "bert", "carl"
SECONDS = 600
# Checkpoints until a trail has left HEAD.
LONG = 12


def written() -> FakeDynamo:
    """By this release."""
    team = Team(A, B)
    team.register(LIMITED, max_concurrent=2)
    team.world.settle()
    team.world.needing()
    team.complete(team.begin(A, "done"), output={"kept": "output"})
    team.fail(team.begin(A, "failed"))
    team.reject(team.begin(A, "rejected"))
    cancel_task(team.deps, human(), team.ask(A, "cancelled").task.id, "no more")
    team.delegate(team.begin(A, "waiting"), B)
    held = team.begin(LIMITED, "claimed")
    for _ in range(LONG):
        team.checkpoint(held, done="half")
    team.release(held)
    team.take(LIMITED)
    team.ask(LIMITED, "ready")
    return dynamo_of(team.world)


def dynamo_of(world: World) -> FakeDynamo:
    assert isinstance(world.store, InMemoryStore)
    return world.store.dynamo


@pytest.fixture(scope="module", autouse=True)
def _file() -> None:
    if os.environ.get("WRITE_RELEASE"):
        rows = [item for _, item in sorted(written().contents().items())]
        FILE.write_text("\n".join(json.dumps(row, sort_keys=True) for row in rows) + "\n", encoding="utf-8")


@pytest.fixture
def team() -> Team:
    """Ten minutes after the release before has stopped. Each HEAD has what a newer one, which was here in between, has
    added to it."""
    clock = FakeClock(NOON)
    clock.advance(SECONDS)
    dynamo = FakeDynamo()
    for line in FILE.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        dynamo.put({**item, **ADDED} if item["sk"] == {"S": keys.HEAD} else item)
    return Team(world=World(store=InMemoryStore(dynamo), clock=clock))


def in_state(team: Team, state: str, source: str = "") -> Task:
    (found,) = [each for each in team.tasks() if each.state == state and each.source_agent.startswith(source)]
    return found


def head(team: Team, task_id: str) -> Wire:
    return dynamo_of(team.world).contents()[keys.head(WORKSPACE, task_id)]


def alter(team: Team, task_id: str, **attributes: Wire) -> None:
    """As a newer release would have put it."""
    dynamo_of(team.world).put({**head(team, task_id), **attributes})


def test_everything_of_the_release_before_is_read(team: Team) -> None:
    api = Gateway(team.deps)
    states = {"needs", "delegated", "claimed", "waiting", "done", "failed", "rejected", "cancelled"}
    assert {str(task.state) for task in team.tasks()} == states
    for task in team.tasks():
        assert api.get(human(), f"/tasks/{task.id}").status == 200
        assert api.get(human(), f"/tasks/{task.id}/events").json["events"]
        assert verify_trail(team.deps, human(), task.id).matches_task
    assert api.get(human(), "/agents").json["items"]
    assert api.get(human(), "/workspace/settings").status == 200
    assert team.world.store.tasks.read(WORKSPACE, in_state(team, "done").id).output == {"kept": "output"}


def approved(team: Team) -> Task:
    return approve_task(team.deps, human(), in_state(team, "needs").id, None).task


def swept(team: Team) -> Task:
    """The lease is over."""
    assert sweep(team.deps).failed == 0
    return in_state(team, "delegated", "human")


def completed(team: Team) -> Task:
    team.complete(team.take(B))
    return in_state(team, "done", A)


def claimed_and_more(team: Team) -> Task:
    """Beats, is saved and ends: a task goes through every kind of write."""
    sweep(team.deps)
    held = team.take(LIMITED)
    renew_claim(team.deps, agent(LIMITED), held.task.id, held.claim_id)
    team.checkpoint(held, done="more")
    team.complete(held, output="x" * 5_000)
    return held.task


CHANGES: list[Callable[[Team], Task]] = [approved, completed, claimed_and_more]


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_newer_release_has_added_is_kept_by_each_change(team: Team, change: Callable[[Team], Task]) -> None:
    task_id = change(team).id
    now = head(team, task_id)
    assert now["of_a_newer_release"] == ADDED["of_a_newer_release"]
    assert verify_trail(team.deps, human(), task_id).matches_task


def test_a_sweep_keeps_it_too(team: Team) -> None:
    claimed = in_state(team, "claimed").id
    assert sweep(team.deps).failed == 0
    assert head(team, claimed)["state"] == {"S": "delegated"}
    assert head(team, claimed)["of_a_newer_release"] == ADDED["of_a_newer_release"]


def test_all_attributes_of_a_head_are_known() -> None:
    """An attribute that this release writes and doesn't know would come back after it was taken out."""
    names = json.loads(SHAPES.read_text(encoding="utf-8"))["shapes"]["TASK/HEAD"].split(", ")
    ours = {name.split(" ")[0] for name in names if "." not in name} - {"s"}
    assert ours - items.HEAD_ATTRIBUTES == set()


def test_a_task_in_a_state_of_a_newer_release_is_shown_and_nothing_acts_on_it(team: Team) -> None:
    api = Gateway(team.deps)
    task = in_state(team, "delegated", "human")
    alter(team, task.id, state={"S": "paused"}, flags={"L": [{"S": "of_a_newer_release"}]})
    before = head(team, task.id)
    for verb in ("cancel", "approve"):
        refused = api.post(human(), f"/tasks/{task.id}/{verb}", {})
        assert (refused.status, refused.json["code"]) == (503, "busy")
    # Past the check against docs/openapi.json, which can't list the state.
    path = f"/tasks/{task.id}"
    shown = json.loads(api.handle(route_of("GET", path), gateway_event(human(), "GET", path))["body"])
    assert (shown["state"], shown["flags"]) == ("paused", ["of_a_newer_release"])
    assert head(team, task.id) == before


def test_others_go_on_beside_it(team: Team) -> None:
    ready = in_state(team, "delegated", "human")
    alter(team, ready.id, state={"S": "paused"})
    team.later(3_700)
    sweep(team.deps)
    claimer = Claimer(by=agent(LIMITED), agent=LIMITED, worker="w")
    claimed = claim_next(team.deps, claimer)
    assert claimed is not None
    assert claimed.details.task.id != ready.id


def test_a_flag_and_a_priority_of_a_newer_release_stand_in_no_ones_way(team: Team) -> None:
    ready = in_state(team, "delegated", "human")
    alter(team, ready.id, flags={"L": [{"S": "of_a_newer_release"}]}, priority={"S": "P9"})
    held = team.take(LIMITED, ready.id)
    team.complete(held)
    now = head(team, ready.id)
    assert (now["state"], now["flags"], now["priority"]) == (
        {"S": "done"},
        {"L": [{"S": "of_a_newer_release"}]},
        {"S": "P9"},
    )


def test_a_field_of_a_newer_release_in_a_trail_matches_what_the_task_has_kept(team: Team) -> None:
    """Its event is one of the newer release; here the field's value is what HEAD has kept."""
    done = in_state(team, "done")
    assert verify_trail(team.deps, human(), done.id).matches_task
    assert done.meta.unread == {"of_a_newer_release": {"deep": [1.5, "kept"]}}


def test_an_event_of_a_newer_release_is_shown_and_published_and_the_task_goes_on(team: Team) -> None:
    """Its type is one that this release doesn't know."""
    ready = in_state(team, "delegated", "human")
    team.world.store.commit(WORKSPACE, then(ready, "of_a_newer_release", team.world.clock.now(), dispatch_rank=7))
    team.complete(team.take(LIMITED, ready.id))
    shown = Gateway(team.deps).get(human(), f"/tasks/{ready.id}/events").json["events"]
    types = ["of_a_newer_release", "handoff_received", "handoff_completed"]
    assert [each["type"] for each in shown[-3:]] == types
    assert verify_trail(team.deps, human(), ready.id).matches_task
    outside = PublishedEvents(team.world)
    outside.stream()
    assert [each["type"] for each in outside.details() if each["task"]["id"] == ready.id][-3:] == types


@pytest.mark.parametrize("attribute", ["approval", "requeue", "runtime"])
def test_an_agent_set_up_for_a_newer_release_is_listed_and_nothing_is_approved_for_it(
    team: Team, attribute: str
) -> None:
    key = keys.agent(WORKSPACE, B)
    dynamo_of(team.world).put({**dynamo_of(team.world).contents()[key], attribute: {"S": "of_a_newer_release"}})
    fresh = Team(world=World(store=InMemoryStore(dynamo_of(team.world)), clock=team.world.clock))
    asked = fresh.ask(B, by=agent(A)) if attribute == "approval" else fresh.ask(B)
    assert asked.task.state == ("needs" if attribute == "approval" else "delegated")
    assert fresh.world.store.agents.agent(WORKSPACE, B) is not None
