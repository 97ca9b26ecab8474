"""A human releases a request that the cap or the loop guard had stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from baton.domain.draft import draft_from, unbranched
from baton.domain.errors import ConversationBusy, ReviewClosed, Unknown, VersionConflict
from baton.domain.events import from_snapshot, snapshot
from baton.domain.history import conversation_in
from baton.domain.marker import parse_marker
from baton.domain.review import LOOP_GUARD
from baton.domain.review import from_snapshot as review_from_snapshot
from baton.domain.review import snapshot as review_snapshot
from baton.ports import Dossier, Extra, Remember, ReviewChanged
from baton.services.change_task import commit_and_ring, row_of
from baton.services.converse import asked_in, going_on
from baton.services.find_conversation import find_conversation
from baton.services.make_handoff import counted, make, so_far
from baton.services.open_escalation import commit_escalation, open_escalation
from baton.services.retry_handoff import retry_opened
from baton.services.retrying import decided_once
from baton.services.who_takes_it import must_be_able, named

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.direction import Direction
    from baton.domain.draft import Draft
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.review import Review
    from baton.domain.settings import Settings
    from baton.ports import Baton
    from baton.services.make_handoff import New


def release_review(
    baton: Baton, by: Principal, review_id: str, once: Once | None = None, seen: int | None = None
) -> tuple[Review, Dossier]:
    """Returns the review, and the task of its latest request. The task is exempt from breaker and cap, and counts in
    them (invariant 6). The release is its approval. ``seen``: the version of the review that was looked at; None for
    the current one. Raises ``ReviewClosed``, ``Unknown``, ``InvalidMarker`` (one of its agents has gone) and
    ``VersionConflict`` (an agent has changed the request meanwhile)."""
    by.must_be_human("release a manual review")

    def replay(saved: dict[str, Any]) -> tuple[Review, Dossier]:
        first = from_snapshot(saved["task"])
        return review_from_snapshot(by.workspace, saved["review"]), Dossier(task=first, mirror=row_of(baton, first))

    def attempt() -> tuple[Review, Dossier]:
        review = baton.store.review(by.workspace, review_id)
        pair = (review.source_agent, review.target_agent) if review.target_agent is not None else None
        settings, direction, remembered, _ = baton.store.marker_facts(by.workspace, pair, once)
        saved = once.recall(remembered) if once else None
        if saved is not None:
            return replay(saved)
        if not review.is_open:
            raise ReviewClosed(review.id)
        if seen is not None and seen != review.version:
            raise VersionConflict("manual review", review.version)
        if review.reason == LOOP_GUARD:
            return _release_handoff(baton, by, review, settings, once)
        return _release(baton, by, review, direction, settings, once)

    return decided_once(baton, once, replay, attempt)


def _release(
    baton: Baton, by: Principal, review: Review, direction: Direction, settings: Settings, once: Once | None
) -> tuple[Review, Dossier]:
    now = baton.clock.now()
    request = {**review.request, "source_agent": review.source_agent, "target_agent": review.target_agent}
    marker = parse_marker(request, baton.store.roster(by.workspace))
    escalation = open_escalation(baton, by, marker, settings, now, created_by=review.requested_by)
    task = escalation.change.task
    released = review.released(by, now, task.id)
    extras: list[Extra] = [ReviewChanged(released)]
    if once:
        extras.append(Remember(once, {"review": review_snapshot(released), "task": snapshot(task)}))
    commit_escalation(baton, escalation, direction, extras, ends_review=True)
    return released, Dossier(task=task, mirror=escalation.mirror)


def _release_handoff(
    baton: Baton, by: Principal, review: Review, settings: Settings, once: Once | None
) -> tuple[Review, Dossier]:
    """Releases the latest request, in its workflow as it is now, without the loop guard. Raises ``AlreadyRetried`` if
    the handoff is a retry and another retry is still open."""
    plain_draft = baton.store.review_request(by.workspace, review.id)
    if plain_draft is None:
        raise Unknown("manual review")
    now = baton.clock.now()
    draft = _in_its_workflow(baton, unbranched(draft_from(plain_draft)), now)
    agent = named(baton, by.workspace, {}, draft.target, "target_agent") if draft.target is not None else None
    must_be_able(baton, by.workspace, agent, draft.requires, draft.source)
    new = make(baton, by, draft, agent, settings, now, created_by=review.requested_by)
    task = new.change.task
    released = review.released(by, now, task.id)
    extras: list[Extra] = [ReviewChanged(released), *_handoff_count(baton, by.workspace, draft, settings)]
    extras += _conversation_writes(baton, draft, new, review)
    if draft.retry_of is not None:
        extras.append(retry_opened(baton, baton.store.load(by.workspace, draft.retry_of)[0], task.id))
    if once:
        extras.append(Remember(once, {"review": review_snapshot(released), "task": snapshot(task)}))
    commit_and_ring(baton, new.change, [*new.along, *extras])
    if new.mirror:
        baton.tracker_bell.ring(by.workspace, task.id)
    return released, new.dossier


def _in_its_workflow(baton: Baton, draft: Draft, now: datetime) -> Draft:
    """A draft that would have begun a workflow begins a new one: its planned workflow id has been shown since, and may
    be used by another principal."""
    is_named = (draft.message.get("metadata") or {}).get("workflow_id") is not None
    if draft.lineage.master_task_id is not None or is_named:
        return draft
    return replace(draft, lineage=replace(draft.lineage, workflow_id=baton.ids.new("wf", now)))


def _handoff_count(baton: Baton, workspace: str, draft: Draft, settings: Settings) -> list[Extra]:
    start = so_far(baton, workspace, draft)
    return counted(draft, settings, start=start, is_let=True, is_first=start == 0)


def _conversation_writes(baton: Baton, draft: Draft, new: New, review: Review) -> list[Extra]:
    """The extra writes for a released user's message: the message, and its place in the conversation. Raises
    ``ConversationBusy``."""
    if draft.lineage.parent_id is not None or draft.retry_of is not None or conversation_in(new.body) is None:
        return []
    if draft.lineage.master_task_id is None:
        return [asked_in(new, review.requested_by)]
    found = find_conversation(baton, review.workspace, draft.lineage.workflow_id)
    if not found.holder.is_ended:
        raise ConversationBusy(draft.lineage.workflow_id, found.holder.id, str(found.holder.state))
    return going_on(found, new, review.requested_by)
