"""The programs of the day: workers, clients of threads and tasks, and sessions of baton-mcp. All of their code is real
but the wire, the clock and the start of a program."""

from __future__ import annotations

import asyncio
import io
import json
import os
import selectors
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import anyio

import baton_client.caller
import baton_client.heartbeats
import baton_client.lease
from baton_cli.worker import job, program, supervisor, watchdog
from baton_cli.worker.agent_work import AgentWork
from baton_cli.worker.log import Log
from baton_cli.worker.outage_log import LoggedApi, OutageLog
from baton_cli.worker.poller import Poller
from baton_cli.worker.report_spool import ReportSpool
from baton_cli.worker.supervisor import RunOptions, Supervisor
from baton_client import AsyncBaton, Baton
from baton_client.caller import Caller
from baton_client.core import Answer, Request
from baton_client.errors import BatonError
from baton_client.profiles import Profile
from baton_mcp.mcp_connection import McpConnection, Unanswered
from baton_mcp.session_claims import SessionClaims
from simulation.day import hub as virtual
from simulation.day.hub import FOREVER, Actor, Hub
from simulation.day.network import URL, Network, Wires

LEASE_SECONDS = 60
NOBODY = 2**30  # no process has this number
NO_BELL = Answer()


@dataclass
class Outside:
    """What the programs do outside of Baton. ``effects``: of each intention, the effect keys. ``finished``: of each
    intention, the results as programs had them. ``trouble``: errors that programs met."""

    hub: Hub
    seconds: Callable[[], float]
    effects: dict[int, list[str]] = field(default_factory=dict)
    finished: dict[int, list[Any]] = field(default_factory=dict)
    trouble: list[str] = field(default_factory=list)
    is_over: bool = False

    def effect(self, number: int, key: str) -> None:
        self.effects.setdefault(number, []).append(key)

    def result(self, number: int, by: str) -> dict[str, Any]:
        results = self.finished.setdefault(number, [])
        results.append({"number": number, "by": by, "time": len(results)})
        return cast("dict[str, Any]", results[-1])


@contextmanager
def in_virtual_time(hub: Hub, programs: Programs) -> Iterator[None]:
    """Within it, modules of the programs have the hub's clock, threads and pipes in place of the system's."""
    clocks = virtual.clocks(hub)
    threads = {"Condition": partial(virtual.Condition, hub), "Thread": partial(virtual.Thread, hub)}
    replaced: list[tuple[Any, dict[str, Any]]] = [
        (watchdog, {"time": clocks}),
        (baton_client.lease, {"time": clocks}),
        (baton_client.caller, {"time": clocks}),
        (
            baton_client.heartbeats,
            {
                "Event": partial(virtual.Event, hub),
                "Lock": partial(virtual.Lock, hub),
                "Thread": partial(virtual.Thread, hub),
            },
        ),
        (job, threads),
        (supervisor, threads),
        (program, {"subprocess": SimpleNamespace(Popen=programs.start), "selectors": _selectors(hub)}),
    ]
    patches = [mock.patch.multiple(module, **names) for module, names in replaced]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


def _selectors(hub: Hub) -> SimpleNamespace:
    read, write = selectors.EVENT_READ, selectors.EVENT_WRITE
    return SimpleNamespace(DefaultSelector=partial(virtual.Selector, hub), EVENT_READ=read, EVENT_WRITE=write)


# The worker


