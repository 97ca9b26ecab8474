"""MiniStack as a background process: start, find again, stop.

Whether an engine runs is told by a lock that its process holds, not by a process id: ids are used again by the system,
and only the id that the holder of the lock wrote down may ever be signalled.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO

REGION = "us-east-1"
READY_SECONDS = 60.0
STOP_SECONDS = 60.0
QUEUE_ADDRESS = re.compile(r"//localhost:\d+/(?=\d{12}/)")
_started_here: dict[int, subprocess.Popen[bytes]] = {}


class StackError(Exception):
    """Something that the reader of the message can act on; shown without a traceback."""


@dataclass(frozen=True)
class Engine:
    """An engine whose files are all under `home`: its state, its log, and what it unpacks while it runs."""

    home: Path
    program: Path

    @property
    def log(self) -> Path:
        return self.home / "engine.log"

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def scratch(self) -> Path:
        return self.home / "tmp"

    def running(self) -> tuple[int, int] | None:
        """Its process id and port, or None."""
        with self._lock_file() as file:
            if _acquire(file, fcntl.LOCK_SH):  # shared: two that ask at once don't take each other for the engine
                return None
            held = json.loads(file.read())
        return held["pid"], held["port"]

    def start(self, port: int, *, keep_state: bool) -> int:
        """Start it on 127.0.0.1 and return its process id once it answers.

        Raises StackError if the port is taken, or it doesn't come up within READY_SECONDS.
        """
        if not is_free(port):
            raise StackError(f"port {port} is taken by another program; choose one: BATON_PORT={port + 1} make …")
        shutil.rmtree(self.scratch, ignore_errors=True)
        for folder in (self.scratch, self.state):
            folder.mkdir(parents=True, exist_ok=True)
        with self._lock_file() as lock, self.log.open("wb") as log:
            if not _acquire(lock, fcntl.LOCK_EX):
                raise StackError(f"an engine already runs for {self.home}")
            self._move_state(port)
            process = subprocess.Popen(
                [self.program],
                cwd=self.home,
                env=self._environment(port, keep_state),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal must not take it down before its state is saved
                pass_fds=[lock.fileno()],  # the lock lives as long as the process does
            )
            lock.truncate(0)
            lock.write(json.dumps({"pid": process.pid, "port": port}))
            lock.flush()
        _started_here[process.pid] = process
        self._await_ready(process, port)
        return process.pid

    def stop(self) -> bool:
        """Ask it to save its state and end (SIGTERM); False if none runs. Never SIGKILL: that would lose the state."""
        found = self.running()
        if found is None:
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
        shutil.rmtree(self.scratch, ignore_errors=True)
        return True

    def _move_state(self, port: int) -> None:
        """The engine keeps its queues under addresses with the port, and on another port finds none of them."""
        for path in self.state.glob("*.json"):
            text = path.read_text()
            moved = QUEUE_ADDRESS.sub(f"//localhost:{port}/", text)
            if moved != text:
                path.write_text(moved)

    def _await_ready(self, process: subprocess.Popen[bytes], port: int) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            if _is_ready(port):
                return
            time.sleep(0.05)
        how = "isn't ready" if process.poll() is None else f"ended with {process.returncode}"
        process.terminate()
        raise StackError(f"the local engine {how}; the end of {self.log}:\n{tail(self.log)}")

    def _environment(self, port: int, keep_state: bool) -> dict[str, str]:
        # Nothing of the caller's environment but the essentials: every function inherits what the engine has.
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL", "TZ") if name in os.environ}
        return inherited | {
            "AUTH": "true",  # the functions' roles are enforced
            "BIND_HOST": "127.0.0.1",  # its default is every interface, and it runs posted code
            "GATEWAY_PORT": str(port),
            "AWS_DEFAULT_REGION": REGION,
            "MINISTACK_REGION": REGION,
            "PERSIST_STATE": "1" if keep_state else "0",
            "STATE_DIR": str(self.state),
            "TMPDIR": str(self.scratch),
            "DOCKER_HOST": f"unix://{self.scratch / 'none'}",  # never touch the containers of whoever runs Docker
            "IOT_MTLS_ENABLED": "0",  # listeners of their own, on fixed ports
            "SFTP_ENABLED": "0",
        }

    @contextmanager
    def _lock_file(self) -> Iterator[IO[str]]:
        self.home.mkdir(parents=True, exist_ok=True)
        with (self.home / "engine.lock").open("a+") as file:
            file.seek(0)
            yield file


def _is_ready(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/_ministack/ready")
        return bool(json.load(connection.getresponse())["status"] == "completed")
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def tail(path: Path, lines: int = 30) -> str:
    text = path.read_text(errors="replace").splitlines() if path.exists() else []
    return "\n".join(f"  | {line}" for line in text[-lines:])


def _acquire(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
