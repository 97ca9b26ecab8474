"""Attacks on offline data: an altered export is valid, and a damaged HEAD keeps the check of its trail from ending."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from functions.attacks.test_content import CODER, PAY, Desk
from support.worlds.http_agents import HttpAgents
from support.worlds.operators import data_of, dynamo_of, exported
from support.worlds.world import World
from tools.admin import verify_trail as script

Path = tuple[str | int, ...]
# No entry covers these, and the program says so.
NOT_COVERED = {
    ("read_at",),
    ("task", "version"),
    ("task", "updated_at"),
    ("task", "claim", "lease_seconds"),
    ("task", "claim", "heartbeat_at"),
    ("task", "claim", "expires_at"),
}


@pytest.fixture
def desk(world: World, http_agents: HttpAgents) -> Desk:
    return Desk(world, http_agents)


@pytest.fixture
def http_agents(gateway: Any) -> HttpAgents:
    return HttpAgents(gateway).hire()


def lines_of(desk: Desk) -> list[Any]:
    return [json.loads(line) for line in exported(data_of(desk.world)[0]).splitlines()]


def task_of(lines: list[Any]) -> Any:
    """The task that was handed off, not the rollback that its failure makes."""
    (found,) = (line for line in lines if line["kind"] == "task" and line["task"]["kind"] != "rollback")
    return found


def holds(lines: list[Any]) -> bool:
    try:
        script.verify_export("\n".join(map(json.dumps, lines)))
    except (script.Broken, script.NotATrail):
        return False
    return True


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict | list) and value:
        named = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in named:
            yield from leaves(each, (*path, name))
    else:
        yield path


def altered(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x" if isinstance(value, str) else "forged"


def test_every_altered_value_of_an_exported_task_is_found(desk: Desk) -> None:
    desk.uses(desk.answers(desk.asks(**PAY), arguments={"amount": "1", "to": "ada"}))
    desk.answers(desk.asks(kind="text", text="Which?"), outcome="answered", digest=None, answer="Blue")
    whole = lines_of(desk)
    assert holds(whole)
    unseen = set[Path]()
    for path in leaves(task_of(whole)):
        forged = deepcopy(whole)
        at = task_of(forged)
        if path == ("kind",):
            continue
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = altered(at[path[-1]])
        if holds(forged):
            unseen.add(path)
    assert unseen - {("resume_payload",), ("recoveries",)} == NOT_COVERED & set(leaves(task_of(whole)))


@pytest.mark.parametrize("name", ["questions", "task", "events", "body"])
def test_an_export_without_a_part_of_a_task_is_refused(desk: Desk, name: str) -> None:
    desk.uses(desk.answers(desk.asks(**PAY)))
    lines = lines_of(desk)
    del task_of(lines)[name]
    assert not holds(lines)


def test_an_export_of_the_first_format_has_no_questions(desk: Desk) -> None:
    desk.answers(desk.asks(**PAY))
    lines = lines_of(desk)
    lines[0]["format"] = 1
    del task_of(lines)["questions"]
    assert holds(lines)


def test_another_failure_than_the_tasks_own_is_found(desk: Desk) -> None:
    failure = {"type": "blocker", "description": "The bank is closed"}
    body = {"claim_id": desk.claim["claim_id"], "failure": failure, "retryable": False}
    assert desk.gateway.post(CODER, f"{desk.path}/fail", body).status == 200
    lines = lines_of(desk)
    assert holds(lines)
    for path in leaves(task_of(lines)["failure"]):
        if path[-1] in {"type", "description"}:
            forged = deepcopy(lines)
            at = task_of(forged)["failure"]
            for name in path[:-1]:
                at = at[name]
            at[path[-1]] = "Paid"
            assert not holds(forged)


def test_an_export_with_a_task_that_could_not_be_read_isnt_intact(desk: Desk) -> None:
    lines = lines_of(desk)
    task = task_of(lines)
    name = task["id"]
    task.clear()
    task |= {"kind": "unreadable task", "id": name}
    with pytest.raises(script.NotATrail, match=name):
        script.verify_export("\n".join(map(json.dumps, lines)))


def test_the_check_of_a_trail_ends_although_its_head_lost_its_number(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    dynamo, trail = dynamo_of(desk.world), desk.world.store.trail
    (head,) = (item for (_, sk), item in dynamo.contents().items() if sk == "HEAD" and "seq" in item)
    dynamo.put({name: value for name, value in head.items() if name != "seq"})
    reads, events = iter(range(300)), trail.events

    def bounded(*which: Any) -> Any:
        next(reads)  # an error of the test, where it doesn't end
        return events(*which)

    monkeypatch.setattr(trail, "events", bounded)
    assert desk.verdict()[:2] == (False, False)


def test_an_export_that_has_one_task_twice_in_place_of_another_is_refused(desk: Desk) -> None:
    body = {"claim_id": desk.claim["claim_id"], "failure": {"type": "blocker", "description": "Closed"}}
    assert desk.gateway.post(CODER, f"{desk.path}/fail", body).status == 200
    lines = lines_of(desk)
    first, second = (at for at, line in enumerate(lines) if line["kind"] == "task")
    lines[second] = lines[first]
    assert not holds(lines)
