"""Tasks over HTTP: reading and listing them, and what humans do with them."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.tasks.trail import GENESIS, chain_hash
from support.gateway import Gateway
from support.values.schema import DOCUMENT
from support.worlds.world import World, agent, human

ALICE = human()
TASK = set(DOCUMENT["components"]["schemas"]["ListedTask"]["properties"])
BESIDE = {"output", "failure"}


def test_task_has_every_key_of_its_shape(world: World, gateway: Gateway) -> None:
    task = gateway.get(ALICE, f"/tasks/{world.needing()}").json
    assert set(task) == TASK | BESIDE | {"recoveries", "input", "context", "usage"}
    assert task["created_at"] == "2026-11-18T12:00:00.000Z"
    assert (task["claim"], task["output"], task["failure"], task["tracker"]) == (None, None, None, None)
    assert (task["flags"], task["recoveries"]) == ([], [])


def test_listed_tasks_are_whole_but_for_what_lies_beside_them(world: World, gateway: Gateway) -> None:
    world.needing()
    (task,) = gateway.get(ALICE, "/tasks").json["items"]
    assert set(task) == TASK


def test_approved_task_can_be_undone_while_the_window_is_open(world: World, gateway: Gateway) -> None:
    path = f"/tasks/{world.needing()}"
    approved = gateway.post(ALICE, f"{path}/approve", {"revision": 1})
    assert (approved.status, approved.json["state"]) == (200, "delegated")
    assert approved.json["ready_at"] == "2026-11-18T12:00:03.000Z"
    assert gateway.post(ALICE, f"{path}/undo").json["state"] == "needs"
    gateway.post(ALICE, f"{path}/approve")
    world.clock.advance(3)
    assert gateway.post(ALICE, f"{path}/undo", {}).code == "undo_window_over"


def test_approve_next_is_claimed_by_id_only(world: World, gateway: Gateway) -> None:
    path = f"/tasks/{world.needing()}"
    assert gateway.post(ALICE, f"{path}/approve-next").json["state"] == "next"
    assert gateway.post(agent("auditor"), "/agents/auditor/claims").status == 204
    assert gateway.post(agent("auditor"), f"{path}/claim").status == 200


@pytest.mark.parametrize("verb", ["approve", "approve-next"])
def test_approval_of_another_revision_is_refused(world: World, gateway: Gateway, verb: str) -> None:
    reply = gateway.post(ALICE, f"/tasks/{world.needing()}/{verb}", {"revision": 2})
    assert (reply.status, reply.code, reply.json["revision"]) == (409, "revision_changed", 1)


def test_resolve_keeps_what_came_of_it(world: World, gateway: Gateway) -> None:
    path = f"/tasks/{world.needing()}"
    reply = gateway.post(ALICE, f"{path}/resolve", {"output": {"by": "hand"}, "reason": "was easy"})
    assert (reply.json["state"], reply.json["output"]) == ("done", {"by": "hand"})
    assert gateway.get(ALICE, path).json["output"] == {"by": "hand"}


def test_creator_may_cancel_and_other_agents_may_not(world: World, gateway: Gateway) -> None:
    path = f"/tasks/{world.needing()}/cancel"
    refused = gateway.post(agent("auditor"), path)
    assert (refused.status, refused.code) == (403, "human_required")
    assert gateway.post(agent("scout"), path, {"reason": "not needed"}).json["state"] == "cancelled"


@pytest.mark.parametrize("verb", ["approve", "approve-next", "undo", "resolve", "cancel", "claim"])
def test_ended_task_never_changes_again(world: World, gateway: Gateway, verb: str) -> None:
    path = f"/tasks/{world.needing()}"
    gateway.post(ALICE, f"{path}/cancel")
    before = gateway.get(ALICE, path).json
    reply = gateway.post(ALICE, f"{path}/{verb}")
    assert (reply.status, reply.code, reply.json["state"]) == (409, "task_ended", "cancelled")
    assert gateway.get(ALICE, path).json == before


def test_repeated_verb_with_the_same_key_gets_the_first_answer(world: World, gateway: Gateway) -> None:
    path = f"/tasks/{world.needing()}/approve"
    keyed = {"headers": {"idempotency-key": "a"}}
    first = gateway.post(ALICE, path, {}, **keyed)
    gateway.post(ALICE, path.replace("approve", "cancel"))
    assert gateway.post(ALICE, path, **keyed).json == first.json
    assert gateway.post(ALICE, path, {"revision": 1}, **keyed).code == "idempotency_key_reused"


def test_key_means_one_thing_in_one_place(world: World, gateway: Gateway) -> None:
    keyed = {"headers": {"idempotency-key": "a"}}
    path = f"/tasks/{world.needing()}"
    other = f"/tasks/{world.needing(target_agent='runner')}"
    assert gateway.post(ALICE, f"{path}/approve-next", {}, **keyed).json["state"] == "next"
    assert gateway.post(ALICE, f"{other}/resolve", {}, **keyed).json["state"] == "done"
    assert gateway.post(ALICE, f"{path}/resolve", {}, **keyed).json["state"] == "done"


def test_trail_is_chained_and_read_from_a_cursor(world: World, gateway: Gateway) -> None:
    path = f"/tasks/{world.ready()}/events"
    whole = gateway.get(ALICE, path).json
    assert [event["type"] for event in whole["events"]] == ["handoff_initiated", "approved"]
    assert whole["next_after"] == 2
    previous = GENESIS
    for event in whole["events"]:
        hashed = {name: value for name, value in event.items() if name not in {"hash", "prev_hash"}}
        assert (event["prev_hash"], event["hash"]) == (previous, chain_hash(hashed, previous))
        previous = event["hash"]
    assert gateway.get(ALICE, path, query="limit=1").json["next_after"] == 1
    assert gateway.get(ALICE, path, query="after=1").json["events"] == whole["events"][1:]
    assert gateway.get(ALICE, path, query="after=7").json == {"events": [], "next_after": 7}


def test_approval_says_who_and_what_they_saw(world: World, gateway: Gateway) -> None:
    path = f"/tasks/{world.needing()}"
    gateway.post(ALICE, f"{path}/approve")
    event = gateway.get(ALICE, f"{path}/events").json["events"][-1]
    assert (event["principal"], event["data"]["revision"]) == ({"kind": "human", "id": "alice"}, 1)


def test_await_answers_at_once_if_it_already_holds(world: World, gateway: Gateway) -> None:
    reply = gateway.get(ALICE, f"/tasks/{world.needing()}/await", query="state=needs&timeout=25")
    assert (reply.json["timed_out"], reply.json["state"], world.clock.slept) == (False, "needs", [])


def test_await_tells_when_the_time_was_up(world: World, gateway: Gateway) -> None:
    reply = gateway.get(ALICE, f"/tasks/{world.needing()}/await", query="timeout=2")
    assert (reply.json["timed_out"], sum(world.clock.slept)) == (True, 2)


def test_waiting_for_events_ends_with_the_first(world: World, gateway: Gateway) -> None:
    path = f"/tasks/{world.needing()}/events/wait"
    assert gateway.get(ALICE, path, query="timeout=20").json["next_after"] == 1
    assert world.clock.slept == []
    assert gateway.get(ALICE, path, query="after=1&timeout=1").json == {"events": [], "next_after": 1}


def test_waiting_for_a_claim_takes_what_becomes_ready(world: World, gateway: Gateway) -> None:
    gateway.post(ALICE, f"/tasks/{world.needing()}/approve")
    reply = gateway.post(agent("auditor"), "/agents/auditor/claims/wait", {}, query="timeout=20")
    assert (reply.status, reply.json["fence"]) == (200, 1)
    assert sum(world.clock.slept) == pytest.approx(3)
    reply = gateway.post(agent("auditor"), "/agents/auditor/claims/wait", query="timeout=1")
    assert (reply.status, reply.text) == (204, "")


@pytest.mark.parametrize(
    "path", ["/tasks/{}/await?timeout=26", "/tasks/{}/events/wait?timeout=26", "/agents/auditor/claims/wait?timeout=21"]
)
def test_nobody_waits_longer_than_the_gateway_does(world: World, gateway: Gateway, path: str) -> None:
    path, _, query = path.format(world.needing()).partition("?")
    method = "POST" if path.endswith("claims/wait") else "GET"
    assert gateway.send(human(), method, path, query=query).fields == ["timeout"]


def test_tasks_are_listed_by_day_newest_first(world: World, gateway: Gateway) -> None:
    older = world.needing()
    world.clock.advance(60)
    newer = world.needing(target_agent="runner")
    assert ids(gateway, "") == [newer, older]
    assert ids(gateway, "day=2026-11-18") == [newer, older]
    assert ids(gateway, "day=2026-11-17") == []


def test_tasks_are_listed_by_agent_and_filtered_by_state(world: World, gateway: Gateway) -> None:
    mine = world.needing()
    world.needing(target_agent="runner")
    assert ids(gateway, "agent=auditor") == [mine]
    assert ids(gateway, "agent=auditor&state=done,needs") == [mine]
    assert ids(gateway, "agent=auditor&state=done&state=needs") == [mine]
    assert ids(gateway, "agent=auditor&state=done") == []
    assert gateway.get(ALICE, "/tasks", query="agent=audi").code == "unknown_agent"


def test_what_waits_for_a_human_is_listed_by_urgency_whatever_its_day(world: World, gateway: Gateway) -> None:
    earlier = world.needing(task_priority="low")
    world.clock.advance(2 * 86_400)
    urgent = world.needing(source_agent="runner", by=agent("runner"), task_priority="high")
    world.needing(target_agent="runner")  # has a standing approval
    assert ids(gateway, "state=needs") == [urgent, earlier]
    assert ids(gateway, "state=needs&limit=1") == [urgent]


def test_pages_follow_each_other_without_gaps(world: World, gateway: Gateway) -> None:
    made = [world.needing(target_agent=target) for target in ("auditor", "runner")]
    world.clock.advance(1)
    made.append(world.mark(human(), source_agent="auditor", target_agent="scout").task_id or "")
    found: list[str] = []
    query = "limit=1"
    while True:
        page = gateway.get(ALICE, "/tasks", query=query).json
        found += [task["id"] for task in page["items"]]
        if page["next_cursor"] is None:
            break
        query = f"limit=1&cursor={page['next_cursor']}"
    assert found == sorted(made, reverse=True)


def test_cursor_of_another_listing_is_refused(world: World, gateway: Gateway) -> None:
    world.needing()
    world.needing(target_agent="runner")
    cursor = gateway.get(ALICE, "/tasks", query="limit=1").json["next_cursor"]
    for by, query in [
        (ALICE, f"day=2026-11-17&cursor={cursor}"),
        (ALICE, f"state=needs&cursor={cursor}"),
        (ALICE, f"cursor={cursor[:-2]}"),
        (ALICE, "cursor=%00"),
        (ALICE, "cursor=bnVsbA"),
        (human("other"), f"cursor={cursor}"),
    ]:
        reply = gateway.get(by, "/tasks", query=query)
        assert (reply.status, reply.fields) == (422, ["cursor"])


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("limit=0", ["limit"]),
        ("limit=101", ["limit"]),
        ("limit=ten", ["limit"]),
        ("limit=1.0", ["limit"]),
        ("limit=" + "9" * 5_000, ["limit"]),
        ("limit=1&limit=2", ["limit"]),
        ("day=2026-02-30", ["day"]),
        ("day=yesterday", ["day"]),
        ("day=1700000000", ["day"]),
        ("agent=Not_A_Slug", ["agent"]),
        ("agent=auditor&day=2026-11-18", ["day"]),
        ("state=needs,asleep", ["state"]),
        ("colour=red&sh%00ape=round", ["colour", "sh ape"]),
        ("&".join(f"x{number}=1" for number in range(101)), ["query"]),
    ],
)
def test_wrong_query_names_the_parameter(gateway: Gateway, query: str, fields: list[str]) -> None:
    reply = gateway.get(ALICE, "/tasks", query=query)
    assert (reply.status, reply.fields) == (422, fields)


def test_routes_without_parameters_take_none(world: World, gateway: Gateway) -> None:
    assert gateway.get(ALICE, f"/tasks/{world.needing()}", query="full=1&x=").fields == ["full", "x"]
    assert gateway.post(agent("auditor"), "/agents/auditor/claims", {}, query="timeout=1").fields == ["timeout"]


def ids(gateway: Gateway, query: str) -> list[Any]:
    return [task["id"] for task in gateway.get(ALICE, "/tasks", query=query).json["items"]]


def test_day_is_todays_by_default(world: World, gateway: Gateway) -> None:
    world.needing()
    world.clock.advance(86_400)
    assert ids(gateway, "") == []
