"""The four programs in virtual time, each with one verb that the network disturbs."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from threading import Condition
from typing import Any, Protocol

import anyio
import click
import pytest

from baton_cli.command_context import CommandContext
from baton_cli.main import NOUNS, cli, run
from baton_cli.nouns import tasks
from baton_cli.worker import job, report, watchdog
from baton_cli.worker.program import Launch, ProgramExit, TimeLimits
from baton_cli.worker.report_spool import ReportSpool, SpooledReport, spool_folder
from baton_cli.worker.request_schedule import RequestKind
from baton_client import AsyncBaton, Baton, claiming, claims
from baton_client.caller import Caller
from baton_client.core import Patience
from baton_client.errors import BatonError
from baton_client.verbs import Question, question_of
from baton_mcp.mcp_connection import McpConnection, Unanswered, connection
from baton_mcp.profile import ServerProfile
from baton_mcp.session_claims import SessionClaims
from mcp_door.tools.catalogue import TOOLS
from support.clock import NOON
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.faulty_network import FaultyNetwork
from support.fakes.store import InMemoryStore
from support.gateway import Gateway, event_of, route_of, sent
from support.http_server import Received, Sent
from support.values.tokens import bearer
from support.virtual_time import VirtualTime
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import World, agent

SLUG, URL = "auto-code", "http://127.0.0.1:9"
CODER = agent(SLUG)
LEASE_SECONDS = 60
LONG_WORK_SECONDS = 100.0  # longer than a lease
PAY = {"kind": "action", "text": "Pay Ada", "tool": "pay", "arguments": {"amount": 100}}
OUTPUT = {"answer": 42}
# Verb → the operations of docs/openapi.json that are about it. The spool is the worker's folder of reports.
OPERATIONS = {
    "heartbeat": {"heartbeat"},
    "claim": {"claim", "claim_the_next", "wait_for_a_claim"},
    "complete": {"complete"},
    "fail": {"fail"},
    "ask": {"ask_people"},
    "use": {"use_an_approval"},
    "release": {"release"},
    "checkpoint": {"checkpoint"},
}
NO_FOLDER = "Only the worker keeps reports in a folder and sends them later."
PATIENCE = Patience(drawn=max)  # the longest of the pauses that are drawn


class ServerClock:
    """The API's clock, in virtual time."""

    def __init__(self, time: VirtualTime) -> None:
        self._time = time

    def now(self) -> datetime:
        return NOON + timedelta(milliseconds=int(self._time.seconds * 1000))

    def monotonic(self) -> float:
        return self._time.seconds

    def sleep(self, seconds: float) -> None:
        self._time.sleep(seconds)


@dataclass
class Scene:
    """One program on one network. ``began``: how often work on the task began. ``files``: what the worker's folder has
    in the end, by the ends of the names."""

    time: VirtualTime
    world: World
    gateway: Gateway
    network: FaultyNetwork
    folder: Path
    patch: pytest.MonkeyPatch
    task_id: str
    claim_id: str = ""
    began: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def token(self) -> str:
        return bearer(CODER).removeprefix("Bearer ")

    @property
    def trail(self) -> list[str]:
        return self.world.trail(self.task_id)

    @property
    def state(self) -> str:
        return str(self.world.task(self.task_id).state)

    @property
    def files(self) -> list[str]:
        return sorted(each.suffix for each in spool_folder({"XDG_STATE_HOME": str(self.folder)}).glob("*"))

    def claim(self) -> Any:
        """Claims the task for a program that begins with a claim."""
        self.claim_id = str(self._said("claim", agent=SLUG, lease_seconds=LEASE_SECONDS)["claim_id"])
        return self.claim_id

    def approved_action(self) -> Question:
        """Asks for an action under the claim. A human approves it."""
        asked = self._said("ask", claim_id=self.claim_id, **PAY)
        return question_of(self.approve(asked["id"]))

    def approve(self, question_id: str) -> Any:
        path = f"/tasks/{self.task_id}/questions/{question_id}"
        digest = self.gateway.get(ALICE, path).json["digest"]
        reply = self.gateway.post(ALICE, f"{path}/answer", {"outcome": "approved", "digest": digest})
        assert reply.status == 200, reply.text
        return reply.json

    def leave_a_report(self, task_id: str, claim_id: str) -> None:
        """Leaves the report of a worker that was killed."""
        body = {"claim_id": claim_id, "output": OUTPUT}
        entry = SpooledReport(URL, SLUG, f"/tasks/{task_id}/complete", body, f"key of {task_id}")
        assert ReportSpool(spool_folder({"XDG_STATE_HOME": str(self.folder)})).add(entry)

    def _said(self, verb: str, **body: Any) -> Any:
        reply = self.gateway.post(CODER, f"/tasks/{self.task_id}/{verb}", body)
        assert reply.status in {200, 201}, reply.text
        return reply.json


