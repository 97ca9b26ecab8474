"""A workspace that keeps its tasks in Notion."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from golden.bodies import MARKER, handed
from tools.stand_ins.fake_notion import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golden.play import Play

TITLE = "Handoff: Scout → Client Repo Auditor — 2026-11-19"


def _track(play: Play) -> str:
    """The database."""
    with play.environment.numbers.of("notion"):
        database = play.environment.notion.add_database()
    play("human:alice", "PUT /tracker/token", {"token": play.environment.notion.token})
    play("human:alice", "PUT /workspace/settings", {"tracker": {"database": database.id}})
    return database.id


def _later(play: Play, seconds: float = 61) -> None:
    """What is due is notified of and sent."""
    play.wait(seconds)
    play.sweep()
    play.sync()


def mirrored_tasks(play: Play) -> None:
    """A marker's page is made at once, a handoff's by the outbox; both follow what happens."""
    play.crew("scout", "auditor")
    play("human:alice", "POST /tracker/check", {})
    _track(play)
    play("human:alice", "POST /tracker/check", {})
    made = play("agent:scout", "POST /handoff-markers", MARKER, key="m-1")
    play("agent:scout", "POST /handoff-markers", MARKER, key="m-1")
    play("agent:scout", "POST /handoff-markers", MARKER)
    task = handed(play, by="agent:scout")
    play.sync()
    for each in (made["task_id"], task):
        play("human:alice", f"POST /tasks/{each}/approve", {})
    _later(play)
    play("human:alice", f"POST /tasks/{task}/resolve", {"output": "found", "reason": "By hand"})
    _later(play)
    play("human:alice", f"GET /tasks/{task}")
    play("agent:scout", "GET /tracker/health")


def imported_tasks(play: Play) -> None:
    play.crew("scout", "auditor")
    database = _track(play)
    with play.environment.numbers.of("notion"):
        play.environment.notion.add_page(database, TITLE, status="Not started")
        play.environment.notion.add_page(database, TITLE, status="Done")
        play.environment.notion.add_page(database, "Handoff: Scout → Nobody — 2026-11-19")
    play("human:alice", "POST /tracker/import", {}, key="i-1")
    play("human:alice", "POST /tracker/import", {}, key="i-1")
    play("human:alice", "POST /tracker/import", {})
    play("human:alice", "GET /tasks?agent=auditor")
    play("agent:scout", "POST /handoff-markers", MARKER)


def notions_webhook(play: Play) -> None:
    """Its hands are shaken; what a person changes in Notion is looked at, and told."""
    play.crew("scout", "auditor", "fixer")
    _track(play)
    made = play("agent:scout", "POST /handoff-markers", MARKER)
    another = play("agent:scout", "POST /handoff-markers", {**MARKER, "target_agent": "fixer"})
    opened = play("human:alice", "POST /tracker/webhook", {})
    path = opened["url"].removeprefix("https://baton.example")

    def deliver(body: bytes, headers: Mapping[str, str]) -> int:
        play(None, f"POST {path}", body.decode(), headers={name.lower(): value for name, value in headers.items()})
        return 200

    with play.environment.numbers.of("notion"):
        play.environment.notion.subscribe(deliver)
    play("human:alice", "GET /tracker/webhook")
    with play.environment.numbers.of("notion"):
        play.environment.notion.edit(made["tracker_page_id"], status="Done")
        bot = play.environment.notion.add_user(kind="bot", name="A bot")
        play.environment.notion.edit(another["tracker_page_id"], by=bot, status="Done")
    play.sync()
    _later(play)
    for task in (made["task_id"], another["task_id"]):
        play("human:alice", f"GET /tasks/{task}")
        play("human:alice", f"GET /tasks/{task}/events")
    play(None, f"POST {path}", json.dumps({"type": "page.created"}), headers={"x-notion-signature": "sha256=no"})
    play(None, f"POST {path}", json.dumps({"verification_token": "another"}))
    play("human:alice", "DELETE /tracker/webhook")
    play("human:alice", "GET /tracker/webhook")


def tracker_out_of_reach(play: Play) -> None:
    """Work goes on; what couldn't be sent waits, and is sent once there is a way."""
    play.crew("scout", "auditor")
    _track(play)
    with play.quietly():
        play("human:alice", "PUT /tracker/token", {"token": "ntn_of_nobody"})
    made = play("agent:scout", "POST /handoff-markers", MARKER)
    play.sync()
    for _ in range(4):
        _later(play, 1_800)
    play("human:alice", "GET /tracker/health")
    play("human:alice", "GET /alerts")
    play("human:alice", "PUT /tracker/token", {"token": play.environment.notion.token})
    play("human:alice", "POST /tracker/retry", {"task_id": made["task_id"]}, key="r-1")
    play.sync()
    _later(play)
    play("human:alice", "GET /tracker/health")


def waiting_pages(play: Play) -> None:
    """Notion asked for a pause: what has changed until then waits, and is counted."""
    play.crew("scout", "auditor")
    _track(play)
    made = play("agent:scout", "POST /handoff-markers", MARKER)
    pause = Fault(status=429, retry_after=600)
    play.environment.notion.fault = lambda _method, _path: pause
    play("human:alice", f"POST /tasks/{made['task_id']}/dismiss", {"reason": "Not needed"})
    play.sync()
    play("human:alice", "GET /tracker/health")


def refused_pages(play: Play) -> None:
    """What Notion refuses is given up, and sent again once a human says so."""
    play.crew("scout", "auditor", "fixer")
    _track(play)
    refusal = Fault(status=400, code="validation_error")
    play.environment.notion.fault = lambda method, path: refusal if (method, path) == ("POST", "/v1/pages") else None
    made = play("agent:scout", "POST /handoff-markers", MARKER)
    play("agent:scout", "POST /handoff-markers", {**MARKER, "target_agent": "fixer"})
    play.sync()
    play("human:alice", "GET /tracker/health")
    play.environment.notion.fault = None
    play("human:alice", "POST /tracker/retry", {"task_id": made["task_id"]}, key="r-1")
    play("human:alice", "POST /tracker/retry", {"task_id": made["task_id"]}, key="r-1")
    play.sync()
    play("human:alice", f"GET /tasks/{made['task_id']}")
