"""How far a trail was checked, as a text that a caller hands back: a trail of any length is checked in pages. Whoever
changes the text deceives nobody but themselves."""

from __future__ import annotations

import binascii
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from baton.domain import errors
from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import loads
from baton.domain.tasks.question_check import ToldQuestion
from baton.domain.tasks.trail_check import TrailCheck

MAX_UNPACKED_BYTES = 400_000
# The path and headers of a request are at most 10,240 bytes in all.
MAX_CURSOR = 8_000
# What a check that has found nothing wrong consists of, with the types that JSON gives them.
_PARTS: dict[str, tuple[type, ...]] = {
    "entries": (int,),
    "hash": (str,),
    "fields": (dict,),
    "output_digest": (str, type(None)),
    "questions": (dict,),
}


def cursor_of(check: TrailCheck) -> str:
    text = canonical_json({name: getattr(check.shortened(), name) for name in _PARTS})
    return urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def check_at(cursor: str) -> TrailCheck:
    """Raises ``InvalidInput``."""
    try:
        packed, unpacker = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), zlib.decompressobj()
        text = unpacker.decompress(packed, MAX_UNPACKED_BYTES)
        parts = loads(text.decode()) if unpacker.eof else None
    except (binascii.Error, zlib.error, ValueError, RecursionError) as exc:
        raise _refused() from exc
    if not isinstance(parts, dict) or parts.keys() != _PARTS.keys():
        raise _refused()
    if not all(isinstance(parts[name], types) for name, types in _PARTS.items()) or parts["entries"] < 0:
        raise _refused()
    return TrailCheck(**{**parts, "questions": _told(parts["questions"])})


def _told(questions: dict[str, Any]) -> dict[str, ToldQuestion]:
    """Raises ``InvalidInput``."""
    size = len(ToldQuestion._fields)
    for told in questions.values():
        if not isinstance(told, list) or len(told) != size or not all(isinstance(each, str) for each in told):
            raise _refused()
    return {name: ToldQuestion(*told) for name, told in questions.items()}


def _refused() -> errors.InvalidInput:
    return errors.InvalidInput("cursor", "is not the next_cursor of a verification: leave it out to begin anew")
