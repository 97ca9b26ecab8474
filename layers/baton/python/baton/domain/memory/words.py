"""The words of a text, as the search keeps them: without case and accents. Which words of a workspace a question means
beside its own is looked up when it is asked (``forms.py``). Any text is taken as it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

# A longer run of characters counts by its beginning: an encoded picture is no word.
MAX_WORD = 40
# Runs whose words are remembered; most runs of a workspace come again. A longer run is none that comes again.
KNOWN_RUNS, KNOWN_LENGTH = 20_000, 80

# Letters and digits, with the underscores between them: a word, or a name of code.
_RUN = re.compile(rf"([^\W_]\w{{0,{MAX_WORD - 1}}})\w*")
# The same in plain English, six times as fast: what is no part of a run becomes a space. By the characters' numbers.
_SPACED = "".join(each if each.isalnum() or each == "_" else " " for each in map(chr, range(128)))
# camelCase, HTTPServer, utf8: where a part of a name ends.
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Scripts that write without spaces: their words are pairs of characters.
_UNSPACED = re.compile("([\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]+)")

# Words that say nothing of what an entry is about.
_STOP_WORDS = (
    "a about after all also an and any are as at be because been before between both but by can could did do does each "
    "every for from had has have how i if in into is it its me my no not of on or other our should so some such than "
    "that the their them then there these they this those through to us very was we were what when where which while "
    "who whose why will with would you your"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


def words(text: str) -> Iterator[str]:
    """Returns the words in their order. A name of code gives its parts and itself: ``retryOnConflict`` gives ``retry``,
    ``conflict`` and ``retryonconflict``."""
    runs = text.translate(_SPACED).split() if text.isascii() else _RUN.findall(_plain(text))
    return chain.from_iterable(map(_known.__getitem__, runs))


class _KnownRuns(dict[str, tuple[str, ...]]):
    """The words of runs. Threads share it: two may find out the same."""

    def __missing__(self, run: str) -> tuple[str, ...]:
        found = _words_of(run.lstrip("_")[:MAX_WORD])
        if len(run) <= KNOWN_LENGTH:
            if len(self) >= KNOWN_RUNS:
                self.clear()
            self[run] = found
        return found


_known = _KnownRuns()


def _plain(text: str) -> str:
    """Returns the text without accents, in the characters that look and mean the same."""
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(each for each in apart if not unicodedata.combining(each)))


def _words_of(run: str) -> tuple[str, ...]:
    if not run.isascii():
        return tuple(word for part in _UNSPACED.split(run) for word in _foreign(part))
    if run.isalpha() and run.islower():
        return () if run in STOP_WORDS else (run,)
    parts = [part.lower() for part in _PARTS.findall(run)]
    found = [part for part in parts if part not in STOP_WORDS]
    if len(parts) > 1:
        found.append("".join(parts))
    return tuple(found)


def _foreign(part: str) -> Iterator[str]:
    """Yields the words of a part in one script."""
    if _UNSPACED.match(part):
        yield from (part[at : at + 2] for at in range(max(1, len(part) - 1)))
        return
    for word in filter(None, part.casefold().split("_")):
        if word not in STOP_WORDS:
            yield word
