"""How old an answer its caller takes: ``Cache-Control: max-age`` of a request (RFC 9111 §5.2.1)."""

from __future__ import annotations

import re

_SECONDS = re.compile(r'(?:"([0-9]+)"|([0-9]+))\Z')
# Longer ages are all the same; and no number is read that takes long to read.
_MOST_DIGITS = 9


def age_taken(header: str | None) -> int:
    """Returns seconds; 0 where the caller takes no other answer than today's. Of several ages the least counts. What
    isn't understood asks for nothing, and neither does an age that is no number."""
    directives = [_named(each) for each in (header or "").split(",")]
    ages = [_seconds(value) for name, value in directives if name == "max-age"]
    if any(name in {"no-cache", "no-store"} for name, _ in directives):
        return 0
    return min(ages, default=0)


def _named(directive: str) -> tuple[str, str]:
    name, _, value = directive.strip().partition("=")
    return name.lower(), value


def _seconds(value: str) -> int:
    found = _SECONDS.match(value)
    return int((found[1] or found[2])[:_MOST_DIGITS]) if found else 0
