"""The watchdog by itself, on Linux and as it is elsewhere, where nothing adopts and nothing dies with its parent."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from baton_cli.worker import watchdog
from support.worlds.worker_processes import has, until

pytestmark = pytest.mark.slow
AS = (
    "import runpy, sys; sys.platform = {0!r}; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


@contextmanager
def watched(platform: str, mark: str, text: str, limits: tuple[float, float] = (1e12, 1e12)) -> Iterator[socket.socket]:
    """The worker's end of a watchdog's socket."""
    ours, theirs = socket.socketpair()
    saved, saves = os.pipe()
    ends = theirs.fileno(), saves
    values = [*ends, 0.2, *limits]
    command = [sys.executable, "-I", "-S", "-c", AS.format(platform), watchdog.__file__, *map(str, values)]
    process = subprocess.Popen(
        [*command, "sh", "-c", text],
        pass_fds=ends,
        env={"PATH": os.environ["PATH"], "HOUSE": mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    theirs.close()
    os.close(saves)
    try:
        with ours:
            yield ours
        process.wait()
    finally:
        os.close(saved)


def told(worker: socket.socket) -> str:
    with worker.makefile() as lines:
        return lines.readline()


def left(mark: str) -> list[str]:
    return [each.name for each in Path("/proc").iterdir() if each.name.isdecimal() and has(each, mark)]


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_what_a_program_leaves_in_its_group_is_killed_and_its_end_is_told(platform: str, tmp_path: Path) -> None:
    with watched(platform, str(tmp_path), "sleep 1000 & exit 7") as worker:
        assert told(worker) == "ended 7 itself\n"
        until(lambda: not left(str(tmp_path)))


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_all_of_a_program_is_killed_when_the_worker_is_gone(platform: str, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with watched(platform, str(tmp_path), f"trap '' TERM; sleep 1000 & touch {begun}; wait"):
        until(begun.exists)
    until(lambda: not left(str(tmp_path)))


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_program_ends_at_its_last_moment_without_a_word_of_the_worker(platform: str, tmp_path: Path) -> None:
    soon = watchdog.now() + 1  # the shell has set its trap by then
    with watched(platform, str(tmp_path), "trap '' TERM; while :; do sleep 1; done", (soon, soon + 0.2)) as worker:
        assert told(worker) == "ended -9 due\n"
    until(lambda: not left(str(tmp_path)))
