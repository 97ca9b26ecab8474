"""A part of the simulated day, by the seed of the day, with three times as many faults. `make day` plays all of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from simulation.today import first_seed
from support.faults.soak import scaled

TASKS = scaled(1_500)


def played(seed: int, tasks: int) -> tuple[int, str, dict[str, Any]]:
    """Returns the exit status, what was wrong, and the report. In a process of its own, which changes modules."""
    command = [sys.executable, "-m", "simulation.day", "--seed", str(seed), "--tasks", str(tasks), "--faults", "3"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    wrong, _, report = done.stdout.rpartition("report: ")
    return done.returncode, f"{wrong}\n{done.stderr[-3000:]}", json.loads(report or "{}")


def test_through_a_faulty_network_nothing_is_done_twice_or_lost() -> None:
    status, wrong, report = played(first_seed(), TASKS)
    assert status == 0, f"seed {first_seed()}: {wrong}"
    assert sum(report["faults"].values()) > TASKS / 2


def test_a_seed_is_a_day() -> None:
    first, second = (played(7, 12)[2] for _ in range(2))
    assert first["faults"]
    assert {**first, "seconds": 0, "cpu_seconds": 0} == {**second, "seconds": 0, "cpu_seconds": 0}
