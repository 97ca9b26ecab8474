"""The reaper of orphans: it kills the processes that a killed watchdog has left behind. On Linux the worker becomes
their parent, as their next living ancestor."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from threading import Lock

from baton_cli.worker import watchdog

# Held while a watchdog is started, so that the watchdog isn't taken for an orphan.
LOCK = Lock()
WATCHDOGS: set[int] = set()
_is_subreaper = False


def become_subreaper() -> None:
    """Makes this process the parent of its orphaned descendants. Its only other children may be watchdogs."""
    global _is_subreaper
    watchdog.prctl(watchdog.PR_SET_CHILD_SUBREAPER, 1)
    _is_subreaper = watchdog.IS_LINUX


def kill_orphans() -> None:
    """Kills the orphans, and their children as they come."""
    end = watchdog.now() + watchdog.LAST_SECONDS
    with LOCK:
        while _is_subreaper and watchdog.now() < end and (orphans := _children() - WATCHDOGS):
            for pid in orphans:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _children() -> set[int]:
    found = set[int]()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            found |= {int(pid) for pid in (task / "children").read_text(encoding="ascii").split()}
    return found
