"""Turns a draft into a handoff and its task, for the transaction of the caller. If the loop guard stops it, an entry
for a human takes its place."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import LoopTripped, Unknown
from baton.domain.mirror import opened
from baton.domain.review import LOOP_GUARD, Review
from baton.domain.task import Branch, Wait
from baton.domain.times import seconds
from baton.domain.transitions import create
from baton.domain.workflow import ROOT_RATE
from baton.ports import (
    Also,
    Body,
    Dossier,
    HandoffsCounted,
    MirrorOpened,
    Remember,
    ReviewChanged,
    ReviewRequest,
    Wanted,
)
from baton.services.remembered_refusals import told

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from baton.domain.agent import Agent
    from baton.domain.change import Change
    from baton.domain.draft import Draft
    from baton.domain.handoff import Message
    from baton.domain.idempotency import Once
    from baton.domain.mirror import Mirror
    from baton.domain.principal import Principal
    from baton.domain.settings import Settings
    from baton.domain.task import Policy, Task
    from baton.ports import Baton, Extra

# Without a limit the handoffs are counted all the same.
_NO_LIMIT = 1_000_000
# Rules that count a workflow's handoffs.
_WORKFLOW_RULES = {"max_handoffs_per_workflow", "budget_max_handoffs"}


@dataclass(frozen=True, slots=True)
class New:
    """A handoff that isn't committed yet."""

    change: Change
    body: Message
    mirror: Mirror | None = None

    @property
    def dossier(self) -> Dossier:
        return Dossier(task=self.change.task, body=self.body, mirror=self.mirror)

    @property
    def along(self) -> tuple[Extra, ...]:
        """The extra writes of its task."""
        sync = (MirrorOpened(self.mirror),) if self.mirror else ()
        return (Body(self.body), *sync)

    @property
    def also(self) -> Also:
        """The handoff as an extra write in the transaction of another task's change."""
        return Also(self.change, self.along)


@dataclass(frozen=True, slots=True)
class Refused:
    """A handoff that the loop guard stopped, and the entry for a human in its place."""

    review: Review
    trip: LoopTripped
    extras: tuple[Extra, ...]


def make(
    baton: Baton,
    by: Principal,
    draft: Draft,
    agent: Agent | None,
    settings: Settings,
    now: datetime,
    *,
    asked_directly: bool = True,
    created_by: str | None = None,
    standing: dict[str, Any] | None = None,
) -> New:
    """Makes the handoff and its task, without committing them. ``agent``: the target. ``created_by``: the principal
    that asked, if ``by`` only lets it happen. ``standing``: a human's standing approval for this route."""
    new = draft.task(by.workspace, baton.ids.new("task", now), created_by or by.key, settings, now)
    body = draft.body(new)
    change = create(new, by, now, agent, settings, mode=draft.mode, asked_directly=asked_directly, standing=standing)
    return New(change, body, opened(change.task, None, 0) if new.mirrored else None)


# A draft, its target, and a human's standing approval for its route (None: there is none).
Planned = tuple["Draft", "Agent | None", "dict[str, Any] | None"]


def make_all(
    baton: Baton, by: Principal, planned: Sequence[Planned], settings: Settings, now: datetime, once: Once | None
) -> tuple[New, ...]:
    """Makes the handoffs that follow from an action of ``by`` under a claim, all in the workflow of the first: all or
    none. The first that the loop guard stops, stops all. Raises ``LoopTripped``, with the entry that it leaves."""
    workflow_id = planned[0][0].lineage.workflow_id
    handoffs = baton.store.handoff_facts(by.workspace, Wanted(workflow_id=workflow_id)).handoffs or 1
    for number, (draft, _, _) in enumerate(planned):
        try:
            draft.check(settings, handoffs + number, now)
        except LoopTripped as trip:
            raise stopped(baton, by, draft, trip, now, once) from trip
    return tuple(
        make(baton, by, draft, agent, settings, now, asked_directly=False, standing=standing)
        for draft, agent, standing in planned
    )


def wait_for(
    task: Task, children: Sequence[New], policy: Policy, quorum: int | None, settings: Settings, now: datetime
) -> Wait:
    """Returns the wait for the branches that ``children`` begin."""
    begun = [child.change.task for child in children]
    return Wait(
        number=task.waits + 1,
        since=now,
        alert_at=now + seconds(settings.waiting_alert_seconds),
        policy=policy,
        quorum=quorum,
        branches=tuple(Branch(call_id=str(each.call_id), task_id=each.id) for each in begun),
    )


