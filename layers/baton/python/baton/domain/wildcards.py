"""Patterns with ``*`` (any run of characters) and ``?`` (one character), looked for anywhere in a text, whatever the
case.

They are no regular expressions: all of them are followed at once, in one pass over the text, whatever they and the text
are made of. What is done for a character depends on how long the patterns are together, never on what came before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RUN, ONE = "*", "?"
# Characters between two looks at whether anything was met.
AT_ONCE = 4_096


@dataclass(frozen=True, slots=True)
class Plain:
    """A pattern's literal pieces. A text without one of them can't hold it; one with all of them may."""

    index: int
    pieces: tuple[str, ...]
    is_all: bool


@dataclass(frozen=True, slots=True)
class Automaton:
    """One bit for the start of every pattern and for every character of it, ``*`` excepted: set while the pattern has
    been met so far.

    ``starts``: those of the starts, which are always set; ``stays``: those that outlast any character: the starts, what
    a ``*`` follows, and the ends, so that they needn't be looked for at each; ``takes``: what a character may set,
    ``takes_any`` where it is in no pattern; ``ends``: a pattern's last bit → its index.
    """

    starts: int
    stays: int
    takes: Mapping[str, int]
    takes_any: int
    ends: Mapping[int, int]
    end: int

    def first_in(self, characters: Iterable[str]) -> int | None:
        """The index of a pattern that is in them. Each character is looked at once."""
        met, stays = self.starts, self.stays
        following = map(self.takes.get, characters, repeat(self.takes_any))
        while some := tuple(islice(following, AT_ONCE)):
            for taken in some:
                met = met << 1 & taken | met & stays
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
        bit <<= 1
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
    end = sum(ends)
    return Automaton(starts, stays | starts | end, takes, takes_any, ends, end)
