"""Ids that are the same in every run."""

from __future__ import annotations

from datetime import datetime
from itertools import count

from baton.domain.ids import RANDOM_BYTES, sortable_id


class CountingIds:
    def __init__(self, first: int = 1) -> None:
        self._count = count(first)

    def __deepcopy__(self, _memo: object) -> CountingIds:
        """Counts on from here; Python 3.14 copies no ``count``."""
        at = next(self._count)
        self._count = count(at)
        return CountingIds(at)

    def new(self, prefix: str, at: datetime) -> str:
        return sortable_id(prefix, at, next(self._count).to_bytes(RANDOM_BYTES))

    def secret(self) -> str:
        return f"{next(self._count):064x}"