@dataclass
class Programs:
    """What workers start: a watchdog and its program in one, in virtual time."""

    outside: Outside

    def start(
        self, line: list[str], *, stdin: int, stdout: int, pass_fds: list[int], env: dict[str, str], **_: object
    ) -> Any:
        grace, term_at, kill_at = map(float, line[6:9])
        control, checkpoints = (os.dup(each) for each in pass_fds)
        ends = _Ends(os.dup(stdin), os.dup(stdout), checkpoints, socket.socket(fileno=control))
        orders = watchdog.TimeOrders(grace, term_at, kill_at)
        hub = self.outside.hub
        hub.spawn("program", partial(self._run, ends, orders, env))
        return SimpleNamespace(pid=NOBODY, wait=lambda: None)

    def _run(self, ends: _Ends, orders: watchdog.TimeOrders, env: dict[str, str]) -> None:
        hub, begun_at = self.outside.hub, self.outside.hub.now
        with ends:
            number = int(ends.task()["body"]["context"]["variables"]["number"])
            self.outside.effect(number, env["BATON_EFFECT_KEY"])
            ends_at, code = begun_at + self.outside.seconds(), 0
            half_at = (begun_at + ends_at) / 2
            while hub.now < ends_at:
                hub.park(min(ends_at, hub.now + 1.0, half_at if hub.now < half_at else FOREVER))
                if hub.now == half_at:
                    ends.save({"step_name": "half", "state": {"number": number}})
                if not ends.hear(orders):
                    return  # the worker is dead
                if order := orders.due(hub.now, is_told=False):
                    code = -order
                    break
            if not code:
                ends.print(self.outside.result(number, "worker"))
            ends.control.sendall(f"ended {code:d} {orders.why}\n".encode())


@dataclass
class _Ends:
    """A program's ends of the pipes."""

    stdin: int
    stdout: int
    checkpoints: int
    control: socket.socket

    def task(self) -> Any:
        """Returns the program's input, which the worker has written so far as it fits into a pipe."""
        content = b""
        os.set_blocking(self.stdin, False)
        return json.loads(self._read(content))

    def _read(self, content: bytes) -> bytes:
        while True:
            try:
                more = os.read(self.stdin, 65_536)
            except BlockingIOError:
                return content
            if not more:
                return content
            content += more

    def save(self, checkpoint: Any) -> None:
        os.write(self.checkpoints, json.dumps(checkpoint).encode() + b"\n")

    def print(self, result: Any) -> None:
        os.write(self.stdout, json.dumps(result).encode())

    def hear(self, orders: watchdog.TimeOrders) -> bool:
        """Follows the worker's orders. Returns False if the worker is gone."""
        self.control.setblocking(False)
        try:
            said = self.control.recv(4_096)
        except BlockingIOError:
            return True
        for line in said.split(b"\n")[:-1]:
            orders.obey(line, watchdog.now())
        return bool(said)

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        for each in (self.stdin, self.stdout, self.checkpoints):
            os.close(each)
        self.control.close()


def worker(network: Network, outside: Outside, agents: dict[str, str], folder: Path) -> Supervisor:
    """Returns a worker for these agents, with their tokens, two tasks of each at a time."""
    hub, log = network.hub, Log(io.StringIO())
    spool = ReportSpool(folder)
    pollers = [
        Poller(
            api=LoggedApi(_caller(network, token, slug), OutageLog(log, lambda: hub.now)),
            work=AgentWork(
                agent=slug,
                command=("run.sh",),
                profile=Profile("", URL, token, slug),
                worker="worker-1",
                concurrency=2,
                lease_seconds=LEASE_SECONDS,
            ),
            poll_slots=cast("Any", virtual.Semaphore(hub, 4)),
            spool=spool,
            poll_lock=cast("Any", virtual.Lock(hub)),
        )
        for slug, token in agents.items()
    ]
    made = Supervisor(pollers, RunOptions(), log)
    hub.spawn("worker", made.run)
    return made


def _caller(network: Network, token: str, slug: str) -> Caller:
    caller = Caller(Profile("", URL, token, slug))
    caller.wires = cast("Any", Wires(network, token))
    return caller


# The client of threads


def client(network: Network, token: str, slug: str) -> Baton:
    made = Baton(URL, token, agent=slug)
    made._caller.wires = cast("Any", Wires(network, token))
    made._caller._listen = lambda _step: NO_BELL
    return made


def serve_by_client(network: Network, outside: Outside, token: str, slug: str) -> None:
    baton = client(network, token, slug)
    while not outside.is_over:
        try:
            with baton.claim(lease_seconds=LEASE_SECONDS) as work:
                if work is None:
                    continue
                number = work.variables["number"]
                outside.effect(number, f"baton-{work.task_id}")
                work.save({"number": number})
                network.hub.sleep(outside.seconds())
                if not work.lost:
                    work.complete(outside.result(number, "client"))
        except BatonError as exc:
            outside.trouble.append(f"client: {exc!r}")


# The client of tasks, and baton-mcp, which share an event loop


