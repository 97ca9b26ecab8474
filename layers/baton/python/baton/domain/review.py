"""Manual reviews: what the system refused to decide alone, for a human to see and release."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import ReviewClosed
from baton.domain.times import parse_rfc3339, rfc3339

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.principal import Principal


ESCALATION_CAP = "escalation_cap"
LOOP_GUARD = "loop_guard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """At most one is open per direction and cap, and one there is per chain and ``rule`` of the loop guard, however
    often an agent knocks: ``count`` tells how often, the notes what was said each time. ``request`` is the latest
    asking, and what a release creates."""

    workspace: str
    id: str
    reason: str
    rule: str | None = None
    chain: tuple[str, ...] = ()
    source_agent: str
    target_agent: str | None
    request: dict[str, Any]
    requested_by: str
    opened_at: datetime
    last_at: datetime
    count: int = 1
    version: int = 1
    released_at: datetime | None = None
    released_by: str | None = None
    task_id: str | None = None

    @property
    def is_open(self) -> bool:
        return self.released_at is None

    def asked_again(self, request: dict[str, Any], by: Principal, at: datetime) -> Review:
        """Open, be it again: whoever asks anew wants it let through anew."""
        after = replace(self, released_at=None, released_by=None, task_id=None)
        return replace(
            after, request=request, requested_by=by.key, last_at=at, count=self.count + 1, version=self.version + 1
        )

    def released(self, by: Principal, at: datetime, task_id: str) -> Review:
        """Raises ``HumanNeeded`` or ``ReviewClosed``."""
        by.must_be_human("release a manual review")
        if not self.is_open:
            raise ReviewClosed(self.id)
        return replace(self, released_at=at, released_by=by.key, task_id=task_id, version=self.version + 1)


_TIMES = ("opened_at", "last_at", "released_at")


def snapshot(review: Review) -> dict[str, Any]:
    """The review as it stands, for answering a repeated call as the first one was answered."""
    values = {name: value for name, value in asdict(review).items() if name != "workspace"}
    times = {name: rfc3339(values[name]) for name in _TIMES if values[name] is not None}
    return {**values, **times, "chain": list(review.chain)}


def from_snapshot(workspace: str, kept: dict[str, Any]) -> Review:
    times = {name: parse_rfc3339(kept[name]) for name in _TIMES if kept[name] is not None}
    return Review(**{**kept, **times, "chain": tuple(kept["chain"]), "workspace": workspace})
