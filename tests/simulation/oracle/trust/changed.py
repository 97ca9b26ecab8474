"""A transaction's changes of the workspace itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Item = dict[str, Any]


@dataclass
class Changed:
    """Before and after. ``records``: by id; ``registry``: agents, tools and routes, each with its kind and its name."""

    records: dict[str, tuple[Item | None, Item]] = field(default_factory=dict)
    settings: tuple[Item | None, Item] | None = None
    tokens: list[tuple[Item | None, Item]] = field(default_factory=list)
    registry: list[tuple[str, str, Item | None, Item]] = field(default_factory=list)
