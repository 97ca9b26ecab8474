"""A human lets an escalation through that the cap had stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.errors import ReviewClosed
from baton.domain.events import from_snapshot, snapshot
from baton.domain.marker import parse_marker
from baton.ports import Dossier, Extra, Remember, ReviewChanged
from baton.services.change_task import row_of
from baton.services.open_escalation import commit_escalation, open_escalation
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from baton.domain.direction import Direction
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.review import Review
    from baton.domain.settings import Settings
    from baton.ports import Baton


def release_review(baton: Baton, by: Principal, review_id: str, once: Once | None = None) -> tuple[Review, Dossier]:
    """The review, and the task of its latest asking. It is exempt from breaker and cap, and counts in them (truth 6).
    What a human lets through is approved by that. Raises ``ReviewClosed``, ``Unknown``, ``InvalidMarker`` (one of its
    agents has gone)."""
    by.must_be_human("release a manual review")

    def attempt() -> tuple[Review, Dossier]:
        review = baton.store.review(by.workspace, review_id)
        pair = (review.source_agent, review.target_agent)
        settings, direction, remembered = baton.store.marker_facts(by.workspace, pair, once)
        first_answer = once.recall(remembered) if once else None
        if first_answer is not None:
            first = from_snapshot(first_answer)
            return review, Dossier(task=first, mirror=row_of(baton, first))
        return _release(baton, by, review, direction, settings, once)

    return decided_again(baton.clock, attempt)


def _release(
    baton: Baton, by: Principal, review: Review, direction: Direction, settings: Settings, once: Once | None
) -> tuple[Review, Dossier]:
    if not review.is_open:
        raise ReviewClosed(review.id)
    now = baton.clock.now()
    asked = {**review.request, "source_agent": review.source_agent, "target_agent": review.target_agent}
    marker = parse_marker(asked, baton.store.roster(by.workspace))
    escalation = open_escalation(baton, by, marker, settings, now, created_by=review.requested_by)
    task = escalation.change.task
    released = review.released(by, now, task.id)
    extras: list[Extra] = [ReviewChanged(released)]
    if once:
        extras.append(Remember(once, snapshot(task)))
    commit_escalation(baton, escalation, direction, extras, ends_review=True)
    return released, Dossier(task=task, mirror=escalation.mirror)
