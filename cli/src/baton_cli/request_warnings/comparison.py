"""A request compared with earlier approved ones of the same pair."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from baton_cli.request_warnings.amounts import amount_of, amounts_in, is_amount, is_beyond, unit_of, words_of
from baton_cli.request_warnings.findings import Finding
from baton_cli.request_warnings.places import Leaf, Scalar, written
from baton_client.numbers import is_same

MOST_VALUES = 5_000
# Below this similarity an earlier request isn't compared; peers are nearly as similar as the most similar one.
LEAST_ALIKE, PEER_SHARE = 0.3, 0.75
FIXED_VALUE, FIXED_WORD = 2, 3
LONGEST = 60
_SPACE = re.compile(r"\s")
_WORDS = re.compile(r"[0-9A-Za-z_\u0080-\U0010ffff]+")
_LETTERS, _DIGITS = re.compile(r"[A-Za-z\u0080-\U0010ffff]+"), re.compile(r"[0-9]+")


Row = dict[str, Scalar]


class Flat:
    """The values of a request by their field, the elements of its lists, and the words and fields for comparing it."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self.size = len(leaves)
        self.fields: dict[str, list[Leaf]] = {}
        self.rows: dict[str, dict[str, Row]] = {}  # list → place of its element → values
        for each in leaves[:MOST_VALUES]:
            self.fields.setdefault(each.field, []).append(each)
            name, is_listed, rest = each.field.rpartition("[]")
            if is_listed:
                at = each.at.removesuffix(rest)
                self.rows.setdefault(name, {}).setdefault(at, {})[rest] = each.value
        self.tokens = {f"{name}=" for name in self.fields}
        self.amounts = set[float]()
        for each in leaves[:MOST_VALUES]:
            if isinstance(each.value, str):
                self.tokens.update(word.lower() for word in _WORDS.findall(each.value))
                if _SPACE.search(each.value):
                    self.amounts.update(amounts_in(each.value))

    def values(self, field: str) -> list[Scalar]:
        return [each.value for each in self.fields.get(field, ())]


def similarity(one: Flat, other: Flat) -> float:
    """Returns the number of shared words and field names, divided by the number of all: 0 to 1."""
    either = len(one.tokens | other.tokens)
    return len(one.tokens & other.tokens) / either if either else 1.0


@dataclass(frozen=True, slots=True)
class Peers:
    """The earlier requests to compare with, the most similar first. ``at``: their numbers in the list."""

    flats: list[Flat]
    at: list[int]


def peers_of(now: Flat, earlier: Sequence[Flat]) -> Peers:
    """Returns the most similar earlier request, and the requests that are nearly as similar or have the same fields;
    none if the most similar one is below ``LEAST_ALIKE`` and has other fields."""
    shares = [similarity(now, each) for each in earlier]
    is_same = [each.fields.keys() == now.fields.keys() for each in earlier]
    best = max(shares, default=0.0)
    least = PEER_SHARE * best if best >= LEAST_ALIKE else 1.0
    chosen = [n for n, share in enumerate(shares) if share >= least or is_same[n]]
    at = sorted(chosen, key=lambda n: (-shares[n], n))
    return Peers([earlier[each] for each in at], at)


def differences(now: Flat, peers: Sequence[Flat]) -> Iterator[tuple[Finding, bool]]:
    """Yields each difference from the most similar request, and whether it is a warning: unlike every peer."""
    found = list(_of_fields(now, peers))
    yield from found
    warned = {each.at for each, is_warning in found if is_warning}
    yield from ((each, True) for each in _of_rows(now, peers) if each.at not in warned)


def _of_fields(now: Flat, peers: Sequence[Flat]) -> Iterator[tuple[Finding, bool]]:
    is_many = len(peers) >= FIXED_VALUE
    for added in _added(now, peers):
        yield added, is_many
    for field, found in now.fields.items():
        had = [each.values(field) for each in peers if field in each.fields]
        if not had:
            continue
        if len(found) == 1 and all(len(each) == 1 for each in had):
            yield from _changed(found[0], [each[0] for each in had])
        else:
            yield from _of_list(field, found, had)
    for field, gone in peers[0].fields.items() if peers else ():
        if field not in now.fields:
            is_usual = is_many and all(field in each.fields for each in peers)
            yield Finding("removed", gone[0].at, "", short(gone[0].value)), is_usual
    yield from _mismatches(now, peers)


