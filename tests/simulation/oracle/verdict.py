"""What was found to be wrong. The first finding ends the episode."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulation.simulation import Simulation

# Ids, numbers and quoted texts differ between two findings of the same rule.
_PARTICULARS = re.compile(r"\S*\d\S*|'[^']*'|\{.*\}|\[.*\]")


@dataclass(frozen=True, slots=True)
class Violation:
    step: int
    what: str
    where: str = ""

    @property
    def rule(self) -> str:
        return _PARTICULARS.sub("", self.what)


class Verdict:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.violations: list[Violation] = []

    def must(self, holds: object, what: str, *details: object) -> None:
        """``details``: for the places that ``what`` has for them, in the order of their mention."""
        if not holds:
            self.fail(what.format(*details))

    def fail(self, what: str, exc: BaseException | None = None) -> None:
        where = "".join(traceback.format_exception(exc)[-12:]) if exc else ""
        self.violations.append(Violation(self._sim.steps, what, where))
        self._sim.scheduler.is_stopped = True

    def actor_raised(self, name: str, exc: BaseException) -> None:
        """What no use case may raise."""
        self.fail(f"{name} raised {type(exc).__name__}: {exc}", exc)
