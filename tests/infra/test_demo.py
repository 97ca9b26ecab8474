"""`make run` is left in three ways, and each ends what it started."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from infra.citations import ROOT
from support.scripted_api import Answer, scripted_api
from tools.demo.stage import Player
from tools.demo.waiting import scene_the_bell
from tools.stack.background import Background, essentials, free_port, is_free
from tools.stack.stack import Stack
from tools.stand_ins.notion import StandIn

STAYS = """
import sys
from pathlib import Path

from tools.demo import demo

demo.listen()
sys.exit(demo.stay(Path(sys.argv[1]), ours=True))
"""

LISTENS = """
import socket, sys, time
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    time.sleep(600)
"""


def test_without_a_bell_its_scene_says_so_and_leaves_no_open_task(capsys: pytest.CaptureFixture[str]) -> None:
    made = {"task_id": "task_7", "duplicate_prevented": False, "escalation_capped": False}
    with scripted_api() as api:
        api.will(Answer(201, made), Answer(204))
        player = Player(stack_at(api.url))
        player.tokens |= {"releaser": "baton_releaser", "inspector": "baton_inspector"}
        scene_the_bell(player)
    assert [f"{each.method} {each.path}" for each in api.asked] == [
        "POST /handoff-markers",
        "POST /agents/releaser/claims",
        "POST /tasks/task_7/cancel",
    ]
    assert "Skipped: there is no bell here. Workers poll instead." in capsys.readouterr().out


def stack_at(url: str) -> Stack:
    texts = {each.name: "" for each in fields(Stack)}
    given = {"api_url": url, "endpoint_url": url, "tokens": {"human": "baton_human"}, "functions": {}}
    return Stack(**{**texts, "port": 0, "pid": 0, **given})  # type: ignore[arg-type]


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[StandIn]:
    started = StandIn(tmp_path)
    started.start(free_port(), keep_state=True)
    yield started
    started.stop()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Background]:
    """A program under the lock of the engine's."""
    program, port = Background("the engine", tmp_path, "engine"), free_port()
    program.start([sys.executable, "-c", LISTENS, str(port)], essentials(), port, lambda: not is_free(port))
    yield program
    program.stop()


def staying(home: Path) -> tuple[subprocess.Popen[bytes], int]:
    """The demo's last part in a terminal of its own, and that terminal."""
    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", STAYS, str(home)],
        cwd=ROOT,
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    said = b""
    while b"Ctrl-C stops it" not in said:
        said += os.read(terminal, 1000)
    return process, terminal


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_however_it_is_left_what_it_started_ends(stand_in: StandIn, engine: Background, ending: signal.Signals) -> None:
    process, terminal = staying(stand_in.home)
    if ending is signal.SIGHUP:
        os.close(terminal)  # nothing that is written arrives any more
    process.send_signal(ending)
    assert process.wait(timeout=60) == 0
    assert stand_in.port() is None
    assert engine.running() is None
    if ending is not signal.SIGHUP:
        os.close(terminal)


def test_it_ends_with_the_engine_and_says_so(stand_in: StandIn, engine: Background) -> None:
    process, terminal = staying(stand_in.home)
    running = engine.running()
    assert running is not None
    os.kill(running[0], signal.SIGKILL)
    assert process.wait(timeout=60) == 1
    assert b"the local engine has ended" in os.read(terminal, 1000)
    os.close(terminal)
