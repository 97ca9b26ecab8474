"""Manual reviews: handoffs that the system stopped, for a human to release or to close."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import Agent

ESCALATION_CAP = "escalation_cap"
LOOP_GUARD = "loop_guard"
_OPEN_WORK = "*"


class ReviewState(StrEnum):
    OPEN = "open"
    RELEASED = "released"  # its latest request went through
    CLOSED = "closed"  # nobody wants what it asks for


@dataclass(frozen=True, slots=True)
class SeenReview:
    """The versions that a human has read: the review's, and the target's, once they have looked at it. None:
    nothing."""

    version: int | None = None
    agent_version: int | None = None
    agent_versions: Mapping[str, int] = field(default_factory=dict)  # for open work, by slug


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A stopped request, however often it is repeated. There is at most one open review per direction for the cap, and
    one per chain and rule for the loop guard; notes keep the text of each repeat."""

    workspace: str
    id: str
    reason: str  # ``ESCALATION_CAP`` or ``LOOP_GUARD``
    rule: str | None = None  # the loop guard's rule
    chain: tuple[str, ...] = ()
    source_agent: str
    target_agent: str | None
    request: dict[str, Any]  # the latest request: a release makes its handoff
    requested_by: str
    # Keys of the latest request's authors; none in a review of an earlier release, and in a saved response.
    authors: tuple[str, ...] = field(default=(), compare=False)
    # What people know of each target since the review opened, by its slug (``first_versions_of``); none in a review of
    # an earlier release, and in a saved response.
    first_versions: dict[str, int] = field(default_factory=dict, compare=False)
    opened_at: datetime
    last_at: datetime
    count: int = 1  # how often it was requested
    version: int = 1
    released_at: datetime | None = None
    released_by: str | None = None
    task_id: str | None = None
    closed_at: datetime | None = None
    closed_by: str | None = None
    closed_reason: str | None = None

    @property
    def service_version(self) -> int:
        """The target's ``service_version`` when the open review first named it; 0 for open work, and in a review of an
        earlier release."""
        return 0 if self.target_agent is None else self.first_versions.get(self.target_agent, 0)

    @property
    def roster_version(self) -> int:
        """The version of the roster when the open review first asked for open work; 0 in a review of an earlier
        release."""
        return self.first_versions.get(_OPEN_WORK, 0)

    @property
    def state(self) -> ReviewState:
        if self.closed_at is not None:
            return ReviewState.CLOSED
        return ReviewState.OPEN if self.released_at is None else ReviewState.RELEASED

    @property
    def is_open(self) -> bool:
        return self.state is ReviewState.OPEN

    def must_be_as_seen(self, version: int | None) -> None:
        """Raises ``ReviewClosed`` unless the review is open, and ``VersionConflict`` if a request came since
        ``version``, which is None for the current one."""
        if not self.is_open:
            raise errors.ReviewClosed(self.id, self.state, self.closed_by or self.released_by)
        if version is not None and version != self.version:
            raise errors.VersionConflict("manual review", self.version)

    def must_be_for(self, target: Agent | None, seen: SeenReview) -> None:
        """Raises ``AgentChanged`` if a service or a member has changed the target since the review named it, and
        the human hasn't seen how. A human who names no version has read nothing, and isn't compared."""
        if target is None:
            return
        came_as = target.service_version if seen.version is None else self.service_version
        known = came_as if seen.agent_version is None else seen.agent_version
        if not target.service_version <= known <= target.version:
            raise target.changed_since(known, review_id=self.id)

    def rebuilt(self, target: Agent | None) -> Review:
        """Returns the review in its next version: a release would now hand off another draft, to ``target``."""
        slug = None if target is None else target.slug
        held = self._held_versions(target, 0)
        return replace(self, target_agent=slug, first_versions=held, version=self.version + 1)

    def asked_again(
        self, request: dict[str, Any], by: Principal, at: datetime, target: Agent | None, roster: int
    ) -> Review:
        """Returns the review after another request, to ``target``. An ended review opens again: a human decides on each
        request. ``roster``: the version of the roster."""
        after = replace(
            self, released_at=None, released_by=None, task_id=None, closed_at=None, closed_by=None, closed_reason=None
        )
        return replace(
            after,
            request=request,
            requested_by=by.key,
            authors=by.authors,
            first_versions=self._held_versions(target, roster),
            last_at=at,
            count=self.count + 1,
            version=self.version + 1,
        )

    def _held_versions(self, target: Agent | None, roster: int) -> dict[str, int]:
        """Returns ``first_versions`` for the next reading. An open review keeps what it has: another draft or request,
        also for another target in between, doesn't approve a change of an agent."""
        first = first_versions_of(target, roster)
        if not self.is_open:
            return first
        return {**first, self.target_agent or _OPEN_WORK: self.service_version, **self.first_versions}

    def authors_for(self, by: Principal) -> tuple[str, ...]:
        """Returns the authors of the task that ``by`` releases. If an earlier release stored the review, the maker of
        the requester's token is unknown: ``by`` then counts as an author."""
        return self.authors or (by.key,)

    def released(self, by: Principal, at: datetime, task_id: str) -> Review:
        """Returns the review released, with the task that came of it. Raises ``HumanNeeded`` or ``ReviewClosed``."""
        by.must_have(Deed.RELEASE_REVIEW)
        self.must_be_as_seen(None)
        return replace(self, released_at=at, released_by=by.key, task_id=task_id, version=self.version + 1)

    def closed(self, by: Principal, at: datetime, reason: str) -> Review:
        """Returns the review closed: nothing comes of its requests. Raises ``HumanNeeded`` or ``ReviewClosed``."""
        by.must_have(Deed.CLOSE_REVIEW)
        self.must_be_as_seen(None)
        return self.overtaken(by, at, reason)

    def overtaken(self, by: Principal, at: datetime, reason: str) -> Review:
        """Returns the review closed by one of Baton's own parts: nobody has to decide on it any more."""
        return replace(self, closed_at=at, closed_by=by.key, closed_reason=reason, version=self.version + 1)


def first_versions_of(target: Agent | None, roster: int) -> dict[str, int]:
    """Returns the target's ``service_version``, by its slug; for open work the version of the roster."""
    return {_OPEN_WORK: roster} if target is None else {target.slug: target.service_version}


_UNSAVED = {"workspace", "authors", "first_versions"}
_TIMES = ("opened_at", "last_at", "released_at", "closed_at")


def snapshot(review: Review) -> dict[str, Any]:
    """Returns the review for a saved response: a replay answers with the review as it was then, without the fields that
    no answer shows. Only a closed one has the fields of its closing."""
    values = {name: value for name, value in asdict(review).items() if name not in _UNSAVED}
    if review.state is not ReviewState.CLOSED:
        values = {name: value for name, value in values.items() if not name.startswith("closed_")}
    instants = {name: times.rfc3339(values[name]) for name in _TIMES if values.get(name) is not None}
    return {**values, **instants, "chain": list(review.chain)}


def from_snapshot(workspace: str, kept: dict[str, Any]) -> Review:
    """The inverse of ``snapshot``."""
    instants = {name: times.parse_rfc3339(kept[name]) for name in _TIMES if kept.get(name) is not None}
    return Review(**{**kept, **instants, "chain": tuple(kept["chain"]), "workspace": workspace})


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """The whole request of a manual review, stored next to the review."""

    review_id: str
    content: dict[str, Any]