def _added(now: Flat, peers: Sequence[Flat]) -> Iterator[Finding]:
    """Yields the parts that no peer has: a value, or an object or list as one."""
    if not peers:
        return
    known = {part for each in peers for field in each.fields for part in _parts(field)}
    new: dict[str, list[Leaf]] = {}
    for field, found in now.fields.items():
        if field not in known:
            new.setdefault(next(part for part in _parts(field) if part not in known), []).extend(found)
    for part, found in new.items():
        one = found[0] if len(found) == 1 else None
        yield Finding("added", one.at, short(one.value)) if one else Finding("added", part, f"{len(found)} values")


def _parts(field: str) -> Iterator[str]:
    """Yields the field's path from the top: ``a``, ``a[]``, ``a[].b``."""
    yield from (field[:at] for at, each in enumerate(field) if at and each in ".[")
    yield field


def _changed(leaf: Leaf, had: Sequence[Scalar]) -> Iterator[tuple[Finding, bool]]:
    value, last = leaf.value, had[0]
    if is_same(value, last) and isinstance(value, bool) == isinstance(last, bool):
        return
    is_text = isinstance(value, str) and bool(_SPACE.search(value))
    if is_text and all(isinstance(each, str) for each in had) and not all(map(is_amount, had)):
        yield from _changed_words(leaf, [str(each) for each in had])
        return
    kind = _oddity(value, had, FIXED_VALUE)
    before = _range(had) if kind == "amount" else short(last)
    yield Finding(kind or "value", leaf.at, short(value), before), kind != ""


def _oddity(value: Scalar, had: Sequence[Scalar], fixed: int) -> str:
    """Returns the kind of warning for a value that no earlier request has; empty for a usual one."""
    if any(is_same(value, each) for each in had):
        return ""
    amount, amounts = amount_of(value), [each for each in map(amount_of, had) if each is not None]
    if amount is not None and len(amounts) == len(had):
        is_fixed = len(had) >= fixed and len(set(amounts)) == 1
        if is_fixed or is_beyond(amount, amounts):
            return "amount"
        units = set(map(unit_of, had))
        return "value" if len(had) >= fixed and len(units) == 1 and unit_of(value) not in units else ""
    if (amount is None and len(amounts) == len(had)) or (len(had) >= fixed and len(set(map(written, had))) == 1):
        return "value"
    shapes = {_shape(each) for each in had}
    return "value" if len(had) >= FIXED_WORD and len(shapes) == 1 and _shape(value) not in shapes else ""


def _shape(value: Scalar) -> str:
    return _DIGITS.sub("9", _LETTERS.sub("a", written(value)))


def _changed_words(leaf: Leaf, had: Sequence[str]) -> Iterator[tuple[Finding, bool]]:
    """Compares texts of one pattern word by word, and of other texts the largest amounts."""
    words, is_fixed = words_of(str(leaf.value)), len(had) >= FIXED_VALUE and len(set(had)) == 1
    alike = [each for each in map(words_of, had) if _is_alike(words, each)]
    if not alike and is_fixed:
        yield Finding("value", leaf.at, short(leaf.value), short(had[0])), True
    elif not alike:
        yield from _larger_amount(leaf, had)
    for number, word in enumerate(words if alike else ()):
        before: list[Scalar] = [each[number] for each in alike]
        if before[0] != word:
            kind = _oddity(word, before, FIXED_VALUE if is_fixed else FIXED_WORD)
            was = _range(before) if kind == "amount" else short(before[0])
            yield Finding(kind or "value", leaf.at, short(word), was), kind != ""


def _is_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    if len(one) != len(other):
        return False
    return sum(a != b for a, b in zip(one, other, strict=True)) <= max(2, len(one) / 2)


def _larger_amount(leaf: Leaf, had: Sequence[str]) -> Iterator[tuple[Finding, bool]]:
    most = max(amounts_in(str(leaf.value)), default=0.0)
    before = [max(amounts_in(each), default=0.0) for each in had]
    if most and max(before) and is_beyond(most, before) and most > max(before):
        yield Finding("amount", leaf.at, written(most), f"at most {written(max(before))}"), True
    else:
        yield Finding("value", leaf.at, short(leaf.value), short(had[0])), False


