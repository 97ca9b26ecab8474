"""The stems of words by Snowball's algorithms. A language is loaded when it is first needed."""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_loader
from threading import Lock
from typing import Any

# The package's own name would import all its 35 languages, which takes a fifth of a second. Under this name it is there
# without its ``__init__``, and each language is a module of it.
_PACKAGE = "baton_snowball"
# A stemmer isn't safe for several threads: it holds the word that it works on.
_lock = Lock()
# The words whose stems are remembered: the questions of a workspace are often about the same ones.
KNOWN_STEMS = 50_000


@lru_cache(KNOWN_STEMS)
def stem(language: str, word: str) -> str:
    """Returns the stem of a word without case and accents. ``language``: as Snowball names it."""
    with _lock:
        stemmed: str = _stemmer(language).stemWord(word)
    return stemmed


@cache
def _stemmer(language: str) -> Any:
    if _PACKAGE not in sys.modules:
        real, spec = find_spec("snowballstemmer"), spec_from_loader(_PACKAGE, None, is_package=True)
        if real is None or spec is None:
            raise ModuleNotFoundError("snowballstemmer")
        spec.submodule_search_locations = real.submodule_search_locations
        sys.modules[_PACKAGE] = module_from_spec(spec)
    module = import_module(f"{_PACKAGE}.{language}_stemmer")
    return getattr(module, f"{language.capitalize()}Stemmer")()
