"""Names that look like other ones. A person who approves a handoff reads a name; two names that look the same to them
must not be two agents."""

from __future__ import annotations

import re
import unicodedata

# Alphabets with letters that look like those of another one.
_ALIKE = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}
_WORD = re.compile(r"[^\W\d_]+")
# Cyrillic and Greek letters, and the Latin ones that they are taken for.
_CYRILLIC = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
_CYRILLIC_CAPITALS = "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
_GREEK = "\u03bf\u03b1\u03bd\u03c1\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
_TAKEN_FOR = str.maketrans(
    _CYRILLIC + _CYRILLIC_CAPITALS + _GREEK, "aeopcyxijshdqw" + "ABEKMHOPCTYXIJS" + "oavpABEZHIKMNOPTYX"
)


def mixes_alphabets(name: str) -> bool:
    """True if a word of the name has letters of two alphabets that look alike."""
    return any(len(_alphabets(word)) > 1 for word in _WORD.findall(name))


def _alphabets(word: str) -> set[str]:
    return _ALIKE & {unicodedata.name(each, "").partition(" ")[0] for each in word}


def look(name: str) -> str:
    """Returns what the name is taken for: names with the same look are hard to tell apart."""
    return unicodedata.normalize("NFKC", name).translate(_TAKEN_FOR)
