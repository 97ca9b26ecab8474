"""Canonical JSON: what hashes, digests and sizes are taken of."""

from __future__ import annotations

import hashlib
from typing import Any

from baton.domain.numbers import dumps


def canonical_json(value: Any) -> str:
    """Returns JSON with sorted keys, no spaces and no escapes beyond JSON's own: equal values give equal bytes."""
    return dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(content: Any) -> str:
    """Returns SHA-256, in hexadecimal, of the content's canonical JSON."""
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()
