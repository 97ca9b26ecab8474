"""Scopes: what part of the work an entry is about, as a path of whole segments (docs/spec/memory.md §1). The root has
the name ``project``; it is above every other scope.

A scope sees what is above it and what is below it: ``src/auth`` sees ``src`` and ``src/auth/jwt``, and not
``src/authz``. No rule but those of this file compares two scopes.
"""

from __future__ import annotations

import unicodedata

from baton.domain import errors

ROOT = "project"
MAX_DEPTH = 8
MAX_SEGMENT = 100
MAX_SCOPE = 300
_SEPARATOR = "/"
_NOT_SEGMENTS = frozenset({".", ".."})


def parse_scope(text: str, field: str = "scope") -> str:
    """Returns the scope in its one form: no slash at either end, no ``./`` before it, in Unicode's composed form. A
    leading ``project`` is the root: ``project/src`` is ``src``. Raises ``InvalidInput``."""
    path = parse_path(text, field)
    if path.count(_SEPARATOR) >= MAX_DEPTH:
        raise errors.InvalidInput(field, f"must have at most {MAX_DEPTH} segments and {MAX_SCOPE} characters")
    return path


def parse_path(text: str, field: str) -> str:
    """Returns the path of a file or folder in the form of a scope. It may be deeper than one. Raises
    ``InvalidInput``."""
    composed = unicodedata.normalize("NFC", text)
    path = composed.removeprefix("./").strip(_SEPARATOR)
    segments = path.split(_SEPARATOR)
    if len(segments) > 1 and segments[0] == ROOT:
        segments = segments[1:]
    if len(path) > MAX_SCOPE:
        raise errors.InvalidInput(field, f"must have at most {MAX_SCOPE} characters")
    if not all(map(_is_segment, segments)):
        shape = f"must be a path with / between segments of 1 to {MAX_SEGMENT} printable characters, none . or .."
        raise errors.InvalidInput(field, shape)
    return _SEPARATOR.join(segments)


def _is_segment(text: str) -> bool:
    is_plain = text.isprintable() and text == text.strip() and "\\" not in text
    return 0 < len(text) <= MAX_SEGMENT and is_plain and text not in _NOT_SEGMENTS


def above(scope: str) -> tuple[str, ...]:
    """Returns the scopes above it, the root first; none for the root."""
    if scope == ROOT:
        return ()
    segments = scope.split(_SEPARATOR)
    return (ROOT, *(_SEPARATOR.join(segments[:length]) for length in range(1, len(segments))))


def line_of(scope: str) -> tuple[str, ...]:
    """Returns the scopes from the root down to the scope itself."""
    return (*above(scope), scope)


def sees(viewer: str, scope: str) -> bool:
    """True if what is posted in ``scope`` is in view of ``viewer``."""
    return steps_between(viewer, scope) is not None


def steps_between(viewer: str, scope: str) -> int | None:
    """Returns how many segments one is above or below the other, 0 for the same scope; None if they don't see each
    other."""
    one, other = _segments(viewer), _segments(scope)
    shared = min(len(one), len(other))
    return abs(len(one) - len(other)) if one[:shared] == other[:shared] else None


def _segments(scope: str) -> list[str]:
    return [] if scope == ROOT else scope.split(_SEPARATOR)
