"""An agent escalates to another (docs/spec/marker.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.escalations.direction import CapReached, Direction, Duplicate
from baton.domain.escalations.marker import Marker, parse_marker
from baton.domain.escalations.review import Review
from baton.domain.guardrails.guardrails import checked
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.memory.taken_along import asked_for
from baton.domain.tasks.task_items import Note
from baton.domain.tracker.page_sync import Sync
from baton.ports.deps import Deps
from baton.ports.escalations import MarkerInputs
from baton.ports.writes import Insert, OpenReview, Save, Write
from baton.steps import idempotency
from baton.steps.escalations.look_at_ends import with_ends
from baton.steps.escalations.open_escalation import open_escalation, review_of
from baton.steps.tasks.change_task import commit
from baton.steps.tracker.mirror_at_once import mirror_at_once, page_of
from baton.steps.tracker.page_delivery import PageResult

# What the request picks from what the workspace or Baton names: no text of an agent's.
CHOSEN = frozenset({"source_agent", "target_agent", "create_task", "task_priority"})


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


def create_handoff_marker(
    deps: Deps, by: Principal, body: dict[str, Any], idempotency_key: IdempotencyKey | None = None
) -> MarkerAnswer:
    """Returns the block, and the task if one was asked for and no rule prevents it. Raises ``InvalidMarker``,
    ``NotYourAgent``, ``GuardrailRefused`` and ``KeyReused``; nothing was written then. Everything in the answer is
    durable."""
    by.must_have(Deed.HAND_OFF)

    def read() -> tuple[tuple[Marker, MarkerInputs], SavedResponse | None]:
        marker = parse_marker(body, deps.store.agents.roster(by.workspace))
        pair = (marker.source.slug, marker.target.slug)
        inputs = deps.store.escalations.marker_inputs(by.workspace, pair, idempotency_key)
        return (marker, inputs), inputs.saved_response

    def replay(saved: dict[str, Any]) -> MarkerAnswer:
        return _with_present_page(deps, by.workspace, MarkerAnswer(**saved))

    decide = partial(_decided, deps, by, idempotency_key)
    return idempotency.run_idempotently(deps, idempotency_key, read, decide, replay)


def _decided(
    deps: Deps, by: Principal, idempotency_key: IdempotencyKey | None, read: tuple[Marker, MarkerInputs]
) -> MarkerAnswer:
    by.acting_for(read[0].source.slug)
    marker, settings, now = _guarded(*read), read[1].settings, deps.clock.now()
    if not marker.create_task:
        return _text_only(deps, by, marker, idempotency_key)
    direction = with_ends(deps, read[1].direction, settings, now)
    decision = direction.decide(now, settings)
    if isinstance(decision, Duplicate | CapReached):
        answer, writes = _prevented(deps, by, marker, direction, decision)
        deps.store.commit(by.workspace, *writes, *idempotency.save_response(idempotency_key, asdict(answer)))
        return answer
    escalation = open_escalation(deps, by, marker, settings)
    task = escalation.change.task
    answer = MarkerAnswer(handoff_block=marker.block, task_id=task.id, handoff_id=task.handoff_id)
    commit(deps, *escalation.writes(direction), *idempotency.save_response(idempotency_key, asdict(answer)))
    return answer if escalation.page_sync is None else _with_page(answer, mirror_at_once(deps, settings, escalation))


def _guarded(marker: Marker, inputs: MarkerInputs) -> Marker:
    """The marker after the workspace's guardrails. Raises ``GuardrailRefused``."""
    content = {name: value for name, value in marker.request.items() if name not in CHOSEN}
    passed = checked(content, inputs.settings.guardrails, "")
    return replace(
        marker,
        reason=passed["escalation_reason"],
        digest_url=passed["source_digest_url"],
        memory=asked_for(passed),
    )


def _text_only(deps: Deps, by: Principal, marker: Marker, idempotency_key: IdempotencyKey | None) -> MarkerAnswer:
    answer = MarkerAnswer(handoff_block=marker.block)
    if idempotency_key:
        deps.store.commit(by.workspace, *idempotency.save_response(idempotency_key, asdict(answer)))
    return answer


def _prevented(
    deps: Deps, by: Principal, marker: Marker, direction: Direction, decision: Duplicate | CapReached
) -> tuple[MarkerAnswer, list[Write]]:
    """Returns the answer, and the writes that show humans what was asked."""
    now = deps.clock.now()
    if isinstance(decision, Duplicate):
        page = page_of(deps, deps.store.settings.of(by.workspace), by.workspace, decision.task_id)
        url = page.url if page else None
        answer = MarkerAnswer(handoff_block=marker.block, duplicate_of=decision.task_id, existing_task_url=url)
        return answer, [Insert(_note(deps, by, marker, decision.task_id, now))]
    if decision.review_id:
        review, opened = _asked_again(deps, by, marker, decision.review_id), []
    else:
        review = review_of(deps, by, marker, now)
        opened = [OpenReview(direction, review.id)]
    answer = MarkerAnswer(handoff_block=marker.block, review_id=review.id)
    return answer, [Save(review), *opened, Insert(_note(deps, by, marker, review.id, now))]


def _with_present_page(deps: Deps, workspace: str, answer: MarkerAnswer) -> MarkerAnswer:
    settings = deps.store.settings.of(workspace)
    page = page_of(deps, settings, workspace, answer.task_id) if answer.task_id else None
    return replace(answer, task_url=page.url, tracker_page_id=page.id) if page else answer


def _with_page(answer: MarkerAnswer, sent: PageResult) -> MarkerAnswer:
    status = "denied" if sent.is_denied else "error" if sent.status is Sync.OK else str(sent.status)
    trouble = {"capability": "tracker", "status": status, "message": sent.message}
    return replace(
        answer,
        task_url=sent.page.url if sent.page else None,
        tracker_page_id=sent.page.id if sent.page else None,
        degraded_capabilities=[trouble] if sent.message else [],
    )


def _asked_again(deps: Deps, by: Principal, marker: Marker, review_id: str) -> Review:
    """The first capped request in a direction opens a review, the next ones count on it. Raises ``Conflict`` if the
    review was released since the direction was read: an addition would go unseen."""
    review = deps.store.escalations.review(by.workspace, review_id)
    if not review.is_open:
        raise errors.Conflict("manual review")
    return review.asked_again(marker.request, by, deps.clock.now(), marker.target, 0)


def _note(deps: Deps, by: Principal, marker: Marker, about: str, now: datetime) -> Note:
    content = {"escalation_reason": marker.reason, "source_digest_url": marker.digest_url}
    return Note(about, deps.ids.new("note", now), now, by.key, content)
