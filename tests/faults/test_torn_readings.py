"""Neither a batch read nor a query is of one moment: each item is as it was at its own reading, so a HEAD may be newer
than what was read beside it. And an index may show an item twice while it moves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.table import Table
from baton.domain.alerts.alert import AlertState, Severity
from baton.domain.events.bus_events import BusEvent
from baton.domain.tasks.task import Policy, Task
from baton.domain.times import seconds
from baton.ports.events import PublishResult
from baton.services.alerts.raise_alert import AlertRequest, raise_alert
from baton.services.claims.join_branches import join_branches
from baton.services.events.publish_events import publish_overdue
from baton.services.tasks.sweep import sweep
from support.fakes.store import StoreOfTests
from support.faults.hooked_store import HookedStore
from support.worlds.rig import Rig
from support.worlds.team import HeldTask, Team
from support.worlds.world import WORKSPACE, World, agent

A, B, C = "anna", "bert", "carl"


@pytest.fixture
def rig() -> Rig:
    return Rig()


class Torn:
    """``step`` happens in the middle of the next reading of several items: the HEADs are read after it, all else
    before."""

    def __init__(self, rig: Rig) -> None:
        self.client, self.is_torn = rig.raw, False
        self.step: Callable[[], object] = lambda: None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def tear(self) -> None:
        self.is_torn = True

    def batch_get_item(self, **request: Any) -> Any:
        return self._torn(self.client.batch_get_item, request, lambda answer: next(iter(answer["Responses"].values())))

    def query(self, **request: Any) -> Any:
        return self._torn(self.client.query, request, lambda answer: answer["Items"])

    def _torn(self, call: Callable[..., Any], request: dict[str, Any], items: Callable[[Any], list[Any]]) -> Any:
        if not self.is_torn:
            return call(**request)
        self.is_torn = False
        before = call(**request)
        self.step()
        heads = [item for item in items(call(**request)) if item["sk"]["S"] == "HEAD"]
        found = items(before)
        found[:] = [item for item in found if item["sk"]["S"] != "HEAD"] + heads
        return before


def torn(rig: Rig, team: Team, step: Callable[[], object]) -> World:
    """A world whose next reading of several items is torn by ``step``."""
    client = Torn(rig)
    client.step, client.is_torn = step, True
    world = World(store=StoreOfTests(Table(client, rig.table, Patience(rig.clock)), rig.raw), clock=rig.clock)
    world.dispatch_queue = team.world.dispatch_queue
    return world


def team_of(rig: Rig, *slugs: str) -> Team:
    return Team(*slugs, world=rig.world)


def waiting(team: Team) -> tuple[Task, list[HeldTask]]:
    task = team.delegate(team.begin(A), B, C, policy=Policy.ANY).task
    assert task.wait is not None
    return task, [team.take(slug, each.task_id) for slug, each in zip((B, C), task.wait.branches, strict=True)]


def test_result_of_a_join_has_its_output_when_the_branch_ends_between_two_readings(rig: Rig) -> None:
    team = team_of(rig, A, B, C)
    task, (first, second) = waiting(team)
    team.complete(first, output={"of": "first"})
    client = Torn(rig)
    store = HookedStore(StoreOfTests(Table(client, rig.table, Patience(rig.clock)), rig.raw))
    world = World(store=store, clock=rig.clock)
    client.step = lambda: team.complete(second, output={"of": "second"})
    store.before["outcomes"] = client.tear  # the reading that matters
    assert join_branches(world.deps, WORKSPACE, task.id)
    resume_payload = rig.world.store.tasks.read(WORKSPACE, task.id).resume_payload or {}
    assert [(each["state"], each["output"]) for each in resume_payload["results"]] == [
        ("done", {"of": "first"}),
        ("done", {"of": "second"}),
    ]


@pytest.mark.parametrize("x", [1, "large " * 300])
def test_papers_and_dossier_of_an_ended_task_have_its_output(rig: Rig, x: Any) -> None:
    for name in ("outcomes", "read"):
        team = team_of(rig, A) if name == "outcomes" else Team(world=rig.world)
        held = team.begin(A)
        world = torn(rig, team, partial(team.complete, held, output={"x": x}, notes="done"))
        found = (
            world.store.tasks.outcomes(WORKSPACE, [held.task.id])[held.task.id]
            if name == "outcomes"
            else world.store.tasks.read(WORKSPACE, held.task.id)
        )
        assert (found.task.state, found.output) == ("done", {"x": x}), name
        assert (found.completion or {})["notes"] == "done", name


def fail_again(team: Team, held: HeldTask) -> None:
    team.fail(held, description="the second time")


@pytest.mark.parametrize("name", ["outcomes", "read"])
def test_a_failure_is_that_of_the_head_and_not_the_one_before(rig: Rig, name: str) -> None:
    team = team_of(rig, A)
    held = team.begin(A)
    team.fail(held, retryable=True, description="the first time")
    team.later(60)
    again = team.take(A, held.task.id)
    world = torn(rig, team, lambda: fail_again(team, again))
    store = world.store
    found = (
        store.tasks.outcomes(WORKSPACE, [held.task.id])[held.task.id]
        if name == "outcomes"
        else store.tasks.read(WORKSPACE, held.task.id)
    )
    assert found.task.state == "failed"
    assert (found.why or {})["description"] == "the second time"


def test_a_claimer_gets_the_failure_of_the_attempt_before_its_own(rig: Rig) -> None:
    team = team_of(rig, A)
    held = team.begin(A)
    world = torn(rig, team, lambda: team.fail(held, retryable=True, description="just now"))
    details = world.store.tasks.read_for_claim(WORKSPACE, held.task.id)
    assert details.task.has_failure
    assert (details.why or {})["description"] == "just now"


def test_what_a_claimer_goes_on_with_is_not_older_than_the_head(rig: Rig) -> None:
    team = team_of(rig, A)
    held = team.begin(A)
    team.checkpoint(held, n=1)

    def go_on() -> None:
        team.checkpoint(held, n=2)
        team.release(held)

    world = torn(rig, team, go_on)
    details = world.store.tasks.read_for_claim(WORKSPACE, held.task.id)
    assert details.checkpoint is not None
    assert details.checkpoint.state == {"n": 2}
    team.later(60)
    held = team.take(A, held.task.id)
    whole = torn(rig, team, lambda: team.checkpoint(held, n=3)).store.tasks.read(WORKSPACE, held.task.id)
    assert whole.checkpoint is not None
    assert whole.checkpoint.state == {"n": 3}


class TornAfterHead:
    """``step`` happens when the next query has read the HEAD: what comes after it is on another page."""

    def __init__(self, rig: Rig, step: Callable[[], object]) -> None:
        self.client, self.step = rig.raw, step
        self.is_torn = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def query(self, **request: Any) -> Any:
        answer = self.client.query(**request)
        places = [item["sk"]["S"] for item in answer["Items"]]
        if not self.is_torn or "HEAD" not in places:
            return answer
        self.is_torn = False
        head = answer["Items"][places.index("HEAD")]
        self.step()
        page = answer["Items"][: places.index("HEAD") + 1]
        return {**answer, "Items": page, "LastEvaluatedKey": {"pk": head["pk"], "sk": head["sk"]}}


def test_dossier_has_no_recovery_record_that_its_head_does_not_know(rig: Rig) -> None:
    team = team_of(rig, A)
    held = team.begin(A)

    def lose_the_claim() -> None:
        team.later(3_600)
        sweep(rig.world.deps)

    client = TornAfterHead(rig, lose_the_claim)
    store = StoreOfTests(Table(client, rig.table, Patience(rig.clock)), rig.raw)
    details = store.tasks.read(WORKSPACE, held.task.id)
    assert rig.world.task(held.task.id).recoveries == 1
    assert len(details.recoveries) == details.task.recoveries == 0


class Doubled:
    """Shows every entry of an index twice, and refuses what DynamoDB refuses."""

    def __init__(self, rig: Rig) -> None:
        self.client = rig.raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def query(self, **request: Any) -> Any:
        answer = self.client.query(**request)
        if "IndexName" in request:
            answer["Items"] = [each for item in answer["Items"] for each in (item, item)]
        return answer

    def batch_get_item(self, **request: Any) -> Any:
        for asked in request["RequestItems"].values():
            wanted = [(key["pk"]["S"], key["sk"]["S"]) for key in asked["Keys"]]
            if len(set(wanted)) < len(wanted):
                raise ClientError({"Error": {"Code": "ValidationException", "Message": "double"}}, "batch_get_item")
        return self.client.batch_get_item(**request)


class Outside:
    def __init__(self) -> None:
        self.told: list[str] = []

    def publish(self, notices: Any) -> PublishResult:
        accepted = [each.id for each in notices if isinstance(each, BusEvent)]
        self.told += accepted
        return PublishResult(accepted=frozenset(accepted))


def doubled(rig: Rig) -> World:
    return World(store=StoreOfTests(Table(Doubled(rig), rig.table, Patience(rig.clock)), rig.raw), clock=rig.clock)


def test_entry_that_an_index_shows_twice_is_told_once_and_stops_nobody(rig: Rig) -> None:
    team = team_of(rig, A)
    task = team.ask(A).task
    team.later(120)
    outside = Outside()
    told = publish_overdue(doubled(rig).deps, outside)
    assert told.complete
    assert sorted(outside.told) == sorted(set(outside.told))
    assert told.published == rig.world.store.tasks.load(WORKSPACE, task.id)[0].meta.seq


def test_every_reader_of_an_index_sees_each_entry_once(rig: Rig) -> None:
    team = team_of(rig, A, B)
    register = [team.ask(A, f"number {number}").task.id for number in range(3)]
    open_task = team.ask(None, by=agent(B)).task
    raise_alert(rig.world.deps, agent(A), AlertRequest(kind="disk-full", severity=Severity.INFO, message="full"))
    store, now = doubled(rig).store, rig.clock.now()
    skills, ready = store.queues.ready(WORKSPACE, A, now)
    assert skills is not None
    assert [each.task_id for each in ready] == register
    waiting = store.queues.needs(WORKSPACE, 10, None)
    assert [task.id for task in waiting.items] == [open_task.id]
    alerts = store.alerts.unresolved_alerts(WORKSPACE, AlertState.OPEN, 10, None)
    assert len(alerts.items) == len({alert.id for alert in alerts.items})
    due = list(store.queues.due(now + seconds(90_000)))
    assert len(due) == len(set(due)) >= len(register)
    assert sweep(doubled(rig).deps).failed == 0


def test_a_page_of_an_index_that_shows_entries_twice_is_still_read_to_its_end(rig: Rig) -> None:
    """As many as were asked for are different ones: what comes after them isn't taken for the end."""
    team = team_of(rig, A)
    ids = [team.ask(A, f"number {number}").task.id for number in range(30)]
    _, ready = doubled(rig).store.queues.ready(WORKSPACE, A, rig.clock.now())
    assert [each.task_id for each in ready] == ids
