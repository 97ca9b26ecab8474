"""Alerts over HTTP: raised by whoever works here, dealt with by humans (docs/spec/lifecycle.md §7)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from baton.domain import times
from baton.domain.alerts.alert import MAX_SNOOZE_DAYS
from baton.services.tasks.sweep import sweep
from support.gateway import Gateway
from support.worlds.world import World, agent, human, service

ALICE, BOB, SCOUT, STRANGER = human(), human(name="bob"), agent("scout"), human("other")
BODY = {"kind": "disk-full", "severity": "warning", "message": "The disk is full."}


def raised(gateway: Gateway, by: Any = SCOUT, **changes: Any) -> dict[str, Any]:
    reply = gateway.post(by, "/alerts", {**BODY, **changes})
    assert reply.status == 201, reply.text
    alert: dict[str, Any] = reply.json
    assert reply.headers["Location"] == f"/alerts/{alert['id']}"
    return alert


def found(gateway: Gateway, query: str = "", by: Any = ALICE) -> list[str]:
    return [alert["id"] for alert in gateway.get(by, "/alerts", query=query).json["items"]]


@pytest.mark.parametrize("by", [SCOUT, service(), ALICE])
def test_whoever_works_here_raises_an_alert_and_anybody_here_reads_it(world: World, gateway: Gateway, by: Any) -> None:
    task_id = world.needing()
    alert = raised(gateway, by, task_id=task_id, severity="critical")
    assert alert["id"].startswith("alert_")
    assert alert == {
        "id": alert["id"],
        "state": "open",
        **BODY,
        "severity": "critical",
        "task_id": task_id,
        "task_url": f"https://baton.example/tasks/{task_id}",
        "raised_by": by.key,
        "raised_at": alert["raised_at"],
        **dict.fromkeys(("acknowledged_at", "acknowledged_by", "resolved_at", "resolved_by", "note", "change_id")),
        **dict.fromkeys(("snoozed_until", "snoozed_at", "snoozed_by")),
        "version": 1,
    }
    assert gateway.get(agent("auditor"), f"/alerts/{alert['id']}").json == alert


def test_system_raises_its_own(world: World, gateway: Gateway) -> None:
    task_id = world.ready()
    world.clock.advance(3_600)
    sweep(world.deps)
    (alert,) = gateway.get(ALICE, "/alerts", query=f"task_id={task_id}&state=open").json["items"]
    assert (alert["kind"], alert["raised_by"]) == ("unclaimed_too_long", "service:sweeper")
    assert gateway.get(ALICE, f"/tasks/{task_id}").json["flags"] == [alert["kind"]]


def test_human_acknowledges_and_resolves_with_who_and_when(world: World, gateway: Gateway) -> None:
    path = f"/alerts/{raised(gateway)['id']}"
    world.clock.advance(60)
    seen = gateway.post(ALICE, f"{path}/acknowledge", {"note": "on it"}).json
    assert (seen["state"], seen["acknowledged_by"], seen["note"]) == ("acknowledged", "human:alice", "on it")
    world.clock.advance(60)
    assert gateway.post(BOB, f"{path}/acknowledge").json == seen
    done = gateway.post(BOB, f"{path}/resolve", {"note": None}).json
    assert (done["state"], done["resolved_by"], done["note"]) == ("resolved", "human:bob", "on it")
    assert done["acknowledged_at"] < done["resolved_at"]
    assert gateway.post(ALICE, f"{path}/resolve", {"note": "again"}).json == done
    assert gateway.post(ALICE, f"{path}/acknowledge").json == done
    assert gateway.get(ALICE, path).json == done


@pytest.mark.parametrize("verb", ["acknowledge", "resolve"])
@pytest.mark.parametrize("by", [SCOUT, service()])
def test_only_a_human_deals_with_one(gateway: Gateway, verb: str, by: Any) -> None:
    alert = raised(gateway)
    reply = gateway.post(by, f"/alerts/{alert['id']}/{verb}")
    assert (reply.status, reply.code) == (403, "human_required")
    assert gateway.get(ALICE, f"/alerts/{alert['id']}").json == alert


def test_alerts_are_listed_newest_first_and_filtered(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    ids = []
    for number in range(6):
        world.clock.advance(1)
        ids.append(raised(gateway, **({"task_id": task_id} if number % 2 else {}))["id"])
    gateway.post(ALICE, f"/alerts/{ids[1]}/acknowledge")
    gateway.post(ALICE, f"/alerts/{ids[2]}/resolve")
    assert found(gateway) == ids[::-1]
    assert found(gateway, "state=open") == [ids[5], ids[4], ids[3], ids[0]]
    assert found(gateway, "state=acknowledged") == [ids[1]]
    assert found(gateway, "state=resolved") == [ids[2]]
    assert found(gateway, f"task_id={task_id}") == [ids[5], ids[3], ids[1]]
    assert found(gateway, f"task_id={task_id}&state=open") == [ids[5], ids[3]]
    assert found(gateway, "task_id=task_unknown") == []


@pytest.mark.parametrize("query", ["", "state=open", "state=resolved"])
def test_pages_go_on_where_the_last_one_ended(world: World, gateway: Gateway, query: str) -> None:
    ids = []
    for _ in range(5):
        world.clock.advance(1)
        ids.append(raised(gateway)["id"])
        if query == "state=resolved":
            gateway.post(ALICE, f"/alerts/{ids[-1]}/resolve")
    first = gateway.get(ALICE, "/alerts", query=f"{query}&limit=2").json
    rest = gateway.get(ALICE, "/alerts", query=f"{query}&limit=100&cursor={first['next_cursor']}").json
    assert [alert["id"] for alert in (*first["items"], *rest["items"])] == ids[::-1]
    assert rest["next_cursor"] is None
    elsewhere = gateway.get(ALICE, "/alerts", query=f"state=acknowledged&cursor={first['next_cursor']}")
    assert (elsewhere.status, elsewhere.fields) == (422, ["cursor"])


def test_caller_gone_mad_is_told_when_to_come_back(world: World, gateway: Gateway) -> None:
    world.clock.time = world.clock.time.replace(minute=50)
    for _ in range(60):
        raised(gateway)
    refused = gateway.post(SCOUT, "/alerts", BODY)
    assert (refused.status, refused.code) == (409, "too_many_alerts")
    assert (refused.headers["Retry-After"], refused.json["limit"]) == ("600", 60)
    assert raised(gateway, agent("auditor"))["raised_by"] == "agent:auditor"


def test_repeat_with_its_key_gets_the_first_answer(gateway: Gateway) -> None:
    keyed = {"headers": {"idempotency-key": "a-1"}}
    first = gateway.post(SCOUT, "/alerts", BODY, **keyed)
    path = f"/alerts/{first.json['id']}"
    seen = gateway.post(ALICE, f"{path}/acknowledge", {"note": "x"}, **keyed)
    done = gateway.post(ALICE, f"{path}/resolve", {}, **keyed)
    assert gateway.post(SCOUT, "/alerts", BODY, **keyed).json == first.json
    assert gateway.post(ALICE, f"{path}/acknowledge", {"note": "x"}, **keyed).json == seen.json
    assert gateway.post(ALICE, f"{path}/resolve", {}, **keyed).json == done.json
    reused = gateway.post(SCOUT, "/alerts", {**BODY, "message": "y"}, **keyed)
    assert (reused.status, reused.code) == (422, "idempotency_key_reused")
    assert len(found(gateway)) == 1


def test_task_of_nobody_and_of_somebody_else_answer_alike(world: World, gateway: Gateway) -> None:
    world.settle("other")
    task_id = world.needing()
    foreign = gateway.post(agent("scout", "other"), "/alerts", {**BODY, "task_id": task_id})
    unknown = gateway.post(agent("scout", "other"), "/alerts", {**BODY, "task_id": "task_unknown"})
    assert foreign.status == unknown.status == 404
    assert foreign.json == unknown.json
    assert found(gateway, by=STRANGER) == found(gateway) == []


@pytest.mark.parametrize(("method", "end"), [("GET", ""), ("POST", "/acknowledge"), ("POST", "/resolve")])
def test_other_workspaces_alert_answers_like_an_unknown_one(gateway: Gateway, method: str, end: str) -> None:
    alert = raised(gateway)
    foreign = gateway.send(STRANGER, method, f"/alerts/{alert['id']}{end}")
    unknown = gateway.send(STRANGER, method, f"/alerts/alert_unknown{end}")
    impossible = gateway.send(STRANGER, method, f"/alerts/a b{end}")
    assert foreign.status == 404
    assert foreign.json == unknown.json == impossible.json
    assert found(gateway, by=STRANGER) == []
    assert gateway.get(ALICE, f"/alerts/{alert['id']}").json == alert


WRONG: list[tuple[str, Any, list[str]]] = [
    ("/alerts", None, ["kind", "severity", "message"]),
    ("/alerts", {**BODY, "kind": "Disk Full"}, ["kind"]),
    ("/alerts", {**BODY, "kind": "undeliverable"}, ["kind"]),
    ("/alerts", {**BODY, "severity": "fatal"}, ["severity"]),
    ("/alerts", {**BODY, "message": ""}, ["message"]),
    ("/alerts", {**BODY, "message": "x" * 2_001}, ["message"]),
    ("/alerts", {**BODY, "message": 5}, ["message"]),
    ("/alerts", {**BODY, "task_id": "a b"}, ["task_id"]),
    ("/alerts", {**BODY, "raised_by": "human:alice"}, ["raised_by"]),
    ("/alerts", {**BODY, "workspace": "other"}, ["workspace"]),
    ("/alerts/{}/acknowledge", {"note": 5}, ["note"]),
    ("/alerts/{}/acknowledge", {"note": "x" * 2_001}, ["note"]),
    ("/alerts/{}/resolve", {"by": "human:bob"}, ["by"]),
]


def test_wrong_field_is_named_and_writes_nothing(gateway: Gateway) -> None:
    alert = raised(gateway)
    for path, body, fields in WRONG:
        reply = gateway.post(ALICE, path.format(alert["id"]), body)
        assert (reply.status, reply.fields) == (422, fields), (path, body)
        assert gateway.get(ALICE, "/alerts").json["items"] == [alert], (path, body)


@pytest.mark.parametrize("query", ["state=new", "limit=0", "limit=101", "task_id=a%20b", "since=1", "cursor=x"])
def test_wrong_query_is_named(gateway: Gateway, query: str) -> None:
    reply = gateway.get(ALICE, "/alerts", query=query)
    assert (reply.status, reply.fields) == (422, [query.split("=")[0]])


def test_longest_message_is_kept_exactly(gateway: Gateway) -> None:
    message = "Ü🔎\n" * 666 + "xx"
    alert = raised(gateway, message=message)
    assert gateway.get(ALICE, f"/alerts/{alert['id']}").json["message"] == message


def later(world: World, seconds: float) -> str:
    return times.rfc3339(world.clock.now() + timedelta(seconds=seconds))


def test_a_snoozed_alert_comes_back_by_itself(world: World, gateway: Gateway) -> None:
    put_off, other = raised(gateway)["id"], raised(gateway)["id"]
    until = later(world, 600)
    snoozed = gateway.post(BOB, f"/alerts/{put_off}/snooze", {"until": until}).json
    assert (snoozed["state"], snoozed["snoozed_until"], snoozed["snoozed_by"]) == ("open", until, BOB.key)
    assert snoozed["snoozed_at"] == times.rfc3339(world.clock.now())
    assert found(gateway, "state=open&snoozed=false") == [other]
    assert found(gateway, "snoozed=true") == [put_off]
    assert set(found(gateway, "state=open")) == {put_off, other}
    world.clock.advance(599.999)
    assert found(gateway, "state=open&snoozed=false") == [other]
    world.clock.advance(0.001)
    assert set(found(gateway, "state=open&snoozed=false")) == {put_off, other}


def test_a_snooze_is_taken_back_and_changed(world: World, gateway: Gateway) -> None:
    path = f"/alerts/{raised(gateway)['id']}/snooze"
    gateway.post(ALICE, path, {"until": later(world, 600)})
    again = gateway.post(BOB, path, {"until": None}).json
    assert (again["snoozed_until"], again["snoozed_by"], again["version"]) == (None, BOB.key, 3)


@pytest.mark.parametrize("seconds", [-1, 0, MAX_SNOOZE_DAYS * 86_400 + 1])
def test_a_snooze_lies_ahead_and_not_too_far(world: World, gateway: Gateway, seconds: float) -> None:
    reply = gateway.post(ALICE, f"/alerts/{raised(gateway)['id']}/snooze", {"until": later(world, seconds)})
    assert (reply.status, reply.fields) == (422, ["until"])


def test_longest_snooze_and_a_resolved_alert(world: World, gateway: Gateway) -> None:
    path, until = f"/alerts/{raised(gateway)['id']}", later(world, MAX_SNOOZE_DAYS * 86_400)
    assert gateway.post(ALICE, f"{path}/snooze", {"until": until}).json["snoozed_until"] == until
    resolved = gateway.post(ALICE, f"{path}/resolve").json
    assert gateway.post(ALICE, f"{path}/snooze", {"until": None}).json == resolved


@pytest.mark.parametrize("by", [SCOUT, service()])
def test_only_a_human_snoozes(world: World, gateway: Gateway, by: Any) -> None:
    reply = gateway.post(by, f"/alerts/{raised(gateway)['id']}/snooze", {"until": later(world, 60)})
    assert (reply.status, reply.code) == (403, "human_required")
