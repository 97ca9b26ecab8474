"""Canonical JSON: what hashes, digests and sizes are taken of."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Any

from baton.domain.numbers import by_value, dumps


def canonical_json(value: Any) -> str:
    """Returns JSON with sorted keys, no spaces and no escapes beyond JSON's own: equal values give equal bytes."""
    return dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(content: Any) -> str:
    """Returns SHA-256, in hexadecimal, of the content's canonical JSON."""
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def digest_of_values(content: Any) -> str:
    """Returns a digest that every spelling of the content has: numbers count by their value, texts in Unicode's NFC."""
    return digest_of(_by_value(content))


def _by_value(content: Any) -> Any:
    match content:
        case str():
            return unicodedata.normalize("NFC", content)
        case dict():
            pairs = [[_by_value(key), _by_value(each)] for key, each in content.items()]
            return {"": sorted(pairs, key=canonical_json)}  # two keys may have one form
        case list() | tuple():
            return [_by_value(each) for each in content]
        case _:
            return by_value(content)
