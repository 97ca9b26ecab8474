"""Patterns with ``*`` (any run of characters) and ``?`` (one character), looked for anywhere in a text, whatever the
case.

They are no regular expressions: all of them are followed at once, in one pass over the text, whatever they and the text
are made of. What is done for a character depends on how long the patterns are together, never on what came before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RUN, ONE = "*", "?"


@dataclass(frozen=True, slots=True)
class Plain:
    """A pattern's literal pieces. A text without one of them can't hold it; one with all of them may."""

    index: int
    pieces: tuple[str, ...]
    is_all: bool


@dataclass(frozen=True, slots=True)
class Automaton:
    """One bit for every character of every pattern, ``*`` excepted: set while the pattern has been met so far.

    ``starts``: the first ones; ``stays``: those that a ``*`` follows, so that they outlast any character; ``takes``:
    what a character may set, ``takes_any`` where it is in no pattern; ``ends``: a pattern's last bit → its index.
    """

    starts: int
    stays: int
    takes: Mapping[str, int]
    takes_any: int
    ends: Mapping[int, int]
    end: int

    def first_in(self, characters: Iterable[str]) -> int | None:
        """The index of a pattern that is in them. Each character is looked at once."""
        met = 0
        for character in characters:
            met = ((met << 1 | self.starts) & self.takes.get(character, self.takes_any)) | (met & self.stays)
            if hit := met & self.end:
                return self.ends[hit & -hit]
        return None


@dataclass(frozen=True, slots=True)
class Patterns:
    plain: tuple[Plain, ...]
    automaton: Automaton

    def first_in(self, text: str) -> int | None:
        """The index of a pattern that is in ``text``."""
        if not self.plain:
            return None
        folded = text.casefold()
        possible = [each for each in self.plain if all(piece in folded for piece in each.pieces)]
        certain = next((each.index for each in possible if each.is_all), None)
        if certain is not None or not possible:
            return certain
        return self.automaton.first_in(folded)


@lru_cache(maxsize=32)
def compiled(patterns: tuple[str, ...]) -> Patterns:
    # A run at either end says nothing: a pattern may begin and end anywhere.
    folded = [pattern.casefold().strip(RUN) for pattern in patterns]
    plain = tuple(
        Plain(index, tuple(filter(None, re.split(r"[*?]+", text))), is_all=not {RUN, ONE} & set(text))
        for index, text in enumerate(folded)
    )
    return Patterns(plain, _automaton(folded))


def _automaton(patterns: list[str]) -> Automaton:
    starts = stays = takes_any = 0
    own: dict[str, int] = {}
    ends: dict[int, int] = {}
    bit = 1
    for index, pattern in enumerate(patterns):
        starts |= bit
        for character in pattern:
            if character == RUN:
                stays |= bit >> 1
                continue
            if character == ONE:
                takes_any |= bit
            else:
                own[character] = own.get(character, 0) | bit
            bit <<= 1
        ends[bit >> 1] = index
    takes = {character: bits | takes_any for character, bits in own.items()}
    return Automaton(starts, stays, takes, takes_any, ends, end=sum(ends))
