"""Cold starts of the local engine's functions without most of their imports: a process that has imported Baton's layer,
and what that needs, forks for each worker. The worker imports what its function has, and its environment is its own.

    python -P tools/stack/forked.py SOCKET LAYER…    the process that forks, one for each set of layers

Nothing happens at import, so a worker is as one that has imported the layer itself: tests/functions/test_imports.py
holds it. Where the system has no file descriptors of processes, workers are started as the engine does it.

A worker also marks where the log of an invocation ends. The engine waits for what may still come, and looks every
millisecond: that was most of a short request.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import queue
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

LAYERS = "_LAMBDA_LAYERS_DIRS"  # the engine's name for where a worker finds its layers
PREPARED = "baton"
MODELS = "pydantic"  # imports what it has as it is asked for
MESSAGE_BYTES = 200_000  # of a worker's environment, and more
ENDING_SECONDS = 5.0
LOG_SECONDS = 0.25  # that a log may come after its answer; so long does the engine wait, too
END_OF_LOG = "\0end of log "
IS_POSSIBLE = sys.platform == "linux" and hasattr(os, "pidfd_open")


class Forked:
    """A worker: as much of ``subprocess.Popen`` as the engine uses. What it ended with isn't known."""

    def __init__(self, pid: int, handle: int, pipes: Sequence[int]) -> None:
        self.pid, self._handle = pid, handle
        self.returncode: int | None = None
        self.stdin: IO[str] = os.fdopen(pipes[0], "w", buffering=1)
        self.stdout: IO[str] = os.fdopen(pipes[1])
        self.stderr: IO[str] = os.fdopen(pipes[2])

    def poll(self) -> int | None:
        if self.returncode is None and self._has_ended(0):
            self.returncode = 0
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not self._has_ended(None if timeout is None else timeout * 1_000):
            raise subprocess.TimeoutExpired(PREPARED, timeout or 0.0)
        self.returncode = 0
        return self.returncode

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _has_ended(self, milliseconds: float | None) -> bool:
        waiting = select.poll()
        waiting.register(self._handle, select.POLLIN)
        return bool(waiting.poll(milliseconds))

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, number)

    def __del__(self) -> None:
        os.close(self._handle)


class Forks:
    """Starts workers in place of ``subprocess.Popen``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._prepared: dict[tuple[str, ...], tuple[subprocess.Popen[bytes], socket.socket]] = {}
        atexit.register(self.end)

    def __call__(self, command: Sequence[str], **options: Any) -> Any:
        layers = (options.get("env") or {}).get(LAYERS)
        if not layers or not IS_POSSIBLE:
            return subprocess.Popen(command, **options)
        (_, program), environment, folder = command, options["env"], options["cwd"]
        stdin, stdout, stderr = os.pipe(), os.pipe(), os.pipe()
        theirs, ours = (stdin[0], stdout[1], stderr[1]), (stdin[1], stdout[0], stderr[0])
        asked = json.dumps({"program": program, "environment": environment, "folder": folder}).encode()
        places = tuple(str(Path(each, "python").resolve()) for each in layers.split(os.pathsep))
        try:
            with self._lock:
                wire = self._wire(places)
                socket.send_fds(wire, [asked], theirs)
                pid, handles, _, _ = socket.recv_fds(wire, MESSAGE_BYTES, 1)
        finally:
            for each in theirs:
                os.close(each)
        return Forked(int(pid), handles[0], ours)

    def _wire(self, places: tuple[str, ...]) -> socket.socket:
        if places not in self._prepared:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                process = subprocess.Popen(
                    [sys.executable, "-P", __file__, str(theirs.fileno()), *places],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
            self._prepared[places] = process, ours
        return self._prepared[places][1]

    def end(self) -> None:
        """No more workers; what imported for them ends after those that there are."""
        for process, wire in self._prepared.values():
            wire.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDING_SECONDS)


class Answers:
    """A worker's standard output, where each line but the first is the answer to an invocation: what was logged until
    then ends with a numbered mark."""

    def __init__(self, out: IO[str], log: IO[str]) -> None:
        self._out, self._log, self._told = out, log, 0

    def write(self, text: str) -> int:
        if text.endswith("\n"):
            if self._told:
                self._log.write(f"{END_OF_LOG}{self._told}\n")
                self._log.flush()
            self._told += 1
        return self._out.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)


def marked(engines: type[Any]) -> type[Any]:
    """The engine's own class of workers, which reads the log of a forked one to its mark."""

    class Worker(engines):  # type: ignore[misc] # it has no types
        def _spawn(self) -> None:
            super()._spawn()
            self._is_marked, self._invoked = isinstance(self._proc, Forked), 0

        def _drain_stderr_bounded(self, *bounds: float, **named: float) -> str:
            if not self._is_marked:
                return str(super()._drain_stderr_bounded(*bounds, **named))
            self._invoked += 1
            return "\n".join(log_of(self._stderr_queue, self._invoked))

    return Worker


def log_of(lines: queue.Queue[str], number: int) -> list[str]:
    """The lines up to the mark of that number, or those that came in time."""
    found: list[str] = []
    deadline = time.monotonic() + LOG_SECONDS
    with suppress(queue.Empty):
        while (line := lines.get(timeout=max(0.0, deadline - time.monotonic()))) != f"{END_OF_LOG}{number}":
            if not line.startswith(END_OF_LOG):  # the mark of one that came late
                found.append(line)
    return found


def prepare(places: Sequence[str]) -> None:
    """Imports all of Baton's layer, and what most functions make their models with. What it lacks is told by the worker
    that needs it."""
    before = [*sys.path]
    sys.path[:0] = [*reversed(places)]  # in a worker's order
    for module in pkgutil.walk_packages([str(Path(each, PREPARED)) for each in places], f"{PREPARED}."):
        with suppress(ImportError):
            importlib.import_module(module.name)
    with suppress(ImportError):
        models = importlib.import_module(MODELS)
        for name in ("BaseModel", "Field", "TypeAdapter"):
            getattr(models, name)
    sys.path[:] = before
    gc.collect()
    gc.freeze()  # so that workers share what is there


def serve(wire: socket.socket) -> None:
    """Forks for each request, until nobody can ask any more; ends after its workers."""
    while True:
        asked, pipes, _, _ = socket.recv_fds(wire, MESSAGE_BYTES, 3)
        if not asked:
            break
        pid = os.fork()
        if not pid:
            wire.close()
            work(**json.loads(asked), pipes=pipes)
        handle = os.pidfd_open(pid)
        socket.send_fds(wire, [str(pid).encode()], [handle])
        for each in (handle, *pipes):
            os.close(each)
        _collect(os.WNOHANG)
    _collect(0)


def _collect(option: int) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, option)[0]:
            pass


def work(program: str, environment: dict[str, str], folder: str, pipes: Sequence[int]) -> None:
    """Runs the engine's program as a process of its own would. Never returns."""
    status = 1
    try:
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
            os.close(pipe)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv[:] = [program]
        sys.stdout = Answers(sys.stdout, sys.stderr)
        sys.path.insert(0, str(Path(program).parent))
        runpy.run_path(program, run_name="__main__")
        status = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    prepare(sys.argv[2:])
    serve(socket.socket(fileno=int(sys.argv[1])))
