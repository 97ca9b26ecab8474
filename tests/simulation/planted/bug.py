"""What a bug is: a change of the product's syntax, and what it takes to meet it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simulation.planted.operators import Operator


@dataclass(frozen=True, slots=True)
class Bug:
    """``habits``: they replace the seeds' habits, so that the needed events happen often. ``steps``: the simulation
    finds it within this number of steps. ``harmless``: why it breaks no rule, if it breaks none. ``test``: the test
    that finds it, if the changed code is no part of the simulation."""

    name: str
    operators: tuple[Operator, ...]
    habits: dict[str, Any] = field(default_factory=dict)
    steps: int = 60_000
    harmless: str = ""
    test: str = ""


def bug(name: str, *operators: Operator, **more: Any) -> Bug:
    return Bug(name, operators, **more)
