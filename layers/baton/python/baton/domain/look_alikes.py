"""Names that look alike. A person who approves reads names: two names that look the same must not be two agents or two
tools, and an action with such names is marked. The table is Unicode's own (UTS #39)."""

from __future__ import annotations

import re
import unicodedata

from baton.domain import hidden
from baton.domain.confusables import prototypes

# Alphabets with letters that look like letters of another alphabet.
_ALIKE = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}
_FORMS = ("<wide>", "<narrow>", "<font>", "<circle>", "<square>")
# Signs that only stack the letters around them, of nine scripts; behind other letters they may show nothing.
_STACKING = r"[\u1039\u17d2\u1a60\uaaf6\U00010a3f\U00011133\U00011a47\U00011a99\U00011d45\U00011d97\U00011f42]"
_UNSEEN = re.compile(f"{hidden.HIDING}|{_STACKING}")
_WORD = re.compile(r"[^\W\d_]+")


def mixes_alphabets(name: str) -> bool:
    """True if a word of the name has letters of two alphabets that look alike."""
    return not name.isascii() and any(len(_alphabets(word)) > 1 for word in _WORD.findall(name))


def _alphabets(word: str) -> set[str]:
    return _ALIKE & {unicodedata.name(each, "").partition(" ")[0] for each in word}


def look(name: str) -> str:
    """Returns the skeleton of the name: names with equal skeletons are hard to tell apart, also within one alphabet, as
    ``Billing`` and ``BiIIing``, or ``modern`` and ``modem``."""
    plain = unicodedata.normalize("NFKC", _UNSEEN.sub("", name))
    mapped = unicodedata.normalize("NFD", plain).translate(prototypes())
    return " ".join(unicodedata.normalize("NFD", mapped).split())


def is_in_ordinary_forms(name: str) -> bool:
    """False for a name with full-width, half-width, mathematical, circled or squared forms of other characters."""
    return not any(unicodedata.decomposition(each).startswith(_FORMS) for each in name)
