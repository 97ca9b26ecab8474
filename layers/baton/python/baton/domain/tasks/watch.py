"""The watch of a workspace's tasks: that somebody looks at lists of them again and again, and what the table's stream
has told since (docs/what-is-stored.md §14). Pure.

A watch is asked for by who looks, and brought back by the stream. So it holds only while the stream runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from baton.domain import times

# A list that its caller lets be so old may be answered without making it.
WINDOW = times.seconds(30)
ASKED_AGAIN_AFTER = times.seconds(30)
# The stream is taken to run if it has brought back what was asked for so long ago.
HOLDS_FOR = times.seconds(60)
# Changes are noted until then: twice as long as a watch holds, as clocks differ.
WATCHED_FOR = times.seconds(120)
# The indexes have what was written so long ago.
SETTLED_AFTER = times.seconds(5)
FORGOTTEN_AFTER = times.seconds(86_400)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    began_at: datetime  # it was asked for without a pause since then
    asked_at: datetime
    brought_at: datetime | None = None  # the latest ``asked_at`` that the stream has brought back
    changed_at: datetime | None = None
    changes: int = 0  # rises with each batch of the stream that has an event of the workspace's

    def holds(self, now: datetime) -> bool:
        """True if whatever the stream has told by now is in ``changes``."""
        return self.brought_at is not None and now - self.brought_at < HOLDS_FOR

    def is_settled(self, now: datetime) -> bool:
        """True if a list that is read now has everything that ``changes`` tells."""
        latest = max(self.began_at, self.changed_at or self.began_at)
        return self.holds(now) and now - latest >= SETTLED_AFTER

    def is_watched(self, now: datetime) -> bool:
        """True if a change has to be noted."""
        return now - self.asked_at < WATCHED_FOR


def asked(known: Watch | None, now: datetime) -> Watch | None:
    """Returns the watch to be asked for; None if it was asked for lately."""
    if known is None:
        return Watch(began_at=now, asked_at=now)
    age = now - known.asked_at
    if age < ASKED_AGAIN_AFTER:
        return None
    return Watch(began_at=known.began_at if age < HOLDS_FOR else now, asked_at=now)


def window_of(now: datetime) -> int:
    """Returns the number of the half minute."""
    return (now - times.EPOCH) // WINDOW
