"""GET /tasks/{id}/events/verify, and the script that verifies what GET /tasks/{id}/events answered."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.gateway import Gateway, Reply
from support.worlds.world import World, agent, human
from tools.admin import verify_trail as script

SCOUT, OTHERS = agent("scout"), human("other")


def test_a_trail_is_verified_where_it_is_kept(gateway: Gateway, world: World) -> None:
    task_id = world.claimed().details.task.id
    events = gateway.get(SCOUT, f"/tasks/{task_id}/events").json["events"]
    answer = gateway.get(SCOUT, f"/tasks/{task_id}/events/verify")
    assert answer.status == 200
    assert answer.json == {
        "task_id": task_id,
        "intact": True,
        "events": 3,
        "broken_at": None,
        "problem": None,
        "head_hash": events[-1]["hash"],
        "matches_task": True,
        "not_covered": [],
        "next_cursor": None,
    }
    refused = gateway.get(SCOUT, f"/tasks/{task_id}/events/verify", query="cursor=AAAA")
    assert (refused.status, refused.json["errors"][0]["field"]) == (422, "cursor")


def test_a_broken_trail_is_an_answer(gateway: Gateway, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    task_id = world.claimed().details.task.id
    whole = world.store.trail.events
    monkeypatch.setattr(
        world.store.trail, "events", lambda *asked: tuple(each for each in whole(*asked) if each.seq != 2)
    )
    answer = gateway.get(SCOUT, f"/tasks/{task_id}/events/verify")
    assert answer.status == 200
    assert (answer.json["intact"], answer.json["broken_at"], answer.json["matches_task"]) == (False, 2, False)
    assert answer.json["problem"] == "Entry 2 is missing: in its place is number 3."


def test_another_workspaces_trail_is_unknown_like_one_that_is_nowhere(gateway: Gateway, world: World) -> None:
    task_id = world.needing()
    there = gateway.get(OTHERS, f"/tasks/{task_id}/events/verify")
    nowhere = gateway.get(OTHERS, "/tasks/task_0/events/verify")
    assert (there.status, there.code) == (404, "not_found")
    assert {**there.json, "request_id": ""} == {**nowhere.json, "request_id": ""}


def test_pages_as_they_were_answered_are_verified_offline(gateway: Gateway, world: World, tmp_path: Path) -> None:
    task_id = world.claimed().details.task.id
    file = tmp_path / "trail.jsonl"
    after = 0
    pages: list[Reply] = []
    while not pages or pages[-1].json["events"]:
        pages.append(gateway.get(SCOUT, f"/tasks/{task_id}/events", query=f"after={after}&limit=2"))
        after = pages[-1].json["next_after"]
    file.write_text("\n".join(page.text for page in pages), encoding="utf-8")
    head = gateway.get(SCOUT, f"/tasks/{task_id}/events/verify").json["head_hash"]
    command = [sys.executable, "-I", "-S", script.__file__, "--expect-hash", head, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, len(pages)) == (0, 3)
    assert done.stdout.startswith("Intact: 3 entries from 20")
    forged = file.read_text(encoding="utf-8").replace('"id":"scout"', '"id":"nobody"', 1)
    assert json.loads(forged.splitlines()[0])
    file.write_text(forged, encoding="utf-8")
    assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 1