def over_to(child: New) -> dict[str, Any]:
    """The transfer output: the output of a task that continues in another task (docs/spec/tools.md §4)."""
    task = child.change.task
    return {
        "handoff": True,
        "target_agent": task.target_agent,
        "new_task_id": task.id,
        "context": child.body.get("context", {}),
    }


def so_far(baton: Baton, workspace: str, draft: Draft) -> int:
    """Returns the number of the workflow's handoffs if they were never counted. A workflow that has only its root isn't
    counted, so it has one."""
    if draft.lineage.is_root and draft.retry_of is None:
        return len(baton.store.workflow(workspace, draft.lineage.workflow_id))
    return 1


def counted(
    draft: Draft, settings: Settings, number: int = 1, *, start: int = 1, is_let: bool = False, is_first: bool = False
) -> list[Extra]:
    """Counts the workflow's handoffs, so that concurrent handoffs can't exceed its limit. ``start``: the number so far,
    if it was never counted. ``is_let``: a human allows them, above any limit. ``is_first``: the workflow begins with
    this handoff."""
    limits = [settings.max_handoffs_per_workflow if settings.loop_guard else None, draft.budget.max_handoffs]
    most = min((limit for limit in limits if limit is not None and not is_let), default=_NO_LIMIT)
    return [HandoffsCounted(draft.lineage.workflow_id, number, start, most, is_first)]


def refused(baton: Baton, by: Principal, draft: Draft, trip: LoopTripped, now: datetime) -> Refused:
    """Returns the entry for a human: one per chain and rule, however often the rule stops the chain
    (docs/spec/protocol.md §3)."""
    review_id = _review_id(draft, trip.rule)
    request = {
        "kind": str(draft.kind),
        "reason": draft.reason,
        "parent_task_id": draft.lineage.parent_id,
        "workflow_id": draft.lineage.workflow_id,
        "message": trip.message,
    }
    try:
        known = baton.store.review(by.workspace, review_id)
        # The viewer sees what a release would create: an agent may ask for another handoff each time.
        latest = replace(known, chain=trip.chain, source_agent=draft.source, target_agent=draft.target)
        review = latest.asked_again(request, by, now)
    except Unknown:
        review = Review(
            workspace=by.workspace,
            id=review_id,
            reason=LOOP_GUARD,
            rule=trip.rule,
            chain=trip.chain,
            source_agent=draft.source,
            target_agent=draft.target,
            request=request,
            requested_by=by.key,
            opened_at=now,
            last_at=now,
        )
    content = ReviewRequest(review_id, draft.plain())
    return Refused(review, trip, (ReviewChanged(review), content))


def stopped(
    baton: Baton,
    by: Principal,
    draft: Draft,
    trip: LoopTripped,
    now: datetime,
    once: Once | None,
    extras: Sequence[Extra] = (),
) -> LoopTripped:
    """Returns the error for a request that the loop guard stopped, and commits the entry that it leaves for a human. A
    repeat with the same key gets the same error, and counts once. ``extras``: committed with it."""
    entry = refused(baton, by, draft, trip, now)
    refusal = LoopTripped(trip.rule, trip.message, trip.chain, entry.review.id)
    saved = [Remember(once, told(refusal))] if once else []
    baton.store.commit(by.workspace, None, [*entry.extras, *saved, *extras])
    return refusal


def _review_id(draft: Draft, rule: str) -> str:
    """Returns the same id for every trip of a chain over a rule; ids sort by the start of the root. A chain is
    identified by its last task: a stop elsewhere in the workflow has an entry of its own, as the entry takes the place
    of a child. A chain without a task is identified by its direction, since each request would begin another workflow;
    so are too many roots in a direction."""
    lineage = draft.lineage
    is_known = rule != ROOT_RATE and (lineage.master_task_id is not None or rule in _WORKFLOW_RULES)
    chain = lineage.parent_id or f"{draft.source} {draft.target} {lineage.workflow_id if is_known else ''}"
    began = (lineage.master_task_id or "").removeprefix("task_")[:10] if is_known or lineage.parent_id else ""
    return f"review_{began}{hashlib.sha256(f'{chain} {rule}'.encode()).hexdigest()[:16]}"
