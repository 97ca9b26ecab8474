"""Items that must be judged before anything else is done with the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item


class PendingCheck:
    """``judge`` gets those of the wanted items that exist, and raises to refuse. One answer holds for good: whoever
    catches a refusal, or a reading that failed, gets it again with the next call."""

    def __init__(self, wanted: Sequence[keys.Key], judge: Callable[[Mapping[keys.Key, Item]], None]) -> None:
        self.wanted = tuple(wanted)
        self.judge = judge
        self.is_open = True
        self._refusal: Exception | None = None

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """In it the items are read and judged; what is raised is the answer."""
        try:
            yield
        except Exception as exc:
            self._refusal = exc
            raise
        finally:
            self.is_open = False

    def must_hold(self) -> None:
        """Raises what was the answer. Only for a check that isn't open."""
        if self._refusal is not None:
            raise self._refusal
