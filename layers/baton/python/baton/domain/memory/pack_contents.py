"""The contents of a pack: what the search keeps of each entry. Each word has a number within the pack."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from baton.domain.memory.entry import DecisionStatus, EntryType
from baton.domain.memory.entry_pack import FORM, EntryPack
from baton.domain.memory.entry_words import EntryWords
from baton.domain.newer import member

MAX_PACK_BYTES = 100_000


def entries_of(pack: EntryPack) -> list[EntryWords]:
    """Returns the entries of a pack that isn't void, in the order of their ids."""
    said = json.loads(zlib.decompress(pack.contents))
    return [_entry_from(said["words"], each) for each in said["entries"]]


def packed(workspace: str, last_id: str, entries: Sequence[EntryWords]) -> EntryPack:
    """Returns the pack with these entries, in the order of their ids."""
    numbers: dict[str, int] = {}
    rows = [_entry_to(numbers, each) for each in entries]
    said = json.dumps({"words": list(numbers), "entries": rows}, separators=(",", ":"), ensure_ascii=False)
    return EntryPack(workspace, last_id, FORM, zlib.compress(said.encode()))


def in_packs(workspace: str, last_id: str, entries: Sequence[EntryWords]) -> Iterator[EntryPack]:
    """Yields one pack with these entries, in the order of their ids. A pack that is too large is halved; one entry
    always fits."""
    pack = packed(workspace, last_id, entries)
    if len(pack.contents) <= MAX_PACK_BYTES or len(entries) == 1:
        yield pack
        return
    half = len(entries) // 2
    yield from in_packs(workspace, entries[half - 1].entry_id, entries[:half])
    yield from in_packs(workspace, last_id, entries[half:])


def _entry_to(numbers: dict[str, int], entry: EntryWords) -> list[Any]:
    """Returns the entry as a row. ``numbers``: the words' numbers so far, to which the entry's words are added."""
    by_weight = defaultdict[int, list[int]](list)
    for word, weight in entry.weights.items():
        by_weight[weight].append(numbers.setdefault(word, len(numbers)))
    what = [entry.entry_id, entry.version, entry.posted_ms, entry.entry_type, entry.scope, entry.status]
    steps = [(weight, _steps(found)) for weight, found in by_weight.items()]
    return [*what, entry.superseded_by, entry.posted_by, steps]


def _steps(numbers: Iterable[int]) -> list[int]:
    """Returns the first number, and the difference of each further one to the one before: small numbers, which compress
    well."""
    ordered = sorted(numbers)
    return [number - before for before, number in zip([0, *ordered], ordered, strict=False)]


def _entry_from(words: Sequence[str], row: Sequence[Any]) -> EntryWords:
    entry_id, version, posted_ms, entry_type, scope, status, superseded_by, posted_by, by_weight = row
    return EntryWords(
        entry_id=entry_id,
        version=version,
        posted_ms=posted_ms,
        entry_type=member(EntryType, entry_type),
        scope=scope,
        status=None if status is None else member(DecisionStatus, status),
        superseded_by=superseded_by,
        posted_by=posted_by,
        weights={words[number]: weight for weight, steps in by_weight for number in accumulate(steps)},
    )
