"""Workers without the seconds that a framework takes to load: a process of the framework's environment that has
imported its scenes, and forks for each worker.

    python -P -m frameworks.forks MODULE SCENE

On stdin it hears ``go`` and ``kill``, for one worker after the other. On stdout it says ``ready``, then to ``go`` the
worker's process id, and to ``kill``, by SIGKILL, what the worker ended with: -9, unless it ended before. It ends with
its stdin. Its process has one thread, and nothing open that a worker would share. Of the standard library alone."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from frameworks import scene


def main(module: str, name: str) -> None:
    scenes = importlib.import_module(module).SCENES
    with suppress(ImportError):
        importlib.import_module("baton_client.bell")  # which a client loads when it waits
    _check_alone()
    gc.collect()
    gc.freeze()  # so that workers share what is there
    print("ready", flush=True)
    pid = 0
    try:
        for line in sys.stdin:
            if line == "go\n":
                pid = _forked(lambda: scene.play(scenes, name))
                print(pid, flush=True)
            elif pid:
                pid, ended = 0, _killed(pid)
                print(ended, flush=True)
    finally:
        if pid:
            _killed(pid)


def _killed(pid: int) -> int:
    os.kill(pid, signal.SIGKILL)  # it is this process's child, so that the id is still its own
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _forked(play: Callable[[], object]) -> int:
    pid = os.fork()
    if not pid:
        _work(play)
    return pid


def _work(play: Callable[[], object]) -> NoReturn:
    """The child. ``random`` and ssl have new seeds after a fork by themselves; event loop and sockets are its own, as
    the parent has none."""
    status = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for wire in (0, 1):
            os.dup2(nothing, wire)
        os.close(nothing)
        play()
        status = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(status)


def _check_alone() -> None:
    """Raises ``RuntimeError`` if a framework has begun something at its import that a fork would break or share."""
    tasks, files = Path("/proc/self/task"), Path("/proc/self/fd")
    if not tasks.exists():
        return  # not on Linux
    if len(list(tasks.iterdir())) > 1:
        raise RuntimeError("it has threads")
    own = sorted(str(each.readlink()) for each in files.iterdir() if int(each.name) > 2 and each.is_symlink())
    if shared := [each for each in own if each.startswith(("socket:", "anon_inode:"))]:
        raise RuntimeError(f"it has open {shared}")


if __name__ == "__main__":
    main(*sys.argv[1:])
