"""`make run` is left in three ways, and each ends what it started."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.citations import ROOT
from tools.stack.background import free_port
from tools.stand_ins.notion import StandIn

STAYS = """
import sys
from pathlib import Path

from tools.demo import demo

demo.listen()
demo.stay(Path(sys.argv[1]), ours=True)
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[StandIn]:
    started = StandIn(tmp_path)
    started.start(free_port(), keep_state=True)
    yield started
    started.stop()


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
def test_however_it_is_left_what_it_started_ends(stand_in: StandIn, ending: signal.Signals) -> None:
    process, terminal = staying(stand_in.home)
    if ending is signal.SIGHUP:
        os.close(terminal)  # nothing that is written arrives any more
    process.send_signal(ending)
    assert process.wait(timeout=60) == 0
    assert stand_in.port() is None
    if ending is not signal.SIGHUP:
        os.close(terminal)
