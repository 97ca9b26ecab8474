"""What a bug is: an edit of the product, and what it takes to meet it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Edit:
    """``old`` occurs once in the file."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Bug:
    """``habits``: instead of the seeds', so that what it takes happens often. ``steps``: within which it is found.
    ``harmless``: why it breaks no rule, where it doesn't; so many steps don't find it."""

    name: str
    edits: tuple[Edit, ...]
    habits: dict[str, Any] = field(default_factory=dict)
    steps: int = 60_000
    harmless: str = ""


def bug(name: str, *edits: tuple[str, str, str], **more: Any) -> Bug:
    return Bug(name, tuple(Edit(*each) for each in edits), **more)
