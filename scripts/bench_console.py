"""What an open page of the console costs: each list and task that it looks at again, the first time and while nothing
has changed. On a table in memory, by the documented rules of capacity."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api import handler as api
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.bootstrap import logger
from baton.domain.escalations.marker import Priority
from baton.domain.tasks.task_items import TaskBody
from baton.domain.tasks.transitions import Dispatch, create
from baton.ports.writes import Insert
from bench_meter import Meter, Usage
from bench_office import MovableClock, Office
from bench_tables import number, table
from rest.app import App
from support.fakes.fake_dynamo import FakeDynamo
from support.values.tasks import SETTINGS, a_new_task
from support.values.tokens import bearer, token_of

WORKSPACE, TABLE = "acme", "bench"
WAITING = 25
CONTEXT_BYTES = 100_000
READ_UNITS, REQUESTS = 0.125, 1.20  # dollars per million: the table's, and API Gateway's with Lambda's
LOOK_EVERY_SECONDS, HOURS_OPEN = 2, 8


@dataclass(frozen=True)
class Look:
    status: int
    tag: str
    size: int
    usage: Usage


class Desk:
    """A workspace in which so many tasks wait for a human, and the human who looks at it."""

    def __init__(self, waiting: int = WAITING, context_bytes: int = 1_000) -> None:
        clock = MovableClock()
        self.meter = Meter(FakeDynamo())
        self.office = Office(DynamoStore(Table(self.meter, TABLE, clock.sleep)), WORKSPACE, clock=clock).open()
        self.office.store.add_token(token_of(self.office.human))
        self._app = App(api.routes, lambda: self.office.deps)
        self.task_ids = [self._needing(number, context_bytes) for number in range(waiting)]
        for _ in range(3):
            self.look("/workspace/settings")

    def look(self, path: str, query: str = "", tag: str = "") -> Look:
        self.meter.taken()
        answer = self._app(_event(self.office, path, query, {"if-none-match": tag} if tag else {}))
        body = answer.get("body", "")
        return Look(answer["statusCode"], answer["headers"].get("ETag", ""), len(body.encode()), self.meter.taken())

    def _needing(self, number: int, context_bytes: int) -> str:
        office, at = self.office, self.office.clock.now()
        new = a_new_task(
            workspace=WORKSPACE,
            id=f"task_{number:06d}",
            source_agent=office.source,
            target_agent=office.target,
            priority=Priority.P1,
            created_at=at,
            created_by=office.worker.key,
        )
        change = create(new, office.worker, at, Dispatch(office.store.agent(WORKSPACE, office.target), SETTINGS))
        body = TaskBody(change.task.id, {"context": {"text": "x" * context_bytes}})
        office.store.commit(WORKSPACE, change, Insert(body))
        return change.task.id


def _event(office: Office, path: str, query: str, headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"authorization": bearer(office.human), **headers},
        "requestContext": {"http": {"method": "GET", "path": path}, "requestId": "bench"},
    }


def show_console() -> None:
    os.environ.setdefault("BATON_TABLE", TABLE)
    os.environ.setdefault("POWERTOOLS_SERVICE_NAME", TABLE)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        logger()
        desk = Desk(context_bytes=CONTEXT_BYTES)
        looks = (
            (f"{WAITING} tasks that wait", "/tasks", "state=needs"),
            ("open alerts, none", "/alerts", "state=open"),
            ("open reviews, none", "/manual-reviews", "state=open"),
            ("5 agents", "/agents", ""),
            ("settings", "/workspace/settings", ""),
            (f"a task of {CONTEXT_BYTES // 1_000} KB", f"/tasks/{desk.task_ids[0]}", ""),
        )
        rows = [_row(desk, *each) for each in looks]
    times = HOURS_OPEN * 3_600 // LOOK_EVERY_SECONDS
    table(
        "What an open console reads: the first time, and while nothing has changed",
        ("", "calls", "RU", "bytes", "unchanged: calls", "RU", "bytes", f"$ in {HOURS_OPEN} h"),
        rows,
        f"Dollars: one page that looks every {LOOK_EVERY_SECONDS} s, {times:,} times, and nothing changes; reads\n"
        "of the table, API Gateway and Lambda's requests.",
    )


def _row(desk: Desk, name: str, path: str, query: str) -> list[str]:
    first = desk.look(path, query)
    again = desk.look(path, query, first.tag)
    if (first.status, again.status) != (200, 304):
        raise RuntimeError(f"{path} was answered with {first.status} and {again.status}")
    dollars = HOURS_OPEN * 3_600 / LOOK_EVERY_SECONDS * (again.usage.read_units * READ_UNITS + REQUESTS) / 1_000_000
    shown = [(str(each.usage.reads), number(each.usage.read_units), str(each.size)) for each in (first, again)]
    return [name, *shown[0], *shown[1], f"{dollars:.3f}"]
