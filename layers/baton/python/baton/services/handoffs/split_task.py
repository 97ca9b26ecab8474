"""A human splits a task that is too large to approve into parts, each to be approved by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.agents.route import Mode
from baton.domain.errors import Unknown
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs.draft import HandoffDraft, lineage_beside
from baton.domain.handoffs.handoff import merged_context, must_be_ahead, requires_of
from baton.domain.tasks.commands import Split
from baton.domain.tasks.task import Kind
from baton.domain.tasks.trail import from_snapshot, snapshot
from baton.domain.tasks.transitions import transition
from baton.ports import HandoffQuery, SaveResponse, TaskDetails
from baton.steps.agents.resolve_agents import active_agent, must_be_able, slugs_among
from baton.steps.handoffs.make_handoff import handoffs_counted, make_handoff
from baton.steps.retrying import run_idempotently
from baton.steps.tasks.change_task import commit, page_sync_of

if TYPE_CHECKING:
    from baton.domain.access.principal import Principal
    from baton.domain.handoffs.handoff import Message
    from baton.domain.idempotency import IdempotencyKey
    from baton.ports import Deps, HandoffInputs

MIN_PARTS, MAX_PARTS = 2, 10


def split_task(
    deps: Deps,
    by: Principal,
    task_id: str,
    parts: list[Message],
    revision: int | None,
    idempotency_key: IdempotencyKey | None = None,
) -> tuple[TaskDetails, tuple[TaskDetails, ...]]:
    """Returns the whole, cancelled, and its parts in ``needs``. Each part has the whole's context, source and place in
    the workflow, and its target unless it names one. ``parts``: ``{target, summary, context, expectations, metadata}``.
    A human decides: the loop guard counts the parts, and stops none. Raises ``RevisionChanged``, and the errors of
    ``create_handoff`` about a target."""
    by.must_be_human("split a task")

    def attempt() -> tuple[TaskDetails, tuple[TaskDetails, ...]]:
        names = slugs_among(*((each.get("target") or {}).get("agent") for each in parts))
        inputs = deps.store.handoff_inputs(
            by.workspace, HandoffQuery(agents=names, parent_id=task_id, idempotency_key=idempotency_key)
        )
        saved = idempotency_key.replay(inputs.saved_response) if idempotency_key else None
        if saved is not None:
            return _replayed(deps, saved)
        if inputs.parent is None:
            raise Unknown("task")
        return _split(deps, by, inputs.parent, inputs, parts, revision, idempotency_key)

    return run_idempotently(deps, idempotency_key, lambda first: _replayed(deps, first), attempt)


def _split(
    deps: Deps,
    by: Principal,
    whole: TaskDetails,
    inputs: HandoffInputs,
    parts: list[Message],
    revision: int | None,
    idempotency_key: IdempotencyKey | None,
) -> tuple[TaskDetails, tuple[TaskDetails, ...]]:
    now = deps.clock.now()
    drafts = [_part(deps, by, whole, inputs, each, number) for number, each in enumerate(parts)]
    made = [
        make_handoff(deps, by, draft, None, inputs.settings, now, created_by=whole.task.created_by) for draft in drafts
    ]
    ids = tuple(each.change.task.id for each in made)
    change = transition(whole.task, Split(by=by, parts=ids, revision=revision), now)
    extras = [each.also for each in made]
    unlimited = handoffs_counted(drafts[0], inputs.settings, len(drafts), is_let=True)
    answer = {"whole": snapshot(change.task), "parts": [snapshot(each.change.task) for each in made]}
    save_response = [SaveResponse(idempotency_key, answer)] if idempotency_key else []
    commit(deps, change, *extras, *unlimited, *save_response)
    for each in made:
        if each.page_sync:
            deps.tracker_queue.notify(by.workspace, each.change.task.id)
    return TaskDetails(task=change.task, page_sync=page_sync_of(deps, change.task)), tuple(
        each.details for each in made
    )


def _part(
    deps: Deps, by: Principal, whole: TaskDetails, inputs: HandoffInputs, part: Message, number: int
) -> HandoffDraft:
    task, body = whole.task, whole.body or {}
    content = checked(part, inputs.settings.guardrails, f"parts.{number}")
    must_be_ahead(content, deps.clock.now(), f"parts.{number}")
    target = {**(body.get("target") or {}), **(content.get("target") or {})}
    name = target.get("agent") if "agent" in (content.get("target") or {}) else task.target_agent
    field = f"parts.{number}.target.agent"
    agent = active_agent(deps, by.workspace, inputs.agents, name, field) if name is not None else None
    requires = requires_of(content)
    must_be_able(deps, by.workspace, agent, requires, task.source_agent)
    message = {
        **content,
        "source": body.get("source") or {"agent": task.source_agent},
        "target": {**target, "agent": name, "reason": target.get("reason") or task.title},
        "metadata": {"priority": str(task.priority), **(content.get("metadata") or {})},
        "rollback": {"on_failure": (body.get("rollback") or {}).get("on_failure", task.source_agent)},
        "part_of": {"handoff_id": task.handoff_id, "task_id": task.id, "number": number + 1},
    }
    if context := merged_context(body.get("context"), content.get("context")):
        message["context"] = context
    lineage = lineage_beside(task, body)
    return HandoffDraft(
        kind=Kind.TRANSFER,
        source=task.source_agent,
        target=agent.slug if agent else None,
        message=message,
        lineage=lineage,
        requires=requires,
        mode=Mode.MANUAL,
        join_parent=task.join_parent,
        call_id=task.call_id,
    )


def _replayed(deps: Deps, first: Message) -> tuple[TaskDetails, tuple[TaskDetails, ...]]:
    whole, tasks = from_snapshot(first["whole"]), [from_snapshot(each) for each in first["parts"]]
    bodies = deps.store.bodies(whole.workspace, [task.id for task in tasks])
    parts = tuple(TaskDetails(task=task, body=bodies[task.id], page_sync=page_sync_of(deps, task)) for task in tasks)
    return TaskDetails(task=whole, page_sync=page_sync_of(deps, whole)), parts