@dataclass
class AsyncWires:
    """In the place of the client's ``AsyncWires``: each exchange is an actor's."""

    network: Network
    token: str

    async def send(self, request: Request[Any], seconds: float) -> Answer:
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Answer] = loop.create_future()

        def exchange() -> None:
            answer = self.network.exchange(self.token, request, seconds)
            loop.call_soon_threadsafe(_set, answered, answer)

        self.network.hub.spawn("async exchange", exchange)
        return await answered

    async def close(self) -> None: ...


def _set(answered: asyncio.Future[Answer], answer: Answer) -> None:
    if not answered.done():  # the program waits for it no more
        answered.set_result(answer)


class LoopSelector(virtual.Selector):
    """Of an event loop: no loop is running in this thread while others have their turn."""

    actor: Actor | None = None

    def select(self, timeout: float | None = None) -> Any:
        self.actor = self._hub.current
        running = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            until = FOREVER if timeout is None else self._hub.now + max(0.0, timeout)
            while not (ready := selectors.DefaultSelector.select(self, 0)) and self._hub.now < until:
                self._hub.park(until)
            return ready
        finally:
            asyncio._set_running_loop(running)


class Loop(asyncio.SelectorEventLoop):
    def __init__(self, hub: Hub) -> None:
        self._hub, self._own = hub, LoopSelector(hub)
        super().__init__(self._own)

    def time(self) -> float:
        return self._hub.now

    def call_soon_threadsafe(self, callback: Callable[..., object], *arguments: Any, **more: Any) -> asyncio.Handle:  # type: ignore[override]
        handle = super().call_soon_threadsafe(callback, *arguments, **more)
        if self._own.actor is not None:
            self._hub.wake(self._own.actor)
        return handle


def run_tasks(hub: Hub, programs: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Runs programs in an event loop, until all have ended."""
    loop = Loop(hub)

    async def all_of_them() -> None:
        await asyncio.gather(*(each() for each in programs))

    try:
        loop.run_until_complete(all_of_them())
    finally:
        loop.close()


async def serve_by_tasks(network: Network, outside: Outside, token: str, slug: str) -> None:
    baton = AsyncBaton(URL, token, agent=slug)
    baton.__dict__["_async_wires"] = AsyncWires(network, token)
    baton._caller.wires = cast("Any", Wires(network, token))
    while not outside.is_over:
        try:
            async with baton.claim(lease_seconds=LEASE_SECONDS) as work:
                if work is None:
                    continue
                number = work.variables["number"]
                outside.effect(number, f"baton-{work.task_id}")
                await work.save({"number": number})
                await asyncio.sleep(outside.seconds())
                if not work.lost:
                    await work.complete(outside.result(number, "async client"))
        except BatonError as exc:
            outside.trouble.append(f"async client: {exc!r}")


async def serve_by_mcp(network: Network, outside: Outside, token: str, _slug: str) -> None:
    """A model's session. It repeats a call that wasn't answered, as its answer says."""
    door = McpConnection(cast("Any", AsyncWires(network, token)), "usual", "session-1")
    async with anyio.create_task_group() as tasks:
        claims = SessionClaims(door, tasks)
        call = partial(_called, outside, claims)
        while not outside.is_over:
            found = await call("claim_next", {"wait_seconds": 20, "lease_seconds": LEASE_SECONDS})
            if not found.get("claimed"):
                continue
            ids = {"task_id": found["task_id"], "claim_id": found["claim_id"]}
            number = int(found["asked"]["reason"].removeprefix("Do "))
            outside.effect(number, f"baton-{found['task_id']}")
            await call("checkpoint", {**ids, "step_name": "half", "state": {"number": number}})
            await anyio.sleep(outside.seconds())
            await call("complete", {**ids, "output": outside.result(number, "mcp")})
        tasks.cancel_scope.cancel()


async def _called(outside: Outside, claims: SessionClaims, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    while True:
        try:
            found = await claims.call(name, arguments)
        except Unanswered as exc:
            outside.trouble.append(f"mcp: {name}: {exc.text}")
            await anyio.sleep(5)
            continue
        if found.get("isError"):
            outside.trouble.append(f"mcp: {name}: {found['content'][0]['text'][:300]}")
        return found.get("structuredContent") or {}
