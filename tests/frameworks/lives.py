"""The workers that are killed: forks of a process that has loaded the framework, and now and then a fresh process,
which loads it first."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from frameworks.played import ROOT, command, python_of

SCENE = "work_forever"


class Workers:
    """One worker of a framework after the other. A context: at its end none is left. ``log``: the file of what they say
    on stderr. ``loading_seconds``: how long its framework took to load."""

    def __init__(self, name: str, environments: Path, env: Mapping[str, str], log: Path) -> None:
        self._log = log.open("ab")
        self._options: dict[str, Any] = {"env": env, "cwd": ROOT, "stderr": self._log}
        self._fresh = command(name, SCENE, environments)
        python, module = str(python_of(name, environments)), f"frameworks.scenes.{name}"
        program = [python, "-P", "-m", "frameworks.forks", module, SCENE]
        self._forks = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **self._options
        )
        self._process: subprocess.Popen[bytes] | None = None
        begun_at = time.monotonic()
        self._heard("ready")
        self.loading_seconds = time.monotonic() - begun_at

    def begin(self, *, fresh: bool = False) -> int:
        """Begins a worker, and returns its process id."""
        if not fresh:
            return int(self._said("go"))
        self._process = subprocess.Popen(self._fresh, stdout=subprocess.DEVNULL, **self._options)
        return self._process.pid

    def kill(self) -> int:
        """Kills the worker, and returns what it ended with: -9, unless it had ended before."""
        if self._process is None:
            return int(self._said("kill"))
        process, self._process = self._process, None
        process.kill()
        return process.wait()

    def _said(self, what: str) -> str:
        assert self._forks.stdin is not None
        self._forks.stdin.write(f"{what}\n")
        return self._heard()

    def _heard(self, wanted: str = "") -> str:
        assert self._forks.stdout is not None
        said = str(self._forks.stdout.readline()).strip()
        if not said or (wanted and said != wanted):
            raise RuntimeError(f"the process that forks says {said!r}; see {self._log.name}")
        return said

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, _error: BaseException | None, _trace: TracebackType | None) -> None:
        if self._process is not None:
            self.kill()
        self._forks.communicate()  # the end of its stdin is the end of its worker
        self._log.close()