@cache
def _handed_off() -> tuple[FakeDynamo, str]:
    """Returns a table with a task, and its id. Callers copy it, and never write to it."""
    world = World()
    agents = HttpAgents(Gateway(world.deps)).hire_in(world.settle())
    task_id = str(agents.hand_off("architect", SLUG)["task"]["id"])
    for each in (CODER, ALICE):
        agents.gateway.admit(each)
    assert isinstance(world.store, InMemoryStore)
    return world.store.dynamo, task_id


@contextmanager
def scene(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[Scene]:
    """Yields a scene with a task, in virtual time."""
    time = VirtualTime()
    world = World(clock=ServerClock(time))  # type: ignore[arg-type]
    before, task_id = _handed_off()
    table = world.empty_table()
    assert table is not None
    world.begin_as(table, before)
    gateway = Gateway(world.deps)

    def answer(request: Received) -> Sent:
        path, _, query = request.path.partition("?")
        if path.endswith("/claims/wait"):
            request = Received(request.method, f"{path}?timeout=0", request.headers, request.content)
        with time.apart():
            told = sent(gateway.handle(route_of(request.method, path), event_of(request)))
        if told.status == 204 and query.startswith("timeout="):
            time.sleep(float(query.removeprefix("timeout=")))
        return told

    made = Scene(time, world, gateway, FaultyNetwork(time, answer), folder, patch, task_id)
    for name, value in {"BATON_URL": URL, "BATON_TOKEN": made.token, "BATON_AGENT": SLUG}.items():
        patch.setenv(name, value)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME"):
        patch.setenv(name, str(folder))
    made.network.install(patch)
    patch.setitem(sys.modules, "sniffio", None)  # httpcore looks for it on the disk before each request
    with time.running(patch):
        yield made


class Program(Protocol):
    """``verbs``: the verbs of the program, by its code."""

    name: str

    @property
    def verbs(self) -> set[str]: ...

    def lacks(self, verb: str) -> str:
        """Returns the reason why the program doesn't have a verb."""
        ...

    def play(self, scene: Scene, verb: str) -> str:
        """Runs the program until it ends. Returns how it ended."""
        ...


# The worker


@dataclass
class Script:
    """What the worker's program does: checkpoints at moments, and its end."""

    seconds: float = 5.0
    checkpoints: tuple[tuple[float, bytes], ...] = ()
    code: int = 0
    output: bytes = json.dumps(OUTPUT).encode()


SCRIPTS = {
    "heartbeat": Script(LONG_WORK_SECONDS),
    "checkpoint": Script(10.0, ((1.0, b'{"step_name": "read", "state": {"read": 1}}'),)),
    "fail": Script(code=1, output=b""),
    "release": Script(output=b'{"baton": "release", "reason": "later"}'),
}


class ScriptedProgram:
    """A program and its watchdog, without processes: the watchdog's own rule says when it is ended."""

    def __init__(self, script: Script, launch: Launch, on_checkpoint: Callable[[bytes | None], None]) -> None:
        limits = launch.limits
        self._script, self._on_checkpoint, self._changed = script, on_checkpoint, Condition()
        self._orders = watchdog.TimeOrders(launch.grace_seconds, limits.term_at, limits.kill_at)

    def run(self) -> ProgramExit:
        began_at, lines = watchdog.now(), list(self._script.checkpoints)
        with self._changed:
            while True:
                now = watchdog.now()
                if (order := self._orders.due(now, is_told=False)) is not None:
                    return ProgramExit(code=-order, why=self._orders.why)
                if now - began_at >= self._script.seconds:
                    return ProgramExit(code=self._script.code, output=self._script.output)
                moments = [began_at + self._script.seconds, self._orders.next_at(is_told=False)]
                moments += [began_at + at for at, _ in lines]
                if lines and now - began_at >= lines[0][0]:
                    self._on_checkpoint(lines.pop(0)[1])
                    continue
                self._changed.wait(max(0.001, min(moments) - now))

    def keep_to(self, limits: TimeLimits) -> None:
        self._order(b"until %r %r" % (limits.term_at, limits.kill_at))

    def stop(self) -> None:
        self._order(b"stop")

    def kill(self) -> None:
        self._order(b"until 0 0")

    def _order(self, line: bytes) -> None:
        with self._changed:
            self._orders.obey(line, watchdog.now())
            self._changed.notify_all()


class Worker:
    """`baton worker --once`, for a task of an agent."""

    name = "worker"

    @property
    def verbs(self) -> set[str]:
        """The verbs of its reports, its requests under a claim, its polls, and its folder."""
        kinds = {each.value for each in RequestKind}
        return {*report.VERBS, *kinds, "claim", "spool"}

    def lacks(self, verb: str) -> str:
        return (
            f"A worker has the verbs {', '.join(sorted(self.verbs & OPERATIONS.keys()))}. A program calls Baton itself."
        )

    def play(self, scene: Scene, verb: str) -> str:
        script = SCRIPTS.get(verb, Script())

        def program(launch: Launch, on_checkpoint: Any, _on_error: Any = None) -> ScriptedProgram:
            scene.began += 1
            return ScriptedProgram(script, launch, on_checkpoint)

        scene.patch.setattr(job, "Program", program)
        scene.patch.setattr("baton_cli.worker.signals.serve", lambda supervisor, _log: supervisor.run())
        if verb == "spool":
            scene.leave_a_report(scene.task_id, scene.claim())
        line = ["worker", "--once", "--lease", f"{LEASE_SECONDS}s", "--idle-timeout", "90s", "--", "/bin/true"]
        return command_line(scene, *line)


class PatientContext(CommandContext):
    @cached_property
    def client(self) -> Caller:
        return self.client_for(self.profile, PATIENCE)


def command_line(scene: Scene, *line: str) -> str:
    """Returns how a command line ended."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        code = run(list(line), PatientContext())
    scene.lines += said.getvalue().split("\n")
    return f"exit code {code}"


# The command


class Command:
    """`baton`, as a person or a script types it."""

    name = "command"

    @property
    def verbs(self) -> set[str]:
        """Its commands below `baton tasks`, and `baton ask`."""
        names = {"use" if name == "use-approval" else name for name in tasks.command.list_commands(click.Context(cli))}
        return names | ({"ask"} & NOUNS.keys())

    def lacks(self, verb: str) -> str:
        return NO_FOLDER

    def play(self, scene: Scene, verb: str) -> str:
        if verb != "claim":
            scene.claim()
        line = getattr(self, verb)(scene)
        claim = () if verb == "claim" else ("--claim", scene.claim_id)
        return command_line(scene, *line, *claim)

    def heartbeat(self, scene: Scene) -> list[str]:
        return ["tasks", "heartbeat", scene.task_id]

    def claim(self, scene: Scene) -> list[str]:
        return ["tasks", "claim", "--lease", str(LEASE_SECONDS)]

    def complete(self, scene: Scene) -> list[str]:
        return ["tasks", "complete", scene.task_id, "--output", json.dumps(OUTPUT)]

    def fail(self, scene: Scene) -> list[str]:
        return ["tasks", "fail", scene.task_id, "--type", "error", "--reason", "It broke"]

    def release(self, scene: Scene) -> list[str]:
        return ["tasks", "release", scene.task_id]

    def checkpoint(self, scene: Scene) -> list[str]:
        return ["tasks", "checkpoint", scene.task_id, "--step", "read", "--state", '{"read": 1}']

    def ask(self, scene: Scene) -> list[str]:
        return ["ask", scene.task_id, "Which one?", "--no-wait"]

    def use(self, scene: Scene) -> list[str]:
        question = scene.approved_action()
        digest = question.raw["approved_digest"]
        return ["tasks", "use-approval", scene.task_id, question.id, "--digest", digest]


# The client


class Client:
    """A program of threads on ``baton_client``."""

    name = "client"

    @property
    def verbs(self) -> set[str]:
        source = "".join(inspect.getsource(each) for each in (claims, claiming))
        return {verb for verb, names in OPERATIONS.items() if any(f"operations.{name}(" in source for name in names)}

    def lacks(self, verb: str) -> str:
        return NO_FOLDER

    def play(self, scene: Scene, verb: str) -> str:
        try:
            with (
                Baton(URL, scene.token, agent=SLUG, patience=PATIENCE) as baton,
                baton.claim(wait=90, lease_seconds=LEASE_SECONDS) as work,
            ):
                if work is None:
                    return "no work"
                scene.began += 1
                scene.claim_id = work.claim_id
                if verb == "heartbeat":
                    self._works(scene, work)
                elif verb == "checkpoint":
                    work.save({"read": 1})
                elif verb == "ask":
                    work.ask("Which one?", seconds=0)
                elif verb == "use":
                    work.use(scene.approved_action())
                if verb == "fail":
                    work.fail("It broke")
                elif verb == "release":
                    work.release()
                else:
                    work.complete(OUTPUT)
        except BatonError as error:
            return type(error).__name__
        return "returns"

    def _works(self, scene: Scene, work: Any) -> None:
        for _ in range(int(LONG_WORK_SECONDS)):
            if work.lost:
                return
            scene.time.sleep(1)


class AsyncClient:
    """A program of tasks on ``baton_client``."""

    name = "async client"

    @property
    def verbs(self) -> set[str]:
        return Client().verbs

    def lacks(self, verb: str) -> str:
        return NO_FOLDER

    def play(self, scene: Scene, verb: str) -> str:
        return in_loop(scene, lambda: self._played(scene, verb))

    async def _played(self, scene: Scene, verb: str) -> str:
        try:
            async with (
                AsyncBaton(URL, scene.token, agent=SLUG, patience=PATIENCE) as baton,
                baton.claim(wait=90, lease_seconds=LEASE_SECONDS) as work,
            ):
                if work is None:
                    return "no work"
                scene.began += 1
                scene.claim_id = work.claim_id
                await self._works(scene, work, verb)
        except BatonError as error:
            return type(error).__name__
        return "returns"

    async def _works(self, scene: Scene, work: Any, verb: str) -> None:
        if verb == "heartbeat":
            for _ in range(int(LONG_WORK_SECONDS)):
                if work.lost:
                    break
                await asyncio.sleep(1)
        elif verb == "checkpoint":
            await work.save({"read": 1})
        elif verb == "ask":
            await work.ask("Which one?", seconds=0)
        elif verb == "use":
            await work.use(scene.approved_action())
        if verb == "fail":
            await work.fail("It broke")
        elif verb == "release":
            await work.release()
        else:
            await work.complete(OUTPUT)


def in_loop(scene: Scene, main: Callable[[], Awaitable[str]]) -> str:
    return anyio.run(main, backend_options={"loop_factory": scene.time.loop})


# baton-mcp


class Mcp:
    """A session of baton-mcp, whose model calls tools."""

    name = "baton-mcp"

    @property
    def verbs(self) -> set[str]:
        played = {operation for tool in TOOLS for operation in tool.plays}
        return {verb for verb, names in OPERATIONS.items() if played & names}

    def lacks(self, verb: str) -> str:
        return NO_FOLDER

    def play(self, scene: Scene, verb: str) -> str:
        return in_loop(scene, lambda: self._played(scene, verb))

    async def _played(self, scene: Scene, verb: str) -> str:
        profile = ServerProfile(URL, scene.token, SLUG)
        async with connection(profile) as api, anyio.create_task_group() as tasks:
            claims = SessionClaims(McpConnection(api, "worker", "session-1", PATIENCE), tasks)
            try:
                return await self._session(scene, verb, claims)
            except Unanswered as exc:
                return f"tool error, {exc.next_step.split(';')[0]}"
            finally:
                tasks.cancel_scope.cancel()
        raise AssertionError

    async def _session(self, scene: Scene, verb: str, claims: SessionClaims) -> str:
        async def call(tool: str, /, **arguments: Any) -> Any:
            found = await claims.call(tool, {**scope, **arguments})
            if found.get("isError"):
                raise Unanswered(found["content"][0]["text"], f"refused: {found['content'][0]['text'][:60]}")
            return found["structuredContent"]

        scope: dict[str, str] = {}
        claimed = await call("claim_next", lease_seconds=LEASE_SECONDS)
        if not claimed.get("claimed", True):
            return "no work"
        scene.began += 1
        scene.claim_id = claimed["claim_id"]
        scope = {"task_id": scene.task_id, "claim_id": scene.claim_id}
        if verb == "heartbeat":
            await anyio.sleep(LONG_WORK_SECONDS)
            await call("heartbeat")
        elif verb == "checkpoint":
            await call("checkpoint", step_name="read", state={"read": 1})
        elif verb == "ask":
            await call("ask_person", text="Which one?")
        elif verb == "use":
            asked = await call("ask_person", text="Pay Ada", tool="pay", arguments={"amount": 100})
            approved = scene.approve(asked["question_id"])
            await call("ask_person", question_id=asked["question_id"], use=approved["approved_digest"])
        if verb == "fail":
            await call("fail", type="error", description="It broke")
        elif verb == "release":
            await call("release", reason="later")
        else:
            await call("complete", output=OUTPUT)
        return "returns"


PROGRAMS: tuple[Program, ...] = (Worker(), Client(), AsyncClient(), Command(), Mcp())
