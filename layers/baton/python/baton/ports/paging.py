"""A page of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list."""

    items: tuple[Any, ...]
    cursor: str | None = None  # where the next page begins; None at the end
