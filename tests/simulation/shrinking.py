"""A schedule that breaks a rule, made duller: choices become 0 wherever the same rule still breaks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from simulation.episode import play

if TYPE_CHECKING:
    from simulation.simulation import Simulation

MAX_SECONDS = 600


def shrunk(seed: int, changes: dict[str, Any]) -> Simulation:
    """The dullest schedule that was found, played once more with a trace. Whole runs of choices are tried first."""
    first = play(seed, changes)
    wanted, choices = _rule(first), list(first.chance.taken)
    before, tries = sum(map(bool, choices)), 0
    size = 1 << (len(choices) - 1).bit_length() if wanted else 0
    until = time.monotonic() + MAX_SECONDS
    while size and time.monotonic() < until:
        for start in range((len(choices) - 1) // size * size, -1, -size):
            if not any(choices[start : start + size]) or time.monotonic() > until:
                continue
            tried = choices[:start] + [0] * len(choices[start : start + size]) + choices[start + size :]
            sim, tries = play(seed, changes, tried), tries + 1
            if _rule(sim) == wanted:
                choices = tried[: len(sim.chance.taken)]
        size //= 2
    print(f"{tries} tries, {sum(map(bool, choices))} of {before} choices left")
    return play(seed, changes, choices, is_traced=True)


def _rule(sim: Simulation) -> str | None:
    violations = sim.oracle.verdict.violations
    return violations[0].rule if violations else None
