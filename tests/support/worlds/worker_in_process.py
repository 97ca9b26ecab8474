"""`baton worker` and the real routes in this process. The wires are replaced: HTTP, and the start of a program."""

from __future__ import annotations

import io
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from threading import BoundedSemaphore, Thread
from typing import Any, cast

import pytest

from baton_cli.worker import program
from baton_cli.worker.agent_work import AgentWork
from baton_cli.worker.job import Job
from baton_cli.worker.log import Log
from baton_cli.worker.poller import Poller
from baton_cli.worker.report_spool import ReportSpool
from baton_client.caller import Caller
from baton_client.core import AGENT, Answer, Request, answer_of
from baton_client.profiles import Profile
from baton_client.wire import Wires
from support.gateway import Gateway, event_of, route_of, sent
from support.http_server import Received
from support.values.tokens import bearer
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import World, agent

SLUG = "auto-code"
URL = "https://baton.invalid"  # nothing is sent there
NOBODY = 2**30  # no process has this number


@dataclass
class RouteWires:
    """Requests as the gateway passes them on to the routes, and answers as the client reads them."""

    gateway: Gateway
    token: str

    def send(self, request: Request[Any], _seconds: float) -> Answer:
        headers = {name.lower(): value for name, value in request.headers_for(self.token, AGENT).items()}
        received = Received(request.method, request.path, headers, request.content or b"")
        route = route_of(request.method, request.path.partition("?")[0])
        answer = sent(self.gateway.handle(route, event_of(received)))
        found = {name.lower(): value for name, value in answer.headers}
        return answer_of(request, URL, answer.status, found, answer.content)

    def close(self) -> None: ...


@dataclass
class PlayedPrograms:
    """In the place of watchdog and program: each start takes the next output, writes it, and ends with the code."""

    outputs: deque[tuple[bytes, int]] = field(default_factory=deque)

    def start(self, *_: object, stdout: int, pass_fds: list[int], **__: object) -> Any:
        (output, code), (control, checkpoints) = self.outputs.popleft(), map(os.dup, pass_fds)
        os.close(checkpoints)
        writer = Thread(target=_written, args=(os.dup(stdout), control, output, code))
        writer.start()
        return _Started(NOBODY, writer.join)


@dataclass
class _Started:
    pid: int
    wait: Callable[[], None]


def _written(stdout: int, control: int, output: bytes, code: int) -> None:
    with io.FileIO(stdout, "wb") as pipe, socket.socket(fileno=control) as told:
        left = memoryview(output)
        while left:
            left = left[pipe.write(left) :]
        told.sendall(f"ended {code} itself\n".encode())


def shown(agents: HttpAgents, task_id: str) -> dict[str, Any]:
    """Returns the task as a person sees it, with the notes of its completion."""
    task = agents.gateway.get(ALICE, f"/tasks/{task_id}").json
    record = agents.gateway.get(ALICE, f"/handoffs/{task['handoff_id']}").json
    return {**task, "notes": (record["completion"] or {}).get("notes", [])}


@dataclass
class WorkerInProcess:
    agents: HttpAgents
    world: World
    folder: Path
    programs: PlayedPrograms

    def done(self, output: bytes, code: int = 0, *, is_text: bool = False, **handoff: Any) -> tuple[str, str]:
        """Has a worker do one task, whose program prints this. Returns the task, and the worker's log."""
        task_id = str(self.agents.hand_off("architect", SLUG, **handoff)["task"]["id"])
        self.programs.outputs.append((output, code))
        poller = self._poller(is_text=is_text)
        polled = poller.poll()
        assert polled.claim is not None, polled.answer.said
        log = io.StringIO()
        Job(poller, polled.claim, polled.asked_at, Log(log)).run({})
        self.world.clock.advance(150)  # an agent may begin 30 workflows in an hour
        return task_id, log.getvalue()

    def _poller(self, *, is_text: bool) -> Poller:
        profile = Profile("", URL, bearer(agent(SLUG)).removeprefix("Bearer "), SLUG)
        api = Caller(profile)
        api.wires = cast("Wires", RouteWires(self.agents.gateway, profile.token))
        work = AgentWork(agent=SLUG, command=("run.sh",), profile=profile, worker="worker-1", is_text=is_text)
        return Poller(api, work, BoundedSemaphore(4), ReportSpool(self.folder / "spool"))


@contextmanager
def worker_in_process(folder: Path) -> Iterator[WorkerInProcess]:
    world, programs = World(), PlayedPrograms()
    agents = HttpAgents(Gateway(world.deps)).hire_in(world)
    agents.gateway.admit(agent(SLUG))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "subprocess", _Subprocess(programs.start))
        yield WorkerInProcess(agents, world, folder, programs)


@dataclass
class _Subprocess:
    """The standard library's module, as the worker uses it."""

    Popen: Callable[..., Popen[bytes]]
