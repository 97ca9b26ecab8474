"""The whole of a workflow: who handed what to whom, and what came of it (spec/protocol.md §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.chain import Step, tree
from baton.domain.errors import Unknown

if TYPE_CHECKING:
    from baton.ports import Baton


def workflow_chain(baton: Baton, workspace: str, workflow_id: str) -> tuple[Step, ...]:
    """The roots, with what descends from them. Two readings for the usual workflow, and one more for about thirty tasks
    of a larger one: bodies aren't read. Raises ``Unknown``."""
    ids = [each.task_id for each in baton.store.workflow(workspace, workflow_id)]
    if not ids:
        raise Unknown("workflow")
    found = baton.store.papers(workspace, ids).values()
    return tree(Step(task=each.task, completion=each.completion, failure=each.failure) for each in found)
