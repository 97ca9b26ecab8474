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
_WORD = re.compile(r"[^\W\d_]+")


def mixes_alphabets(name: str) -> bool:
    """True if a word of the name has letters of two alphabets that look alike."""
    return not name.isascii() and any(len(_alphabets(word)) > 1 for word in _WORD.findall(name))


def _alphabets(word: str) -> set[str]:
    return _ALIKE & {unicodedata.name(each, "").partition(" ")[0] for each in word}


def look(name: str) -> str:
    """Returns the skeleton of the name: names with equal skeletons are hard to tell apart, also within one alphabet, as
    ``Billing`` and ``BiIIing``, or ``modern`` and ``modem``."""
    plain = unicodedata.normalize("NFKC", hidden.HIDDEN.sub("", name))
    mapped = unicodedata.normalize("NFD", plain).translate(prototypes())
    return unicodedata.normalize("NFD", mapped)


def is_in_ordinary_forms(name: str) -> bool:
    """False for a name with full-width, half-width, mathematical, circled or squared forms of other characters."""
    return not any(unicodedata.decomposition(each).startswith(_FORMS) for each in name)
