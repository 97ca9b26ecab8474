"""Schedules and faults by the seed of the day. ``SEED`` names others; a failure says how to see it again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simulation.today import first_seed
from support.faults.soak import scaled

STEPS = int(os.environ.get("SIMULATED_STEPS") or scaled(240_000, 20))
# So that two workers share them.
PARTS = 2
TESTS = Path(__file__).parents[1]
# This checkout's, whatever the environment has installed.
PRODUCT = [TESTS.parent / "layers/baton/python", TESTS.parent / "functions"]


def simulated(*asked: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: it changes modules of the product, and sets must be gone through in one order."""
    command = [sys.executable, "-m", "simulation", *asked]
    paths = os.pathsep.join(map(str, [TESTS, *PRODUCT]))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_schedule_and_no_fault_breaks_a_rule(part: int) -> None:
    seed = first_seed() + part * 1_000
    done = simulated("run", "--seed", str(seed), "--steps", str(STEPS // PARTS), "--first")
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"


def test_a_seed_is_a_schedule() -> None:
    """Whatever else the process has done before."""
    digests = [re.findall(r"digest \w+, \d+ steps", simulated("replay", "7").stdout) for _ in range(2)]
    assert len(digests[0]) == 1
    assert digests[0] == digests[1]
