from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.worlds.worker_processes import WorkerProcesses, worker_processes

# How much faster time goes by in `hasty`: a lease of 30 s, the agent's, lasts 3 s of a worker's life.
SPEED = 10.0


@pytest.fixture(autouse=True)
def linux() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("what is left of a program is found by /proc")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[WorkerProcesses]:
    with worker_processes(tmp_path) as found:
        yield found


@pytest.fixture
def hasty(tmp_path: Path) -> Iterator[WorkerProcesses]:
    with worker_processes(tmp_path, speed=SPEED) as found:
        yield found
