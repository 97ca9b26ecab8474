"""Real `baton worker` processes with real programs, and the API over HTTP in this process. Time passes `speed` times as
fast as on the wall, and a test may move it on. A long poll is answered at once. Answers have the date of that clock."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

import baton_cli
from baton.domain.access.principal import Principal
from support.clock import NOON
from support.gateway import Gateway, event_of, route_of, sent
from support.http_server import Received, Sent, served
from support.values.tokens import bearer
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import World, agent, service

PATIENCE_SECONDS = 60.0  # of a machine that does much else
SLUG = "auto-code"
CALLER = agent(SLUG)


class ScaledClock:
    def __init__(self, speed: float) -> None:
        self.speed, self._begun, self._ahead = speed, time.monotonic(), 0.0

    def now(self) -> datetime:
        passed = (time.monotonic() - self._begun) * self.speed + self._ahead
        return NOON + timedelta(milliseconds=int(passed * 1000))

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / self.speed)

    def advance(self, seconds: float) -> None:
        self._ahead += seconds


Fault = Callable[[str, str], str | None]


@dataclass
class WorkerProcesses:
    """``fault``: method and path of a request → None, ``away`` (it isn't done and not answered), ``lost`` (it is done
    and not answered) or ``large`` (a proxy refuses it as too large). ``asked``: the paths of all requests that arrived.
    ``bell_times``: those by which the workers wait for their bell, where a user's are too long."""

    folder: Path
    agents: HttpAgents
    clock: ScaledClock
    url: str = ""
    bell_times: dict[str, float] = field(default_factory=dict)
    fault: Fault = lambda _method, _path: None
    asked: list[str] = field(default_factory=list)
    mark: str = field(default_factory=lambda: uuid4().hex)
    workers: list[subprocess.Popen[str]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def script(self, text: str, name: str = "work.sh") -> str:
        """Returns the path of a program with this text."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def start(self, *arguments: str, program: tuple[str, ...] = (), **environment: str) -> subprocess.Popen[str]:
        """Starts a worker. Its programs have a mark in their environment, by which ``left`` finds them."""
        given = {"HOUSE": self.mark, "BATON_URL": self.url, "BATON_TOKEN": _token(CALLER), "BATON_AGENT": SLUG}
        line = [*arguments, *(["--", *program] if program else [])]
        worker = started(self.folder, line, {**given, **environment}, bell_times=self.bell_times)
        self.workers.append(worker)
        return worker

    def run(self, *arguments: str, program: tuple[str, ...], **environment: str) -> tuple[int, dict[str, Any]]:
        """Returns a worker's exit code and summary, once it has ended by itself."""
        return self.ended(self.start(*arguments, program=program, **environment))

    def ended(self, worker: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
        out, _ = worker.communicate(timeout=PATIENCE_SECONDS)
        return worker.returncode, json.loads(out) if out else {}

    def token_for_all(self) -> str:
        """Returns the token of a service that may act for every agent."""
        self.agents.gateway.admit(service())
        return _token(service())

    def answer(self, request: Received) -> Sent | None:
        path = request.path.partition("?")[0]
        self.asked.append(path)
        fault = self.fault(request.method, path)
        if fault == "away":
            return None
        if fault == "large":
            return Sent(413, [("Content-Type", "text/html")], b"<html>Request Entity Too Large</html>")
        at_once = replace(request, path=f"{path}?timeout=0" if path.endswith("/claims/wait") else path)
        with self._lock:
            answer = self.agents.gateway.handle(route_of(request.method, path), event_of(at_once))
        if fault == "lost":
            return None
        told = sent(_in_wall_time(answer, self.clock.speed))
        return replace(told, headers=[*told.headers, ("Date", format_datetime(self.clock.now(), usegmt=True))])

    # What there is

    def hand_off(self, slug: str = SLUG, **changes: Any) -> str:
        return str(self.agents.hand_off("architect", slug, **changes)["task"]["id"])

    def task(self, task_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.agents.gateway.get(ALICE, f"/tasks/{task_id}").json
        return found

    def trail(self, task_id: str) -> list[str]:
        answer = self.agents.gateway.get(ALICE, f"/tasks/{task_id}/events", query="limit=100")
        return [each["type"] for each in answer.json["events"]]

    def left(self) -> list[int]:
        """Returns the processes with the mark, without the workers."""
        workers = {worker.pid for worker in self.workers}
        found = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal() and has(each, self.mark)]
        return [pid for pid in found if pid not in workers]

    def file(self, name: str) -> Path:
        return self.folder / name


# `baton`, whose bell has other times.
HASTY = """
import sys
from functools import partial
from json import loads
from baton_client import bell
bell.BellTimes = partial(bell.BellTimes, **loads(sys.argv.pop(1)))
from baton_cli.main import main
main()
"""


def started(
    folder: Path,
    arguments: list[str],
    environment: dict[str, str],
    command: str = "worker",
    bell_times: dict[str, float] | None = None,
) -> subprocess.Popen[str]:
    """Starts `baton worker`, or another command, in the folder, which its programs know as FOLDER."""
    given = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(baton_cli.__file__).parents[1]),
        "HOME": str(folder),
        "FOLDER": str(folder),
        **environment,
    }
    program = ["-c", HASTY, json.dumps(bell_times)] if bell_times else ["-m", "baton_cli"]
    line = [sys.executable, *program, command, *arguments]
    return subprocess.Popen(line, env=given, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _token(by: Principal) -> str:
    return bearer(by).removeprefix("Bearer ")


def until(condition: Callable[[], Any], patience_seconds: float = PATIENCE_SECONDS) -> Any:
    """Waits until the condition holds, and returns its value."""
    give_up_at = time.monotonic() + patience_seconds
    while not (found := condition()):
        assert time.monotonic() < give_up_at, "it hasn't happened"
        time.sleep(0.02)
    return found


def has(process: Path, mark: str) -> bool:
    try:
        return f"HOUSE={mark}\0".encode() in (process / "environ").read_bytes()
    except OSError:
        return False


@contextmanager
def worker_processes(
    folder: Path, *, speed: float = 1.0, bell_url: str = "", **bell_times: float
) -> Iterator[WorkerProcesses]:
    wall = ScaledClock(speed)
    deps = World(clock=wall).deps  # type: ignore[arg-type]
    agents = HttpAgents(Gateway(replace(deps, bell_url=bell_url))).hire()
    agents.gateway.admit(CALLER)
    home = WorkerProcesses(folder, agents, wall, bell_times=bell_times)
    with served(home.answer) as home.url:
        try:
            yield home
            until(lambda: not home.left())
        finally:
            for worker in home.workers:
                worker.kill()
                worker.communicate()
            for pid in home.left():
                os.kill(pid, signal.SIGKILL)


def _in_wall_time(answer: dict[str, Any], speed: float) -> dict[str, Any]:
    """Returns a claim's answer with the lease in seconds of the wall clock, by which the worker lives."""
    if speed == 1.0 or '"lease_seconds"' not in answer.get("body", ""):
        return answer
    told = json.loads(answer["body"])
    return {**answer, "body": json.dumps({**told, "lease_seconds": told["lease_seconds"] / speed})}
