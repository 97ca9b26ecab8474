"""The search for patterns with ``*`` (any run of characters) and ``?`` (one character) anywhere in a text.

Case doesn't matter. Patterns aren't compiled to regular expressions: one pass over the text follows all of them at
once. The work per character depends on the total length of the patterns, never on the characters before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, repeat

RUN, ONE = "*", "?"
# Characters between two checks for a match.
AT_ONCE = 4_096


@dataclass(frozen=True, slots=True)
class Plain:
    """A pattern's literal pieces. A text that lacks a piece can't match the pattern."""

    index: int
    pieces: tuple[str, ...]
    is_all: bool  # the pattern has no wildcard: its piece is a match


@dataclass(frozen=True, slots=True)
class Automaton:
    """A bit-parallel automaton. Each pattern has one bit for its start and one for each of its characters but ``*``; a
    bit is set while the text matches the pattern up to there."""

    starts: int  # the start bits: always set
    # Bits that any character leaves set: the starts, the positions before a ``*``, and the ends, so that a match
    # needn't be checked for at every character.
    stays: int
    takes: Mapping[str, int]  # the bits that a character can set
    takes_any: int  # the same for a character that is in no pattern
    ends: Mapping[int, int]  # a pattern's last bit → the pattern's index
    end: int  # all of those last bits

    def first_in(self, characters: Iterable[str]) -> int | None:
        """Returns the index of a pattern that matches, None if none does. Reads each character once."""
        met, stays = self.starts, self.stays
        following = map(self.takes.get, characters, repeat(self.takes_any))
        while some := tuple(islice(following, AT_ONCE)):
            for bits in some:
                met = met << 1 & bits | met & stays
            if hit := met & self.end:
                return self.ends[hit & -hit]
        return None


@dataclass(frozen=True, slots=True)
class Patterns:
    plain: tuple[Plain, ...]
    automaton: Automaton

    def first_in(self, text: str) -> int | None:
        """Returns the index of a pattern that matches in ``text``, None if none does."""
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
    # A ``*`` at either end has no effect: a pattern matches anywhere in a text.
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
