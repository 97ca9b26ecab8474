"""The age of an answer that its caller accepts: ``Cache-Control: max-age`` of a request (RFC 9111 §5.2.1)."""

from __future__ import annotations

import re

_SECONDS = re.compile(r'(?:"([0-9]+)"|([0-9]+))\Z')
# Further digits of an age are dropped: no caller needs them, and a long number takes long to parse.
_MOST_DIGITS = 9


def age_taken(header: str | None) -> int:
    """Returns the age in seconds; 0 if only a fresh answer will do. Of several ages the least counts. A directive that
    isn't understood is ignored, and an age that isn't a number counts as 0."""
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
