"""The stems of words by Snowball's algorithms, each language loaded when it is first asked for."""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_loader
from threading import Lock
from typing import Any

# The package imports all its 35 languages, which takes a fifth of a second. Under this name it is there without its
# beginning, and a language is a module of it.
_PACKAGE = "baton_snowball"
# A stemmer keeps its word in itself.
_lock = Lock()
# Words whose stems are remembered: a workspace's questions meet the same ones again.
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
