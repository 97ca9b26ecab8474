"""Items that must be judged before anything else is done with the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item


class PendingCheck:
    """``judge`` gets those of the wanted items that exist, and raises to refuse; it may read further items. One answer
    holds for good: whoever catches a refusal, or a reading that failed, gets it again with the next call.

    ``brought`` are the wanted items as they were found, once they are judged. They hold for the rest of the request,
    until ``forget``."""

    def __init__(self, wanted: Sequence[keys.Key], judge: Callable[[Mapping[keys.Key, Item]], None]) -> None:
        self.wanted = tuple(wanted)
        self.is_open = True
        self.brought: Mapping[keys.Key, Item] | None = None
        self._judges: list[Callable[[], None]] = [lambda: judge(self.brought or {})]
        self._refusal: BaseException | None = None

    def demand(self, judge: Callable[[], None]) -> None:
        """Has this judged after what is to be judged so far; now, if that was done."""
        if self.is_open:
            self._judges.append(judge)
        else:
            judge()

    def decide(self, read: Callable[[], Mapping[keys.Key, Item]]) -> Mapping[keys.Key, Item]:
        """Returns what was read, if all of it is judged good. ``read`` reads the wanted items, and others perhaps."""
        self.is_open = False
        try:
            found = read()
            self.brought = {key: found[key] for key in self.wanted if key in found}
            for judge in self._judges:
                judge()
        except BaseException as exc:
            self._refusal, self.brought = exc, None  # nothing that was brought is used any more
            raise
        return found

    def must_hold(self) -> None:
        """Raises what was the answer. Only for a check that isn't open."""
        if self._refusal is not None:
            raise self._refusal

    def forget(self) -> None:
        """What was brought is too old from now on."""
        self.brought = None
