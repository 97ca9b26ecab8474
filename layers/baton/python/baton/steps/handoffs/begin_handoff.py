"""Begins handoffs: every draft becomes a handoff and its task here, whatever it comes from (a request, a transfer, a
delegation, a handoff tool, a retry, a split, a rollback, a continuation, a user's message, a released review). If the
loop guard stops it, an entry for a human takes its place (docs/spec/protocol.md §3)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent
from baton.domain.escalations.review import LOOP_GUARD, Review, ReviewRequest, first_versions_of
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff_draft import HandoffDraft
from baton.domain.handoffs.workflow import ROOT_RATE, HandoffCount, RootHandoffs
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.history import conversation_in
from baton.domain.settings.settings import Settings
from baton.domain.tasks.change import Change
from baton.domain.tasks.digests import message_digest
from baton.domain.tasks.task import Branch, JoinRule, Task, Wait
from baton.domain.tasks.transitions import Dispatch, create
from baton.domain.tracker.page_sync import PageSync, opened
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.writes import Add, Put, Save, Write
from baton.steps import idempotency
from baton.steps.access.person_rights import is_given_still, with_present_approval
from baton.steps.tasks.change_task import commit

# Without a limit the handoffs are counted all the same.
_NO_LIMIT = 1_000_000
# Rules that count a workflow's handoffs.
_WORKFLOW_RULES = {"max_handoffs_per_workflow", "budget_max_handoffs"}
# A workflow whose handoffs were never counted has its root alone.
_ROOT_ALONE = 1


@dataclass(frozen=True, slots=True)
class PlannedHandoff:
    """A draft with its target."""

    draft: HandoffDraft
    agent: Agent | None  # None for open work
    standing: dict[str, Any] | None = None  # a human's standing approval for its route
    came_as: int | None = None  # as in ``Dispatch``


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms under which handoffs of one workflow begin."""

    settings: Settings
    now: datetime
    handoffs: int | None = None  # of the workflow so far; None if they were never counted
    roots: RootHandoffs | None = None  # in its direction, if the handoff is a root that counts
    own_roots: int | None = None  # how many of these its source may begin, if it has a number of its own
    is_counted: bool = True  # False for the root of a new workflow: a workflow with its root alone isn't counted
    is_released: bool = False  # a human lets them begin, above any limit
    asked_directly: bool = True  # False if they follow from another action of their principal
    created_by: str | None = None  # the principal that asked, if another only lets it happen
    authors: tuple[str, ...] = ()  # of a released request, as in ``Dispatch``

    @property
    def start(self) -> int:
        return _ROOT_ALONE if self.handoffs is None else self.handoffs

    def root_counted(self) -> tuple[Write, ...]:
        """Returns the write that counts the root in its direction, if it counts. Raises ``LoopTripped``."""
        if self.roots is None:
            return ()
        return (Save(self.roots.one_more(self.now, self.settings, self.own_roots)),)


@dataclass(frozen=True, slots=True)
class NewHandoff:
    """A handoff that isn't committed yet."""

    change: Change
    message: handoff_message.HandoffMessage  # its record
    page_sync: PageSync | None = None

    @property
    def task(self) -> Task:
        return self.change.task

    @property
    def details(self) -> TaskDetails:
        return TaskDetails(task=self.task, body=self.message.plain(), page_sync=self.page_sync)

    @property
    def writes(self) -> tuple[Write, ...]:
        """The new task, with its payload and its page synchronisation."""
        sync = (Save(self.page_sync),) if self.page_sync else ()
        return (self.change, *sync)


@dataclass(frozen=True, slots=True)
class BegunHandoffs:
    """Handoffs that begin together, and the writes that go with them. Not committed yet."""

    handoffs: tuple[NewHandoff, ...]
    extras: tuple[Write, ...]

    @property
    def only(self) -> NewHandoff:
        (handoff,) = self.handoffs
        return handoff


@dataclass(frozen=True, slots=True)
class StoppedHandoff:
    """A handoff that the loop guard stopped, and the entry for a human in its place."""

    review: Review
    trip: errors.LoopTripped
    extras: tuple[Write, ...]


