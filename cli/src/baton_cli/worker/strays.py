"""Processes that a killed guard has left behind. On Linux they come to the worker, as their next living ancestor."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from threading import Lock

from baton_cli.worker import guard

# Held while a guard is started, so that none is taken for a stray.
LOCK = Lock()
GUARDS: set[int] = set()
_is_home = False


def take_in() -> None:
    """From now on strays come to this process. For a process whose only children are guards."""
    global _is_home
    guard.prctl(guard.PR_SET_CHILD_SUBREAPER, 1)
    _is_home = guard.IS_LINUX


def kill() -> None:
    """Kills the strays, and their children as they come."""
    end = guard.now() + guard.LAST_SECONDS
    with LOCK:
        while _is_home and guard.now() < end and (strays := _children() - GUARDS):
            for pid in strays:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _children() -> set[int]:
    found = set[int]()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            found |= {int(pid) for pid in (task / "children").read_text(encoding="ascii").split()}
    return found
