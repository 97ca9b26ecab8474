"""A whole workflow: its handoffs, and their outcomes (docs/spec/protocol.md §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.chain import Step, tree
from baton.domain.errors import Unknown
from baton.services.read_rights import ReadRights

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.ports import Deps


def workflow_chain(deps: Deps, by: Principal, workflow_id: str) -> tuple[Step, ...]:
    """Returns the roots with their descendants; tasks that the caller may not read come without their texts. Two reads
    for the usual workflow, and one more per about thirty tasks of a larger one: bodies aren't read. Raises
    ``Unknown``."""
    ids = [each.task_id for each in deps.store.workflow(by.workspace, workflow_id)]
    found = list(deps.store.outcomes(by.workspace, ids).values()) if ids else []
    rights = ReadRights(deps, by)
    if not found or not rights.may_read_any(each.task for each in found):
        raise Unknown("workflow")
    steps = [Step(task=each.task, completion=each.completion, failure=each.failure) for each in found]
    return tree(each if rights.may_read(each.task) else each.without_words() for each in steps)
