"""The watchdog: a process between the worker and one program. It kills what is left of the program if either ends.

Run by its path, with the standard library alone: ``watchdog.py CONTROL CHECKPOINTS GRACE TERM_AT KILL_AT PROGRAM …``.
It leads a session and a process group of its own, and the program is in that group. CONTROL is one end of a socket
pair: if the other end closes, the worker is dead, and all is killed. The worker sends ``until TERM_AT KILL_AT`` (by
this machine's clock) or ``stop``. The watchdog sends ``ended CODE WHY`` (a signal as a negative code; WHY: ``itself``,
``due``, ``asked``), or ``unfit TEXT`` if the program can't be started.

On Linux the program dies with the watchdog. A process that leaves the group (a daemon) becomes the watchdog's child,
and the watchdog kills it.
"""

from __future__ import annotations

import fcntl
import math
import os
import select
import signal
import sys
import time

CHECKPOINTS = 3  # the file descriptor to which the program writes checkpoints
FIRST_FREE = 10
LONGEST_WAIT_SECONDS = 3_600.0
LAST_SECONDS = 5.0  # the wait for killed processes to be gone
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# A program may send these to its group, which has the watchdog in it.
SURVIVED = (
    *(signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP),
    *(signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM),
)
IS_LINUX = sys.platform.startswith("linux")
# These clocks go on while the machine sleeps.
CLOCK = getattr(time, "CLOCK_BOOTTIME", None) or time.CLOCK_MONOTONIC


def now() -> float:
    return time.clock_gettime(CLOCK)


class TimeOrders:
    """When the program has to end, by its limits and by the worker's orders."""

    def __init__(self, grace: float, term_at: float, kill_at: float) -> None:
        self.grace, self.term_at, self.kill_at = grace, term_at, kill_at
        self.last_at = math.inf  # when the program is killed after ``stop``
        self.why = "itself"

    def obey(self, line: bytes, at: float) -> None:
        verb, *values = line.split()
        if verb == b"until":
            self.term_at, self.kill_at = map(float, values)
        elif verb == b"stop":
            self.why, self.last_at = "asked", min(self.last_at, at + self.grace)

    def due(self, at: float, *, is_told: bool) -> signal.Signals | None:
        """Returns the signal that is due. ``is_told``: TERM was sent."""
        if at >= min(self.kill_at, self.last_at):
            self._because_due()
            return signal.SIGKILL
        if is_told or (at < self.term_at and self.why != "asked"):
            return None
        self._because_due()
        return signal.SIGTERM

    def next_at(self, *, is_told: bool) -> float:
        return min(self.kill_at, self.last_at, math.inf if is_told else self.term_at)

    def _because_due(self) -> None:
        if self.why == "itself":
            self.why = "due"


class Watchdog:
    def __init__(self, control: int, orders: TimeOrders) -> None:
        self.control, self.orders = control, orders
        self.woken, wakes = os.pipe()
        for end in (self.woken, wakes):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        for number in SURVIVED:
            signal.signal(number, lambda *_: None)  # not ignored: the program would inherit that
        self.program = 0
        self.code: int | None = None
        self.heard = b""
        self.is_orphan = False

    def run(self, checkpoints: int, command: list[str]) -> None:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        try:
            self.program = self._started(checkpoints, command)
            for end in (sys.stdin.fileno(), sys.stdout.fileno(), checkpoints):
                os.close(end)  # the program's alone
            self._watch()
            if IS_LINUX:
                self._kill_the_rest()
            if not self.is_orphan:
                self._tell(f"ended {self.code} {self.orders.why}")
        finally:
            os.killpg(0, signal.SIGKILL)

    def _started(self, checkpoints: int, command: list[str]) -> int:
        watchdog = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        try:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if IS_LINUX and os.getppid() != watchdog:
                os._exit(1)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.dup2(checkpoints, CHECKPOINTS)
            os.execvp(command[0], command)  # noqa: S606 - the user's own program
        except OSError as exc:
            self._tell(f"unfit {exc.strerror}")
        finally:
            os._exit(127)

    def _watch(self) -> None:
        """Returns once the program has ended by itself, or was killed because its time is over or the worker is
        dead."""
        is_told = False
        while self._reap():
            order = signal.SIGKILL if self.is_orphan else self.orders.due(now(), is_told=is_told)
            if order is signal.SIGKILL:
                os.kill(self.program, signal.SIGKILL)
                self._reap(options=0)
                return
            if order is not None:
                is_told = True
                os.killpg(0, order)
            wait = self.orders.next_at(is_told=is_told) - now()
            self._listen(min(max(0.0, wait), LONGEST_WAIT_SECONDS))

    def _reap(self, options: int = os.WNOHANG) -> bool:
        """Reads how children ended. Returns True while the program runs."""
        while self.code is None:
            pid, status = os.waitpid(-1, options)
            if pid == 0:
                return True
            if pid == self.program:
                self.code = os.waitstatus_to_exitcode(status)
        return False

    def _listen(self, seconds: float) -> None:
        ready, _, _ = select.select([self.control, self.woken], [], [], seconds)
        if self.woken in ready:
            os.read(self.woken, 4096)
        if self.control in ready:
            said = _read(self.control)
            self.is_orphan = not said
            *lines, self.heard = (self.heard + said).split(b"\n")
            for line in lines:
                self.orders.obey(line, now())

    def _kill_the_rest(self) -> None:
        """Kills the processes that the program has left behind. They are this process's children by now, in whatever
        group they are."""
        end = now() + LAST_SECONDS
        while now() < end and (left := _children()):
            for pid in left:
                os.kill(pid, signal.SIGKILL)  # a zombie takes it, and its number isn't given away
            while _reaped():
                pass
            time.sleep(0.001)

    def _tell(self, line: str) -> None:
        try:
            os.write(self.control, line.encode() + b"\n")
        except OSError:  # the worker is gone
            self.is_orphan = True


def _reaped() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _read(end: int) -> bytes:
    try:
        return os.read(end, 4096)
    except OSError:
        return b""


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:  # noqa: PTH123 - quick to start
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def prctl(option: int, value: int) -> None:
    if IS_LINUX:
        _LIBC.prctl(option, value, 0, 0, 0)


if IS_LINUX:
    import ctypes  # before the fork

    _LIBC = ctypes.CDLL(None)


def main(control: str, checkpoints: str, grace: str, term_at: str, kill_at: str, *command: str) -> None:
    control_end, checkpoint_end = (
        fcntl.fcntl(int(end), fcntl.F_DUPFD_CLOEXEC, FIRST_FREE) for end in (control, checkpoints)
    )
    for end in {int(control), int(checkpoints)}:
        os.close(end)
    orders = TimeOrders(float(grace), float(term_at), float(kill_at))
    Watchdog(control_end, orders).run(checkpoint_end, list(command))


if __name__ == "__main__":
    main(*sys.argv[1:])
