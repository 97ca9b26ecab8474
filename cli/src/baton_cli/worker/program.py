"""One run of a program: its input, its output, and its end. A watchdog ends it in time."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from baton_cli.worker import orphan_reaper, watchdog
from baton_cli.worker.streams import HeadBuffer, LineSplitter, PipeReader, PipeWriter, TailBuffer

MAX_OUTPUT = MAX_LINE = 256 * 1024  # the most that one request can hold
MAX_ERRORS = 8 * 1024
# So long after its time the worker kills the program itself: the watchdog hangs.
OVERDUE_SECONDS = 1.0
OnLine = Callable[[bytes | None], None]


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Moments of this machine's clock (``watchdog.now``): when the program gets TERM, and when it is killed."""

    term_at: float
    kill_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """``task``: the program's standard input. ``grace_seconds``: between TERM and KILL, if the program is stopped."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path | None
    task: bytes
    limits: TimeLimits
    grace_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramExit:
    """``code``: negative for a signal. ``why``: ``itself``, ``due`` (its time was over) or ``asked`` (it was stopped).
    ``output``: its standard output; its beginning, ``is_cut``, if that exceeded ``MAX_OUTPUT``. ``errors``: the end of
    its standard error. ``start_error``: why it couldn't be started, or empty."""

    code: int
    why: str = "itself"
    output: bytes = b""
    is_cut: bool = False
    errors: str = ""
    start_error: str = ""


class Program:
    """``run`` is for one thread; the other methods are for any. ``on_checkpoint`` gets each line of the checkpoints,
    and ``on_error`` each line of standard error; None stands for a line that is too long."""

    def __init__(self, launch: Launch, on_checkpoint: OnLine, on_error: OnLine | None = None) -> None:
        self._launch = launch
        self._control, self._watchdog_end = socket.socketpair()
        self._control.setblocking(False)
        self._output, self._errors = (
            HeadBuffer(MAX_OUTPUT),
            TailBuffer(MAX_ERRORS, on_error and LineSplitter(MAX_ERRORS, on_error)),
        )
        self._checkpoints = LineSplitter(MAX_LINE, on_checkpoint)
        self._told: list[bytes] = []
        self._last_at, self._why = launch.limits.kill_at, "due"

    def run(self) -> ProgramExit:
        """Returns once the program has ended, and every process that it started."""
        with ExitStack() as ends:
            ends.enter_context(self._control)
            pipes = _Pipes(ends)
            try:
                process = self._started(pipes)
            except OSError as exc:
                return ProgramExit(code=127, start_error=exc.strerror or str(exc))
            finally:
                self._watchdog_end.close()
                pipes.close_theirs()
            sources = self._sources(pipes)
            try:
                self._attend(sources, pipes)
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)  # its number isn't given to another process before wait()
                process.wait()
                orphan_reaper.WATCHDOGS.discard(process.pid)
            for source in sources:
                source.drain()
            self._checkpoints.end()
            return self._ended()

    def keep_to(self, limits: TimeLimits) -> None:
        self._last_at = limits.kill_at
        self._say(f"until {limits.term_at!r} {limits.kill_at!r}")

    def stop(self) -> None:
        """Sends TERM, and KILL after the grace."""
        self._last_at, self._why = min(self._last_at, watchdog.now() + self._launch.grace_seconds), "asked"
        self._say("stop")

    def kill(self) -> None:
        self._last_at = 0.0
        self._say("until 0 0")

    @property
    def _is_overdue(self) -> bool:
        return watchdog.now() >= self._last_at + OVERDUE_SECONDS

    def _say(self, line: str) -> None:
        with suppress(OSError):  # the watchdog has ended
            self._control.send(line.encode() + b"\n")

    def _started(self, pipes: _Pipes) -> subprocess.Popen[bytes]:
        launch, limits = self._launch, self._launch.limits
        numbers = [self._watchdog_end.fileno(), pipes.checkpoints.theirs]
        values = [*numbers, launch.grace_seconds, limits.term_at, limits.kill_at]
        with orphan_reaper.LOCK:
            process = subprocess.Popen(  # noqa: S603 - the user's own program
                [sys.executable, "-I", "-S", watchdog.__file__, *map(str, values), *launch.command],
                stdin=pipes.task.theirs,
                stdout=pipes.output.theirs,
                stderr=pipes.errors.theirs,
                pass_fds=numbers,
                env=dict(launch.environment),
                cwd=launch.directory,
                start_new_session=True,
            )
            orphan_reaper.WATCHDOGS.add(process.pid)
        return process

    def _sources(self, pipes: _Pipes) -> list[PipeReader]:
        return [
            PipeReader(self._control.fileno(), LineSplitter(MAX_LINE, lambda line: self._told.append(line or b""))),
            PipeReader(pipes.output.ours, self._output),
            PipeReader(pipes.errors.ours, self._errors),
            PipeReader(pipes.checkpoints.ours, self._checkpoints),
        ]

    def _attend(self, sources: list[PipeReader], pipes: _Pipes) -> None:
        """Feeds the program and reads its pipes, until the watchdog has closed its end of the control socket or is
        overdue."""
        with selectors.DefaultSelector() as selector:
            for source in sources:
                selector.register(source.end, selectors.EVENT_READ, source)
            feed = PipeWriter(pipes.task.ours, memoryview(self._launch.task))
            selector.register(feed.end, selectors.EVENT_WRITE, feed)
            while sources[0].end in selector.get_map() and not self._is_overdue:
                for key, _ in selector.select(OVERDUE_SECONDS):
                    if not key.data.move():
                        selector.unregister(key.fd)
                        if key.data is feed:
                            pipes.task.close_ours()

    def _ended(self) -> ProgramExit:
        told = dict(line.decode("utf-8", "replace").split(maxsplit=1) for line in self._told if b" " in line)
        if "ended" not in told:
            orphan_reaper.kill_orphans()  # the watchdog was killed, and the program with it
        code, why = told.get("ended", f"{-signal.SIGKILL:d} {self._why if self._is_overdue else 'itself'}").split()
        return ProgramExit(
            code=int(code),
            why=why,
            output=bytes(self._output.data),
            is_cut=self._output.is_over,
            errors=self._errors.data.decode("utf-8", "replace"),
            start_error=told.get("unfit", ""),
        )


class _Pipe:
    """``ours``: the worker's end, which never waits; ``theirs``: the program's."""

    def __init__(self, ends: ExitStack, *, is_read: bool) -> None:
        reads, writes = os.pipe()
        self.ours, self.theirs = (reads, writes) if is_read else (writes, reads)
        os.set_blocking(self.ours, False)
        self._is_open = True
        ends.callback(self.close_ours)

    def close_ours(self) -> None:
        if self._is_open:
            self._is_open = False
            os.close(self.ours)


class _Pipes:
    def __init__(self, ends: ExitStack) -> None:
        self.task = _Pipe(ends, is_read=False)
        self.output, self.errors, self.checkpoints = (_Pipe(ends, is_read=True) for _ in range(3))

    def close_theirs(self) -> None:
        for pipe in (self.task, self.output, self.errors, self.checkpoints):
            os.close(pipe.theirs)