def _of_list(field: str, found: Sequence[Leaf], had: Sequence[Sequence[Scalar]]) -> Iterator[tuple[Finding, bool]]:
    """Compares lists as sets: a new element of a list that was always the same, and an amount beyond the earlier."""
    known = {written(value) for each in had for value in each}
    is_fixed = len(had) >= FIXED_VALUE and len({tuple(sorted(map(written, each))) for each in had}) == 1
    amounts = [each for values in had for each in map(amount_of, values) if each is not None]
    is_numeric = len(amounts) == sum(map(len, had))
    for each in found:
        if written(each.value) in known:
            continue
        amount = amount_of(each.value)
        is_large = is_numeric and (amount is None or is_beyond(amount, amounts))
        kind = "amount" if is_large and amount is not None else "value"
        before = _range(amounts) if is_large else "nothing"
        yield Finding(kind, each.at, short(each.value), before), is_fixed or is_large
    mine = Counter(written(each.value) for each in found)
    for value in dict.fromkeys(map(written, had[0])):
        if value not in mine:
            yield Finding("removed", field, "", short(value)), is_fixed


def _of_rows(now: Flat, peers: Sequence[Flat]) -> Iterator[Finding]:
    """Compares the elements of lists, if they are objects, as wholes: the values beside a known one, an element that is
    there more often, and a longer list."""
    for name, rows in now.rows.items():
        had = [list(each.rows[name].values()) for each in peers if name in each.rows]
        before = [row for each in had for row in each]
        if not before or all(len(each) == 1 for each in [*rows.values(), *before]):
            continue
        lengths, most = [len(each) for each in had], max(max(_counted(each).values()) for each in had)
        if max(len(rows), *lengths) > 1:
            for at, row in rows.items():
                yield from _beside(at, row, before)
        places = dict(zip(map(_content, reversed(rows.values())), reversed(rows), strict=True))
        for content, times in _counted(rows.values()).items():
            if times > most:
                yield Finding("amount", places[content], f"{times} times", f"at most {most}")
        if is_beyond(len(rows), lengths):
            yield Finding("amount", name, f"{len(rows)} elements", _range(lengths))


def _beside(at: str, row: Row, before: Sequence[Row]) -> Iterator[Finding]:
    """Yields a value that no earlier element had beside another value of this one: an amount beyond a recipient's."""
    found = dict[str, Finding]()
    for name, known in row.items():
        same = [] if amount_of(known) is not None else [each for each in before if is_same(each.get(name), known)]
        for other, value in row.items():
            had = [each[other] for each in same if other in each]
            if (
                other == name
                or not had
                or len(had) < len(same)
                or any(_SPACE.search(str(each)) for each in (value, *had))
            ):
                continue
            if kind := _oddity(value, had, FIXED_VALUE):
                was = _range(had) if kind == "amount" else short(had[0])
                found.setdefault(other, Finding(kind, f"{at}{other}", short(value), was))
    yield from found.values()


def _counted(rows: Iterable[Row]) -> Counter[str]:
    return Counter(map(_content, rows))


def _content(row: Row) -> str:
    return "\n".join(sorted(f"{name}={written(value)}" for name, value in row.items()))


def _mismatches(now: Flat, peers: Sequence[Flat]) -> Iterator[tuple[Finding, bool]]:
    """Yields amounts that the texts of every peer repeat, but the texts of this request don't."""
    for field, found in now.fields.items():
        amount = amount_of(found[0].value) if len(found) == 1 and not _SPACE.search(str(found[0].value)) else None
        had = [(each, each.values(field)) for each in peers if field in each.fields]
        if amount is None or amount in now.amounts or len(had) < FIXED_VALUE:
            continue
        if all(len(values) == 1 and amount_of(values[0]) in each.amounts for each, values in had):
            yield Finding("mismatch", found[0].at, short(found[0].value)), True


def _range(values: Sequence[Scalar]) -> str:
    amounts = [each for each in map(amount_of, values) if each is not None]
    least, most = min(amounts), max(amounts)
    return written(least) if least == most else f"{written(least)} to {written(most)}"


def short(value: Scalar) -> str:
    text = written(value)
    return f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text
