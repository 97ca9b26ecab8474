"""Texts that show something else than they contain: hidden characters, mixed alphabets, look-alike words and blank
gaps."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from baton_cli.request_warnings.findings import Finding
from baton_cli.request_warnings.places import Text
from baton_client.texts import HIDDEN

MOST_CHARACTERS = 1_000_000
# Letters by alphabet: ranges that JavaScript and Python read alike.
LATIN = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
OTHERS = {
    "Greek": r"\u0370-\u03ff\u1f00-\u1fff",
    "Cyrillic": r"\u0400-\u052f\u1c80-\u1c8f\ua640-\ua69f",
    "mathematical": r"\U0001d400-\U0001d7ff",
    # All others except Han, Kana and Hangul, which stand beside Latin letters without blanks.
    "other": r"\u0250-\u02af\u0530-\u10ff\u1200-\u1c7f\u1c90-\u1dbf\u2100-\u214f\u2160-\u218f\u2c00-\u2dff"
    r"\ua4d0-\ua63f\ua6a0-\uabff\ufb13-\ufdff\ufe70-\ufefc\uff01-\uff5a"
    r"\U00010000-\U0001afef\U0001b170-\U0001cfff\U0001d800-\U0001efff\U0001fb00-\U0001fbff",
}
_LETTERS = re.compile("[0-9" + LATIN + "".join(OTHERS.values()) + r"\u0300-\u036f]+")
_LATIN = re.compile(f"[{LATIN}]")
_OTHERS = {name: re.compile(f"[{letters}]") for name, letters in OTHERS.items()}
# Lines without anything on them, or blanks, behind which the text continues.
_BLANK = r"[ \t\r\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]"
_RUN = re.compile(rf"(?:{_BLANK}|\n)+")
MOST_BLANKS, MOST_LINES = 60, 8
_SIGN = r"0-9A-Za-z_\u0080-\U0010ffff"
_WORD = re.compile(rf"[{_SIGN}](?:[{_SIGN}.@+|-]*[{_SIGN}|])?")
_HAS_LETTER = re.compile(f"[{LATIN}" + "".join(OTHERS.values()) + "]")
_NAME_LIKE = re.compile(r"[@._-]")
SHORTEST_LOOKALIKE = 3
# Letters of other alphabets and digits, and below each the Latin letter that it looks like.
_LOOKS = str.maketrans(
    "1I|0O\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d\u0261"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
    "\u03bf\u03b1\u03bd\u03c1\u03c5\u03b9\u03ba"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "lllooaeopcyxijsdhqwgabekmhopctyxljsoavpuikabezhlkmnoptyx",
)


def inspected(texts: Sequence[Text]) -> Iterator[Finding]:
    """Yields the hidden characters of the texts, each with its place. Texts beyond ``MOST_CHARACTERS`` are counted
    and reported."""
    room, beyond = MOST_CHARACTERS, 0
    for each in texts:
        if (room := room - len(each.text)) < 0:
            beyond += len(each.text)
            continue
        yield from _hidden(each)
        yield from _alphabets(each)
        if has_gap(each.text):
            yield Finding("gap", each.at)
    yield from _similar_names(texts)
    if beyond:
        yield Finding("uninspected", "", str(beyond))


def _hidden(text: Text) -> Iterator[Finding]:
    codes = dict.fromkeys(f"U+{ord(found[0]):04X}" for found in HIDDEN.finditer(text.text))
    if codes:
        yield Finding("hidden", text.at, " ".join(codes))


def _alphabets(text: Text) -> Iterator[Finding]:
    if text.text.isascii():
        return
    letters = "".join(" " if unicodedata.category(each)[0] in "PSZ" else each for each in text.text)
    words = dict.fromkeys(word for word in _LETTERS.findall(letters) if is_mixed(word))
    if words:
        yield Finding("alphabets", text.at, " ".join(f"{word} ({_foreign(word)})" for word in words))


def _foreign(word: str) -> str:
    """Returns the numbers of the letters that aren't Latin."""
    found = dict.fromkeys(each for each in word if any(letters.search(each) for letters in _OTHERS.values()))
    return " ".join(f"U+{ord(each):04X}" for each in found)


def is_mixed(word: str) -> bool:
    """Returns True for letters of two alphabets, digits of two scripts, or mathematical letters."""
    others = [name for name, letters in _OTHERS.items() if letters.search(word)]
    return (
        len(others) > 1 or "mathematical" in others or bool(others and (_LATIN.search(word) or _has_two_digits(word)))
    )


def _has_two_digits(word: str) -> bool:
    return len({each.isascii() for each in word if each.isdecimal()}) > 1


def has_gap(text: str) -> bool:
    """Returns True if the text continues after many blank lines or blanks."""
    for run in _RUN.finditer(text):
        is_long = run[0].count("\n") >= MOST_LINES or max(map(len, run[0].split("\n"))) >= MOST_BLANKS
        if is_long and run.end() < len(text):
            return True
    return False


def _similar_names(texts: Sequence[Text]) -> Iterator[Finding]:
    """Yields fields of one object with names that look alike."""
    seen: dict[tuple[str, str], str] = {}
    for each in texts:
        if each.parent is None:
            continue
        first = seen.setdefault((each.parent, skeleton(each.text, is_name=True)), each.text)
        if first != each.text:
            yield Finding("lookalike", each.at, each.text, first)


def skeleton(word: str, *, is_name: bool) -> str:
    """Returns the word with each letter replaced by the Latin letter that it looks like, in lower case. ``is_name``:
    two letters that look like one are replaced as well."""
    plain = unicodedata.normalize("NFKC", word).translate(_LOOKS).lower()
    return plain.replace("rn", "m").replace("vv", "w") if is_name else plain


def lookalikes(texts: Sequence[Text], earlier: Sequence[Text]) -> Iterator[Finding]:
    """Yields words that look like a word of an earlier request or of this one, and aren't that word."""
    known: dict[str, str] = {}
    exact = set[str]()
    for each in earlier:
        for word in dict.fromkeys(words_of(each.text)):
            exact.add(word.lower())
            known.setdefault(_key(word, each.text), word)
    for each in texts:
        for word in dict.fromkeys(words_of(each.text)):
            if word.lower() in exact or len(word) < SHORTEST_LOOKALIKE or not _HAS_LETTER.search(word):
                continue
            key = _key(word, each.text)
            looks_like = known.setdefault(key, word)
            if looks_like.lower() != word.lower() and _HAS_LETTER.search(looks_like):
                yield Finding("lookalike", each.at, word, looks_like)


def _key(word: str, text: str) -> str:
    return skeleton(word, is_name=word == text.strip() or bool(_NAME_LIKE.search(word)))


def words_of(text: str) -> list[str]:
    return _WORD.findall(text)
