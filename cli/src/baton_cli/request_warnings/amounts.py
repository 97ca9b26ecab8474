"""Amounts: numbers in values and in the words of texts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from baton_cli.request_warnings.places import Scalar

_SCALES = {"k": 1e3, "thousand": 1e3, "tsd": 1e3, "lakh": 1e5, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6}
_SCALES |= {"cror": 1e7, "bn": 1e9, "mrd": 1e9, "milliard": 1e9, "billion": 1e9, "trillion": 1e12}
_PLURAL = "(?:e?[sn]|e)?"
_ENDING = re.compile(rf"(?<=.{{4}}){_PLURAL}$")
_BLANK = r" \u00a0\u2000-\u200a\u202f\u205f"
# Groups of three digits, and a blank between a number and its scale.
_GROUPS = re.compile(rf"(?<![0-9.,])[1-9][0-9]{{0,2}}(?:[{_BLANK}'_\u00b4\u2019][0-9]{{3}})+(?![0-9])")
_SPACED = re.compile(
    rf"(?<=[0-9])[{_BLANK}]+(?=(?:{'|'.join(each for each in _SCALES if len(each) > 1)}){_PLURAL}(?![A-Za-z]))",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"(?:[A-Z]{3}\s+|EUR|USD|GBP|CHF|JPY|INR)?(?:[^0-9A-Za-z\u0080-\u024f]|[\u00a3-\u00a5])*?([-\u2212]?)"
    r"([0-9][0-9.,'_\u00a0]*[0-9]|[0-9])([A-Za-z]*)(?:[^0-9A-Za-z][^0-9]*)?"
)
_LARGEST, MOST_WORDS = 1e300, 3


def joined(text: str) -> str:
    """Returns the text with each number in one word: ``9 million`` as ``9million``, ``1 000`` as ``1000``."""
    return _SPACED.sub("", _GROUPS.sub(lambda found: re.sub("[^0-9]", "", found[0]), text))


def amount_of(value: Scalar) -> float | None:
    """Returns the number that a value or a word means; None for a text without one, or with several."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return math.inf if value > _LARGEST else -math.inf if value < -_LARGEST else float(value)
    return _read(joined(value.strip()))


def _read(text: str) -> float | None:
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return None
    unit = found[3].lower()
    size = float(_plain(found[2])) * (_SCALES.get(unit) or _SCALES.get(_ENDING.sub("", unit), 1))
    return -size if found[1] else size


def unit_of(value: Scalar) -> str:
    """Returns the letters and currency signs of an amount."""
    return re.sub(r"[^A-Za-z$%\u00a1-\u1fff\u2030-\uffff]", "", joined(value)) if isinstance(value, str) else ""


def _plain(digits: str) -> str:
    """Returns the digits with a decimal point alone. One separator before exactly three digits separates thousands,
    unless a single 0 stands before it."""
    marks = [each for each in digits if not each.isdigit()]
    last = max(digits.rfind(each) for each in ".,") if marks else -1
    is_decimal = last > 0 and digits.count(digits[last]) == 1
    if is_decimal and len(set(marks)) == 1 and len(digits) - last == 4 and digits[:last] != "0":
        is_decimal = False
    whole = digits[:last] if is_decimal else digits
    plain = re.sub(r"[^0-9]", "", whole)
    return f"{plain}.{digits[last + 1 :]}" if is_decimal else plain


def words_of(text: str) -> list[str]:
    return joined(text).split()


def is_amount(value: Scalar) -> bool:
    """Returns True for an amount with at most a currency and a unit."""
    return amount_of(value) is not None and len(words_of(str(value))) <= MOST_WORDS


def amounts_in(text: str) -> list[float]:
    """Returns the amounts that the words of a text mean, as they stand and joined."""
    words = (*text.split(), *words_of(text))
    return [each for word in words if (each := _read(word)) is not None]


def is_beyond(amount: float, earlier: Sequence[float]) -> bool:
    """Returns True for an amount outside of the range of the earlier ones. The margin above the largest is as wide as
    there are few of them: twice the largest after one, 1.05 times after twenty. Below, it is a tenth of the smallest,
    or below zero."""
    if not earlier:
        return False
    largest, smallest = max(earlier), min(earlier)
    if amount < 0 <= smallest:
        return True
    margin = abs(largest) / len(earlier)
    return amount > largest + margin or 0 <= amount < smallest / 10
