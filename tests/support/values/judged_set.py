"""A judged set for the search: entries of a believable project, and questions with the entries that answer them
(``judged/``), as somebody asks who has read none of them.

An entry's line: its name (``new>old`` if it replaced one), type, summary, detail, tags; a line with ``#`` tells the
scope of those that follow. A question's line: kind, scope, text, and the grades of the entries that answer it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from baton.domain.ids import sortable_id
from baton.domain.memory.entry import DecisionStatus, Entry, EntryChange, EntryEvent, EntryType
from baton.domain.memory.scope import parse_scope

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
_NAMES = "decision constraint warning finding question answer status need offer artifact"
_FOLDER = Path(__file__).parent / "judged"
# By the letter in an entry's line.
_TYPES = dict(zip("DCWFQASNOR", map(EntryType, _NAMES.split()), strict=True))
_DAYS = 180


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    kind: str  # "file", "symbol" or "words"; in ``more_questions.txt`` the difficulty of the question
    scope: str
    text: str
    grades: Mapping[str, int]  # by the entry's id, 3 for the answer


def judged_entries() -> tuple[Entry, ...]:
    return tuple(_named_entries().values())


def judged_questions(file: str = "questions.txt") -> tuple[JudgedQuestion, ...]:
    ids = {name: entry.id for name, entry in _named_entries().items()}
    return tuple(_question(line, ids) for line in _lines(file) if not line.startswith("#"))


def gain(question: JudgedQuestion, found: Sequence[str]) -> float:
    """Returns nDCG@10: 1 if the best entries come first."""
    best = sorted(question.grades.values(), reverse=True)
    return _discounted([question.grades.get(each, 0) for each in found[:10]]) / _discounted(best[:10])


def is_answered(question: JudgedQuestion, found: Sequence[str]) -> bool:
    """True if one of the first three entries answers the question."""
    return any(question.grades.get(each) == max(question.grades.values()) for each in found[:3])


def found_by_substring(entries: Sequence[Entry], question: JudgedQuestion) -> list[str]:
    """Returns what a plain search finds: the entries with the most of the question's words first, the newer first."""
    asked = question.text.lower().split()
    hits = [(sum(word in _text(each).lower() for word in asked), each.id) for each in entries]
    return [entry_id for count, entry_id in sorted(hits, reverse=True) if count]


def _text(entry: Entry) -> str:
    return " ".join((entry.summary, entry.detail, *entry.tags))


def _discounted(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def _question(line: str, ids: Mapping[str, str]) -> JudgedQuestion:
    kind, scope, text, grades = (part.strip() for part in line.split("|"))
    pairs = (grade.split("=") for grade in grades.split())
    return JudgedQuestion(kind, scope, text, {ids[name]: int(grade) for name, grade in pairs})


def _named_entries() -> dict[str, Entry]:
    """Returns the entries by their names; those without one by their numbers."""
    named: dict[str, Entry] = {}
    replaced: dict[str, str] = {}
    for number, (scope, line) in enumerate(_scoped_lines()):
        names, letter, summary, detail, tags = (part.strip() for part in line.split("|"))
        name, _, old = names.partition(">")
        named[name or str(number)] = _entry(number, scope, _TYPES[letter], (summary, detail, tags))
        if old:
            replaced[old] = name
    for old, new in replaced.items():
        named[old], named[new] = _replaced(named[old], named[new])
    return named


def _entry(number: int, scope: str, entry_type: EntryType, texts: tuple[str, str, str]) -> Entry:
    summary, detail, tags = texts
    at = NOW - timedelta(days=1 + number * 37 % _DAYS, minutes=number)
    is_decision = entry_type is EntryType.DECISION
    return Entry(
        workspace="acme",
        id=_id(number, at),
        scope=parse_scope(scope),
        entry_type=entry_type,
        summary=summary,
        detail=detail,
        tags=tuple(tags.split()),
        status=DecisionStatus.ACTIVE if is_decision else None,
        posted_by="agent:scout",
        posted_at=at,
    )


def _replaced(old: Entry, new: Entry) -> tuple[Entry, Entry]:
    at = new.posted_at - timedelta(days=30)
    event = EntryEvent(EntryChange.SUPERSEDED, new.posted_by, new.posted_at, new.id)
    return (
        replace(old, id=_id(int(old.id[-4:]), at), posted_at=at, status=DecisionStatus.SUPERSEDED, changes=(event,)),
        replace(new, supersedes=_id(int(old.id[-4:]), at)),
    )


def _id(number: int, at: datetime) -> str:
    return sortable_id("ent", at, bytes(10))[:-4] + f"{number:04}"


def _scoped_lines() -> Iterator[tuple[str, str]]:
    scope = ""
    for line in [*_lines("entries.txt"), *_lines("more_entries.txt")]:
        if line.startswith("# "):
            scope = line.removeprefix("# ")
        else:
            yield scope, line


def _lines(name: str) -> list[str]:
    return (_FOLDER / name).read_text(encoding="utf-8").splitlines()
