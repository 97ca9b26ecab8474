"""Turns a draft into a handoff and its task, for the transaction of the caller. If the loop guard stops it, an entry
for a human takes its place."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import LoopTripped, Unknown
from baton.domain.escalations.review import LOOP_GUARD, Review
from baton.domain.handoffs.workflow import ROOT_RATE
from baton.domain.tasks.task import Branch, Wait
from baton.domain.tasks.transitions import create
from baton.domain.times import seconds
from baton.domain.tracker.page_sync import opened
from baton.ports import (
    Body,
    HandoffQuery,
    HandoffsCounted,
    OtherTaskChanged,
    PageSyncOpened,
    ReviewChanged,
    ReviewRequest,
    SaveResponse,
    TaskDetails,
)
from baton.steps.saved_refusals import refusal_response

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from baton.domain.access.principal import Principal
    from baton.domain.access.settings import Settings
    from baton.domain.agents.agent import Agent
    from baton.domain.handoffs.draft import HandoffDraft
    from baton.domain.handoffs.handoff import Message
    from baton.domain.idempotency import IdempotencyKey
    from baton.domain.tasks.change import Change
    from baton.domain.tasks.task import Policy, Task
    from baton.domain.tracker.page_sync import PageSync
    from baton.ports import Deps, ExtraWrite

# Without a limit the handoffs are counted all the same.
_NO_LIMIT = 1_000_000
# Rules that count a workflow's handoffs.
_WORKFLOW_RULES = {"max_handoffs_per_workflow", "budget_max_handoffs"}


@dataclass(frozen=True, slots=True)
class NewHandoff:
    """A handoff that isn't committed yet."""

    change: Change
    body: Message
    page_sync: PageSync | None = None

    @property
    def details(self) -> TaskDetails:
        return TaskDetails(task=self.change.task, body=self.body, page_sync=self.page_sync)

    @property
    def along(self) -> tuple[ExtraWrite, ...]:
        """The extra writes of its task."""
        sync = (PageSyncOpened(self.page_sync),) if self.page_sync else ()
        return (Body(self.body), *sync)

    @property
    def also(self) -> OtherTaskChanged:
        """The handoff as an extra write in the transaction of another task's change."""
        return OtherTaskChanged(self.change, self.along)


@dataclass(frozen=True, slots=True)
class StoppedHandoff:
    """A handoff that the loop guard stopped, and the entry for a human in its place."""

    review: Review
    trip: LoopTripped
    extras: tuple[ExtraWrite, ...]


def make_handoff(
    deps: Deps,
    by: Principal,
    draft: HandoffDraft,
    agent: Agent | None,
    settings: Settings,
    now: datetime,
    *,
    asked_directly: bool = True,
    created_by: str | None = None,
    standing: dict[str, Any] | None = None,
) -> NewHandoff:
    """Makes the handoff and its task, without committing them. ``agent``: the target. ``created_by``: the principal
    that asked, if ``by`` only lets it happen. ``standing``: a human's standing approval for this route."""
    new = draft.task(by.workspace, deps.ids.new("task", now), created_by or by.key, settings, now)
    body = draft.body(new)
    change = create(new, by, now, agent, settings, mode=draft.mode, asked_directly=asked_directly, standing=standing)
    return NewHandoff(change, body, opened(change.task, None, 0) if new.mirrored else None)


# A draft, its target, and a human's standing approval for its route (None: there is none).
Planned = tuple["HandoffDraft", "Agent | None", "dict[str, Any] | None"]


def make_handoffs(
    deps: Deps,
    by: Principal,
    planned: Sequence[Planned],
    settings: Settings,
    now: datetime,
    idempotency_key: IdempotencyKey | None,
) -> tuple[NewHandoff, ...]:
    """Makes the handoffs that follow from an action of ``by`` under a claim, all in the workflow of the first: all or
    none. The first that the loop guard stops, stops all. Raises ``LoopTripped``, with the entry that it leaves."""
    workflow_id = planned[0][0].lineage.workflow_id
    handoffs = deps.store.handoff_inputs(by.workspace, HandoffQuery(workflow_id=workflow_id)).handoffs or 1
    for number, (draft, _, _) in enumerate(planned):
        try:
            draft.check(settings, handoffs + number, now)
        except LoopTripped as trip:
            raise loop_refusal(deps, by, draft, trip, now, idempotency_key) from trip
    return tuple(
        make_handoff(deps, by, draft, agent, settings, now, asked_directly=False, standing=standing)
        for draft, agent, standing in planned
    )


