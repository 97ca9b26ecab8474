"""What an open page of the console costs: each list and task that it looks at again, the first time and while nothing
has changed, exact and with ``Cache-Control: max-age=30``. On a table in memory, by the documented rules of capacity;
its stream brings what is written before the next look."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

from api import handler as api
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.bootstrap import logger
from baton.domain import times
from baton.domain.priority import Priority
from baton.domain.tasks.transitions import Dispatch, create
from rest.app import App
from support.fakes.fake_dynamo import FakeDynamo
from support.published import Stream
from support.values.tasks import SETTINGS, a_new_task
from support.values.tokens import bearer, token_of
from tools.bench.meter import Meter, Usage
from tools.bench.office import Office, StillClock
from tools.bench.tables import number, table

WORKSPACE, TABLE = "acme", "bench"
WAITING = 25
CONTEXT_BYTES = 100_000
# Dollars per million: the table's, and API Gateway's with Lambda's.
READ_UNITS, WRITE_UNITS, REQUESTS = 0.125, 0.625, 1.20
LOOK_EVERY_SECONDS, HOURS_OPEN = 2, 8
RECENT = "max-age=30"
# Of looks that are measured, once the first ones are over: what costs something each half a minute is in it.
MEASURED_SECONDS = 120


@dataclass(frozen=True)
class Look:
    status: int
    tag: str
    size: int
    usage: Usage


class Desk:
    """A workspace in which so many tasks wait for a human, and the human who looks at it."""

    def __init__(self, waiting: int = WAITING, context_bytes: int = 1_000) -> None:
        dynamo, clock = FakeDynamo(), StillClock()
        self.meter, self.stream = Meter(dynamo), Stream(dynamo)
        self.office = Office(DynamoStore(Table(self.meter, TABLE, Patience(clock))), WORKSPACE, clock=clock).open()
        self.office.store.tokens.add_token(token_of(self.office.human))
        self._app = App(api.routes, lambda: self.office.deps)
        self.task_ids = [self._needing(number, context_bytes) for number in range(waiting)]
        for _ in range(3):
            self.look("/workspace/settings")

    def look(self, path: str, query: str = "", tag: str = "", control: str = "") -> Look:
        self.meter.taken()
        headers = {"if-none-match": tag, "cache-control": control}
        given = {name: value for name, value in headers.items() if value}
        answer = self._app(_event(self.office, path, query, given))
        body = answer.get("body", "")
        return Look(answer["statusCode"], answer["headers"].get("ETag", ""), len(body.encode()), self.meter.taken())

    def bring(self) -> Usage:
        """What the stream has had since, in one batch, and what that costs."""
        self.meter.taken()
        self.stream.bring(self.office.deps, self.office.bus)
        return self.meter.taken()

    def watched(self, path: str, query: str = "") -> str:
        """Looks at a list until it is answered from the watch. Returns its tag."""
        tag = self.look(path, query, control=RECENT).tag
        self.bring()
        self.office.clock.ahead += timedelta(seconds=6)
        return self.look(path, query, tag, RECENT).tag

    def goes_on(self, path: str, query: str, tag: str, seconds: int = MEASURED_SECONDS) -> list[Usage]:
        """Looks at a list that doesn't change, for so long. Returns the usage of all looks and of the stream."""
        used = []
        for _ in range(0, seconds, LOOK_EVERY_SECONDS):
            self.office.clock.ahead += timedelta(seconds=LOOK_EVERY_SECONDS)
            look = self.look(path, query, tag, RECENT)
            if look.status != HTTPStatus.NOT_MODIFIED:
                raise RuntimeError(f"{path} was answered with {look.status}")
            tag = look.tag
            used += [look.usage, self.bring()]
        return used

    def _needing(self, number: int, context_bytes: int) -> str:
        office, at = self.office, self.office.clock.now()
        new = a_new_task(
            workspace=WORKSPACE,
            id=f"task_{number:06d}",
            handoff_id=f"ho_{number:06d}",
            workflow_id=f"wf_t{number:06d}",
            source_agent=office.source,
            target_agent=office.target,
            priority=Priority.P1,
            created_at=at,
            created_by=office.worker.key,
        )
        change = create(new, office.worker, at, Dispatch(office.store.agents.agent(WORKSPACE, office.target), SETTINGS))
        body = {"context": {"text": "x" * context_bytes}}
        office.store.commit(WORKSPACE, replace(change, body=body))
        return change.task.id


