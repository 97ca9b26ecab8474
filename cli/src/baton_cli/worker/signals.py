"""The signals of a worker: the first asks the supervisor to finish, the second stops the programs, the third kills
them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any

from baton_cli.worker import orphan_reaper
from baton_cli.worker.log import Log
from baton_cli.worker.supervisor import ShutdownStage, Supervisor

_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_OVER = b"\0"  # no signal has this number
_SAID = {
    ShutdownStage.FINISHING: "what runs is finished, nothing new is begun; once more stops it",
    ShutdownStage.STOPPING: "what runs is stopped and released; once more kills it",
    ShutdownStage.KILLING: "what runs is killed; once more ends the worker where it stands",
}


def serve(supervisor: Supervisor, log: Log) -> int | None:
    """Runs the supervisor to its end. Returns the first signal that it got, or None. For the main thread."""
    first: int | None = None
    orphan_reaper.become_subreaper()
    with _signals() as (read, write):
        thread = Thread(target=_run, args=(supervisor, write), name="supervisor")
        thread.start()
        while (heard := os.read(read, 1)) != _OVER:
            first = first or heard[0]
            stage = supervisor.stop()
            log("signal", _SAID[stage])
            if stage is ShutdownStage.KILLING:
                _restore(dict.fromkeys(_STOPS, signal.SIG_DFL))
        thread.join()
    return first


def _run(supervisor: Supervisor, write: int) -> None:
    try:
        supervisor.run()
    finally:
        os.write(write, _OVER)


@contextmanager
def _signals() -> Iterator[tuple[int, int]]:
    """Yields both ends of a pipe, through which each signal comes as a byte. A handler that did more might wait for a
    lock that its own thread holds."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    before_end = signal.set_wakeup_fd(write)
    before = {number: signal.signal(number, lambda *_: None) for number in _STOPS}
    try:
        yield read, write
    finally:
        _restore(before)
        signal.set_wakeup_fd(before_end)
        os.close(read)
        os.close(write)


def _restore(handlers: Mapping[signal.Signals, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