def wait_for(
    task: Task, children: Sequence[NewHandoff], policy: Policy, quorum: int | None, settings: Settings, now: datetime
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


def transfer_output(child: NewHandoff) -> dict[str, Any]:
    """The transfer output: the output of a task that continues in another task (docs/spec/tools.md §4)."""
    task = child.change.task
    return {
        "handoff": True,
        "target_agent": task.target_agent,
        "new_task_id": task.id,
        "context": child.body.get("context", {}),
    }


def handoffs_so_far(deps: Deps, workspace: str, draft: HandoffDraft) -> int:
    """Returns the number of the workflow's handoffs if they were never counted. A workflow that has only its root isn't
    counted, so it has one."""
    if draft.lineage.is_root and draft.retry_of is None:
        return len(deps.store.workflow(workspace, draft.lineage.workflow_id))
    return 1


def handoffs_counted(
    draft: HandoffDraft,
    settings: Settings,
    number: int = 1,
    *,
    start: int = 1,
    is_let: bool = False,
    is_first: bool = False,
) -> list[ExtraWrite]:
    """Counts the workflow's handoffs, so that concurrent handoffs can't exceed its limit. ``start``: the number so far,
    if it was never counted. ``is_let``: a human allows them, above any limit. ``is_first``: the workflow begins with
    this handoff."""
    limits = [settings.max_handoffs_per_workflow if settings.loop_guard else None, draft.budget.max_handoffs]
    most = min((limit for limit in limits if limit is not None and not is_let), default=_NO_LIMIT)
    return [HandoffsCounted(draft.lineage.workflow_id, number, start, most, is_first)]


def stopped_handoff(deps: Deps, by: Principal, draft: HandoffDraft, trip: LoopTripped, now: datetime) -> StoppedHandoff:
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
        known = deps.store.review(by.workspace, review_id)
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
    return StoppedHandoff(review, trip, (ReviewChanged(review), content))


def loop_refusal(
    deps: Deps,
    by: Principal,
    draft: HandoffDraft,
    trip: LoopTripped,
    now: datetime,
    idempotency_key: IdempotencyKey | None,
    extras: Sequence[ExtraWrite] = (),
) -> LoopTripped:
    """Returns the error for a request that the loop guard stopped, and commits the entry that it leaves for a human. A
    repeat with the same key gets the same error, and counts once. ``extras``: committed with it."""
    entry = stopped_handoff(deps, by, draft, trip, now)
    refusal = LoopTripped(trip.rule, trip.message, trip.chain, entry.review.id)
    saved = [SaveResponse(idempotency_key, refusal_response(refusal))] if idempotency_key else []
    deps.store.commit(by.workspace, *entry.extras, *saved, *extras)
    return refusal


def _review_id(draft: HandoffDraft, rule: str) -> str:
    """Returns the same id for every trip of a chain over a rule; ids sort by the start of the root. A chain is
    identified by its last task: a stop elsewhere in the workflow has an entry of its own, as the entry takes the place
    of a child. A chain without a task is identified by its direction, since each request would begin another workflow;
    so are too many roots in a direction."""
    lineage = draft.lineage
    is_known = rule != ROOT_RATE and (lineage.master_task_id is not None or rule in _WORKFLOW_RULES)
    chain = lineage.parent_id or f"{draft.source} {draft.target} {lineage.workflow_id if is_known else ''}"
    began = (lineage.master_task_id or "").removeprefix("task_")[:10] if is_known or lineage.parent_id else ""
    return f"review_{began}{hashlib.sha256(f'{chain} {rule}'.encode()).hexdigest()[:16]}"
