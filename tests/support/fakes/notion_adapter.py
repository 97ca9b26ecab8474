"""The Notion adapter against the stand-in, in one process. Requests are recorded, and their answers may be replaced."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import httpx
import pytest

from baton.adapters.notion import NotionTracker, NotionTrackers
from baton.domain.errors import (
    Busy,
    TrackerTrouble,
)
from baton.domain.priority import Priority
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.task_state import State
from baton.domain.tracker.page_fields import PageFields
from support.clock import NOON, FakeClock
from tools.stand_ins.fake_notion import STATUS, Database, FakeNotion, Fault, ScriptedFault

TASK, OTHER = "task_" + "0" * 26, "task_" + "1" * 26
TITLE = "Handoff: Scribe → Auditor — 2026-11-19"
CLOSING = "Done, Closed, Complete, Cancelled, Canceled"
TITLE_ONLY = {"Name": {"type": "title"}}


class Wire(httpx.BaseTransport):
    """The transport to the stand-in. It keeps the requests, and may answer in the stand-in's place."""

    def __init__(self, fake: FakeNotion) -> None:
        self.fake = fake
        self.seen: list[httpx.Request] = []
        self.instead: Callable[[httpx.Request], httpx.Response | None] = lambda _: None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        return self.instead(request) or self.fake.transport().handle_request(request)

    def bodies(self, method: str, path: str) -> list[dict[str, Any]]:
        return [json.loads(one.content) for one in self.seen if (one.method, one.url.path) == (method, path)]

    def refuse(self, count: int, status: int, message: str, method: str = "POST", path: str = "/v1/pages") -> None:
        """Refuses the next ``count`` requests."""
        left = [message] * count
        code = {400: "validation_error", 404: "object_not_found", 403: "restricted_resource"}[status]

        def instead(request: httpx.Request) -> httpx.Response | None:
            if (request.method, request.url.path) != (method, path) or not left:
                return None
            answer = {"object": "error", "status": status, "code": code, "message": left.pop()}
            return httpx.Response(status, json=answer)

        self.instead = instead


class Tokens:
    """The trackers' tokens by workspace. ``kept``: the tokens that were read before; they are given again unless asked
    for afresh."""

    def __init__(self, **tokens: str | None) -> None:
        self.tokens, self.kept, self.is_busy, self.afresh = dict(tokens), dict(tokens), False, 0

    def put(self, workspace: str, token: str) -> None:
        self.tokens[workspace] = token

    def get(self, workspace: str, *, afresh: bool = False) -> str | None:
        if self.is_busy:
            raise Busy
        if afresh:
            self.afresh += 1
            self.kept[workspace] = self.tokens.get(workspace)
        return self.kept.get(workspace)


class NotionAdapter:
    """``trackers``: the adapter under test. ``fake``: the stand-in that it reaches over ``wire``."""

    def __init__(self) -> None:
        self.clock = FakeClock(NOON + timedelta(seconds=42))
        self.fake = FakeNotion(self.clock.now)
        self.wire = Wire(self.fake)
        self.tokens = Tokens(acme=self.fake.token)
        self.trackers = NotionTrackers(
            self.tokens, "http://notion.test/", clock=self.clock, transport=self.wire, monotonic=self.monotonic
        )
        self.database = self.fake.add_database()

    def monotonic(self) -> float:
        return self.clock.time.timestamp()

    def use(self, properties: dict[str, Any] | None = None, status_type: str = STATUS) -> Database:
        self.database = self.fake.add_database(properties=properties, status_type=status_type)
        return self.database

    def settings(self, **values: Any) -> TrackerSettings:
        return TrackerSettings().changed({"database": self.database.id, **values})

    def tracker(self, workspace: str = "acme", seconds: float = 3, **values: Any) -> NotionTracker:
        return self.trackers.of(workspace, self.settings(**values), seconds)

    def page_of(self, **values: Any) -> Any:
        return self.fake.pages[self.tracker().create(page_fields(**values)).page.id]

    def asked(self) -> list[str]:
        return [f"{call.method} {call.path.split('/')[2]}" for call in self.fake.requests]


def page_fields(**values: Any) -> PageFields:
    usual = PageFields(
        task_id=TASK,
        title=TITLE,
        state=State.NEEDS,
        priority=Priority.P0,
        due_date=date(2026, 11, 19),
        created_at=NOON + timedelta(seconds=42),
        text="Escalation from Scribe.",
        url=f"https://baton.test/tasks/{values.get('task_id', TASK)}",
        digest_url="https://digests.test/1",
        relations={},
    )
    return replace(usual, **values)


def trouble_of(adapter: NotionAdapter, act: Callable[[NotionTracker], object], seconds: float = 3) -> TrackerTrouble:
    with pytest.raises(TrackerTrouble) as caught:
        act(adapter.tracker(seconds=seconds))
    assert "ntn_" not in str(caught.value)
    return caught.value


def always(fault: Fault, path: str) -> Callable[[str, str], Fault | None]:
    return ScriptedFault(fault, count=99, path=path)


CREATE: Callable[[NotionTracker], object] = lambda tracker: tracker.create(page_fields())  # noqa: E731
LOOK: Callable[[NotionTracker], object] = lambda tracker: tracker.look("a" * 32)  # noqa: E731