def _event(office: Office, path: str, query: str, headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"authorization": bearer(office.human), **headers},
        "requestContext": {"http": {"method": "GET", "path": path}, "requestId": "bench"},
    }


def lists_of(desk: Desk) -> tuple[tuple[str, str, str], ...]:
    """The lists that a page looks at with ``max-age=30``: name, path and query, as the console asks."""
    task = desk.office.store.tasks.load(WORKSPACE, desk.task_ids[0])[0]
    now = desk.office.clock.now()
    return (
        (f"{WAITING} tasks that wait", "/tasks", "state=needs"),
        (f"a day's {WAITING} tasks", "/tasks", f"day={now.date().isoformat()}&limit=100"),
        (f"a day's {WAITING} handoffs", "/handoffs", "limit=100"),
        (f"a handoff of {CONTEXT_BYTES // 1_000} KB", f"/handoffs/{task.handoff_id}", ""),
        ("a chain of one", f"/workflows/{task.workflow_id}/chain", ""),
        # Without ``since`` the answer's ``counted_since`` moves with the clock.
        ("directions", "/graph/directions", f"since={times.rfc3339(now - timedelta(days=7))}"),
    )


def show_console() -> None:
    os.environ.setdefault("BATON_TABLE", TABLE)
    os.environ.setdefault("POWERTOOLS_SERVICE_NAME", TABLE)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        logger()
        desk = Desk(context_bytes=CONTEXT_BYTES)
        desk.bring()
        lists = lists_of(desk)
        exact = (
            ("open alerts, none", "/alerts", "state=open"),
            ("open reviews, none", "/manual-reviews", "state=open"),
            ("5 agents", "/agents", ""),
            ("settings", "/workspace/settings", ""),
            (f"a task of {CONTEXT_BYTES // 1_000} KB", f"/tasks/{desk.task_ids[0]}", ""),
        )
        rows = [_row(desk, *each, is_recent=each in lists) for each in (*lists, *exact)]
    times = HOURS_OPEN * 3_600 // LOOK_EVERY_SECONDS
    table(
        "What an open console reads: the first time, and while nothing has changed",
        ("", "calls", "RU", "bytes", "unchanged: calls", "RU", f"$ in {HOURS_OPEN} h", "max-age=30: RU", "$"),
        rows,
        f"Dollars: one page that looks every {LOOK_EVERY_SECONDS} s, {times:,} times, and nothing changes; the table,\n"
        "API Gateway and Lambda's requests. With max-age=30: the mean of a look, with what keeps the watch.",
    )


def _row(desk: Desk, name: str, path: str, query: str, *, is_recent: bool) -> list[str]:
    first = desk.look(path, query)
    again = desk.look(path, query, first.tag)
    if (first.status, again.status) != (HTTPStatus.OK, HTTPStatus.NOT_MODIFIED):
        raise RuntimeError(f"{path} was answered with {first.status} and {again.status}")
    shown = [name, str(first.usage.reads), number(first.usage.read_units), str(first.size)]
    shown += [str(again.usage.reads), *_cost(again.usage.read_units, 0)]
    if not is_recent:
        return [*shown, "", ""]
    used, looks = desk.goes_on(path, query, desk.watched(path, query)), MEASURED_SECONDS / LOOK_EVERY_SECONDS
    units = (sum(getattr(each, kind) for each in used) / looks for kind in ("read_units", "all_write_units"))
    return [*shown, *_cost(*units)]


def _cost(read_units: float, write_units: float) -> list[str]:
    """The read units of a look, and the dollars of a day."""
    looks = HOURS_OPEN * 3_600 / LOOK_EVERY_SECONDS
    dollars = looks * (read_units * READ_UNITS + write_units * WRITE_UNITS + REQUESTS) / 1_000_000
    return [number(read_units), f"{dollars:.3f}"]
