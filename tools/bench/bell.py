"""Many connections that listen, and nothing happens; then one task. `MINUTES` says how long nothing happens."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.system import SystemClock
from baton.domain.access.principal import PrincipalKind
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from tools.bench.office import Office, marker
from tools.bench.tables import number, table
from tools.stack.stack import Stack

CONNECTIONS = 1_000
# API Gateway lets an account open 500 a second; the engine on two processors far fewer.
AT_ONCE = 8
IDLE_MINUTES = 1.0
LISTENS_SECONDS = 12.0


@dataclass
class Crowd:
    """``rung``: when each ring came."""

    connections: list[ClientConnection] = field(default_factory=list)
    rung: list[float] = field(default_factory=list)
    lost: int = 0


@dataclass(frozen=True)
class Door:
    """Where to listen, and as whom."""

    url: str
    port: int
    token: str = field(repr=False)


def show_bell(stack: Stack) -> None:
    store = DynamoStore(Table(stack.aws("dynamodb"), stack.table, Patience(SystemClock())))
    office = Office(store, f"bell-{time.time_ns()}", agents=2, auto=True).open()
    change_settings(office.deps, office.human, {"listeners_per_principal": 2_000})
    source, target = office.slugs
    token = issue_token(office.deps, office.human, TokenRequest(kind=PrincipalKind.AGENT, subject=target))[1]
    asking = stack.http(
        issue_token(office.deps, office.human, TokenRequest(kind=PrincipalKind.AGENT, subject=source))[1]
    )
    url = stack.http(token).get("/bell").json()["url"]
    minutes = float(os.environ.get("MINUTES") or IDLE_MINUTES)
    hand_off = partial(asking.post, "/handoff-markers", json=marker(source, target))
    table(
        "Connections that listen to one agent's work, at one local stack",
        ("", "seconds", "CPU s", "MB more", "ring", "others"),
        asyncio.run(_rows(stack, Door(f"{url}?listen=work:{target}", stack.port, token), minutes * 60, hand_off)),
        "CPU and memory: of the engine and all of its functions. ring, others: how often ring and all others were "
        "called, but listen, whose calls the engine doesn't log; what sends nothing calls none, and nothing is read "
        "without a call. Nobody claims the task, so that others are rung.",
    )


async def _rows(stack: Stack, door: Door, idle_seconds: float, hand_off: Callable[[], object]) -> list[list[str]]:
    crowd, slots, begun = Crowd(), asyncio.Semaphore(AT_ONCE), _Spent.by(stack)
    await asyncio.gather(*(_join(crowd, slots, door) for _ in range(CONNECTIONS)))
    listeners = [asyncio.create_task(_hear(crowd, each)) for each in crowd.connections]
    opened = _Spent.by(stack)
    await asyncio.sleep(idle_seconds)
    idle, nothing = _Spent.by(stack), f"nothing happens ({len(crowd.rung)} rings, {crowd.lost} lost)"
    handed_off_at = time.monotonic()
    await asyncio.to_thread(hand_off)
    await asyncio.sleep(LISTENS_SECONDS)
    rung, at_once = len(crowd.rung), sum(each - handed_off_at < 1 for each in crowd.rung)
    rows = [
        _row(f"{CONNECTIONS} connections open", begun, opened),
        _row(nothing, opened, idle),
        _row(
            f"one task: {at_once} rung in the first second, {rung} in {LISTENS_SECONDS:.0f} s", idle, _Spent.by(stack)
        ),
    ]
    for each in listeners:
        each.cancel()
    await asyncio.gather(*(each.close() for each in crowd.connections), return_exceptions=True)
    return rows


async def _join(crowd: Crowd, slots: asyncio.Semaphore, door: Door) -> None:
    async with slots:
        made = socket.create_connection(("127.0.0.1", door.port))
        made.setblocking(False)
        headers = {"Authorization": f"Bearer {door.token}"}
        crowd.connections.append(
            await connect(door.url, sock=made, additional_headers=headers, ping_interval=None, open_timeout=60)
        )


async def _hear(crowd: Crowd, connection: ClientConnection) -> None:
    with suppress(asyncio.CancelledError):
        async for message in connection:
            if "ring" in json.loads(message):
                crowd.rung.append(time.monotonic())
        crowd.lost += 1


@dataclass(frozen=True)
class _Spent:
    """Since the engine's begin, by it and its functions: seconds of processor, megabytes of memory now, and how often
    each function was called. ``at``: when that was."""

    at: float
    seconds: float
    megabytes: float
    calls: Counter[str]

    @classmethod
    def by(cls, stack: Stack) -> _Spent:
        below, todo = list[int](), [stack.pid]
        while todo:
            below.append(pid := todo.pop())
            with suppress(OSError):
                todo += [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        ticks, pages = 0, 0
        for pid in below:
            with suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
                ticks += int(stat[11]) + int(stat[12])
                pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return cls(
            time.monotonic(),
            ticks / os.sysconf("SC_CLK_TCK"),
            pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
            Counter(dict(_calls(stack))),
        )


def _calls(stack: Stack) -> Iterator[tuple[str, int]]:
    """Each function's name without the stack's, and how often it was called, by the lines with which a call begins."""
    logs = stack.aws("logs")
    for group in logs.describe_log_groups(logGroupNamePrefix="/aws/lambda/")["logGroups"]:
        pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group["logGroupName"])
        begun = sum(each["message"].startswith("START ") for page in pages for each in page["events"])
        yield group["logGroupName"].rpartition("/")[2].partition("-")[2], begun


def _row(name: str, before: _Spent, after: _Spent) -> list[str]:
    calls = after.calls - before.calls
    rings = calls.pop("ring", 0)
    spent = [after.at - before.at, after.seconds - before.seconds, after.megabytes - before.megabytes]
    return [name, *map(number, spent), str(rings), str(calls.total())]