def begin_handoffs(
    deps: Deps, by: Principal, planned: Sequence[PlannedHandoff], terms: Terms
) -> BegunHandoffs | StoppedHandoff:
    """Begins all, or none: the first that the loop guard stops, stops all. All belong to the workflow of the first."""
    stopped = _stopped_among(deps, by, planned, terms)
    if stopped is not None:
        return stopped
    settings, now, begun = terms.settings, terms.now, []
    roster = deps.store.agents.roster(by.workspace)
    for each in planned:
        draft = each.draft
        new = draft.task(by.workspace, deps.ids.new("task", now), terms.created_by or by.key, settings, now)
        record = draft.record(new)
        from_where, standing = (draft.lineage.sources, draft.lineage.origin, draft.lineage.speakers), each.standing
        standing = standing if standing and is_given_still(deps, by.workspace, standing) else None
        target = with_present_approval(deps, each.agent)
        came_from = (standing, roster, *from_where, terms.authors, each.came_as)
        dispatch = Dispatch(target, settings, draft.mode, terms.asked_directly, *came_from)
        body = record.plain()
        change = create(new.changed(digest=message_digest(new, body)), by, now, dispatch)
        begun_by = new.created_by if "conversation" in record.more and new.is_root else None
        change = replace(change, body=body, begun_by=begun_by)
        begun.append(NewHandoff(change, record, opened(change.task, None, 0) if new.meta.mirrored else None))
    counted = (_handoffs_counted(planned, terms),) if terms.is_counted else ()
    return BegunHandoffs(tuple(begun), (*terms.root_counted(), *counted))


def begun_or_refused(
    deps: Deps, by: Principal, begun: BegunHandoffs | StoppedHandoff, idempotency_key: IdempotencyKey | None
) -> BegunHandoffs:
    """For a caller that is refused if the loop guard stops them: commits the entry that the stopped one leaves for a
    human, and raises ``LoopTripped``. A repeat with the same key gets the same error, and counts once."""
    if isinstance(begun, BegunHandoffs):
        return begun
    trip = begun.trip
    refusal = errors.LoopTripped(trip.rule, trip.message, trip.chain, begun.review.id)
    deps.store.commit(by.workspace, *begun.extras, *idempotency.save_refusal(idempotency_key, refusal))
    raise refusal from trip


def _stopped_among(deps: Deps, by: Principal, planned: Sequence[PlannedHandoff], terms: Terms) -> StoppedHandoff | None:
    """Returns the first that the loop guard stops; None if all may begin."""
    stopped_at = planned[0]
    counted: tuple[Write, ...] = ()
    try:
        # A stopped root counts too: otherwise nothing limits the entries that it leaves for humans.
        counted = terms.root_counted()
        for number, stopped_at in enumerate(() if terms.is_released else planned):
            stopped_at.draft.check(terms.settings, terms.start + number, terms.now)
    except errors.LoopTripped as trip:
        stopped = stopped_handoff(deps, by, stopped_at, trip, terms.now)
        return replace(stopped, extras=(*stopped.extras, *counted))
    return None


def _handoffs_counted(planned: Sequence[PlannedHandoff], terms: Terms) -> Add:
    """Counts the workflow's handoffs, so that concurrent handoffs can't exceed its limit."""
    draft, settings, start = planned[0].draft, terms.settings, terms.start
    limits = [settings.max_handoffs_per_workflow if settings.loop_guard else None, draft.budget.max_handoffs]
    most = min((limit for limit in limits if limit is not None and not terms.is_released), default=_NO_LIMIT)
    return Add(HandoffCount(draft.lineage.workflow_id, start, start == 0), len(planned), most)


def terms_under(deps: Deps, parent: Task, inputs: HandoffInputs, now: datetime) -> Terms:
    """Returns the terms of handoffs that follow from a worker's call about ``parent``."""
    query = HandoffQuery(workflow_id=parent.workflow_id)
    handoffs = deps.store.handoffs.handoff_inputs(parent.workspace, query).handoffs
    return Terms(settings=inputs.settings, now=now, handoffs=handoffs, asked_directly=False)


def commit_handoff(deps: Deps, begun: BegunHandoffs, *extras: Write) -> TaskDetails:
    """Commits a handoff that is no part of another task's change. ``extras``: committed with it."""
    new = begun.only
    commit(deps, *new.writes, *begun.extras, *extras)
    return new.details


