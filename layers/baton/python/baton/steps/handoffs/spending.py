"""What a workflow has used so far."""

from __future__ import annotations

from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.loop_guard import Budget
from baton.domain.runs.transcript import Usage
from baton.ports.deps import Deps


def spending(deps: Deps, workspace: str, workflow_id: str, root_id: str) -> tuple[Usage, Budget]:
    """Returns the workflow's usage so far, and its root's budget. Two reads."""
    _, usage = deps.store.runs.usage(workspace, workflow_id, root_id)
    return usage, handoff_message.message_from(deps.store.tasks.bodies(workspace, [root_id]).get(root_id)).budget.limits
