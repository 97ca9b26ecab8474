"""Which languages a question is in, by its small words and its letters, and which of its words say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

ENGLISH, GERMAN, FRENCH = LANGUAGES = ("english", "german", "french")
# Without accents, as ``words`` has them. Those that English has, too, don't show a language.
_GERMAN = (
    "aber alle als auch auf aus bei beim bis bist da damit dann darf das dass dem den denn der dich diese dieser "
    "doch dort durch ein eine einem einen einer eines er etwas fuer fur gegen gibt hab habe haben hier ich ihr "
    "ist ja kann kein keine mehr mein mich mir mit muss nach nicht noch nur ob oder ohne seine sich sie sind soll "
    "um und uns unser vom von vor wann warum welche welcher wenn wer werden wie wieso wir wird zu zum zur uber "
    "ueber"
)
_GERMAN_TOO = "am an die dies du es hat im in man sein so war was wo"
_FRENCH = (
    "aux avec ce ces cette dans elle et je le les leur mais nos notre nous pourquoi qu quand que quel quelle qui "
    "sont une vos votre vous"
)
_FRENCH_TOO = (
    "a au comment d de des du en est il ils l la ma mes mon ne on ou par pas pour sa se ses si son sur ta tu un"
)
_SHOWN_BY = {
    GERMAN: frozenset(_GERMAN.split()),
    FRENCH: frozenset(_FRENCH.split()),
}
_LETTERS = {GERMAN: frozenset("äöüß"), FRENCH: frozenset("àâçèéêëîïôùûœ")}
_SMALL = {GERMAN: frozenset(f"{_GERMAN} {_GERMAN_TOO}".split()), FRENCH: frozenset(f"{_FRENCH} {_FRENCH_TOO}".split())}
_WORD = re.compile(r"[^\W\d_]+")


def languages_of(text: str) -> list[str]:
    """Returns the languages that a question shows; English if it shows none."""
    folded = text.casefold()
    said, letters = frozenset(_WORD.findall(folded)), frozenset(folded)
    return [each for each, own in _SHOWN_BY.items() if said & own or letters & _LETTERS[each]] or [ENGLISH]


def small_words(languages: Iterable[str]) -> frozenset[str]:
    """Returns the words of these languages that say nothing of what is asked; those of English are no words at all."""
    return frozenset[str]().union(*(_SMALL[each] for each in languages if each in _SMALL))
