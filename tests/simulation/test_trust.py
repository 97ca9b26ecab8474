"""The seeds that focus on trust exercise each of its conditions."""

from __future__ import annotations

import json

import pytest

from simulation.test_simulation import simulated

STEPS = 45_000
# Counted by the oracle, or by the name of a refusal.
OCCURRENCES = (
    "refused: RightNeeded",
    "refused: TokenRefused",
    "refused: NotAsked",
    "change pending",
    "change approved",
    "change refused",
    "loosened alone",
    "loosened by two",
    "left a rule",
    "right 2 needed",
    "right 3 needed",
    "right 4 needed",
    "guarded claim",
    "guarded claim of open work",
    "ruled action",
    "run state saved",
    "run state shown",
    "run state withheld",
    "split",
)


@pytest.fixture(scope="module")
def seen() -> dict[str, int]:
    done = simulated("--set", '{"focus": "trust"}', "run", "--seed", "21", "--steps", str(STEPS))
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    found: dict[str, int] = json.loads(done.stdout.strip().splitlines()[-1])["seen"]
    return found


@pytest.mark.parametrize("what", OCCURRENCES)
def test_each_condition_occurs(seen: dict[str, int], what: str) -> None:
    assert seen.get(what, 0) >= 1
