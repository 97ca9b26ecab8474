"""Values that only a newer version of Baton knows: during a deployment, or after a return to an older version, two
versions work on the same items (docs/operations.md#upgrades)."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar, cast

from baton.domain import errors

E = TypeVar("E", bound=StrEnum)


def member(kind: type[E], text: str) -> E:
    """Returns the member of this value. For a value that only a newer version knows it returns the text itself, which
    equals no member: it can be shown and stored again, and no rule acts on it."""
    try:
        return kind(text)
    except ValueError:
        return cast(E, text)


def deciding(kind: type[E], text: str) -> E:
    """Returns the member of a value that too much depends on to go on without knowing it. Raises
    ``WrittenByNewer``."""
    try:
        return kind(text)
    except ValueError:
        raise errors.WrittenByNewer from None


def is_known(value: StrEnum) -> bool:
    """False for what ``member`` didn't know."""
    return isinstance(value, StrEnum)
