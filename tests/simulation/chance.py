"""Everything that is chosen comes from one sequence of numbers: so a seed is a schedule, and a schedule can be replayed
and made duller."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Chance:
    """``choices``: what is to be chosen instead of what the seed says; 0 once they are used up. ``taken``: what was."""

    def __init__(self, seed: int, choices: Sequence[int] | None = None) -> None:
        self._random = random.Random(seed).random
        self._choices = choices
        self.taken: list[int] = []

    def draw(self, n: int) -> int:
        """From 0, which is always the dullest choice, to n - 1."""
        if self._choices is None:
            value = int(self._random() * n)
        else:
            value = self._choices[len(self.taken)] % n if len(self.taken) < len(self._choices) else 0
        self.taken.append(value)
        return value

    def happens(self, share: float) -> bool:
        return share > 0 and self.draw(1000) >= 1000 - share * 1000

    def pick(self, values: Sequence[T]) -> T:
        return values[self.draw(len(values))]
