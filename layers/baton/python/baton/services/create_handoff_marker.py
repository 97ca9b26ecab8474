"""An agent escalates to another (spec/marker.md)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from baton.domain.direction import Capped, Direction, Duplicate
from baton.domain.errors import Conflict, InvalidMarker
from baton.domain.marker import Marker, parse_marker
from baton.ports import Dossier, Extra, Note, Remember, ReviewChanged, ReviewOpened
from baton.services.open_escalation import Escalation, commit_escalation, open_escalation, review_of
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.agent import Roster
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.settings import Settings
    from baton.ports import Baton, TrackerPage

TRACKER_BUDGET_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerAnswer:
    """The fields of spec/marker.md §2 that are remembered; ``existing_task_id`` becomes a URL at the edge."""

    handoff_block: str
    task_id: str | None = None
    handoff_id: str | None = None
    duplicate_of: str | None = None
    review_id: str | None = None
    task_url: str | None = None
    tracker_page_id: str | None = None
    degraded_capabilities: list[dict[str, str]] = field(default_factory=list)

    def remembered(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def create_handoff_marker(baton: Baton, by: Principal, body: dict[str, Any], once: Once | None = None) -> MarkerAnswer:
    """The block, and the task if one was asked for and nothing stands in its way. Raises ``InvalidMarker``,
    ``NotYourAgent``, ``KeyReused``; nothing was written then. What is answered is durable."""

    def attempt() -> MarkerAnswer:
        marker = _understood(body, baton.store.roster(by.workspace))
        pair = (marker.source.slug, marker.target.slug) if isinstance(marker, Marker) else None
        settings, direction, remembered = baton.store.marker_facts(by.workspace, pair, once)
        first_answer = once.recall(remembered) if once else None
        if first_answer is not None:
            return MarkerAnswer(**first_answer)
        if isinstance(marker, InvalidMarker):
            raise marker
        by.acting_for(marker.source.slug)
        if not marker.create_task:
            return _text_only(baton, by, marker, once)
        return _escalate(baton, by, marker, settings, direction, once)

    return decided_again(baton.clock, attempt)


def _understood(body: dict[str, Any], roster: Roster) -> Marker | InvalidMarker:
    """What is asked, or why that can't be: not refused yet, as a repeat gets its first answer whatever has become of
    the agents since."""
    try:
        return parse_marker(body, roster)
    except InvalidMarker as refusal:
        return refusal


def _text_only(baton: Baton, by: Principal, marker: Marker, once: Once | None) -> MarkerAnswer:
    answer = MarkerAnswer(handoff_block=marker.block)
    if once:
        baton.store.commit(by.workspace, None, [Remember(once, answer.remembered())])
    return answer


def _escalate(
    baton: Baton, by: Principal, marker: Marker, settings: Settings, direction: Direction, once: Once | None
) -> MarkerAnswer:
    now = baton.clock.now()
    match direction.decide(now, settings):
        case Duplicate(task_id):
            answer = MarkerAnswer(handoff_block=marker.block, duplicate_of=task_id)
            extras: list[Extra] = [_note(baton, by, marker, task_id, now)]
        case Capped(review_id, _):
            opened = _knock(baton, by, marker, direction, review_id, now)
            answer = MarkerAnswer(handoff_block=marker.block, review_id=opened.review.id)
            extras = [opened, _note(baton, by, marker, opened.review.id, now)]
        case _:
            escalation = open_escalation(baton, by, marker, settings, now)
            return _create(baton, escalation, marker, direction, once)
    if once:
        extras.append(Remember(once, answer.remembered()))
    baton.store.commit(by.workspace, None, extras)
    return answer


def _create(
    baton: Baton, escalation: Escalation, marker: Marker, direction: Direction, once: Once | None
) -> MarkerAnswer:
    task = escalation.change.task
    answer = MarkerAnswer(handoff_block=marker.block, task_id=task.id, handoff_id=task.handoff_id)
    extras: list[Extra] = [Remember(once, answer.remembered())] if once else []
    commit_escalation(baton, escalation, direction, extras)
    page = baton.tracker.mirror(Dossier(task=task, body=escalation.body), TRACKER_BUDGET_SECONDS)
    return answer if page is None else _with_page(answer, page)


def _with_page(answer: MarkerAnswer, page: TrackerPage) -> MarkerAnswer:
    trouble = {"capability": "tracker", "status": page.status, "message": page.message}
    return replace(
        answer,
        task_url=page.url,
        tracker_page_id=page.page_id,
        degraded_capabilities=[] if page.status == "ok" else [trouble],
    )


def _knock(
    baton: Baton, by: Principal, marker: Marker, direction: Direction, review_id: str | None, now: datetime
) -> ReviewOpened | ReviewChanged:
    """The first refusal in a direction opens a review, the next ones count on it. Raises ``Conflict`` if it was
    released since ``direction`` was read: nobody would see what is added to it now."""
    if review_id is None:
        return ReviewOpened(review_of(baton, by, marker, now), direction)
    review = baton.store.review(by.workspace, review_id)
    if not review.is_open:
        raise Conflict("manual review")
    return ReviewChanged(review.asked_again(marker.request, by, now))


def _note(baton: Baton, by: Principal, marker: Marker, about: str, now: datetime) -> Note:
    said = {"escalation_reason": marker.reason, "source_digest_url": marker.digest_url}
    return Note(about, baton.ids.new("note", now), now, by.key, said)
