"""A human splits a task that is too large to approve into parts, each to be approved by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from baton.domain import errors
from baton.domain.access.rights import Deed
from baton.domain.agents.route import Mode
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff_draft import HandoffDraft, lineage_beside
from baton.domain.memory.taken_along import kept_in
from baton.domain.tasks import commands, trail
from baton.domain.tasks.calls import HumanCall
from baton.domain.tasks.task import Kind, Task
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.steps.agents import resolve_agents
from baton.steps.guardrails.apply_guardrails import checked_message
from baton.steps.handoffs.begin_handoff import PlannedHandoff, Terms, begin_handoffs, begun_or_refused
from baton.steps.retrying import retry_on_conflict
from baton.steps.tasks import trail_answers
from baton.steps.tasks.change_task import commit, page_sync_of

MIN_PARTS, MAX_PARTS = 2, 10


def split_task(
    deps: Deps, call: HumanCall, parts: Sequence[handoff_message.HandoffMessage]
) -> tuple[TaskDetails, tuple[TaskDetails, ...]]:
    """Returns the whole, cancelled, and its parts in ``needs``. Each part has the whole's context, source and place in
    the workflow, and its target unless it names one. ``parts``: ``{target, summary, context, expectations, metadata}``.
    A human decides: the loop guard counts the parts, and stops none. Raises ``RevisionChanged``, and the errors of
    ``create_handoff`` about a target."""
    by = call.by
    by.must_have(Deed.SPLIT)

    names = resolve_agents.slugs_among(*(each.target.agent for each in parts))
    query = HandoffQuery(agents=names, parent_id=call.task_id)

    def attempt() -> tuple[TaskDetails, tuple[TaskDetails, ...]]:
        inputs = deps.store.handoffs.handoff_inputs(by.workspace, query)
        if inputs.parent is None:
            raise errors.Unknown("task")
        receipt = trail_answers.first_receipt(deps, inputs.parent.task, call.idempotency_key)
        if receipt is not None:
            return _replayed(deps, trail_answers.task_after(deps, inputs.parent.task, receipt))
        return _split(deps, call, inputs.parent, inputs, parts)

    return retry_on_conflict(deps, attempt)


def _split(
    deps: Deps,
    call: HumanCall,
    whole: TaskDetails,
    inputs: HandoffInputs,
    parts: Sequence[handoff_message.HandoffMessage],
) -> tuple[TaskDetails, tuple[TaskDetails, ...]]:
    by, now = call.by, deps.clock.now()
    planned = [PlannedHandoff(_part(deps, whole, inputs, each, number), None) for number, each in enumerate(parts)]
    terms = Terms(settings=inputs.settings, now=now, is_released=True, created_by=whole.task.created_by)
    begun = begun_or_refused(deps, by, begin_handoffs(deps, by, planned, terms), None)
    made = begun.handoffs
    command = commands.Split(by=by, parts=tuple(each.task.id for each in made), seen=call.seen)
    change = replace(transition(whole.task, command, now), asked=trail_answers.asked_under(call.idempotency_key))
    commit(deps, change, *(write for each in made for write in each.writes), *begun.extras)
    return TaskDetails(task=change.task, page_sync=page_sync_of(deps, change.task)), tuple(
        each.details for each in made
    )


def _part(
    deps: Deps, whole: TaskDetails, inputs: HandoffInputs, part: handoff_message.HandoffMessage, number: int
) -> HandoffDraft:
    task, record = whole.task, whole.message
    content = checked_message(part, inputs.settings.guardrails, f"parts.{number}")
    content.must_be_ahead(deps.clock.now(), f"parts.{number}")
    target = handoff_message.TargetPart({**record.target.fields, **content.target.fields})
    name = content.target.agent if "agent" in content.target.fields else task.target_agent
    field = f"parts.{number}.target.agent"
    agent = resolve_agents.active_target(deps, task.workspace, inputs.agents, name, field)
    resolve_agents.must_be_able(deps, task.workspace, agent, content.requires, task.source_agent)
    message = replace(
        content,
        source=record.source if record.source.fields else handoff_message.SourcePart({"agent": task.source_agent}),
        target=target.having(agent=name, reason=target.reason or task.title),
        metadata=content.metadata.with_default_priority(task.priority),
        rollback=handoff_message.RollbackPart({"on_failure": record.rollback.back_to(task.source_agent)}),
    ).having(part_of={"handoff_id": task.handoff_id, "task_id": task.id, "number": number + 1}, **kept_in(record.more))
    return HandoffDraft(
        kind=Kind.TRANSFER,
        source=task.source_agent,
        target=agent.slug if agent else None,
        message=message.with_context(record.context.merged_with(content.context)),
        lineage=lineage_beside(task, record),
        requires=content.requires,
        work_type=task.work_type,
        mode=Mode.MANUAL,
        join_parent=task.join_parent,
        call_id=task.call_id,
    )


def _replayed(deps: Deps, whole: Task) -> tuple[TaskDetails, tuple[TaskDetails, ...]]:
    """Each part as it began: a split leaves it to a human, so that is its first event alone."""
    workspace, ids = whole.workspace, whole.successors
    now, bodies = deps.store.tasks.many(workspace, ids), deps.store.tasks.bodies(workspace, ids)
    begun = {each: trail.replay(deps.store.trail.events(workspace, each, 0, 1)) for each in ids}
    tasks = [begun[each].changed(version=1, mirrored=now[each].meta.mirrored) for each in ids]
    parts = tuple(TaskDetails(task=task, body=bodies[task.id], page_sync=page_sync_of(deps, task)) for task in tasks)
    return TaskDetails(task=whole, page_sync=page_sync_of(deps, whole)), parts
