"""What a bug is: a change of the product's syntax, and what it takes to meet it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simulation.planted.operators import Operator


@dataclass(frozen=True, slots=True)
class Bug:
    """``habits``: instead of the seeds', so that what it takes happens often. ``steps``: within which it is found.
    ``harmless``: why it breaks no rule, where it does not. ``test``: the test that finds it,
    where the simulation has no part of what it changes."""

    name: str
    operators: tuple[Operator, ...]
    habits: dict[str, Any] = field(default_factory=dict)
    steps: int = 60_000
    harmless: str = ""
    test: str = ""


def bug(name: str, *operators: Operator, **more: Any) -> Bug:
    return Bug(name, operators, **more)
