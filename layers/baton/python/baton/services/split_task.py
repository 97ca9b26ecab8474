"""A human splits a task that is too large to approve into parts, each to be approved by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.draft import Draft, beside
from baton.domain.errors import Unknown
from baton.domain.events import from_snapshot, snapshot
from baton.domain.guardrails import checked
from baton.domain.handoff import merged, must_be_ahead, requires_of
from baton.domain.route import Mode
from baton.domain.task import Kind
from baton.domain.transitions import transition
from baton.domain.verbs import Split
from baton.ports import Dossier, Remember, Wanted
from baton.services.change_task import commit, row_of
from baton.services.make_handoff import counted, make
from baton.services.retrying import decided_once
from baton.services.who_takes_it import must_be_able, named, slugs_among

if TYPE_CHECKING:
    from baton.domain.handoff import Message
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Facts

MIN_PARTS, MAX_PARTS = 2, 10


def split_task(
    baton: Baton, by: Principal, task_id: str, parts: list[Message], revision: int | None, once: Once | None = None
) -> tuple[Dossier, tuple[Dossier, ...]]:
    """Returns the whole, cancelled, and its parts in ``needs``. Each part has the whole's context, source and place in
    the workflow, and its target unless it names one. ``parts``: ``{target, summary, context, expectations, metadata}``.
    A human decides: the loop guard counts the parts, and stops none. Raises ``RevisionChanged``, and the errors of
    ``create_handoff`` about a target."""
    by.must_be_human("split a task")

    def attempt() -> tuple[Dossier, tuple[Dossier, ...]]:
        names = slugs_among(*((each.get("target") or {}).get("agent") for each in parts))
        inputs = baton.store.handoff_facts(by.workspace, Wanted(agents=names, parent_id=task_id, once=once))
        saved = once.recall(inputs.remembered) if once else None
        if saved is not None:
            return _replayed(baton, saved)
        if inputs.parent is None:
            raise Unknown("task")
        return _split(baton, by, inputs.parent, inputs, parts, revision, once)

    return decided_once(baton, once, lambda first: _replayed(baton, first), attempt)


def _split(
    baton: Baton,
    by: Principal,
    whole: Dossier,
    inputs: Facts,
    parts: list[Message],
    revision: int | None,
    once: Once | None,
) -> tuple[Dossier, tuple[Dossier, ...]]:
    now = baton.clock.now()
    drafts = [_part(baton, by, whole, inputs, each, number) for number, each in enumerate(parts)]
    made = [make(baton, by, draft, None, inputs.settings, now, created_by=whole.task.created_by) for draft in drafts]
    ids = tuple(each.change.task.id for each in made)
    change = transition(whole.task, Split(by=by, parts=ids, revision=revision), now)
    extras = [each.also for each in made]
    unlimited = counted(drafts[0], inputs.settings, len(drafts), is_let=True)
    answer = {"whole": snapshot(change.task), "parts": [snapshot(each.change.task) for each in made]}
    save_response = [Remember(once, answer)] if once else []
    commit(baton, change, [*extras, *unlimited, *save_response])
    for each in made:
        if each.mirror:
            baton.tracker_bell.ring(by.workspace, each.change.task.id)
    return Dossier(task=change.task, mirror=row_of(baton, change.task)), tuple(each.dossier for each in made)


def _part(baton: Baton, by: Principal, whole: Dossier, inputs: Facts, part: Message, number: int) -> Draft:
    task, body = whole.task, whole.body or {}
    content = checked(part, inputs.settings.guardrails, f"parts.{number}")
    must_be_ahead(content, baton.clock.now(), f"parts.{number}")
    target = {**(body.get("target") or {}), **(content.get("target") or {})}
    name = target.get("agent") if "agent" in (content.get("target") or {}) else task.target_agent
    field = f"parts.{number}.target.agent"
    agent = named(baton, by.workspace, inputs.agents, name, field) if name is not None else None
    requires = requires_of(content)
    must_be_able(baton, by.workspace, agent, requires, task.source_agent)
    message = {
        **content,
        "source": body.get("source") or {"agent": task.source_agent},
        "target": {**target, "agent": name, "reason": target.get("reason") or task.title},
        "metadata": {"priority": str(task.priority), **(content.get("metadata") or {})},
        "rollback": {"on_failure": (body.get("rollback") or {}).get("on_failure", task.source_agent)},
        "part_of": {"handoff_id": task.handoff_id, "task_id": task.id, "number": number + 1},
    }
    if context := merged(body.get("context"), content.get("context")):
        message["context"] = context
    lineage = beside(task, body)
    return Draft(
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


def _replayed(baton: Baton, first: Message) -> tuple[Dossier, tuple[Dossier, ...]]:
    whole, tasks = from_snapshot(first["whole"]), [from_snapshot(each) for each in first["parts"]]
    bodies = baton.store.bodies(whole.workspace, [task.id for task in tasks])
    parts = tuple(Dossier(task=task, body=bodies[task.id], mirror=row_of(baton, task)) for task in tasks)
    return Dossier(task=whole, mirror=row_of(baton, whole)), parts