def wait_for(task: Task, children: Sequence[NewHandoff], join: JoinRule, settings: Settings, now: datetime) -> Wait:
    """Returns the wait for the branches that ``children`` begin."""
    begun = [child.change.task for child in children]
    return Wait(
        number=task.waits + 1,
        since=now,
        alert_at=now + times.seconds(settings.waiting_alert_seconds),
        policy=join.policy,
        quorum=join.quorum,
        branches=tuple(Branch(call_id=str(each.call_id), task_id=each.id) for each in begun),
    )


def transfer_output(child: NewHandoff) -> dict[str, Any]:
    """The transfer output: the output of a task that continues in another task (docs/spec/tools.md §4)."""
    said = {"target_agent": child.task.target_agent, "new_task_id": child.task.id}
    return {"handoff": True, **said, "context": dict(child.message.context.fields)}


def handoffs_so_far(deps: Deps, workspace: str, draft: HandoffDraft) -> int:
    """Returns the number of the workflow's handoffs if they were never counted. A workflow that has only its root isn't
    counted, so it has one."""
    if draft.lineage.is_root and draft.retry_of is None:
        return len(deps.store.workflows.members(workspace, draft.lineage.workflow_id))
    return 1


def stopped_handoff(
    deps: Deps, by: Principal, planned: PlannedHandoff, trip: errors.LoopTripped, now: datetime
) -> StoppedHandoff:
    """Returns the entry for a human: one per chain and rule, however often the rule stops the chain
    (docs/spec/protocol.md §3)."""
    draft = planned.draft
    review_id = _review_id(draft, trip.rule, now, is_own=_is_of_its_own_workflow(by, draft))
    request = {
        "kind": str(draft.kind),
        "reason": draft.message.reason,
        "parent_task_id": draft.lineage.parent_id,
        "workflow_id": draft.lineage.workflow_id,
        "message": trip.message,
    }
    roster = deps.store.agents.roster(by.workspace).version
    try:
        known = deps.store.escalations.review(by.workspace, review_id)
        # The viewer sees what a release would create: an agent may ask for another handoff each time.
        again = known.asked_again(request, by, now, planned.agent, roster)
        review = replace(again, chain=trip.chain, source_agent=draft.source, target_agent=draft.target)
    except errors.Unknown:
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
            authors=by.authors,
            first_versions=first_versions_of(planned.agent, roster),
            opened_at=now,
            last_at=now,
        )
    content = Put(ReviewRequest(review_id, draft.plain()))
    return StoppedHandoff(review, trip, (Save(review), content))


def _is_of_its_own_workflow(by: Principal, draft: HandoffDraft) -> bool:
    """True for a root that an agent or service adds to a workflow that it began itself, whose limits it chooses."""
    return not by.is_human and draft.lineage.parent_id is None and conversation_in(draft.message) is None


def _review_id(draft: HandoffDraft, rule: str, now: datetime, *, is_own: bool) -> str:
    """Returns the same id for every trip of a chain over a rule; ids sort by the start of the root. A chain is
    identified by its last task: a stop elsewhere in the workflow has an entry of its own, as the entry takes the place
    of a child. A chain without a task is identified by its direction, since each request would begin another workflow;
    so are too many roots in a direction. Limits of a workflow of the source's own have one entry an hour: it may begin
    any number of workflows with a budget of one handoff, and would open as many entries."""
    lineage = draft.lineage
    if is_own and rule in _WORKFLOW_RULES:
        hour = int(now.timestamp()) // 3_600
        return f"review_{hashlib.sha256(f'{draft.source} {hour} {rule}'.encode()).hexdigest()[:16]}"
    is_known = rule != ROOT_RATE and (lineage.master_task_id is not None or rule in _WORKFLOW_RULES)
    chain = lineage.parent_id or f"{draft.source} {draft.target} {lineage.workflow_id if is_known else ''}"
    began = (lineage.master_task_id or "").removeprefix("task_")[:10] if is_known or lineage.parent_id else ""
    return f"review_{began}{hashlib.sha256(f'{chain} {rule}'.encode()).hexdigest()[:16]}"
