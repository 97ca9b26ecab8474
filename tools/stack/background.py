"""A program of the local stack as a background process: start, find again, stop.

Whether it runs is told by a lock that its process holds, not by a process id: ids are used again by the system, and
only the id that the holder of the lock wrote down may ever be signalled.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

# A program answers within a second or two; on a machine with more to do than it can, one once took more than a minute.
READY_SECONDS = 180.0
STOP_SECONDS = 60.0
PORTS_TRIED = 3
T = TypeVar("T")
_started_here: dict[int, subprocess.Popen[bytes]] = {}


class StackError(Exception):
    """Something that the reader of the message can act on; shown without a traceback."""


class NotListening(StackError):
    """The port is another program's, or the program ended before it answered there."""


@dataclass(frozen=True)
class Background:
    """``title``: what it is called in messages. Its lock and its log are under ``home``, by its ``name``."""

    title: str
    home: Path
    name: str

    @property
    def log(self) -> Path:
        return self.home / f"{self.name}.log"

    def running(self) -> tuple[int, int] | None:
        """Its process id and port, or None."""
        with self._lock_file() as file:
            if _acquire(file, fcntl.LOCK_SH):  # shared: two that ask at once don't take each other for the program
                return None
            held = json.loads(file.read())
        return held["pid"], held["port"]

    def start(
        self,
        command: Sequence[str | Path],
        env: Mapping[str, str],
        port: int,
        is_ready: Callable[[], bool],
        prepare: Callable[[], None] = lambda: None,
    ) -> int:
        """Its process id, once it answers. ``prepare`` is called when it is sure that no other one runs.

        Raises StackError if one does, or if it doesn't come up within READY_SECONDS; NotListening if it ends before.
        """
        with self._lock_file() as lock, self.log.open("wb") as log:
            if not _acquire(lock, fcntl.LOCK_EX):
                raise StackError(f"{self.title} already runs for {self.home}")
            prepare()
            process = subprocess.Popen(
                command,
                cwd=self.home,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                umask=0o077,  # what it writes holds tokens
                start_new_session=True,  # Ctrl-C in the terminal must not take it down before its state is saved
                pass_fds=[lock.fileno()],  # the lock lives as long as the process does
            )
            lock.truncate(0)
            lock.write(json.dumps({"pid": process.pid, "port": port}))
            lock.flush()
        _started_here[process.pid] = process
        self._await_ready(process, is_ready)
        return process.pid

    def stop(self) -> bool:
        """Ask it to save its state and end (SIGTERM); False if none runs. Never SIGKILL: that would lose the state."""
        found = self.running()
        if found is None:
            for each in _started_here.values():
                each.poll()  # another make has ended it
            return False
        pid, _ = found
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while self.running():
            if time.monotonic() > deadline:
                raise StackError(f"process {pid} hasn't ended after {STOP_SECONDS:.0f} s\n{tail(self.log)}")
            time.sleep(0.05)
        if pid in _started_here:  # and not by an earlier make
            _started_here.pop(pid).wait()
        return True

    def _await_ready(self, process: subprocess.Popen[bytes], is_ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            if is_ready():
                return
            time.sleep(0.05)
        said = f"the end of {self.log}:\n{tail(self.log) or '  (it is empty)'}"
        if process.poll() is not None:
            raise NotListening(f"{self.title} ended with {process.returncode} before it answered; {said}")
        process.terminate()
        raise StackError(f"{self.title} isn't ready after {READY_SECONDS:.0f} s; {said}")

    @contextmanager
    def _lock_file(self) -> Iterator[IO[str]]:
        self.home.mkdir(parents=True, exist_ok=True)
        with (self.home / f"{self.name}.lock").open("a+") as file:
            file.seek(0)
            yield file


def make_private(folder: Path, *, deep: bool = False) -> None:
    """The folder is there, and it and what is in it is for its owner only, whoever made that; ``deep``: all of it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in (folder, *folder.glob("**/*" if deep else "*")):
        if not path.is_symlink() and path.stat().st_mode & 0o077:
            path.chmod(path.stat().st_mode & 0o700)


@contextmanager
def alone(folder: Path, say: Callable[[str], None], name: str = "make") -> Iterator[None]:
    """No other make works there meanwhile, on what has that name; what this one writes is for its owner only."""
    mask = os.umask(0o077)
    try:
        make_private(folder)
        with (folder / f"{name}.lock").open("w") as file:
            if not _acquire(file, fcntl.LOCK_EX):
                say("waiting for another make to finish …")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
    finally:
        os.umask(mask)


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def on_any_port(start: Callable[[int], T]) -> tuple[T, int]:
    """What ``start`` returns, and the port that it was called with. A port that was free may be another program's
    before this one listens: then another is tried. Raises NotListening after the last."""
    for _ in range(PORTS_TRIED - 1):
        port = free_port()
        with suppress(NotListening):
            return start(port), port
    port = free_port()
    return start(port), port


def tail(path: Path, lines: int = 30) -> str:
    text = path.read_text(errors="replace").splitlines() if path.exists() else []
    return "\n".join(f"  | {line}" for line in text[-lines:])


def essentials() -> dict[str, str]:
    """What a program of the stack gets of the caller's environment; the functions inherit what the engine has."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL", "TZ") if name in os.environ}


def _acquire(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
