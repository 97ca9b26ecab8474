"""An agent escalates to another (docs/spec/marker.md)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from baton.domain.direction import Capped, Direction, Duplicate
from baton.domain.errors import Conflict, InvalidMarker
from baton.domain.guardrails import checked
from baton.domain.marker import Marker, parse_marker
from baton.domain.mirror import Sync
from baton.ports import Extra, MarkerFacts, Note, Remember, ReviewChanged, ReviewOpened
from baton.services.mirror_at_once import mirror_at_once, page_of
from baton.services.open_escalation import Escalation, commit_escalation, open_escalation, review_of
from baton.services.retrying import decided_once

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.agent import Roster
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.settings import Settings
    from baton.ports import Baton
    from baton.services.page_delivery import Sent

# Reads of the agents, until none changes between that read and the read of the other inputs.
READINGS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerAnswer:
    """The part of the answer (docs/spec/marker.md §2) that is saved. The URLs are the tracker's; without a tracker, the
    edge adds Baton's own."""

    handoff_block: str
    task_id: str | None = None
    handoff_id: str | None = None
    duplicate_of: str | None = None
    existing_task_url: str | None = None
    review_id: str | None = None
    task_url: str | None = None
    tracker_page_id: str | None = None
    degraded_capabilities: list[dict[str, str]] = field(default_factory=list)

    def remembered(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def create_handoff_marker(baton: Baton, by: Principal, body: dict[str, Any], once: Once | None = None) -> MarkerAnswer:
    """Returns the block, and the task if one was asked for and no rule prevents it. Raises ``InvalidMarker``,
    ``NotYourAgent``, ``GuardrailRefused`` and ``KeyReused``; nothing was written then. Everything in the answer is
    durable."""

    def replay(saved: dict[str, Any], settings: Settings | None = None) -> MarkerAnswer:
        known = settings or baton.store.settings(by.workspace)
        return _with_present_page(baton, known, by.workspace, MarkerAnswer(**saved))

    def attempt() -> MarkerAnswer:
        marker, inputs = _parse_with_inputs(baton, by.workspace, body, once)
        settings, direction = inputs.settings, inputs.direction
        saved = once.recall(inputs.remembered) if once else None
        if saved is not None:
            return replay(saved, settings)
        if isinstance(marker, InvalidMarker):
            raise marker
        by.acting_for(marker.source.slug)
        if not marker.create_task:
            return _text_only(baton, by, _guarded(marker, settings), once)
        return _escalate(baton, by, _guarded(marker, settings), settings, direction, once)

    return decided_once(baton, once, replay, attempt)


def _parse_with_inputs(
    baton: Baton, workspace: str, body: dict[str, Any], once: Once | None
) -> tuple[Marker | InvalidMarker, MarkerFacts]:
    """Returns the marker, or why it is invalid: not raised yet, as a repeat gets its first answer whatever has become
    of the agents since. Parsed with the agents that this process knows, and again if any has changed since: an agent
    that was just switched off takes no work."""
    roster = baton.store.known_roster(workspace)
    for _ in range(READINGS):
        marker = _parse(body, roster)
        pair = (marker.source.slug, marker.target.slug) if isinstance(marker, Marker) else None
        inputs = baton.store.marker_facts(workspace, pair, once)
        if inputs.roster == roster.version:
            return marker, inputs
        roster = baton.store.roster(workspace)
    raise Conflict("roster")


def _parse(body: dict[str, Any], roster: Roster) -> Marker | InvalidMarker:
    try:
        return parse_marker(body, roster)
    except InvalidMarker as refusal:
        return refusal


def _guarded(marker: Marker, settings: Settings) -> Marker:
    """The marker after the workspace's guardrails. Raises ``GuardrailRefused``."""
    content = {
        "escalation_reason": marker.reason,
        "source_digest_url": marker.digest_url,
        "client_relation_ids": marker.client_relation_ids,
        "project_relation_ids": marker.project_relation_ids,
    }
    passed = checked(content, settings.guardrails, "")
    return replace(marker, reason=passed["escalation_reason"], digest_url=passed["source_digest_url"])


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
            page = page_of(baton, settings, by.workspace, task_id)
            url = page.url if page else None
            answer = MarkerAnswer(handoff_block=marker.block, duplicate_of=task_id, existing_task_url=url)
            extras: list[Extra] = [_note(baton, by, marker, task_id, now)]
        case Capped(review_id, _):
            opened = _record_capped(baton, by, marker, direction, review_id, now)
            answer = MarkerAnswer(handoff_block=marker.block, review_id=opened.review.id)
            extras = [opened, _note(baton, by, marker, opened.review.id, now)]
        case _:
            escalation = open_escalation(baton, by, marker, settings, now, mirror_at_once=True)
            return _create(baton, settings, escalation, marker, direction, once)
    if once:
        extras.append(Remember(once, answer.remembered()))
    baton.store.commit(by.workspace, None, extras)
    return answer


def _create(
    baton: Baton, settings: Settings, escalation: Escalation, marker: Marker, direction: Direction, once: Once | None
) -> MarkerAnswer:
    task = escalation.change.task
    answer = MarkerAnswer(handoff_block=marker.block, task_id=task.id, handoff_id=task.handoff_id)
    extras: list[Extra] = [Remember(once, answer.remembered())] if once else []
    commit_escalation(baton, escalation, direction, extras)
    return answer if escalation.mirror is None else _with_page(answer, mirror_at_once(baton, settings, escalation))


def _with_present_page(baton: Baton, settings: Settings, workspace: str, answer: MarkerAnswer) -> MarkerAnswer:
    page = page_of(baton, settings, workspace, answer.task_id) if answer.task_id else None
    return replace(answer, task_url=page.url, tracker_page_id=page.id) if page else answer


def _with_page(answer: MarkerAnswer, sent: Sent) -> MarkerAnswer:
    status = "denied" if sent.is_denied else "error" if sent.status is Sync.OK else str(sent.status)
    trouble = {"capability": "tracker", "status": status, "message": sent.message}
    return replace(
        answer,
        task_url=sent.page.url if sent.page else None,
        tracker_page_id=sent.page.id if sent.page else None,
        degraded_capabilities=[trouble] if sent.message else [],
    )


def _record_capped(
    baton: Baton, by: Principal, marker: Marker, direction: Direction, review_id: str | None, now: datetime
) -> ReviewOpened | ReviewChanged:
    """The first capped request in a direction opens a review, the next ones count on it. Raises ``Conflict`` if the
    review was released since ``direction`` was read: an addition would go unseen."""
    if review_id is None:
        return ReviewOpened(review_of(baton, by, marker, now), direction)
    review = baton.store.review(by.workspace, review_id)
    if not review.is_open:
        raise Conflict("manual review")
    return ReviewChanged(review.asked_again(marker.request, by, now))


def _note(baton: Baton, by: Principal, marker: Marker, about: str, now: datetime) -> Note:
    content = {"escalation_reason": marker.reason, "source_digest_url": marker.digest_url}
    return Note(about, baton.ids.new("note", now), now, by.key, content)
