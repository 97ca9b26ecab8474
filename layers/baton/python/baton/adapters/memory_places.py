"""Which items a commit writes, as the table would have them: what makes the twin refuse a write that is too large for
one transaction, or that would write one item twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.alert import hour_of
from baton.domain.change import Change
from baton.ports import (
    MAX_ITEMS,
    AlertCounted,
    AlertRaised,
    AlertSaved,
    Also,
    Body,
    CheckpointKept,
    ClaimCut,
    Closed,
    EndedClaim,
    EntryKept,
    ErrandDone,
    ErrandDue,
    Extra,
    Followed,
    GateSaved,
    HandoffsCounted,
    InboxPosted,
    LateKept,
    MirrorBehind,
    MirrorOpened,
    MirrorSaved,
    NotCancelled,
    Note,
    Opened,
    Output,
    PageReported,
    PageTaken,
    Remember,
    RetryOpened,
    ReviewChanged,
    ReviewOpened,
    ReviewRequest,
    RootsCounted,
    Spent,
    Unchanged,
    UnderClaim,
    WebhookSaved,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# What is written, with the change that it goes along with.
Step = tuple[Change | None, Change | Extra]
Place = tuple[Any, ...]


def steps_of(change: Change | None, extras: Sequence[Extra]) -> Iterator[Step]:
    """In the order in which the table writes them."""
    if change is not None:
        yield change, change
    for extra in extras:
        if isinstance(extra, Also):
            yield from steps_of(extra.change, extra.extras)
        else:
            yield change, extra


def must_fit(steps: Sequence[Step]) -> None:
    """Raises ``ValueError``."""
    places = [place for owner, what in steps for place in places_of(owner, what)]
    if len(places) > MAX_ITEMS:
        raise ValueError(f"{len(places)} items in one transaction")
    if len(set(places)) < len(places):
        raise ValueError("one item twice in one transaction")


def places_of(owner: Change | None, what: Change | Extra) -> list[Place]:
    if isinstance(what, Change):
        return _of_change(what)
    task_id = owner.task.id if owner else ""
    match what:
        case Body() | Output():
            return [(type(what).__name__, task_id)]
        case EndedClaim(claim_id):
            return [("claim", task_id, claim_id)]
        case ClaimCut(claim):
            return [("claim", task_id, claim.claim_id)]
        case Remember(once):
            return [("once", once.digest)]
        case Note(about, note_id):
            return [("note", about, note_id)]
        case Opened(direction):
            return [("direction", direction.source, direction.target)]
        case Closed(source, target):
            return [("direction", source, target)]
        case ReviewOpened(review, direction):
            return [("review", review.id), ("direction", direction.source, direction.target)]
        case ReviewChanged(review):
            return [("review", review.id)]
        case ReviewRequest(review_id):
            return [("request", review_id)]
        case AlertRaised(alert):
            return [("alert", alert.id), ("alert of", alert.task_id, alert.id)]
        case AlertSaved(alert):
            return [("alert", alert.id)]
        case AlertCounted(by, at):
            return [("alerts", by, hour_of(at))]
        case UnderClaim(claimed_id):
            return [("head", claimed_id)]
        case NotCancelled(above_id):
            return [("head", above_id)]
        case Unchanged(seen_id):
            return [("head", seen_id)]
        case HandoffsCounted(workflow_id):
            return [("handoffs", workflow_id)]
        case RootsCounted(roots):
            return [("roots", roots.source, roots.target)]
        case CheckpointKept(checkpoint):
            return [("checkpoint", checkpoint.workflow_id, checkpoint.id), ("checkpoint of", checkpoint.task_id)]
        case InboxPosted(item):
            return [("inbox", item.agent, item.id)]
        case ErrandDue(errand):
            return [("errand", errand.kind, errand.task_id)]
        case ErrandDone():
            return []  # by itself, after the rest
        case LateKept(late_id, claim_id):
            return [("late", late_id, claim_id)]
        case RetryOpened(retried_id):
            return [("retry", retried_id)]
        case Followed(followed_id):
            return [("followed", followed_id)]
        case EntryKept(run_id, entry):
            return [("entry", run_id, entry.last)]
        case Spent(workflow_id, run_id):
            return [("usage of task", run_id), ("usage of workflow", workflow_id)]
        case _:
            return _about_tracker(task_id, what)


def _about_tracker(task_id: str, extra: Extra) -> list[Place]:
    match extra:
        case MirrorBehind():
            return [("mirror", task_id)]
        case MirrorOpened(mirror) | MirrorSaved(mirror):
            return [("mirror", mirror.task_id)]
        case PageReported(reported_id):
            return [("mirror", reported_id)]
        case PageTaken(page_id):
            return [("page", page_id)]
        case GateSaved() | WebhookSaved():
            return [(type(extra).__name__,)]
        case _:
            raise TypeError(extra)


def _of_change(change: Change) -> list[Place]:
    task, before = change.task, change.before
    places: list[Place] = [("head", task.id), *(("event", task.id, event.seq) for event in change.events)]
    places += [(name, task.id) for name in ("recovery", "failure", "brought") if getattr(change, name) is not None]
    if before is None:
        places += [("day", task.id), ("member", task.id)]
        places += [("agent", task.id)] if task.target_agent is not None else []
    was, now = before.claim if before else None, task.claim
    if (was and was.claim_id) != (now and now.claim_id):
        held = {(claim.agent, claim.slot, "" if claim.slot is not None else task.id) for claim in (was, now) if claim}
        places += [("held", *each) for each in sorted(held, key=str)]
    return places
