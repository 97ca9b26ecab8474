"""How it goes over HTTP: what ended, how agents are, and who decided what."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import WorkerCall
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from support.gateway import Gateway
from support.published import PublishedEvents
from support.worlds.world import World, agent, human, service

ALICE, BOB = human(), human(name="bob")


@pytest.fixture
def outside(world: World) -> PublishedEvents:
    return PublishedEvents(world)


def needing(world: World, reason: str = "part", target: str = "auditor") -> str:
    """Returns a task of a plain handoff, of which there may be many."""
    message = {"source": {"agent": "scout"}, "target": {"agent": target, "reason": reason}}
    return create_handoff(world.deps, agent("scout"), CreateHandoff(message=message_from(message))).task.id


def ready(world: World) -> str:
    task_id = needing(world)
    approve_task(world.deps, ALICE, task_id, None)
    world.clock.advance(3)
    return task_id


def call(task_id: str, claim: Any) -> WorkerCall:
    return WorkerCall(agent("auditor"), task_id, claim.claim_id, "h", None)


def done(world: World) -> str:
    """Waits 100 s for a person, then three for its undo window, 20 for a worker, and takes 50."""
    task_id = needing(world)
    world.clock.advance(100)
    approve_task(world.deps, ALICE, task_id, None)
    world.clock.advance(23)
    claim = world.claim()
    world.clock.advance(50)
    complete_task(world.deps, call(task_id, claim), CompletedWork(output={"done": True}))
    return task_id


def failed(world: World, said: str = "broke") -> str:
    task_id = ready(world)
    claim = world.claim()
    work = FailedWork(failure={"type": "error", "description": said})
    fail_task(world.deps, call(task_id, claim), work)
    return task_id


def stats(gateway: Gateway, query: str = "", by: Any = ALICE) -> Any:
    reply = gateway.get(by, "/stats", query=query)
    assert reply.status == 200, reply.text
    return reply.json


def test_what_ended_counts_with_its_waits_by_agent(world: World, gateway: Gateway, outside: PublishedEvents) -> None:
    done(world)
    failed(world)
    outside.stream()
    (row,) = stats(gateway, "by=agent")["items"]
    assert (row["target"], row["source"], row["done"], row["failed"]) == ("auditor", None, 1, 1)
    assert row["person"]["tasks"] == row["work"]["tasks"] == 1  # the second took no time
    for phase, seconds in {"person": 100, "worker": 20, "work": 50}.items():
        assert row[phase]["p50"] == pytest.approx(seconds, rel=0.23)


def test_what_tokens_cost_is_told_as_the_settings_say_now(gateway: Gateway) -> None:
    assert stats(gateway)["cents_per_million_tokens"] == 0
    assert gateway.put(ALICE, "/workspace/settings", {"cents_per_million_tokens": 250}).status == 200
    assert stats(gateway)["cents_per_million_tokens"] == 250


def test_a_lost_lease_and_a_retry_are_told(world: World, gateway: Gateway, outside: PublishedEvents) -> None:
    task_id = ready(world)
    world.claim()
    world.clock.advance(301)
    sweep(world.deps)
    claim = world.claim()
    world.clock.advance(5)
    fail_task(world.deps, call(task_id, claim), FailedWork(failure={"type": "error"}, retryable=True))
    world.clock.advance(600)
    claim = world.claim()
    complete_task(world.deps, call(task_id, claim), CompletedWork(output=None))
    outside.stream()
    total = stats(gateway)["total"]
    assert (total["done"], total["recoveries"], total["retries"]) == (1, 1, 1)


def test_ends_are_told_by_hour_and_by_day_and_direction(
    world: World, gateway: Gateway, outside: PublishedEvents
) -> None:
    done(world)
    world.clock.advance(3_600)
    cancel_task(world.deps, ALICE, needing(world), None)
    outside.stream()
    hours = stats(gateway, "by=hour")["items"]
    assert [(row["at"], row["done"], row["cancelled"]) for row in hours] == [
        ("2026-11-18T12:00:00.000Z", 1, 0),
        ("2026-11-18T13:00:00.000Z", 0, 1),
    ]
    (day,) = stats(gateway, "by=day")["items"]
    assert (day["at"], day["done"], day["cancelled"]) == ("2026-11-18T00:00:00.000Z", 1, 1)
    both = stats(gateway, "by=day&also=direction&agent=auditor")
    assert (both["items"], both["also"]) == ([day], stats(gateway, "by=direction&agent=auditor")["items"])
    (direction,) = stats(gateway, "by=direction&agent=auditor")["items"]
    assert (direction["source"], direction["target"]) == ("scout", "auditor")
    assert stats(gateway, "agent=runner")["items"] == []


def test_beginnings_are_told_with_the_ends_that_come_within_two_days(
    world: World, gateway: Gateway, outside: PublishedEvents
) -> None:
    soon, late = needing(world), needing(world, target="runner")
    world.clock.advance(48 * 3_600)
    cancel_task(world.deps, ALICE, soon, None)
    world.clock.advance(24 * 3_600)
    cancel_task(world.deps, ALICE, late, None)
    done(world)
    outside.stream()
    hours = {row["at"]: (row["begun"], row["done"] + row["cancelled"]) for row in stats(gateway, "by=hour")["items"]}
    assert hours == {
        "2026-11-18T12:00:00.000Z": (1, 0),
        "2026-11-20T12:00:00.000Z": (0, 1),
        "2026-11-21T12:00:00.000Z": (1, 2),
    }
    assert [row["begun"] for row in stats(gateway, "by=day")["items"]] == [1, 0, 1]
    assert {row["target"]: row["begun"] for row in stats(gateway, "by=agent")["items"]} == {"auditor": 2, "runner": 0}
    assert stats(gateway, "from=2026-11-20")["total"]["begun"] == 1


def test_what_waits_isnt_counted_and_told_twice_counts_once(
    world: World, gateway: Gateway, outside: PublishedEvents
) -> None:
    needing(world)
    done(world)
    events = outside.waiting()
    outside.stream()
    outside.tick()
    assert events
    assert stats(gateway)["total"]["done"] == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2026-11-19&to=2026-11-18", "from"),
        ("from=2026-10-01&to=2026-11-18", "from"),
        ("from=yesterday", "from"),
        ("by=colour", "by"),
    ],
)
def test_days_that_cant_be_counted_are_named(gateway: Gateway, query: str, field: str) -> None:
    reply = gateway.get(ALICE, "/stats", query=query)
    assert (reply.status, reply.json["errors"][0]["field"]) == (422, field)


def test_a_month_is_counted_and_a_day_more_is_not(gateway: Gateway) -> None:
    assert stats(gateway, "from=2026-10-19&to=2026-11-18")["from"] == "2026-10-19"
    assert gateway.get(ALICE, "/stats", query="from=2026-10-18&to=2026-11-18").status == 422


@pytest.mark.parametrize("path", ["/stats", "/stats/agents", "/agents/auditor/health", "/decisions"])
def test_who_doesnt_read_everything_reads_none_of_it(gateway: Gateway, path: str) -> None:
    assert gateway.get(agent("auditor"), path).status == 403
    assert gateway.get(service(act_as=False), path).status == 403
    assert gateway.get(service(), path).status == 200


def test_an_agents_health_tells_its_queue_its_claims_and_what_failed_last(
    world: World, gateway: Gateway, outside: PublishedEvents
) -> None:
    failed(world, "the first")
    world.clock.advance(1)
    last = failed(world, "x" * 3_000)
    outside.stream()
    ready(world)
    world.claim()
    oldest = ready(world)
    since = world.task(oldest).ready_at
    world.clock.advance(60)
    health = gateway.get(ALICE, "/agents/auditor/health").json
    assert (health["waiting"], health["has_more"], health["running"], health["limit"]) == (1, False, 1, None)
    assert since is not None
    assert health["oldest_at"] == since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert (health["last_week"]["failed"], health["last_failure"]["task_id"]) == (2, last)
    assert health["last_failure"]["description"] == "x" * 1_000
    listed = {each["slug"]: each for each in gateway.get(ALICE, "/stats/agents").json["items"]}
    assert listed["auditor"]["waiting"] == 1
    assert listed["auditor"]["last_failure"] is None
    assert listed["scout"]["last_week"]["done"] == 0


def test_agents_health_is_listed_by_pages(gateway: Gateway) -> None:
    first = gateway.get(ALICE, "/stats/agents", query="limit=2").json
    second = gateway.get(ALICE, "/stats/agents", query=f"limit=2&cursor={first['next_cursor']}").json
    assert [each["slug"] for each in first["items"] + second["items"]] == ["auditor", "runner", "scout"]
    assert second["next_cursor"] is None


def decisions(gateway: Gateway, query: str = "") -> list[tuple[str, str, str | None]]:
    found = gateway.get(ALICE, "/decisions", query=query).json["items"]
    return [(each["by"], each["verb"], each["reason"]) for each in found]


def test_what_people_decided_is_found_by_day_person_and_verb(
    world: World, gateway: Gateway, outside: PublishedEvents
) -> None:
    approve_task(world.deps, ALICE, needing(world), None)
    world.clock.advance(1)
    cancelled = needing(world, target="runner")
    cancel_task(world.deps, BOB, cancelled, "needless")
    outside.stream()
    assert decisions(gateway) == [("bob", "cancel", "needless"), ("alice", "approve", None)]
    assert decisions(gateway, "by=bob") == [("bob", "cancel", "needless")]
    assert decisions(gateway, "verb=approve") == [("alice", "approve", None)]
    assert decisions(gateway, "verb=defer") == decisions(gateway, "day=2026-11-17") == []
    (entry,) = gateway.get(ALICE, "/decisions", query="by=bob").json["items"]
    assert (entry["task_id"], entry["target_agent"], entry["at"]) == (cancelled, "runner", entry["at"])


def test_a_page_of_decisions_goes_on_where_it_ended(world: World, gateway: Gateway, outside: PublishedEvents) -> None:
    for reason in ("a", "b", "c"):
        task_id = needing(world)
        cancel_task(world.deps, ALICE, task_id, reason)
        world.clock.advance(1)
    outside.stream()
    first = gateway.get(ALICE, "/decisions", query="limit=2").json
    second = gateway.get(ALICE, "/decisions", query=f"limit=2&cursor={first['next_cursor']}").json
    assert [each["reason"] for each in first["items"] + second["items"]] == ["c", "b", "a"]
    assert second["next_cursor"] is None


def test_what_follows_from_a_decision_is_none(world: World, gateway: Gateway, outside: PublishedEvents) -> None:
    """What an own part of Baton does, and the fall of what is below, is nobody's decision."""
    needing(world, target="runner")
    outside.stream()
    assert decisions(gateway) == []


def test_a_review_that_is_released_and_one_that_is_closed_are_decisions_once_each(
    world: World, gateway: Gateway, outside: PublishedEvents
) -> None:
    for verb, body, target in (("release", {}, "auditor"), ("close", {"reason": "needless"}, "runner")):
        for _ in range(2):
            cancel_task(world.deps, ALICE, world.needing(target_agent=target), None)
        review_id = world.mark(agent("scout"), target_agent=target, escalation_reason=f"to {verb}").review_id
        world.clock.advance(1)
        assert gateway.post(BOB, f"/manual-reviews/{review_id}/{verb}", body).status == 200
    outside.stream()
    assert decisions(gateway, "by=bob") == [("bob", "close_review", "needless"), ("bob", "release_review", None)]
    entry = gateway.get(ALICE, "/decisions", query="verb=close_review").json["items"][0]
    assert (entry["review_id"], entry["task_id"], entry["title"]) == (review_id, None, "to close")
